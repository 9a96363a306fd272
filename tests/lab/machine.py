"""The guest as QEMU is asked for it: which disks it has, and the command line."""

from dataclasses import dataclass
from pathlib import Path

MIB = 2**20
MEMORY_MIB = 2048


@dataclass(frozen=True)
class Image:
    """A file of the host that is a disk, or a namespace, of the guest.

    Attributes
    ----------
    name
        How cases name it; it is the name of the file, of QEMU's drive and of its node, too.
    size_mib
        How large it is.
    shared
        Two devices of the guest are this one image: two paths to one disk.
    """

    name: str
    size_mib: int = 32
    shared: bool = False

    def drive(self, folder: Path, again: int = 0) -> list[str]:
        """Give the arguments for a drive on it."""
        name = self.name + ("" if not again else f"-{again}")
        locking = ",file.locking=off" if self.shared else ""
        path = str(folder / f"{self.name}.img").replace(",", ",,")
        return [
            "-drive",
            f"file={path},if=none,id={name},format=raw,discard=unmap{locking}",
        ]


@dataclass(frozen=True)
class Machine:
    """A guest: its images, the devices that are made of them, and the suites that run there."""

    name: str
    images: tuple[Image, ...]
    devices: tuple[str, ...]


def _scsi(drive: str, lun: int, words: str, target: int = 0) -> str:
    return f"scsi-hd,drive={drive},id=dev-{drive},bus=vs.0,scsi-id={target},lun={lun},{words}"


DISKS = Machine(
    "disks",
    (
        Image("nvme"),
        Image("space1"),
        Image("space2"),
        Image("zoned", 64),
        Image("shared"),
        Image("sata"),
        Image("scsi4k"),
        Image("lun1"),
        Image("lun2"),
        Image("path", shared=True),
        Image("raid1"),
        Image("raid2"),
        Image("plug", 256),
        Image("unplug", 256),
        Image("grow", 256),
    ),
    (
        "nvme,drive=nvme,serial=LAB-NVME-0001",
        "nvme,id=two,serial=LAB-NVME-0002",
        "nvme-ns,drive=space1,bus=two,nsid=1",
        "nvme-ns,drive=space2,bus=two,nsid=2",
        "nvme,id=zc,serial=LAB-ZONED-003",
        "nvme-ns,drive=zoned,bus=zc,zoned=on,zoned.zone_size=16M,zoned.max_open=2",
        "nvme-subsys,id=sub",
        "nvme,id=left,serial=LAB-SHARED-13,subsys=sub",
        "nvme,id=right,serial=LAB-SHARED-13,subsys=sub",
        "nvme-ns,drive=shared,bus=left,nsid=1,shared=on",
        "ahci,id=ahci",
        "ide-hd,drive=sata,bus=ahci.0,serial=LAB-SATA-0004,rotation_rate=1",
        "virtio-scsi-pci,id=vs",
        _scsi("scsi4k", 0, "serial=LAB-4K-0005,logical_block_size=4096,physical_block_size=4096"),
        _scsi("lun1", 1, "serial=LAB-LUNS-0006,wwn=0x5000c500aaaa0001", 1),
        _scsi("lun2", 2, "serial=LAB-LUNS-0006,wwn=0x5000c500aaaa0002", 1),
        _scsi("path", 0, "serial=LAB-PATH-0007,wwn=0x5000c500bbbb0001,share-rw=on", 2),
        _scsi("path-1", 0, "serial=LAB-PATH-0007,wwn=0x5000c500bbbb0001,share-rw=on", 3),
        _scsi("raid1", 0, "serial=LAB-RAID-0008", 4),
        _scsi("raid2", 0, "serial=LAB-RAID-0009", 5),
        _scsi("unplug", 0, "serial=LAB-GONE-0011", 6),
        "nvme,drive=plug,id=dev-plug,serial=LAB-GONE-0010",
        _scsi("grow", 0, "serial=LAB-GROW-0012", 7),
    ),
)
SIMULATED = Machine("sim", (), ())
"""Its one disk is a simulated drive: `ssdscope serve --qemu` says the arguments."""


def prepare(machine: Machine, folder: Path) -> None:
    """Make all images anew; they read as zeros."""
    for image in machine.images:
        with (folder / f"{image.name}.img").open("wb") as file:
            file.truncate(image.size_mib * MIB)


def command(
    machine: Machine, kernel: Path, version: str, folder: Path, more: list[str] | None = None
) -> list[str]:
    """Give QEMU's command line; console, channel and QMP end in files and sockets of a folder."""
    drives = [word for image in machine.images for word in image.drive(folder)]
    drives += [w for image in machine.images if image.shared for w in image.drive(folder, 1)]
    devices = [word for device in machine.devices for word in ("-device", device)]
    return [
        "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
        "-m", str(MEMORY_MIB), "-display", "none", "-no-reboot", "-nic", "none", "-no-user-config",
        "-kernel", str(kernel / f"boot/vmlinuz-{version}"), "-initrd", str(folder / "initrd.gz"),
        "-append", "console=ttyS0 panic=-1 quiet",
        "-serial", f"file:{folder / 'console.txt'}",
        "-qmp", f"unix:{folder / 'qmp'},server=on,wait=off",
        "-virtfs",
        "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        "-device", "virtio-serial-pci",
        "-chardev", f"socket,id=lab,path={folder / 'channel'},server=on,wait=off",
        "-device", "virtserialport,chardev=lab,name=lab",
        *drives, *devices, *(more or []),
    ]  # fmt: skip
