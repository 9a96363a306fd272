"""What the guest may ask of the host while a case runs: hashes and contents of images, unplugging.

Hashes are taken from the files themselves, so that nothing inside the guest can hide a change.
"""

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.lab.qmp import Monitor

CHUNK_BYTES = 2**20


class Images:
    """The images of a running guest."""

    def __init__(self, folder: Path, monitor: Monitor) -> None:
        self._folder = folder
        self._monitor = monitor

    def answer(self, ask: str, words: dict[str, Any]) -> Any:
        """Do what the guest asks."""
        asks: dict[str, Callable[..., Any]] = {
            "digest": self.digest,
            "blank": self.blank,
            "fill": self.fill,
            "unplug": self.unplug,
            "resize": self.resize,
            "keep": self.keep,
        }
        return asks[ask](**words)

    def _path(self, image: str) -> Path:
        return self._folder / f"{Path(image).name}.img"

    def digest(self, image: str, parts: list[tuple[int, int]] | None = None) -> str:
        """Give the SHA-256 of some ranges of bytes, of all if there are none."""
        digest = hashlib.sha256()
        path = self._path(image)
        with path.open("rb") as file:
            for start, end in parts or [(0, path.stat().st_size)]:
                file.seek(start)
                left = end - start
                while left > 0 and (data := file.read(min(left, CHUNK_BYTES))):
                    digest.update(data)
                    left -= len(data)
        return digest.hexdigest()

    def blank(self, image: str) -> None:
        """Let it read as zeros."""
        with self._path(image).open("r+b") as file:
            size_bytes = file.seek(0, 2)
            file.truncate(0)
            file.truncate(size_bytes)

    def fill(self, image: str, start: int, length: int, seed: int) -> None:
        """Fill a range with bytes that somebody may miss."""
        with self._path(image).open("r+b") as file:
            file.seek(start)
            file.write(random.Random(seed).randbytes(length))

    def keep(self, name: str, text: str) -> None:
        """Keep what a tool said, for people; it is put into out/lab."""
        (self._folder / f"{Path(name).name}.said.txt").write_text(text, encoding="utf-8")

    def unplug(self, device: str) -> None:
        """Take a device away, as somebody who pulls a drive out."""
        self._monitor.ask("device_del", id=device)

    def resize(self, image: str, size_bytes: int) -> None:
        """Change the size of a disk."""
        self._monitor.ask("block_resize", device=image, size=size_bytes)
