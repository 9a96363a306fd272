"""Raw access (section 4.1): the switches that the thesis's procedures use, and who has them.

The thesis switches caches off and flushes them by ATA commands. Here a target says itself what it
allows; what it says is asked of a target of each kind, and tried on the thesis's drives.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdscope.errors import UsageError
from ssdscope.studies.judging import SIMILAR_WITHIN
from ssdscope.studies.kuo2009.bench import KIB, MIB, Drives, flushed, read, write
from ssdscope.studies.kuo2009.sheet import Binder, Columns, hand_in, stated
from ssdscope.studies.record import Claim, FigureResult, Table
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import OP_FLUSH, CacheInfo
from ssdscope.targets.serving import exported

SIMULATED = (
    "transcend-slc",
    "transcend-mlc",
    "samsung-slc",
    "mtron-slc",
    "intel-mlc",
    "ocz-core",
    "ocz-vertex",
)
"""The thesis's drives, table 2."""
ARRAY = "raid0:sim:kuo-samsung-slc,sim:kuo-samsung-slc"
COLUMNS = ("target", "kind", "write cache off", "read cache off", "flush", "discard", "smallest")
BLOCK = (
    "the row of block devices is that of files, as which they are opened, for reading only; "
    "ssdscope reproduce kuo2009 --figure access --target /dev/... asks yours"
)
SAID = {"switchable": "yes", "fixed": "no: always on", "absent": "has none", "unknown": "unknown"}


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
        for name in SIMULATED
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


@dataclass(frozen=True)
class Tried:
    """What the switches do, where the thesis used them.

    Attributes
    ----------
    write_ns, read_ns
        Response times of a write, and of reading again, with the cache on and off.
    flushed
        Share of what was written that a flush brought to flash.
    refuses
        Whether the Mtron refuses to switch its write cache off.
    """

    write_ns: tuple[float, float]
    read_ns: tuple[float, float]
    flushed: float
    refuses: bool


def tried(drives: Drives, drive: str = "samsung-slc", fixed: str = "mtron-slc") -> Tried:
    """Use the switches."""
    places = np.arange(4) * 16 * KIB
    writes = [
        float(write(opened(drive), places, 4 * KIB).times_ns.mean())
        for opened in (drives.fork, drives.unbuffered)
    ]
    reads = []
    for on in (True, False):
        device = drives.fork(drive)
        if device.info.read_cache.control == "switchable":
            device.set_read_cache(on)
        read(device, places, 4 * KIB)
        reads.append(float(read(device, places, 4 * KIB).times_ns.mean()))
    whole = flushed(drives.fork(drive), places, 16 * KIB)
    share = whole.counts["flash_bytes_programmed"] / (places.size * 16 * KIB)
    return Tried((writes[0], writes[1]), (reads[0], reads[1]), share, _refuses(drives.fork(fixed)))


def _refuses(device: Device) -> bool:
    try:
        device.set_write_cache(False)
    except UsageError:
        return True
    return False


def claims(found: Tried) -> list[Claim]:
    """Hold what the switches do against the thesis's use of them."""
    (buffered, direct), (cached, flash) = found.write_ns, found.read_ns
    return [
        stated(
            "Samsung SLC, DISABLE WRITE CACHE: writes",
            "show the time of flash",
            f"{direct / 1e3:.0f} us instead of {buffered / 1e3:.0f}",
            direct > SIMILAR_WITHIN * buffered,
        ),
        stated(
            "Samsung SLC, DISABLE READ CACHE: the same data read again",
            "come from flash",
            f"{flash / 1e3:.0f} us instead of {cached / 1e3:.0f}",
            flash > cached,
        ),
        stated(
            "Samsung SLC, FLUSH WRITE CACHE: what was written",
            "is in flash",
            f"{100 * found.flushed:.0f} % programmed",
            found.flushed >= 1,
        ),
        stated(
            "Mtron SLC: the write buffer",
            "cannot be switched off",
            "is refused" if found.refuses else "was switched off",
            found.refuses,
        ),
    ]


def figure_access(drives: Drives, binder: Binder) -> FigureResult:
    """Ask a target of each kind, or the one that is given."""
    if drives.target is not None:
        rows, said = [switches("the target", drives.target)], []
    else:
        rows, said = by_kind(drives.seed), claims(tried(drives))
    columns: Columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    return hand_in(
        "access", said, None, columns, binder, [BLOCK], table=Table(COLUMNS, tuple(rows))
    )
