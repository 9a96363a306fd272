"""What a case is, how it ends, and where all of them are listed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

PATIENCE_S = 180
"""How long one case may take on a guest whose processor is translated, on a busy machine."""

PASSED, FAILED, SKIPPED, TIMED_OUT = "passed", "failed", "skipped", "timed out"


class Skipped(Exception):  # noqa: N818 (it is no error)
    """The guest lacks what a case needs: a module, or a tool."""


@dataclass(frozen=True)
class Case:
    """One thing that is tried on one kind of device.

    Attributes
    ----------
    suite, kind, name
        What it belongs to; together they name it.
    run
        Tries it inside the guest and gives what was seen in a few words. An AssertionError says
        what was seen instead.
    machine
        The machine that it needs.
    patience_s
        After so long it counts as hanging.
    """

    suite: str
    kind: str
    name: str
    run: Callable[[], str]
    machine: str = "disks"
    patience_s: float = PATIENCE_S

    @property
    def key(self) -> str:
        """Its name in messages and on the channel."""
        return f"{self.kind}: {self.suite}: {self.name}"


@dataclass(frozen=True)
class Result:
    """How a case ended."""

    suite: str
    kind: str
    name: str
    outcome: str
    seen: str
    seconds: float = 0.0

    @property
    def key(self) -> str:
        """Of its case."""
        return f"{self.kind}: {self.suite}: {self.name}"

    @classmethod
    def of(cls, case: Case, outcome: str, seen: str, seconds: float = 0.0) -> "Result":
        """Of a case."""
        return cls(case.suite, case.kind, case.name, outcome, seen, seconds)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def all_cases() -> list[Case]:
    """Every case, in the order in which they run: what takes devices away comes last."""
    from tests.lab import changes, commands, identity, lines, queues, refusals, simulated, writing

    suites = (identity, refusals, writing, commands, queues, lines, changes, simulated)
    return [case for suite in suites for case in suite.CASES]


def chosen(only: str | None) -> list[Case]:
    """Those whose suite or kind is named in a list such as ``nvme,refusals``; all if there is none.

    Raises
    ------
    ValueError
        If a word names nothing.
    """
    cases = all_cases()
    if not only:
        return cases
    words = [word.strip() for word in only.split(",") if word.strip()]
    known = {word for case in cases for word in (case.suite, case.kind)}
    for word in words:
        if word not in known:
            raise ValueError(f"{word!r} is no suite or kind; there are: {', '.join(sorted(known))}")
    kinds = {word for word in words if any(case.kind == word for case in cases)}
    suites = set(words) - kinds
    return [
        case
        for case in cases
        if (not kinds or case.kind in kinds) and (not suites or case.suite in suites)
    ]
