"""What must be written: with the right token, in the window and nowhere else."""

from functools import partial

from tests.lab.cases import Case
from tests.lab.kinds import KINDS, Device, Kind, allowed, by_serial
from tests.lab.tools import MIB, cli, host, read_at


def window_of(device: Device) -> tuple[int, int]:
    """The last quarter, on whole MiB."""
    quarter = device.size_bytes // 4 // MIB * MIB
    return device.size_bytes - quarter, quarter


def on_zeros(kind: Kind) -> str:
    """A blank device needs nothing but its token; all of the window is written, and verified."""
    with kind.device() as device:
        options = allowed(device)
        said = cli(
            "run", device.path, "--rw", "write", "--bs", "64k", "--seed", "1", "-o", "json",
            "--verify", "crc32c", *options,
        )  # fmt: skip
        assert said.status == 0, said.why
        start, length = said.document["target"]["access"]["window"]
        wrote = said.document["write"]["bytes"]
        assert 0 < wrote == length, f"wrote {wrote} bytes of {length}"
        assert any(read_at(device.path, start, 4096)), "nothing stands there"
        assert not any(read_at(device.path, start - 4096, 4096)), "something stands before it"
    return f"wrote {wrote} bytes"


def beside_data(kind: Kind) -> str:
    """Data outside of the window stay, byte for byte."""
    with kind.device() as device:
        options = allowed(device)
        device.fill()
        window = window_of(device)
        before, inside = device.digest(without=window), device.digest()
        said = cli(
            "run", device.path, "--rw", "randwrite", "--bs", "4k", "--number-ios", "200",
            "--iodepth", "4", "--seed", "2", "--overwrite-existing", "-o", "json", *options,
        )  # fmt: skip
        assert said.status == 0, said.why
        start, length = said.document["target"]["access"]["window"]
        assert start >= window[0], f"the window {start} reaches before the last quarter {window}"
        assert device.digest(without=window) == before, "WRITTEN OUTSIDE OF THE WINDOW"
        assert device.digest() != inside, "nothing was written"
    return f"200 writes in {length} bytes from {start}; the rest is unchanged"


def only_one_of_two(name: str, other: str) -> str:
    """What is written to one namespace or unit is not written to the other."""
    with KINDS[name].device() as device:
        options = allowed(device)
        host().ask("fill", image=other, start=0, length=MIB, seed=3)
        before = host().ask("digest", image=other)
        said = cli("run", device.path, "--rw", "write", "--bs", "64k", "--seed", "1", *options)
        assert said.status == 0, said.why
        assert host().ask("digest", image=other) == before, "THE OTHER ONE WAS WRITTEN"
    return "the other one is unchanged"


def content_preserved(kind: Kind) -> str:
    """With --preserve-content every byte is afterwards as it was."""
    with kind.device() as device:
        options = allowed(device)
        device.fill()
        before = device.digest()
        said = cli(
            "run", device.path, "--rw", "write", "--bs", "4k", "--number-ios", "100", "--seed", "1",
            "--preserve-content", "-o", "json", *options,
        )  # fmt: skip
        assert said.status == 0, said.why
        assert device.digest() == before, "the content is another"
        wrote = said.document["write"]["requests"]
    return f"{wrote} writes, the content is as it was"


def reading_changes_nothing(kind: Kind) -> str:
    """A run of reads opens it for reading only."""
    with kind.device() as device:
        if kind.named and kind.writable:
            device.fill()
        before = device.digest()
        said = cli(
            "run", device.path, "--rw", "randread", "--bs", "4k", "--number-ios", "50", "-o", "json"
        )
        assert said.status == 0, said.why
        assert device.digest() == before, "IT WAS WRITTEN"
        read = said.document["read"]["requests"]
    return f"{read} reads"


def first_namespace() -> str:
    """The first namespace keeps its data while the second is written."""
    assert by_serial("LAB-NVME-0002", 1) != by_serial("LAB-NVME-0002", 2)
    return only_one_of_two("nvme-namespace", "space1")


NAMED = [kind for kind in KINDS.values() if kind.named and kind.writable]
CASES = [
    *(
        Case("writing", k.name, "reads", partial(reading_changes_nothing, k))
        for k in KINDS.values()
    ),
    *(
        Case("writing", k.name, name, partial(case, k))
        for k in NAMED
        for name, case in (
            ("a blank device", on_zeros),
            ("beside data", beside_data),
            ("--preserve-content", content_preserved),
        )
    ),
    Case("writing", "nvme-namespace", "the other namespace stays", first_namespace),
    Case(
        "writing", "scsi-lun", "the other unit stays", partial(only_one_of_two, "scsi-lun", "lun1")
    ),
]
