"""What fio was asked for: the options of a job, or the name that fio-plot gives its file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.results.fio.sections import Section

ONE_IN_FLIGHT = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ftruncate")
"""Engines that have one request in flight, whatever the depth."""
_USUAL_ENGINE = "psync"
_NUMBER = re.compile(r"(?P<digits>[0-9]+)\s*(?:(?P<power>[kmgtp])?i?b?)?", re.IGNORECASE)
_POWERS = "kmgtp"
_PATTERN = r"(?:rand)?(?:read|write|rw|trim)|readwrite|trimwrite"
_BENCH_JSON = re.compile(rf"(?P<rw>{_PATTERN})-(?P<iodepth>\d+)-(?P<numjobs>\d+)")
_BENCH_LOG = re.compile(rf"(?P<rw>{_PATTERN})\d*-iodepth-(?P<iodepth>\d+)-numjobs-(?P<numjobs>\d+)")
_RANDOM_SHARE = {True: 100, False: 0}
_SIMILAR = 0.02
"""A size is what the option says if the mean of the requests is as near to it as this."""


@dataclass(frozen=True)
class Asked:
    """What a job of fio was asked for; None is what nobody knows.

    Attributes
    ----------
    rw
        The pattern, in fio's words.
    iodepth
        As asked for; `in_flight` is what the engine makes of it.
    engine
        Of the requests.
    options
        All of them, as fio wrote them.
    """

    rw: str | None
    iodepth: int | None
    numjobs: int | None
    engine: str | None
    options: Mapping[str, str]

    @property
    def in_flight(self) -> int | None:
        """Requests that a job has in flight at most: an engine of one call at a time has one."""
        return 1 if self.engine in ONE_IN_FLIGHT else self.iodepth

    @property
    def is_random(self) -> bool | None:
        """Whether places are random; None where nobody knows."""
        return None if self.rw is None else self.rw.startswith("rand")

    @property
    def is_paced(self) -> bool:
        """Whether requests come at a rate or with pauses, and not as soon as there is room."""
        return any(name.startswith(("rate", "thinktime")) for name in self.options)

    def number(self, name: str) -> int | None:
        """Read an option as a whole number; None where it is missing or is none."""
        return whole(self.options.get(name))


def whole(text: str | None) -> int | None:
    """Read a number as fio writes it; None where it is none."""
    found = _NUMBER.fullmatch(text.strip()) if text else None
    if found is None:
        return None
    power = found["power"]
    return int(found["digits"]) * (1024 ** (_POWERS.index(power.lower()) + 1) if power else 1)


def asked(options: Mapping[str, Any], path: Path) -> Asked:
    """Read what a job was asked for.

    fio writes only what was given, so what is missing is fio's default. Versions before 2.14 write
    no options: then the name of the file says it, if it is one of fio-plot's.
    """
    texts = {name: str(value) for name, value in options.items()}
    if not texts:
        named = by_name(path.name)
        return named or Asked(None, None, None, None, {})
    rw = texts.get("rw", texts.get("readwrite", "read")).partition(":")[0]
    engine = texts.get("ioengine", _USUAL_ENGINE).partition(":")[0]
    return Asked(
        rw, whole(texts.get("iodepth", "1")), whole(texts.get("numjobs", "1")), engine, texts
    )


def by_name(name: str) -> Asked | None:
    """Read what fio-plot's names say: ``randread-16-4.json``, ``randread-iodepth-16-numjobs-4``."""
    found = _BENCH_LOG.match(name) or _BENCH_JSON.match(name)
    if found is None:
        return None
    return Asked(found["rw"], int(found["iodepth"]), int(found["numjobs"]), None, {})


def block_bytes(one: Asked, direction: int, section: Section | None) -> int | None:
    """Return the size of the requests of a direction (0 read, 1 write, 2 trim).

    The option is fio's own number, in units of 1,024 or 1,000, with one for all directions or one
    for each. What was moved decides; where sizes are mixed there is no single one.
    """
    mean = section.bytes / section.requests if section and section.requests else None
    given = str(one.options.get("bs", one.options.get("blocksize", "4k"))).split(",")
    wanted = whole(given[min(direction, len(given) - 1)] or given[0])
    if any(name in one.options for name in ("bssplit", "bsrange", "blocksize_range")):
        wanted = None
    if mean is None:
        return wanted if one.options else None
    for size in (wanted, round(mean)):
        if size and abs(mean / size - 1) <= _SIMILAR and (size == wanted or mean == size):
            return size if size == wanted or size % 512 == 0 else None
    return None


def workload(one: Asked, jobs: int, sections: Mapping[str, Section | None]) -> dict[str, Any]:
    """Describe what ran in the keys of a run's plan; what nobody knows is None.

    Parameters
    ----------
    jobs
        How many ran side by side.
    sections
        What they came to: ``read``, ``write``, ``discard``.
    """
    counted = {name: each.requests if each else 0 for name, each in sections.items()}
    both = counted["read"] + counted["write"]
    sizes = {
        name: block_bytes(one, place, sections[name])
        for place, name in enumerate(("read", "write", "discard"))
    }
    shown = {sizes[name] for name in ("read", "write", "discard") if counted[name]}
    random = one.number("percentage_random")
    if random is None and one.is_random is not None:
        random = _RANDOM_SHARE[one.is_random]
    return {
        "rw": one.rw,
        "block_bytes": next(iter(shown)) if len(shown) == 1 else None,
        "read_block_bytes": sizes["read"] if counted["read"] else None,
        "write_block_bytes": sizes["write"] if counted["write"] else None,
        "read_percent": 100 * counted["read"] / both if both else None,
        "iodepth": one.iodepth,
        "numjobs": jobs,
        "in_flight": None if one.in_flight is None else one.in_flight * jobs,
        "ioengine": one.engine,
        "percentage_random": random,
        "paced": one.is_paced,
        "options": dict(one.options),
    }
