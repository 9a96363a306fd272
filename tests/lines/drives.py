"""The drives whose advice is tried: every preset, and drives drawn to the edges of every knob."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from ssdscope.findings import Absent, Detected, Findings
from ssdscope.recovery.shape import Values, number, shape_of
from ssdscope.recovery.truth import configured
from ssdscope.recovery.truth_of_arrays import seen_values as seen_of_array
from ssdscope.recovery.truth_of_arrays import told as truths_of_array
from ssdscope.recovery.truth_of_msr import NO_EFFECT_OF_DISCARDS
from ssdscope.recovery.truth_of_msr import seen_values as seen_of_msr
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_file, preset_names

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
CHUNK_BYTES = 64 * KIB
"""Of the one preset that is an array."""
RMW_BYTES = (512, 2 * KIB, 4 * KIB, 8 * KIB, 12 * KIB, 16 * KIB, 32 * KIB, 96 * KIB, MIB, 3 * MIB)
MERGE_BYTES = (
    None, 64 * KIB, 256 * KIB, MIB, 3 * MIB // 2, 4 * MIB, 12 * MIB, 32 * MIB, 100 * MIB, 192 * MIB,
)  # fmt: skip
PHASES = (0, 4 * KIB, 7 * KIB // 2)
SHIFTED = (4 * KIB, 16 * KIB)
"""RMW units of the drives whose units begin later, too."""
CAPACITIES = (400 * MIB, 32 * GIB)
SPARES = (0.0, 0.07, 0.2)


@dataclass(frozen=True)
class Measured:
    """What no drive file says: how fast it is.

    Attributes
    ----------
    knee
        Queue depth.
    n90_bytes
        Size of reads that reaches 90 % of the bandwidth.
    settled
        Random writes of 16 KiB, in bytes per second, once they have come to rest.
    """

    knee: float
    n90_bytes: int
    settled: float


LADDER = (
    Measured(1.0, 4 * KIB, 1e4),
    Measured(2.5, 24 * KIB, 3e5),
    Measured(9.3, 100 * KIB, 16e6),
    Measured(33.0, 700 * KIB, 3e8),
    Measured(180.0, 3 * MIB, 4e9),
    Measured(1500.0, 20 * MIB, 1e11),
)
"""From a drive of the slowest kind to one beyond any."""


@dataclass(frozen=True)
class Drive:
    """A drive as a report without errors knows it.

    Attributes
    ----------
    findings
        What was detected, and what is absent.
    sustained
        Its settled random writes.
    capacity_bytes
        Of the drive.
    """

    findings: Findings
    sustained: list[Mapping[str, Any]]
    capacity_bytes: int

    @property
    def phase_bytes(self) -> int:
        """Where its units begin later."""
        found = self.findings.get("alignment_phase_bytes")
        return int(found.value or 0) if isinstance(found, Detected) else 0


def drives() -> Iterator[Drive]:
    """List every drive."""
    for name in preset_names():
        units, capacity = of_preset(name)
        for measured in LADDER[1::2]:
            yield _drive(units, measured, capacity)
    yield from _drawn()


def _drawn() -> Iterator[Drive]:
    """List drives to the edges of every formula."""
    for (place, rmw), merge, phase in product(enumerate(RMW_BYTES), MERGE_BYTES, PHASES):
        if merge is not None and (merge % rmw or place % 3 != MERGE_BYTES.index(merge) % 3):
            continue
        if phase and (rmw not in SHIFTED or phase >= rmw):
            continue
        capacity = CAPACITIES[1] if merge or rmw > 16 * KIB else CAPACITIES[place % 2]
        units = {
            "rmw_unit_bytes": rmw,
            "merge_unit_bytes": merge,
            "alignment_phase_bytes": phase,
            "interleave_degree": (None, 4, 20)[place % 3],
            "placement_pages": 1 + place % 2,
            "over_provisioning_ratio": SPARES[place % 3],
            "pslc_bytes": GIB,
        }
        yield _drive(units, LADDER[place % len(LADDER)], capacity)
    small = {"rmw_unit_bytes": 4 * KIB, "merge_unit_bytes": 4 * MIB, "interleave_degree": 4}
    yield _drive(small, LADDER[2], CAPACITIES[0])


def _drive(units: Mapping[str, Any], measured: Measured, capacity: int) -> Drive:
    known = {
        "over_provisioning_ratio": 0.07,
        "trim_effect": 1.5,
        **units,
        "queue_depth_knee": measured.knee,
        "read_latency_alpha_ns": measured.n90_bytes / 9,
        "read_latency_beta_ns_per_byte": 1.0,
    }
    findings = Findings(
        [
            Absent(name=name, probe="p", bound=0.0, reason="it is not there")
            if value is None
            else Detected(name=name, probe="p", value=value, interval=(value, value), effect=1.0)
            for name, value in known.items()
        ]
    )
    rate = {"bandwidth_bytes_per_s": measured.settled}
    row = {"rw": "randwrite", "block_bytes": 16 * KIB, "reached": True, **rate}
    return Drive(findings, [row], capacity)


def of_preset(name: str) -> tuple[dict[str, Any], int]:
    """Return the units of a preset by what its file says, and its capacity."""
    capacity = open_target(f"sim:{name}", seed=1).device.info.capacity_bytes
    values = _flat(name)
    if "disk.rpm" in values:
        return {"rmw_unit_bytes": None, "merge_unit_bytes": None}, capacity
    if "target" in values:
        members = [_flat("huang-ssd-i")] * 2
        like = seen_of_array(members, CHUNK_BYTES)
        truths = configured(like, shape_of(like)) | truths_of_array(members, CHUNK_BYTES)
    else:
        own = seen_of_msr(values) if values["ftl.kind"] == "msr" else values
        truths = configured(own, shape_of(own))
    units = {
        each: truths[each].value if truths[each].present else None
        for each in (
            "rmw_unit_bytes", "merge_unit_bytes", "reclaim_unit_bytes", "alignment_phase_bytes",
            "interleave_degree", "placement_pages", "pslc_bytes",
        )
    }  # fmt: skip
    units["trim_effect"] = NO_EFFECT_OF_DISCARDS or None if values.get("ftl.kind") == "msr" else 1.5
    return units | {"over_provisioning_ratio": values.get("over_provisioning_ratio")}, capacity


def _flat(name: str) -> Values:
    """Return the values of a preset by dotted key, with those that formulas ask for."""
    values: dict[str, Any] = {}
    for key, value in preset_file(name).items():
        if isinstance(value, dict):
            values |= {f"{key}.{inner}": each for inner, each in value.items()}
        else:
            values[key] = value
    page = number(values, "nand.page_bytes", 4096)
    usual = {"host.logical_block_bytes": 512, "ftl.map_unit_bytes": page, "ftl.kind": "page"}
    return {**usual, "ftl.plane_order": "CWDP", **values}
