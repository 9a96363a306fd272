"""How a trace is read, fitted to a drive and paced."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ssdscope.errors import UsageError, nearest
from ssdscope.targets.names import options_json
from ssdscope.targets.trace_formats import TIMES
from ssdscope.units import parse_count, parse_microseconds, parse_size

MODES = {
    "open": "requests come at the times of the trace",
    "closed": "--iodepth requests in flight, with the pauses of the trace",
    "asap": "--iodepth requests in flight, without pauses",
}
ALIGNMENTS = {
    "refuse": "the replay stops before it begins, and says how many there are",
    "expand": "they are widened to the smallest unit of the drive",
}
FITS = {
    "refuse": "the replay stops before it begins, and says how many there are",
    "wrap": "offsets are taken modulo the capacity",
    "compact": "the megabytes that the trace touches are packed in address order",
}
"""What each choice of an option does."""


@dataclass(frozen=True)
class ReplayOptions:
    """Options of a replay.

    Attributes
    ----------
    format
        Name of the format, or None to recognise it from the content.
    columns
        Where a named CSV has its columns, as ``time=us:3,op:1,offset:4,size:5``.
    mode
        ``open``: at the trace's own times; ``closed``: `iodepth` requests in flight, pauses
        kept; ``asap``: `iodepth` requests in flight, no pauses.
    iodepth
        Requests in flight, in the closed modes.
    thinktime_ns
        Pause between a completion and the next request in its place, in the closed modes.
    time_scale
        Arrival times are multiplied by it.
    align
        Requests off the drive's grid: ``refuse`` or ``expand`` to the smallest unit.
    fit
        Requests past the end: ``refuse``, ``wrap`` modulo the capacity, or ``compact`` the
        touched megabytes in address order.
    times
        Of a trace of events, which time a request has: ``queued``, ``issued``, ``completed``.
    overlay_volumes
        Lay all volumes over one another, as MQSim does, and not end to end.
    volume
        Replay this volume (ASU, device) only.
    reads_only
        Leave out all that is no read, so that nothing is written.
    skip_bad
        Count malformed lines instead of stopping at the first.
    limit
        Replay so many requests only.
    spread_ties
        Spread requests of one instant evenly until the next.
    offset_bytes, size_bytes
        The region of the drive that stands for the whole.
    """

    format: str | None = None
    columns: str | None = None
    times: str = "queued"
    overlay_volumes: bool = False
    mode: str = "open"
    iodepth: int = 1
    thinktime_ns: int = 0
    time_scale: float = 1.0
    align: str = "refuse"
    fit: str = "refuse"
    volume: int | None = None
    reads_only: bool = False
    skip_bad: bool = False
    limit: int | None = None
    spread_ties: bool = False
    offset_bytes: int = 0
    size_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse words that are none of the choices."""
        for option, value, choices in (
            ("--times", self.times, TIMES),
            ("--mode", self.mode, MODES),
            ("--align", self.align, ALIGNMENTS),
            ("--fit", self.fit, FITS),
        ):
            if value not in choices:
                raise UsageError(f"{option}: {value!r} is unknown", hint=nearest(value, choices))
        if self.mode == "open" and self.thinktime_ns:
            raise UsageError(
                "--thinktime: requests that come at the trace's own times wait for nobody",
                hint="--mode closed keeps the trace's pauses as well, --mode asap only this one",
            )
        if not 0 < self.time_scale < math.inf:
            raise UsageError(f"--time-scale: {self.time_scale} is not a number above zero")

    def to_dict(self) -> dict[str, Any]:
        """Give the keys of the JSON form, every one of them."""
        return asdict(self)

    def to_json(self) -> str:
        """Write the options for the driver, which knows what those not given are."""
        assumed = asdict(ReplayOptions())
        given = {name: each for name, each in self.to_dict().items() if each != assumed[name]}
        return options_json(given)


def replay_options(
    *, thinktime: str | None, offset: str, size: str | None, **others: Any
) -> ReplayOptions:
    """Read the options of a replay as people write them.

    Parameters
    ----------
    thinktime, offset, size
        A time and sizes with their units.
    others
        Fields of `ReplayOptions`, as they are.

    Raises
    ------
    UsageError
        If one cannot be read; the message begins with its name.
    """
    return ReplayOptions(
        thinktime_ns=0
        if thinktime is None
        else _parsed("--thinktime", thinktime, parse_microseconds),
        offset_bytes=_parsed("--offset", offset, parse_size),
        size_bytes=None if size is None else _parsed("--size", size, parse_size),
        **others,
    )


def replay_from_options(
    options: Mapping[str, Any], *, where: Callable[[str], str]
) -> ReplayOptions:
    """Read the options of a replay from a file, under their names on the command line.

    Parameters
    ----------
    options
        Values by name, as text, numbers, true or false.
    where
        How to call an option in a message.

    Raises
    ------
    UsageError
        If an option is unknown or cannot be read; the message begins with `where` it stands.
    """
    fields: dict[str, Any] = {}
    for name, value in options.items():
        if name not in _IN_FILES:
            raise UsageError(
                f"{where(name)}: a replay of a trace has no such option",
                hint=nearest(name, _IN_FILES),
            )
        field, read = _IN_FILES[name]
        try:
            fields[field] = read(value)
        except UsageError as error:
            raise UsageError(f"{where(name)}: {error.message}", hint=error.hint) from error
    try:
        return ReplayOptions(**fields)
    except UsageError as error:
        option, colon, rest = error.message.partition(": ")
        name = option.removeprefix("--").replace("-", "_")
        said = f"{where(name)}: {rest}" if colon else error.message
        raise UsageError(said, hint=error.hint) from error


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{value!r} is not a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{value!r} is neither true nor false")
    return value


def _factor(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{value!r} is not a number")
    return float(value)


def _volume(value: Any) -> int:
    return 0 if str(value).strip() == "0" else parse_count(str(value))


_IN_FILES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "format": ("format", _word),
    "columns": ("columns", _word),
    "times": ("times", _word),
    "overlay_volumes": ("overlay_volumes", _flag),
    "mode": ("mode", _word),
    "iodepth": ("iodepth", lambda value: parse_count(str(value))),
    "thinktime": ("thinktime_ns", lambda value: parse_microseconds(str(value))),
    "time_scale": ("time_scale", _factor),
    "align": ("align", _word),
    "fit": ("fit", _word),
    "volume": ("volume", _volume),
    "reads_only": ("reads_only", _flag),
    "skip_bad": ("skip_bad", _flag),
    "limit": ("limit", lambda value: parse_count(str(value))),
    "spread_ties": ("spread_ties", _flag),
    "offset": ("offset_bytes", lambda value: parse_size(str(value))),
    "size": ("size_bytes", lambda value: parse_size(str(value))),
}
"""Options as files name them: the field that each sets, and how its value is read."""


def _parsed(option: str, text: str, parse: Callable[[str], int]) -> int:
    """Read a value with its unit; what is wrong with it names the option."""
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}", hint=error.hint) from error
