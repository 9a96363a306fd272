"""Errors meant for people: what, where, the expected form, and a hint.

Every error a user can cause is an `SsdscopeError`; the command line shows its message and
hint and ends with its exit code. Anything else that escapes is a defect of ours.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_TRUSTWORTHY = 3
EXIT_INTERRUPTED = 130

_HINT_MARK = "\n\nhint: "


class SsdscopeError(Exception):
    """A failure whose message is for the user.

    Parameters
    ----------
    message
        What happened and where, without a final full stop.
    hint
        What to do about it. If absent, a ``hint:`` paragraph at the end of the
        message is used; the Rust half writes its hints that way.

    Attributes
    ----------
    exit_code
        The status a command ends with after this error.
    partial
        What had been measured when a run broke (a `RunResult`), else None.
    """

    exit_code: ClassVar[int] = EXIT_FAILED
    partial: Any = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        text, mark, tail = message.partition(_HINT_MARK)
        self.message = text
        self.hint = hint if hint is not None else (tail if mark else None)
        super().__init__(self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the hint when the error crosses a process boundary."""
        return (_rebuild, (type(self), self.message, self.hint))


def _rebuild(kind: type[SsdscopeError], message: str, hint: str | None) -> SsdscopeError:
    return kind(message, hint=hint)


class UsageError(SsdscopeError):
    """The request itself cannot be meant: a bad option, target, size or plan."""

    exit_code = EXIT_USAGE


class ConfigError(UsageError):
    """A drive or sweep file that cannot work, with every fault found in it."""


class TraceError(UsageError):
    """A trace that cannot be read, or does not fit the drive it is replayed on."""


class DeviceError(SsdscopeError):
    """A drive, simulated or real, that failed or could not be opened."""


class ClusterError(SsdscopeError):
    """A cluster that cannot be reached, was lost, or cannot run what it is sent."""


class OutputError(SsdscopeError):
    """A file of ours that cannot be written any further."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a function of the library, which had measured something by then.

    Attributes
    ----------
    partial
        What the function would have given, of what was measured.
    """

    def __init__(self, partial: Any) -> None:
        self.partial = partial
        super().__init__("what was measured is in `partial`")


LISTED = 16
"""More names than so many are not listed behind the nearest."""


def nearest(word: str, known: Iterable[str], *, listed_by: str = "") -> str:
    """Word the hint for a wrong name: the nearest valid one, and where all of them are.

    Parameters
    ----------
    word
        What was typed.
    known
        The valid names.
    listed_by
        The command that lists them; without one, the hint does.

    Examples
    --------
    >>> nearest("warp", ["refuse", "wrap", "compact"])
    'did you mean wrap? there are refuse, wrap, compact'
    >>> nearest("mqsim-8", ["mqsim-8g"], listed_by="ssdscope drives list")
    'did you mean mqsim-8g? ssdscope drives list lists them'
    """
    from difflib import get_close_matches

    names = {name.lower(): name for name in known}
    near = [names[each] for each in get_close_matches(word.lower(), names, n=2)]
    meant = f"did you mean {' or '.join(near)}?" if near else ""
    listed = f"{listed_by} lists them" if listed_by else f"there are {', '.join(names.values())}"
    if near and not listed_by and len(names) > LISTED:
        return meant
    return f"{meant} {listed}".lstrip()
