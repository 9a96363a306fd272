"""What formulas may use: detected properties, and what follows from them; else why not."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdscope.advise.streams import MIB, size
from ssdscope.findings import (
    DEPTH_SWEEP,
    PROPERTIES,
    SIZE_SWEEP,
    Absent,
    Ambiguous,
    Detected,
    Evidence,
    Findings,
    Line,
    Undetectable,
)
from ssdscope.units import format_number

ALPHA, BETA = "read_latency_alpha_ns", "read_latency_beta_ns_per_byte"
KNEE = "queue_depth_knee"
RMW, MERGE, PHASE = "rmw_unit_bytes", "merge_unit_bytes", "alignment_phase_bytes"
RECLAIM = "reclaim_unit_bytes"
INTERLEAVE, PLACEMENT = "interleave_degree", "placement_pages"
SPARE, TRIM, PSLC = "over_provisioning_ratio", "trim_effect", "pslc_bytes"
SETTLED, N90, MERGES = "settled random writes", "n90", "merge unit, or that there is none"
"""No findings of their own: of the performance that was measured; of the sweep behind alpha; and
the merge unit, where its absence counts, too."""
PAGE_BYTES, SECTOR_BYTES = 4096, 512
RISES = 0.03
"""A curve that gains more from the last doubling of the depth has no plateau yet."""
PLACEHOLDER = "/dev/DEVICE"


@dataclass(frozen=True)
class Facts:
    """What is known of a drive.

    Attributes
    ----------
    findings
        Everything that probes answered.
    sustained
        Rows of the performance section: what the drive keeps up.
    device
        Path of the block device, or a placeholder.
    capacity_bytes
        Of the drive; 0 if not known.
    queue
        Attributes of the kernel's queue, as they are today; nothing of a simulated drive.
    """

    findings: Findings
    sustained: Sequence[Mapping[str, Any]] = ()
    device: str = PLACEHOLDER
    capacity_bytes: int = 0
    queue: Mapping[str, Any] = field(default_factory=dict)
    _why: dict[str, str | None] = field(default_factory=dict, compare=False)

    def why_not(self, name: str) -> str | None:
        """Say why a formula cannot use a property; None if it can."""
        if name not in self._why:
            self._why[name] = self._reason(name)
        return self._why[name]

    def known(self, name: str) -> bool:
        """Say whether a formula can use a property."""
        return self.why_not(name) is None

    def number(self, name: str) -> float:
        """Give the value of a property that is known."""
        return float(self.findings[name].value or 0)

    def whole(self, name: str) -> int:
        """Give the value of a property that is known, as a whole number."""
        return round(self.number(name))

    @property
    def unit_bytes(self) -> int:
        """The RMW unit."""
        return self.whole(RMW)

    def first_of(self, unit_bytes: int) -> int:
        """Give where the first whole unit of a size begins.

        Units begin at multiples of their size less the alignment phase, if there is one.
        """
        return -self.whole(PHASE) % unit_bytes if self.known(PHASE) else 0

    @property
    def start_bytes(self) -> int:
        """Give where a partition begins that was placed well: where a unit does."""
        for name in (MERGE, RMW):
            if self.known(name):
                return self.first_of(self.whole(name))
        return 0

    @property
    def block(self) -> tuple[int, str] | None:
        """The effective block of a drive that merges, with its symbol; None for others."""
        return (self.whole(MERGE), "merge unit") if self.known(MERGE) else None

    @property
    def span(self) -> tuple[int, str]:
        """What a file system's stripe covers: the merge unit, or all units that work side by side.

        Beyond the RMW unit, alignment gains nothing on a drive that maps pages (PROBING 5).
        """
        if (merge := self.block) is not None:
            return merge
        if self.known(INTERLEAVE):
            return max(self.lanes_bytes, self.unit_bytes), "interleaved units"
        return self.unit_bytes, "RMW unit"

    @property
    def lanes_bytes(self) -> int:
        """One chunk on each of the units that work side by side; 4 KiB if these are not known."""
        if not self.known(INTERLEAVE):
            return PAGE_BYTES
        pages = self.whole(PLACEMENT) if self.known(PLACEMENT) else 1
        return self.whole(INTERLEAVE) * pages * PAGE_BYTES

    @property
    def depth(self) -> int:
        """The knee, as a whole number of requests."""
        return math.ceil(self.number(KNEE))

    def n90(self) -> tuple[int, str]:
        """Give the read size that reaches 90 % of the bandwidth, and the sum in words."""
        measured = self._n90_measured
        if measured is None or self._on_a_line:
            return n90_from(self.number(ALPHA), self.number(BETA))
        return n90_measured(measured)

    @property
    def _on_a_line(self) -> bool:
        return self.known(BETA) and _one_line(self.findings[ALPHA].evidence)

    @property
    def _n90_measured(self) -> int | None:
        size_bytes = self.findings[ALPHA].evidence.figures.get("n90_bytes")
        return int(size_bytes) if isinstance(size_bytes, int | float) and size_bytes > 0 else None

    def today(self, attribute: str) -> int | None:
        """Give an attribute of the queue as it is today, if that is known."""
        text = str(self.queue.get(attribute, ""))
        return int(text) if text.isascii() and text.isdigit() else None

    @property
    def least_unit_bytes(self) -> int:
        """Return the RMW unit, or the block that the kernel works with if that is larger.

        Where the block is not known, that is 4 KiB, so that settings fit every drive.
        """
        sizes = [self.today(each) for each in ("logical_block_size", "physical_block_size")]
        known = [each for each in sizes if each is not None]
        return max(self.unit_bytes, *(known or [PAGE_BYTES]), SECTOR_BYTES)

    def rests_on(self, names: Sequence[str]) -> tuple[str, ...]:
        """List the findings among what a formula uses."""
        findings = [each for name in names for each in _BEHIND.get(name, (name,))]
        return tuple(dict.fromkeys(each for each in findings if self.known(each)))

    def settled(self, page_bytes: int) -> float:
        """Give the rate of settled random writes in pages of a size, per second.

        Of the size measured that is nearest: one write costs alike below the RMW unit.
        """
        row = min(self._settled(), key=lambda each: abs(math.log(each["block_bytes"] / page_bytes)))
        return float(row["bandwidth_bytes_per_s"]) / max(page_bytes, int(row["block_bytes"]))

    def settled_bytes(self) -> float:
        """Give the highest rate of settled random writes, in bytes per second."""
        return max(float(each["bandwidth_bytes_per_s"]) for each in self._settled())

    def _settled(self) -> list[Mapping[str, Any]]:
        return [
            each
            for each in self.sustained
            if each.get("rw") == "randwrite"
            and each.get("reached") is True
            and all(_positive(each.get(key)) for key in ("block_bytes", "bandwidth_bytes_per_s"))
        ]

    def _reason(self, name: str) -> str | None:
        if name == SETTLED:
            return None if self._settled() else _unsettled(self.sustained)
        if name == N90:
            return self._no_n90()
        if name == MERGES:
            absent = isinstance(self.findings.get(MERGE), Absent)
            return None if absent else self._reason(MERGE)
        finding = self.findings.get(name)
        called = PROPERTIES[name].name
        match finding:
            case None:
                return f"{called} not probed"
            case Absent():
                return f"{called} absent: {finding.reason}"
            case Ambiguous():
                either = " or ".join(format_number(each) for each in finding.candidates)
                return f"{called} ambiguous, {either}: {finding.reason}"
            case Undetectable():
                return f"{called} not detected: {finding.what_was_seen}"
            case Detected() if not _usable(finding.value, name):
                return f"{called} not usable: {finding.value}"
        if name == KNEE and (rise := still_rises(finding.evidence)):
            return f"{called} unsure: {rise}"
        return None

    def _no_n90(self) -> str | None:
        """Say why there is no n90: without a line it is the size that was measured.

        Of a bandwidth that the last doubling still raises by a tenth the highest is not known.
        """
        if (why := self.why_not(ALPHA)) is not None:
            return why
        if (measured := self._n90_measured) is None:
            return self.why_not(BETA)
        swept = self.findings[ALPHA].evidence.exhibit(SIZE_SWEEP)
        if swept is None or self._on_a_line or 2 * measured <= swept.span[1]:
            return None
        return f"bandwidth still rises at {size(round(swept.span[1]))}, the largest size read"


_BEHIND: dict[str, tuple[str, ...]] = {SETTLED: (), N90: (ALPHA, BETA), MERGES: (MERGE,)}
"""What is no finding itself, and the findings behind it."""


def _usable(value: float | str, name: str) -> bool:
    """Say whether a formula can calculate with a value: a phase and a spare share may be 0."""
    if isinstance(value, str) or not math.isfinite(value):
        return False
    return value >= 0 if name in (PHASE, SPARE) else value > 0


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _unsettled(rows: Sequence[Mapping[str, Any]]) -> str:
    remarks = [
        str(each["remark"]) for each in rows if each.get("rw") == "randwrite" and each.get("remark")
    ]
    return f"Settled random writes not known: {remarks[0] if remarks else 'not measured'}"


def still_rises(evidence: Evidence) -> str | None:
    """Say by how much the rate still rises at the deepest queue that was tried, if it does."""
    shown = evidence.exhibit(DEPTH_SWEEP)
    if shown is None or len(shown.series[0].x) < 2:
        return None
    curve = shown.series[0]
    earlier = [rate for at, rate in zip(curve.x, curve.y, strict=True) if at <= curve.x[-1] / 2]
    if not earlier or max(earlier) <= 0:
        return None
    rise = curve.y[-1] / max(earlier) - 1
    if rise <= RISES:
        return None
    return f"reads per second still rise by {rise:.0%} at depth {curve.x[-1]:g}"


def _one_line(evidence: Evidence) -> bool:
    """Say whether one line holds for all sizes that were read."""
    line, swept = evidence.fit(Line), evidence.exhibit(SIZE_SWEEP)
    return line is None or swept is None or line.last >= swept.span[1]


def n90_from(alpha_ns: float, beta_ns_per_byte: float) -> tuple[int, str]:
    """Give the size whose transfer takes nine times as long as its start, and the sum in words."""
    found = round(9 * alpha_ns / beta_ns_per_byte) if beta_ns_per_byte > 0 else 16 * MIB
    text = (
        f"n90 = 9·alpha/beta = 9 · {alpha_ns / 1000:.4g} us / {beta_ns_per_byte:.4g} ns/byte "
        f"= {size(up(found, PAGE_BYTES))}"
    )
    return found, text


def n90_measured(size_bytes: int) -> tuple[int, str]:
    """Give a measured size, for a drive whose latency is not one line over all sizes."""
    text = (
        f"n90 = {size(size_bytes)}: smallest size measured at 90 % of the highest bandwidth "
        "(latency is not one line, so 9·alpha/beta does not hold)"
    )
    return size_bytes, text


def up(value: float, unit: int) -> int:
    """Round up to whole units."""
    return math.ceil(value / unit) * unit


def power_of_two(value: float) -> int:
    """Give the power of two at or above a value."""
    return 1 << max(0, math.ceil(math.log2(max(value, 1))))


def doublings(first: int, last: int) -> list[int]:
    """List a value and its doublings up to another."""
    values = [first]
    while 2 * values[-1] <= last:
        values.append(2 * values[-1])
    return values
