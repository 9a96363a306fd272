"""The twin's drive file, opened and held to workloads it was not fitted to."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdscope import stats
from ssdscope.errors import SsdscopeError
from ssdscope.findings import DEPTH_SWEEP, SIZE_SWEEP, Findings, Series
from ssdscope.targets import Device
from ssdscope.targets.drive_writer import drive_toml, open_drive
from ssdscope.targets.records import DeviceInfo
from ssdscope.twin.staircase import Staircase, fit_staircase
from ssdscope.workloads import Workload

NOT_MODELLED = (
    "writes: program and erase times are typical values, not fitted",
    "caches, read-ahead and mapping: none were detected yet",
    "noise: the twin answers the same request in the same time",
)
NEEDED = (("read_latency_alpha_ns", SIZE_SWEEP), ("queue_depth_knee", DEPTH_SWEEP))
"""Properties, and the exhibits of their evidence."""
PAGES_PER_BLOCK = 256
MANY_BLOCKS = 1 << 18
"""Of a unit; a larger drive gets larger blocks instead of more."""
OVER_PROVISIONING = 0.07
CHANNEL_NS_PER_BYTE = 0.01
"""Nearly nothing: the time of a page on its channel is part of the unit's time."""
TYPICAL_PROGRAM_NS = 600_000
TYPICAL_ERASE_NS = 3_000_000
REQUESTS = 400
USELESS_MRE = 1.0
"""From here on the twin is no likeness: its mean error is as large as what it predicts."""


@dataclass(frozen=True)
class Twin:
    """A drive file and its error.

    Attributes
    ----------
    toml
        The file.
    rows
        Held-out reads: measured mean latency, and the twin's.
    """

    toml: str
    staircase: Staircase
    rows: list[dict[str, Any]]
    not_modelled: tuple[str, ...] = NOT_MODELLED

    def errors(self) -> stats.PredictionErrors | None:
        """Compare it with the held-out reads, if there are any."""
        if not self.rows:
            return None
        measured = [row["mean_ns"] for row in self.rows]
        return stats.prediction_errors(measured, [row["predicted_ns"] for row in self.rows])

    def to_json(self) -> dict[str, Any]:
        """Write the twin and its error."""
        errors = self.errors()
        return {
            "toml": self.toml,
            "units": self.staircase.units,
            "unit_ns": self.staircase.unit_ns,
            "start_ns": self.staircase.start_ns,
            "ns_per_byte": self.staircase.ns_per_byte,
            "fit_error": self.staircase.error,
            "held_out": self.rows,
            "errors": None if errors is None else errors.to_json(),
            "not_modelled": list(self.not_modelled),
        }


def build(
    findings: Findings,
    info: DeviceInfo,
    held_out: Sequence[Mapping[str, Any]],
    *,
    name: str,
    seed: int,
) -> Twin | str:
    """Fit a twin, open it, and run the held-out reads on it.

    Parameters
    ----------
    findings
        Of the measured drive; the sweeps of its read latency are what is fitted.
    info
        Of the measured drive.
    held_out
        Measured workloads the fit does not see: rows with ``rw``, ``block_bytes``, ``iodepth``
        and ``mean_ns``. Writes among them are left out.
    name
        Of the measured drive, for the file's description.
    seed
        Of the twin's workloads.

    Returns
    -------
    Twin or str
        The twin, or why there is none.
    """
    by_size, by_depth = (_swept(findings, *each) for each in NEEDED)
    if by_size is None:
        return "the latency of reads could not be measured"
    if by_depth is None:
        return "the throughput at depth could not be measured"
    page_bytes = max(4096, info.logical_block_bytes)
    one_line = " ".join(name.split())
    fit = fit_staircase(
        by_size.x,
        by_size.y,
        max(by_depth.y),
        page_bytes,
    )
    try:
        text = drive_toml(_values(fit, info, page_bytes, one_line), _header(fit, one_line))
        twin = Twin(text, fit, _held_to(open_drive(text, "twin", seed), held_out, seed))
    except SsdscopeError as error:
        return f"the fitted drive could not be opened: {error.message}"
    errors = twin.errors()
    if errors is not None and errors.mre >= USELESS_MRE:
        return (
            f"flash units side by side miss the held-out reads by {100 * errors.mre:.0f} % on "
            "average; reads of a drive with moving parts or read-ahead depend on where the last was"
        )
    return twin


def _swept(findings: Findings, name: str, exhibit: str) -> Series | None:
    """Give what was measured for a property, if it was."""
    finding = findings.get(name)
    shown = None if finding is None else finding.evidence.exhibit(exhibit)
    return None if shown is None else shown.series[0]


def _values(
    fit: Staircase, info: DeviceInfo, page_bytes: int, name: str
) -> dict[str, str | int | float | bool]:
    exported_pages = math.ceil(info.capacity_bytes / page_bytes)
    per_unit = exported_pages * (1 + OVER_PROVISIONING) / fit.units
    per_block = PAGES_PER_BLOCK
    while per_unit / per_block > MANY_BLOCKS:
        per_block *= 2
    blocks = max(32, math.ceil(per_unit / per_block) + 8)
    raw_pages = blocks * per_block * fit.units
    transfer_ns = page_bytes * CHANNEL_NS_PER_BYTE
    return {
        "description": f"twin of {name}: read path only",
        # Reads cost the same whether a page was written or not, and this opens at once.
        "default_state": "fresh",
        # Exactly the measured capacity, whatever the blocks were rounded up to.
        "over_provisioning_ratio": raw_pages * page_bytes / info.capacity_bytes - 1,
        "nand.channels": fit.units,
        "nand.blocks_per_plane": blocks,
        "nand.pages_per_block": per_block,
        "nand.page_bytes": page_bytes,
        "nand.read_ns": max(0, round(fit.unit_ns - transfer_ns)),
        "nand.program_ns": TYPICAL_PROGRAM_NS,
        "nand.erase_ns": TYPICAL_ERASE_NS,
        "channel.ns_per_byte": CHANNEL_NS_PER_BYTE,
        "host.interface": "simple",
        "host.logical_block_bytes": info.logical_block_bytes,
        "host.firmware_ns": round(fit.start_ns),
        "host.bytes_per_second": 1e9 / max(fit.ns_per_byte, 1e-3),
        "ftl.kind": "page",
        "ftl.allocation": "address",
    }


def _header(fit: Staircase, name: str) -> list[str]:
    return [
        f"Twin of {name}, fitted to its reads:",
        f"{fit.units} units, {fit.unit_ns / 1000:.4g} us a page on each,",
        f"{fit.start_ns / 1000:.4g} us a request, {fit.ns_per_byte:.4g} ns a byte.",
        f"Fit error {100 * fit.error:.2g} %; the error on other workloads is in the report.",
        "",
        "Not modelled:",
        *(f"- {each}" for each in NOT_MODELLED),
    ]


def _held_to(
    device: Device, held_out: Sequence[Mapping[str, Any]], seed: int
) -> list[dict[str, Any]]:
    rows = []
    for index, row in enumerate(held_out):
        if "write" in row["rw"] or row["mean_ns"] is None:
            continue
        workload = Workload(
            rw=row["rw"],
            block_bytes=row["block_bytes"],
            iodepth=row["iodepth"],
            requests=max(REQUESTS, 4 * row["iodepth"]),
            ramp_requests=row["iodepth"],
            seed=seed + index,
        )
        predicted = device.run(workload).only().latency_ns.mean
        rows.append(
            {key: row[key] for key in ("rw", "block_bytes", "iodepth", "mean_ns")}
            | {"predicted_ns": predicted}
        )
    return rows
