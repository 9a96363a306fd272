"""Who a device is: model, serial number, sizes, health, and the token that names it alone."""

from functools import partial

from tests.lab.cases import Case
from tests.lab.kinds import KINDS, Device, Kind, both_paths, by_serial, identity
from tests.lab.tools import cli

SERIALS = {
    "nvme": "LAB-NVME-0001",
    "nvme-namespace": "LAB-NVME-0002",
    "sata": "LAB-SATA-0004",
    "scsi-4kn": "LAB-4K-0005",
    "scsi-lun": "LAB-LUNS-0006",
    "nvme-zoned": "LAB-ZONED-003",
    "nvme-multipath": "LAB-SHARED-13",
}
HEALTH = {"nvme": ("celsius", "used_percent"), "sata": ("celsius", "power_on_hours")}
TYPES = {
    "loop": "loop", "loop-on-disk": "loop", "partition": "partition", "dm-linear": "dm",
    "dm-crypt": "dm", "dm-on-loop": "dm", "md-on-loop": "md",
    "md-raid0": "md", "md-raid1": "md", "zram": "zram", "nbd": "nbd",
    "null_blk": "virtual", "null_blk-4k": "virtual", "null_blk-zoned": "virtual",
}  # fmt: skip


def who(kind: Kind) -> str:
    """Ask who a device is, and compare with what the machine was given."""
    with kind.device() as device:
        known = identity(device)
        size_bytes = device.size_bytes
    flat = {**known, **(known["health"] or {})}
    assert flat["device_type"] == TYPES.get(kind.name, "disk"), known
    assert flat["capacity_bytes"] == size_bytes, known
    assert flat["logical_block_bytes"] == kind.block_bytes, known
    if kind.name in SERIALS:
        assert flat["serial"] == SERIALS[kind.name], known
    for key in HEALTH.get(kind.name, ()):
        assert flat.get(key) is not None, f"no {key}: {known}"
    assert bool(flat["token"]) == kind.named, f"token {flat['token']}"
    shown = [f"{key} {flat[key]}" for key in ("celsius", "used_percent") if key in flat]
    return ", ".join([f"token {flat['token']}", *shown])


def tokens_of(*devices: str) -> list[str]:
    """Give the tokens of several nodes."""
    return [str(identity(Device(path))["token"]) for path in devices]


def namespaces_differ() -> str:
    """Two namespaces of one controller are two drives."""
    paths = [by_serial("LAB-NVME-0002", nsid) for nsid in (1, 2)]
    first, second = tokens_of(*paths)
    assert first != second, f"both namespaces have the token {first}"
    return f"{first}, {second}"


def units_differ() -> str:
    """Two units of one array are two drives."""
    paths = [by_serial("LAB-LUNS-0006", lun=lun) for lun in (1, 2)]
    first, second = tokens_of(*paths)
    assert first != second, f"both units have the token {first}"
    return f"{first}, {second}"


def paths_agree() -> str:
    """Two paths lead to one drive."""
    first, second = tokens_of(*both_paths())
    assert first == second, f"one disk has the tokens {first} and {second}"
    return first


def text_is_whole() -> str:
    """The text for people names the token, too."""
    path = by_serial("LAB-NVME-0001")
    said = cli("doctor", "--identify", path)
    (token,) = tokens_of(path)
    assert said.status == 0, said.why
    assert token in said.out, said.out
    return token


CASES = [
    *(Case("identity", kind.name, "who it is", partial(who, kind)) for kind in KINDS.values()),
    Case("identity", "nvme-namespace", "tokens of two namespaces differ", namespaces_differ),
    Case("identity", "scsi-lun", "tokens of two units differ", units_differ),
    Case("identity", "two-paths", "both paths have one token", paths_agree),
    Case("identity", "nvme", "the text names the token", text_is_whole),
]
