"""One direction of a job as fio 2 and 3 write it, in requests, bytes and nanoseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ssdscope.results.fio import bins

_KIB = 1024
_US_NS = 1000
_HALF = 0.5


@dataclass(frozen=True)
class Latency:
    """Latencies as fio summed them up.

    Attributes
    ----------
    requests
        How many were timed.
    percentiles
        By percent, in ns: those that fio was asked for.
    bins
        Requests by latency in ns; empty without `json+`.
    """

    requests: int
    mean_ns: float
    stddev_ns: float
    min_ns: float
    max_ns: float
    percentiles: Mapping[float, float] = field(default_factory=dict)
    bins: Mapping[float, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """What one direction of a job did.

    Attributes
    ----------
    runtime_ns
        For how long the job did such requests.
    latency
        From the request to its end (`lat`), or, where fio was told not to time that, from the
        submission (`clat`); None if neither was timed.
    tail
        The one whose percentiles fio has: `clat`, or `lat` with ``lat_percentiles=1``.
    tail_of
        Which of them that is.
    """

    requests: int
    bytes: int
    runtime_ns: int
    latency: Latency | None = None
    latency_of: str | None = None
    tail: Latency | None = None
    tail_of: str | None = None


def section(found: Any) -> Section | None:
    """Read ``read``, ``write`` or ``trim`` of a job; None if there was no such request.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is not as fio writes it.
    """
    if not isinstance(found, Mapping):
        return None
    requests = int(found.get("total_ios") or 0)
    runtime_ns = int(found.get("runtime") or 0) * 1_000_000
    if "total_ios" not in found:  # fio before 2.0.15
        requests = round(float(found["iops"]) * runtime_ns / 1e9)
    if requests == 0:
        return None
    lat, clat = _latency(found, "lat", requests), _latency(found, "clat", requests)
    means = lat or clat
    tail = lat if lat and lat.percentiles else clat if clat and clat.percentiles else None
    return Section(
        requests,
        _bytes(found, runtime_ns),
        runtime_ns,
        means,
        None if means is None else "lat" if means is lat else "clat",
        tail,
        None if tail is None else "lat" if tail is lat else "clat",
    )


def synced(found: Any) -> Section | None:
    """Read ``sync`` of a job; None if there was none."""
    if not isinstance(found, Mapping) or not found.get("total_ios"):
        return None
    requests = int(found["total_ios"])
    lat = _latency(found, "lat", requests)
    return Section(requests, 0, 0, lat, "lat", lat, "lat")


def _bytes(found: Mapping[str, Any], runtime_ns: int) -> int:
    """Count what was moved: fio 3 writes bytes, fio 2 mostly KiB, and the bandwidth tells."""
    moved = int(found["io_bytes"])
    if "io_kbytes" in found or not runtime_ns or not found.get("bw"):
        return moved
    as_kib = moved * 1e9 / runtime_ns / float(found["bw"])
    return moved * _KIB if abs(as_kib - 1) < _HALF else moved


def _latency(found: Mapping[str, Any], name: str, requests: int) -> Latency | None:
    """Read ``lat_ns`` of fio 3, or ``lat`` of fio 2 in microseconds."""
    unit_ns = 1 if f"{name}_ns" in found else _US_NS
    printed = found.get(f"{name}_ns", found.get(name))
    if not isinstance(printed, Mapping) or not printed.get("max"):
        return None  # disable_lat=1, gtod_reduce=1
    counts = bins.of_json(printed.get("bins") or {}, unit_ns)
    mean, stddev, least, most = (
        float(printed[key]) * unit_ns for key in ("mean", "stddev", "min", "max")
    )
    percentiles = _percentiles(printed.get("percentile") or {}, unit_ns)
    return Latency(
        int(printed.get("N") or requests), mean, stddev, least, most, percentiles, counts
    )


def _percentiles(found: Mapping[str, Any], unit_ns: int) -> dict[float, float]:
    """Read those that were asked for; fio fills its list up with ``0.00``."""
    listed = ((float(key), float(value)) for key, value in found.items())
    return {percent: value * unit_ns for percent, value in listed if percent > 0}
