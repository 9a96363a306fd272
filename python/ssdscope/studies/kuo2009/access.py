"""Raw access (section 4.1) and the drives: the switches that the thesis's procedures use.

The thesis switches caches off and flushes them by ATA commands. Here a target says itself what it
allows; what it says is asked of a target of each kind, and tried on the thesis's drives.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ssdscope.errors import UsageError
from ssdscope.plots.panels import Panel, in_panels
from ssdscope.probes.budget import StageProgress
from ssdscope.studies.kuo2009.bench import (
    GIB,
    KIB,
    MIB,
    Drives,
    Served,
    flushed,
    number,
    numbers,
    read,
    write,
)
from ssdscope.studies.record import Columns, Measured, Reading, Table
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_FLUSH, CacheInfo
from ssdscope.targets.serving import exported

SIMULATED = {
    "Transcend SLC": "transcend-slc",
    "Transcend MLC": "transcend-mlc",
    "Samsung SLC": "samsung-slc",
    "Mtron SLC": "mtron-slc",
    "Intel MLC": "intel-mlc",
    "OCZ Core": "ocz-core",
    "OCZ Vertex": "ocz-vertex",
}
"""The thesis's drives, table 2."""
ARRAY = "raid0:sim:kuo-samsung-slc,sim:kuo-samsung-slc"
COLUMNS = ("target", "kind", "write cache off", "read cache off", "flush", "discard", "smallest")
BLOCK = (
    "the row of block devices is that of files, as which they are opened, for reading only; "
    "ssdscope reproduce kuo2009 --figure access --target /dev/... asks yours"
)
SAID = {"switchable": "yes", "fixed": "no: always on", "absent": "has none", "unknown": "unknown"}
FLUSHED = {"Samsung SLC": "samsung-slc", "Intel MLC": "intel-mlc", "Mtron SLC": "mtron-slc"}
"""Those with a write buffer that the thesis measures."""


def switches(name: str, device: Device) -> tuple[str, ...]:
    """Give the row of a target: what it says of itself, and whether a flush ends well."""
    info = device.info
    log = device.run_list([OP_FLUSH], [0], [0])
    return (
        name,
        info.kind,
        _off(info.write_cache),
        _off(info.read_cache),
        "fails" if log.error[0] else "yes",
        "yes" if info.discard else "no",
        f"{info.logical_block_bytes} B",
    )


def _off(cache: CacheInfo) -> str:
    return SAID[cache.control]


def by_kind(seed: int) -> list[tuple[str, ...]]:
    """Open a target of each kind, and ask it."""
    rows = [
        switches(f"sim:kuo-{name}", open_target(f"sim:kuo-{name}", seed=seed).device)
        for name in SIMULATED.values()
    ]
    rows.append(switches("raid0: of two Samsung SLC", open_target(ARRAY, seed=seed).device))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(bytes(MIB))
        file = switches("a regular file", open_target(str(path)).device)
    rows += [file, ("/dev/...", "block", *file[2:])]
    rows.append(switches("null:", open_target("null:").device))
    with exported(open_target("sim:mqsim-8g", seed=seed)) as uri:
        rows.append(switches("nbd+unix: of a simulated drive", open_target(uri).device))
    return rows


def tried(
    drives: Drives, drive: str = "samsung-slc", fixed: str = "mtron-slc"
) -> dict[str, Reading]:
    """Use the switches as the thesis did, and read off what they do."""
    places = np.arange(4) * 16 * KIB
    buffered, direct = (
        write(opened(drive), places, 4 * KIB).mean_ns for opened in (drives.fork, drives.unbuffered)
    )
    cached, flash = (_again(drives.fork(drive), places, on=on) for on in (True, False))
    left = {}
    for label, name in FLUSHED.items():
        whole = flushed(drives.fork(name), np.arange(8) * 16 * KIB, 16 * KIB)
        left[label] = 1 - whole.counts["flash_bytes_programmed"] / (128 * KIB)
    said = ", ".join(f"{label} {100 * max(share, 0):.0f} %" for label, share in left.items())
    refused = _refuses(drives.fork(fixed))
    return {
        "write cache off": _instead(direct, buffered),
        "read cache off": _instead(flash, cached),
        "flash, RAM": number(flash / cached),
        "buffer fixed": Reading("refused" if refused else "switched off", refused),
        "flush, left": Reading(
            f"{said} of it is not in flash", sum(share > 0 for share in left.values())
        ),
    }


def _instead(one: float, other: float) -> Reading:
    return Reading(f"{one / 1e3:.0f} us instead of {other / 1e3:.0f}", one / other)


def _again(device: Device, places: npt.NDArray[np.int64], *, on: bool) -> float:
    """Read the same data twice with the read cache on or off; give the mean time of the second."""
    if device.info.read_cache.control == "switchable":
        device.set_read_cache(on)
    read(device, places, 4 * KIB)
    return read(device, places, 4 * KIB).mean_ns


def _refuses(device: Device) -> bool:
    try:
        device.set_write_cache(False)
    except UsageError:
        return True
    return False


def figure_access(drives: Drives, _: StageProgress) -> Measured:
    """Ask a target of each kind, or the one that is given."""
    if drives.target is not None:
        rows, found = [switches("the target", drives.target)], {}
    else:
        rows, found = by_kind(drives.seed), tried(drives)
    columns: Columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    notes = [BLOCK] if drives.target is None else []
    return Measured(found, None, columns, notes, Table(COLUMNS, tuple(rows)))


SIBLINGS = ("transcend-slc", "transcend-mlc")


def table_2(drives: Drives, _: StageProgress) -> Measured:
    """Ask the thesis's drives for their size, and compare those of SLC and MLC cells."""
    sizes = {
        label: drives.fork(name).info.capacity_bytes / 1e9 for label, name in SIMULATED.items()
    }
    ordered = [_written(drives, name, in_order=True) for name in SIBLINGS]
    random = [_written(drives, name, in_order=False) for name in SIBLINGS]
    spreads = [_spread(each.times_ns) for each in random]
    wide = random[0].times_ns
    windows = 1e9 * 16 * 4 * KIB / wide[: wide.size // 16 * 16].reshape(-1, 16).sum(axis=1)
    found = {f"table 2: {label}": number(each) for label, each in sizes.items()} | numbers(
        {
            "SLC, MLC: writes in order": ordered[0].rate / ordered[1].rate,
            "SLC, MLC: random writes": random[0].rate / random[1].rate,
            "MLC, spread": spreads[1] / spreads[0],
            "collection, spread": float(np.quantile(wide, 0.95) / np.quantile(wide, 0.05)),
            "collection, throughput": _spread(windows) / _spread(wide),
        }
    )
    columns: Columns = {"drive": list(sizes), "bytes": [int(each * 1e9) for each in sizes.values()]}
    panel = Panel("", y="holds (GB)", names=[each.replace(" ", "\n") for each in sizes],
                  bars={"": list(sizes.values())})  # fmt: skip
    return Measured(found, lambda: in_panels([panel], width=6.4), columns)


def _written(drives: Drives, name: str, *, in_order: bool) -> Served:
    device = drives.fork(name)
    if in_order:
        return write(device, np.arange(drives.long(64)) * 2 * MIB, 2 * MIB)
    count = drives.long(384)
    random = drives.random("table 2")
    places = random.integers(0, GIB // (4 * KIB), count) * 4 * KIB
    served = write(device, places, random.integers(1, 9, count) * 4 * KIB)
    late = np.arange(count // 3, count)
    return Served(served.times_ns[late], served.counts, served.log.select(late))


def _spread(values: Sequence[float] | np.ndarray) -> float:
    """Return the standard deviation over the mean."""
    return float(np.std(values) / np.mean(values))
