"""``ssdscope probe --record``: what was measured is kept in a file, and decided upon again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ssdscope.errors import UsageError
from ssdscope.results.files import destination

if TYPE_CHECKING:
    from ssdscope.findings import Findings
    from ssdscope.probes.budget import Budget
    from ssdscope.probes.record import Record
    from ssdscope.targets import Target


def record_at(path: str, target: Target, seed: int, budget: Budget) -> Record:
    """Give the record in a file, or a new one where there is none yet.

    Raises
    ------
    UsageError
        If the file is no record, or one of something else.
    """
    from ssdscope.probes.record import Record

    place = destination(path)
    about = {
        "target": target.uri,
        "drive": target.fingerprint(),
        "seed": seed,
        "budget": "full" if budget.heavy else "short",
    }
    if not place.exists():
        return Record(json.dumps(about))
    record = Record.load(place)
    was = json.loads(record.about or "{}")
    unlike = [
        f"{key} {was.get(key)}, not {value}"
        for key, value in about.items()
        if was.get(key) != value
    ]
    if unlike:
        raise UsageError(
            f"{path} was recorded of {unlike[0]}",
            hint="name another file for this, or leave the target out to decide upon that one",
        )
    return record


def seed_in(path: str | None) -> int | None:
    """Give the seed of what a file has; None if there is no such file yet."""
    from ssdscope.probes.record import Record

    if path is None or not Path(path).is_file():
        return None
    return _seed(Record.load(Path(path)))


def _seed(record: Record) -> int:
    return int(json.loads(record.about or "{}").get("seed", 0))


def decided(path: str, name: str) -> tuple[Findings, int]:
    """Decide again upon what a file has of a probe, of a property or of all, and give the seed.

    Raises
    ------
    UsageError
        If there is no such file, or it has nothing of that.
    """
    from ssdscope.findings import Findings
    from ssdscope.probes import registry
    from ssdscope.probes.again import decide
    from ssdscope.probes.budget import Budget
    from ssdscope.probes.record import Record

    if not Path(path).is_file():
        raise UsageError(
            f"there is no file {path}, and no target to record",
            hint=f"ssdscope probe {name} sim:mqsim-8g --record {path}",
        )
    record = Record.load(Path(path))
    chosen = registry.choose(name, Budget.parse("full" if record.heavy else "default"))
    wanted = {each for probe in chosen for each in probe.properties if probe.name in record.probes}
    found = [each for each in decide(record) if each.name in wanted]
    if not found:
        raise UsageError(f"{path} has nothing of {name}: it has {', '.join(record.probes)}")
    return Findings(found).led_by(name), _seed(record)
