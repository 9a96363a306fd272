"""Results of a long benchmark, kept as they are done: a run that was broken off goes on."""

import json
from pathlib import Path
from typing import Any


class Journal:
    """Results by drive, a line of JSON each.

    Attributes
    ----------
    done
        Results by the name of the drive, those of runs before among them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.done: dict[str, dict[str, Any]] = {
            each["drive"]: each for each in map(json.loads, lines)
        }

    def add(self, name: str, result: dict[str, Any]) -> None:
        """Keep the result of a drive."""
        self.done[name] = {"drive": name} | result
        with self._path.open("a") as file:
            file.write(json.dumps(self.done[name]) + "\n")
