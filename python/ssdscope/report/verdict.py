"""What the drive is, in one sentence: what costs most on it, and by what is known of it, why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ssdscope.findings import Absent, Detected, Findings, Reason, Undetectable
from ssdscope.report import words
from ssdscope.report.parts import Document, burst_of, measured

BUSY = "The machine was busy, and its own waiting is in every time measured here"
NOTABLE = 2.0
"""What costs twice as much as its counterpart is worth a sentence."""
EQUAL = 1.05
"""What differs by less is as fast."""
MORE = 3
"""Sentences below the first."""
HALF_TURN_NS = 2_000_000
"""At 15,000 turns a minute."""
WAITING = ("host_queue", "link", "channel_wait", "die_wait")
"""Parts of a latency that are no work of the flash: no cause of a slow pattern."""
Point = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """The sentence, and up to two more."""

    sentence: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Statement:
    """A sentence, how many times something costs something else, and at least, at 95 %.

    Attributes
    ----------
    cause
        Why, in a sentence of its own; empty where that is not known.
    """

    ratio: float
    text: str
    surely: float = 0.0
    cause: str = ""


def verdict(document: Document, found: Findings) -> Verdict:
    """Say what an engineer should know first.

    Parameters
    ----------
    document
        Of the drive; figures of writes are what it keeps up, where that is known.
    found
        Its findings, which name the cause.
    """
    costs = [each for each in _costs(document, found) if each.surely >= NOTABLE]
    costs.sort(key=lambda each: -each.ratio)
    gains = list(_gains(document, found))
    told = [text for each in (*costs, *gains) for text in (each.text, each.cause) if text]
    told = told if costs else [*_even(document), *told]
    if any(isinstance(each, Undetectable) and each.reason is Reason.MACHINE_BUSY
           for each in found.values()):  # fmt: skip
        told.insert(1 + bool(costs[0].cause) if costs else 0, BUSY)
    if not document["target"]["info"]["writable"]:
        told.insert(MORE, "Nothing was written: nothing is said of its writes")
    if not told:
        return Verdict("Too little was measured to say what it is.")
    return Verdict(f"{told[0]}.", tuple(f"{each}." for each in told[1 : MORE + 1]))


def _costs(document: Document, found: Findings) -> Iterator[_Statement]:
    """Compare random places with places in a row, writes with reads, the long run with a burst."""
    ratios = {}
    for what in ("write", "read"):
        pair = _pair(document, what)
        if pair is None:
            continue
        random, ordered = pair
        ratio = ratios[what] = random["mean_ns"] / ordered["mean_ns"]
        sort = _burst(random)
        yield _Statement(
            ratio,
            f"Random {what}s of {words.size(random['block_bytes'])} take "
            f"{words.time(random['mean_ns'])} each{sort}, {words.factor(ratio)} times as long as "
            "in sequence",
            _ratios(random, ordered)[0],
            _cause(random, found),
        )
    if ratios.get("write", NOTABLE) < NOTABLE:  # where random writes are dear, that is said
        yield from _written(document, found)
    yield from _lasting(document)


def _burst(point: Point) -> str:
    """Say of a write whether it is of a burst or what the drive keeps up."""
    return {"burst": " in a burst", "sustained": " in the long run"}.get(point["sort"], "")


def _written(document: Document, found: Findings) -> Iterator[_Statement]:
    """Compare a write with a read, both at random places."""
    write, read = (_pair(document, what) for what in ("write", "read"))
    if write and read:
        ratio = write[0]["mean_ns"] / read[0]["mean_ns"]
        yield _Statement(
            ratio,
            f"Writes of {words.size(write[0]['block_bytes'])} take "
            f"{words.time(write[0]['mean_ns'])} each{_burst(write[0])}, {words.factor(ratio)} "
            "times as long as reads",
            _ratios(write[0], read[0])[0],
            _cause(write[0], found),
        )


def _ratios(one: Point, other: Point) -> tuple[float, float]:
    """Give the least and the greatest ratio that the intervals of both means leave."""
    ends = []
    for point in (one, other):
        low, high = point["ci95_low_ns"], point["ci95_high_ns"]
        mean = float(point["mean_ns"])
        ends.append((mean, mean) if low is None else (max(float(low), 1.0), float(high)))
    (low, high), (other_low, other_high) = ends
    return low / other_high, high / other_low


def _pair(document: Document, what: str) -> tuple[Point, Point] | None:
    """Give the smallest random and sequential requests alone, of one sort."""
    for sort in ("sustained", "burst", "read"):
        points = measured(document, sort=sort, iodepth=1)
        random, ordered = (
            {p["block_bytes"]: p for p in points if p["rw"] == rw} for rw in (f"rand{what}", what)
        )
        sizes = sorted(random.keys() & ordered.keys())
        if sizes and sizes[0] == _smallest(document):
            return random[sizes[0]], ordered[sizes[0]]
    return None


def _smallest(document: Document) -> int:
    return min((int(p["block_bytes"]) for p in measured(document)), default=0)


def _lasting(document: Document) -> Iterator[_Statement]:
    """Compare what random writes take in a burst and for good, where that shows most."""
    worst: _Statement | None = None
    for kept in measured(document, sort="sustained", rw="randwrite"):
        burst = burst_of(document, kept)
        if burst is None:
            continue
        ratio = kept["mean_ns"] / burst["mean_ns"]
        if worst is None or ratio > worst.ratio:
            size, depth = words.size(kept["block_bytes"]), kept["iodepth"]
            worst = _Statement(
                ratio,
                f"Random writes of {size} fall from "
                f"{words.bandwidth(burst['bandwidth_bytes_per_s'])} to "
                f"{words.bandwidth(kept['bandwidth_bytes_per_s'])} once the drive has been "
                "written through",
                _ratios(kept, burst)[0],
                f"That is {words.factor(ratio)} times slower, with {depth} in flight",
            )
    if worst is not None:
        yield worst


def _cause(point: Point, found: Findings) -> str:
    """Say what makes a pattern slow: by where its time goes, or by what was detected."""
    if _moves(point):
        return "An arm has to move for each"
    if point["attribution_ns"] is not None:
        parts = {k: v for k, v in point["attribution_ns"].items() if k not in WAITING}
        cause = _BY_PART.get(max(parts, key=lambda key: parts[key]))
    else:
        cause = None
        if "write" in point["rw"] and isinstance(found.get("merge_unit_bytes"), Detected):
            cause = _BY_PART["merge"]
        elif "write" in point["rw"] and isinstance(found.get("rmw_unit_bytes"), Detected):
            cause = _BY_PART["rmw"]
    if cause is None:
        return ""
    key, with_value, without = cause
    finding = found.get(key)
    return with_value.format(words.value(finding)) if isinstance(finding, Detected) else without


_BY_PART = {
    "merge": (
        "merge_unit_bytes",
        "To make room for them, the drive rewrites blocks of {}",
        "To make room for them, the drive rewrites whole blocks",
    ),
    "rmw": (
        "rmw_unit_bytes",
        "For them, the drive reads and rewrites units of {}",
        "For them, the drive reads and rewrites larger units",
    ),
    "gc": (
        "reclaim_unit_bytes",
        "To make room for them, the drive moves older data out of units of {}",
        "To make room for them, the drive moves older data",
    ),
    "map": (
        "map_zone_bytes",
        "To find their places, the drive loads parts of its address table, one for each {}",
        "To find their places, the drive loads parts of its address table",
    ),
}
"""By the part of the latency: the property that says how much, and the words for both cases."""


def _moves(point: Point) -> bool:
    parts = point["attribution_ns"] or {}
    return bool(parts.get("mechanical", 0.0) > sum(parts.values()) / 2)


def moving_parts(document: Document) -> bool:
    """Say whether reads wait for an arm: by where a simulated drive's time goes.

    Of a real drive by the time itself: half a turn of the fastest disks takes longer than any
    read of a flash page, and reads in sequence need none.
    """
    pair = _pair(document, "read")
    if pair is None:
        return False
    random, ordered = pair
    if random["attribution_ns"] is not None:
        return _moves(random)
    if random["p50_ns"] is None or ordered["p50_ns"] is None:  # too few reads for a median
        return False
    return bool(random["p50_ns"] >= HALF_TURN_NS and ordered["p50_ns"] < HALF_TURN_NS / NOTABLE)


def _gains(document: Document, found: Findings) -> Iterator[_Statement]:
    """Say what requests in flight gain."""
    knee = found.get("queue_depth_knee")
    points = measured(document, rw="randread", block_bytes=_smallest(document))
    rates = {p["iodepth"]: float(p["iops"]) for p in points if p["iops"]}
    if len(rates) < 2 or min(rates) != 1:
        return
    best = max(rates, key=lambda depth: (rates[depth], -depth))
    ratio = rates[best] / rates[1]
    if isinstance(knee, Absent) and ratio < NOTABLE:
        yield _Statement(
            ratio, f"Queues gain nothing: {words.iops(rates[1])} random reads a second at any depth"
        )
    elif ratio >= NOTABLE:
        yield _Statement(
            ratio,
            f"Random reads gain from queues: {words.iops(rates[best])} a second with {best} in "
            f"flight, {words.factor(ratio)} times as many as one at a time",
        )


def _ratio(one: Point, other: Point) -> float:
    return float(one["mean_ns"]) / float(other["mean_ns"])


def _even(document: Document) -> Iterator[str]:
    """Say that no place is dearer than another."""
    pairs = [pair for what in ("read", "write") if (pair := _pair(document, what))]
    if not pairs:
        return
    kinds = " and ".join(
        f"{words.time(random['mean_ns'])} for a {'write' if 'write' in random['rw'] else 'read'}"
        f"{_burst(random)}"
        for random, _ in pairs
    )
    size = words.size(pairs[0][0]["block_bytes"])
    if any(_ratios(*pair)[1] >= NOTABLE for pair in pairs):
        yield f"Times scatter too much to compare random places with sequence: at {size} {kinds}"
        return
    most = max(_ratio(*pair) for pair in pairs)
    apart = (
        "are as fast as those in sequence" if most < EQUAL
        else f"take at most {words.factor(most)} times as long as those in sequence"
    )  # fmt: skip
    yield f"Random requests {apart}: at {size}, {kinds}"
