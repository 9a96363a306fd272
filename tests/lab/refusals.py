"""What must never be written: each case prepares a device and tries with every option that helps.

The content is hashed before and after, on the host wherever the device lies in an image there.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from tests.lab.cases import Case, Skipped
from tests.lab.kinds import KINDS, Device, Kind, both_paths, by_serial, identity
from tests.lab.tools import (
    MIB,
    cli,
    done,
    module,
    mounted,
    mounted_in_another_namespace,
    opened_elsewhere,
    read_at,
    write_at,
)  # fmt: skip

ALL = ("--allow-virtual", "--overwrite-existing")
WRITES = ("--rw", "randwrite", "--bs", "4k", "--number-ios", "20", "--seed", "1")
ALONE = "in use by the kernel|to anybody alone|is mounted at"
"""What is said of a use that no table of mounts here shows: the kernel itself refuses."""
TEXT = b"years of work, without any signature. " * 4000


@dataclass(frozen=True)
class Refusal:
    """What is prepared, what the refusal says, and the options given beside the token.

    ``prepare`` says what has to be undone afterwards.
    """

    name: str
    prepare: Callable[[Device, ExitStack], None]
    says: str
    options: tuple[str, ...] = ALL
    token: str | None = None


def token_of(device: Device) -> str:
    """Give the token while nothing forbids to ask; a made-up one where there is none."""
    return identity(device)["token"] or "SERIAL:0000"


def nothing(_device: Device, _undo: ExitStack) -> None:
    """Leave it as it is."""


def ext4(path: str) -> None:
    """Make a file system that writes nothing by itself later."""
    done("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", path)


def mounted_here(device: Device, undo: ExitStack) -> None:
    ext4(device.path)
    undo.enter_context(mounted(device.path))


def mounted_elsewhere(device: Device, undo: ExitStack) -> None:
    ext4(device.path)
    undo.enter_context(mounted_in_another_namespace(device.path))


def bottom_mounted_elsewhere(device: Device, undo: ExitStack) -> None:
    """Mount the disk beneath a loop device, where only another mount namespace sees it."""
    ext4(device.bottom)
    undo.enter_context(mounted_in_another_namespace(device.bottom))


def swap(device: Device, undo: ExitStack) -> None:
    done("mkswap", device.path)
    done("swapon", device.path)
    undo.callback(done, "swapoff", device.path)


def held_by_a_volume(device: Device, undo: ExitStack) -> None:
    module("dm_mod")
    sectors = device.size_bytes // 512
    table = f"0 {sectors} linear {device.path} 0"
    done("dmsetup", "create", "lab-holder", "--table", table)
    undo.callback(done, "dmsetup", "remove", "--retry", "lab-holder")


def held_by_an_array(device: Device, undo: ExitStack) -> None:
    module("raid1")
    done(
        "mdadm", "--build", "/dev/md78", "--level=1", "--raid-devices=2", "--assume-clean", "--run",
        device.path, "missing", "--force",
    )  # fmt: skip
    undo.callback(done, "mdadm", "--stop", "/dev/md78")


def opener(device: Device, undo: ExitStack) -> None:
    undo.enter_context(opened_elsewhere(device.path))


def claimant(device: Device, undo: ExitStack) -> None:
    undo.enter_context(opened_elsewhere(device.path, "os.O_RDWR | os.O_EXCL"))


def reader(device: Device, undo: ExitStack) -> None:
    undo.enter_context(opened_elsewhere(device.path, "os.O_RDONLY"))


def signature(device: Device, _undo: ExitStack) -> None:
    ext4(device.path)


def data_at_the_end(device: Device, _undo: ExitStack) -> None:
    write_at(device.path, device.size_bytes - MIB, TEXT)


def data_between_samples(device: Device, _undo: ExitStack) -> None:
    """One block in the window, where only who reads before writing meets it."""
    write_at(device.path, device.size_bytes - 3 * MIB + 20480, TEXT[:4096])


def read_only(device: Device, undo: ExitStack) -> None:
    done("blockdev", "--setro", device.path)
    undo.callback(done, "blockdev", "--setrw", device.path)


def refused(kind: Kind, how: Refusal) -> str:
    """Try to write, and compare what lies there before and after."""
    with ExitStack() as undo:
        device = undo.enter_context(kind.device())
        token = how.token or token_of(device)
        how.prepare(device, undo)
        before = device.digest()
        said = cli("run", device.path, *WRITES, "--destroy-data", token, *how.options)
        after = device.digest()
    assert after == before, f"IT WAS WRITTEN; {said.why}"
    assert said.status in (1, 2), said.why
    assert re.search(how.says, said.err), said.why
    assert said.err.count("hint: ") == 1, said.why
    return said.why


REFUSALS = (
    Refusal("mounted here", mounted_here, "is mounted at|to anybody alone"),
    Refusal("mounted in another namespace", mounted_elsewhere, ALONE),
    Refusal("swap", swap, "is swap space"),
    Refusal("held by dm", held_by_a_volume, "is held by dm-"),
    Refusal("held by md", held_by_an_array, "is held by md"),
    Refusal("open in another process", opener, r"is open in process \d+"),
    Refusal("read by another process", reader, r"is open in process \d+"),
    Refusal("claimed by another process", claimant, "to anybody alone"),
    Refusal("ext4, not mounted", signature, "carries ext4"),
    Refusal("data without a signature", data_at_the_end, "holds data", ("--allow-virtual",)),
    Refusal("read-only", read_only, "is read-only"),
    Refusal("wrong token", nothing, "is not this", token="SERIAL:none"),
)
NO_NAME = Refusal("nothing identifies it", nothing, "serial number|token|zoned")
ZONED = Refusal("zones", nothing, "is a zoned drive")
BENEATH = Refusal("the bottom is mounted in another namespace", bottom_mounted_elsewhere, ALONE)
TWO_PATHS = ("mounted here", "open in another process")


def refusals_of(kind: Kind) -> list[Refusal]:
    """Choose what can be tried on a kind."""
    if not kind.writable:
        return [ZONED]
    if not kind.named:
        return [NO_NAME]
    if kind.name in ("dm-on-loop", "md-on-loop"):  # the rest is tried on volumes of disks
        return [BENEATH]
    own = list(REFUSALS)
    if kind.virtual:
        own += [
            Refusal("without --allow-virtual", nothing, "is a|is an", ("--overwrite-existing",))
        ]
    return [*own, BENEATH] if kind.name == "loop-on-disk" else own


def data_in_the_way() -> str:
    """A block of data that no sample meets stops the run when it is about to be written."""
    kind = KINDS["nvme"]
    with kind.device() as device:
        token = token_of(device)
        data_between_samples(device, ExitStack())
        said = cli(
            "run", device.path, "--rw", "write", "--bs", "4k", "--destroy-data", token,
            "--seed", "1",
        )  # fmt: skip
        kept = read_at(device.path, device.size_bytes - 3 * MIB + 20480, 4096)
    assert kept == TEXT[:4096], f"DATA LOST; {said.why}"
    assert said.status in (1, 2), said.why
    assert "data" in said.err, said.why
    return said.why


def of_the_other(first: tuple[str, int, int], second: tuple[str, int, int]) -> str:
    """The token of one namespace or unit does not open the other, which stays as it is."""
    paths = [by_serial(serial, nsid, lun) for serial, nsid, lun in (first, second)]
    kind = KINDS["nvme-namespace" if "NVME" in first[0] else "scsi-lun"]
    with kind.device() as device:
        if device.path != paths[1]:
            raise Skipped(f"{device.path} is not {paths[1]}")
        token = token_of(Device(paths[0]))
        before = device.digest()
        said = cli("run", device.path, *WRITES, "--destroy-data", token, *ALL)
        assert device.digest() == before, f"IT WAS WRITTEN under the token {token}; {said.why}"
    assert said.status == 2, said.why
    return said.why


def second_path_in_use(how: str) -> str:
    """One path is tried while the other is used."""
    with ExitStack() as undo:
        device = undo.enter_context(KINDS["two-paths"].device())
        other = Device(both_paths()[1], ("path",), 0)
        token = token_of(device)
        if how == "mounted here":
            mounted_here(other, undo)
        else:
            undo.enter_context(opened_elsewhere(other.path))
        before = device.digest()
        said = cli("run", device.path, *WRITES, "--destroy-data", token, *ALL)
        assert device.digest() == before, f"IT WAS WRITTEN; {said.why}"
    assert said.status in (1, 2), said.why
    return said.why


CASES = [
    *(
        Case("refusals", kind.name, how.name, partial(refused, kind, how))
        for kind in KINDS.values()
        for how in refusals_of(kind)
    ),
    Case("refusals", "nvme", "data that no sample meets", data_in_the_way),
    *(
        Case("refusals", kind, f"token of the other {what}", partial(of_the_other, *drives))
        for kind, what, drives in (
            ("nvme-namespace", "namespace", (("LAB-NVME-0002", 1, 0), ("LAB-NVME-0002", 2, 0))),
            ("scsi-lun", "unit", (("LAB-LUNS-0006", 1, 1), ("LAB-LUNS-0006", 1, 2))),
        )
    ),
    *(
        Case("refusals", "two-paths", f"the other path: {how}", partial(second_path_in_use, how))
        for how in TWO_PATHS
    ),
]
