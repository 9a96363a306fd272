"""What the laboratory tries: the lines whose outcome drivers decide that few kernels have here."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from tests.lines.line import Line
from tests.lines.page import load, save
from tests.lines.trials import TRIALS

FILE = Path(__file__).parents[2] / "out/lab/lines.json"
SETTINGS = [name for name, trial in TRIALS.items() if trial.needs_kernel]


def digest(lines: Iterable[Line]) -> str:
    """Return what a set of lines is known by."""
    text = "\n".join(sorted(f"{each.setting} {each.text} {each.block_bytes}" for each in lines))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prepare() -> None:
    """Write the lines where the guest finds them."""
    from tests.lines.advised import advised

    save([each for each in advised() if each.setting in SETTINGS], FILE)


def attempt(setting: str, block_bytes: int) -> str:
    """Try the lines of a setting; say how many, and which."""
    mine = [
        each for each in load(FILE)
        if each.setting == setting and each.block_bytes == block_bytes
    ]  # fmt: skip
    for line in mine:
        TRIALS[setting].run(line)
    return f"{len(mine)} lines taken, {digest(mine)}"
