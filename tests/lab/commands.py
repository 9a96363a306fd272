"""Commands beside reads and writes: discard, write-zeroes, FUA, flush; blocks of 4,096 bytes."""

from functools import partial
from pathlib import Path
from typing import Any

from tests.lab.cases import Case
from tests.lab.kinds import KINDS, Device, Kind, allowed
from tests.lab.tools import MIB, cli, read_at
from tests.lab.writing import NAMED, window_of


def sent(device: Device, ops: list[int], offsets: list[int], lengths: list[int]) -> Any:
    """Send requests to a device that is open for writing; give their log, and what it is."""
    from ssdscope.targets import open_target

    options = allowed(device)
    opened = open_target(
        device.path, destroy_token=options[1], allow_virtual=True, overwrite_existing=True
    ).device
    return opened.run_list(ops, offsets, lengths, iodepth=1), opened.info


def stays_in_window(kind: Kind, op: str, leaves_zeros: bool) -> str:
    """One request over the first MiB of the window, after a write there; the rest stays."""
    from ssdscope.targets import records

    with kind.device() as device:
        device.fill()
        window = window_of(device)
        before = device.digest(without=window)
        log, _ = sent(device, [records.OP_WRITE, getattr(records, op)], [0, 0], [MIB, MIB])
        outside = device.digest(without=window)
        first = read_at(device.path, window[0], MIB)
        second = read_at(device.path, window[0] + MIB, 4096)
    assert outside == before, "CHANGED OUTSIDE OF THE WINDOW"
    assert any(second), "more than the request was changed"
    assert not log.error.any(), f"errors {log.error.tolist()}"
    assert any(first) != leaves_zeros, "zeros" if not any(first) else "no zeros"
    return "reads as zeros" if leaves_zeros else "reads as written"


def discards(kind: Kind) -> str:
    """A discard changes at most what it names; what it leaves is the device's affair."""
    from ssdscope.targets import records

    with kind.device() as device:
        device.fill()
        window = window_of(device)
        before = device.digest(without=window)
        if int(device.queue("discard_max_bytes")) == 0:
            return "the kernel declares no discard"
        log, info = sent(device, [records.OP_DISCARD], [0], [MIB])
        assert info.discard, "the kernel declares discards, and we do not offer them"
        assert not log.error.any(), f"errors {log.error.tolist()}"
        assert device.digest(without=window) == before, "DISCARDED OUTSIDE OF THE WINDOW"
        kept = any(read_at(device.path, window[0], MIB))
        assert any(read_at(device.path, window[0] + MIB, 4096)), "more than asked was discarded"
    return "reads as before" if kept else "reads as zeros"


def are_no_splits(kind: Kind, *words: str) -> str:
    """The kernel counts a flush as a write of nothing, too; none is taken for a split request."""
    with kind.device() as device:
        options = allowed(device)
        said = cli(
            "run", device.path, "--rw", "write", "--bs", "4k", "--number-ios", "200", "--seed", "1",
            "-o", "json", *words, *options,
        )  # fmt: skip
    assert said.status == 0, said.why
    assert "requests of each" not in said.err, said.why
    disk = said.document["quiet"]["disk"]
    return f"kernel: {disk['write_requests']} writes, {disk.get('flush_requests')} flushes"


def splits_are_seen(kind: Kind, *words: str) -> str:
    """What the kernel does split is still said, whatever makes writes durable."""
    with kind.device() as device:
        options = allowed(device)
        limit = int(device.queue("max_hw_sectors_kb"))
        size_kib = min(limit, 128)
        attribute = Path(f"/sys/class/block/{device.name}/queue/max_sectors_kb")
        before = attribute.read_text()
        attribute.write_text(str(size_kib // 4))
        try:
            said = cli(
                "run", device.path, "--rw", "write", "--bs", f"{size_kib}k", "--number-ios", "40",
                "--seed", "1", "-o", "json", *words, *options,
            )  # fmt: skip
        finally:
            attribute.write_text(before)
    assert said.status == 0, said.why
    assert "4.00 requests of each" in said.err, said.why
    return "4.00 requests of each"


def small_blocks(kind: Kind) -> str:
    """Requests that are no whole blocks are refused before anything is sent."""
    with kind.device() as device:
        options = allowed(device) if kind.named else ()
        before = device.digest()
        rw = "randwrite" if kind.named else "randread"
        said = cli("run", device.path, "--rw", rw, "--bs", "512", "--number-ios", "8", *options)
        assert said.status == 2, said.why
        assert "4096-byte" in said.err, said.why
        assert device.digest() == before
        fits = cli("run", device.path, "--rw", rw, "--bs", "4k", "--number-ios", "8", *options)
        assert fits.status == 0, fits.why
    return said.why


def off_the_grid() -> str:
    """A window that does not begin with a block is refused."""
    with KINDS["scsi-4kn"].device() as device:
        options = allowed(device)
        before = device.digest()
        said = cli(
            "run", device.path, "--rw", "write", "--bs", "4k", "--number-ios", "8",
            "--offset", "512", "--size", "1m", *options,
        )  # fmt: skip
        assert said.status == 2, said.why
        assert device.digest() == before
    return said.why


FLUSHING = [KINDS[name] for name in ("nvme", "sata", "scsi-4kn", "scsi_debug", "dm-linear", "loop")]
ZEROES = ("OP_WRITE_ZEROES", True)
DURABLE = ("OP_WRITE_FUA", False)
CASES = [
    *(Case("commands", k.name, "discard", partial(discards, k)) for k in NAMED),
    *(
        Case("commands", k.name, "write zeroes", partial(stays_in_window, k, *ZEROES))
        for k in NAMED
    ),
    *(Case("commands", k.name, "FUA", partial(stays_in_window, k, *DURABLE)) for k in NAMED),
    *(
        Case("commands", k.name, f"{name} no split requests", partial(are_no_splits, k, *words))
        for k in FLUSHING
        for name, words in (("flushes are", ("--fsync", "1")), ("FUA makes", ("--fua",)))
    ),
    *(
        Case("commands", k, f"splits are seen; {how[0]}", partial(splits_are_seen, KINDS[k], *how))
        for k in ("nvme", "sata")
        for how in (("--fsync", "1"), ("--fua",))
    ),
    *(
        Case("commands", name, "half a block", partial(small_blocks, KINDS[name]))
        for name in ("scsi-4kn", "null_blk-4k")
    ),
    Case("commands", "scsi-4kn", "a window off the grid", off_the_grid),
]
