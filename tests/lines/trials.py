"""Which trial is for which setting, and what tool of which version it is tried with."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.lines import kernel, rocks, servers, shell
from tests.lines.line import Line


@dataclass(frozen=True)
class Trial:
    """How the lines of a setting are tried.

    Attributes
    ----------
    run
        Tries one; it raises a RefusedError, or a NotHereError where this machine cannot try it.
    packages
        Debian's packages of the tool.
    name
        The tool.
    by
        What took the line.
    needs_kernel
        It needs drivers that the guest of `make lab` has.
    """

    run: Callable[[Line], None]
    packages: str
    name: str
    by: str
    needs_kernel: bool = False


READ_BACK = "accepted, and read back"
RUNNING = "loaded by the server, and asked for"
TRIALS = {
    "sfdisk partition start": Trial(shell.sfdisk, "fdisk", "sfdisk", READ_BACK),
    "lvm dataalignment": Trial(shell.lvm, "lvm2", "LVM", READ_BACK),
    "lvm thin chunk size": Trial(
        kernel.thin, "lvm2", "LVM", "accepted by dm-thin, and read back", needs_kernel=True
    ),
    "dm-crypt sector-size": Trial(
        kernel.opened, "cryptsetup-bin", "cryptsetup", "opened by dm-crypt", needs_kernel=True
    ),
    "ext4 stride, stripe_width": Trial(shell.ext4, "e2fsprogs", "mkfs.ext4", READ_BACK),
    "xfs su, sw": Trial(shell.xfs, "xfsprogs", "mkfs.xfs", READ_BACK),
    "f2fs segments per section": Trial(
        kernel.f2fs_mounted, "f2fs-tools", "mkfs.f2fs", "mounted", needs_kernel=True
    ),
    "btrfs nodesize": Trial(shell.btrfs, "btrfs-progs", "mkfs.btrfs", READ_BACK),
    "zfs ashift": Trial(shell.ashift, "", "OpenZFS 2.1", "held to its rules, not run"),
    "mdadm chunk (RAID-0, RAID-10)": Trial(
        kernel.array, "mdadm", "mdadm", "taken by md, and read back", needs_kernel=True
    ),
    "mdadm chunk (RAID-5, RAID-6)": Trial(
        kernel.array, "mdadm", "mdadm", "taken by md, and read back", needs_kernel=True
    ),
    "bcache bucket": Trial(
        kernel.bcache, "bcache-tools", "bcache-tools", "registered, and read back",
        needs_kernel=True,
    ),
    "linux read-ahead": Trial(shell.read_ahead, "util-linux", "blockdev", READ_BACK),
    "linux nr_requests": Trial(shell.nr_requests, "", "the kernel", READ_BACK),
    "linux fstrim --minimum": Trial(
        shell.fstrim, "util-linux", "fstrim", "accepted by ext4 and XFS"
    ),
    "postgres effective_io_concurrency": Trial(
        servers.postgres, "postgresql-15", "PostgreSQL", RUNNING
    ),
    **{
        f"innodb {name}": Trial(servers.mariadb, "mariadb-server", "MariaDB", RUNNING)
        for name in (
            "innodb_page_size", "innodb_log_write_ahead_size", "innodb_flush_neighbors",
            "innodb_read_io_threads", "innodb_io_capacity",
        )
    },
    **{
        f"rocksdb {name}": Trial(
            rocks.options, "rocksdb-tools", "RocksDB", "loaded by db_bench, and read back"
        )
        for name in (
            "compaction_readahead_size", "writable_file_max_buffer_size", "target_file_size_base",
        )
    },
    "rocksdb rate_limiter": Trial(
        rocks.program, "librocksdb-dev", "RocksDB", "compiled, run, and read back"
    ),
    "spare-area share left unpartitioned": Trial(
        shell.spare_area, "util-linux", "sfdisk and blkdiscard",
        "accepted, and read back; a drive that is too small keeps its data",
    ),
}  # fmt: skip
WITHOUT_KERNEL = {"dm-crypt sector-size": shell.luks, "f2fs segments per section": shell.f2fs}
"""What of such a line can be tried here: the tool alone."""


@cache
def tool(setting: str) -> str:
    """Name the tool of a setting with its version here."""
    trial = TRIALS[setting]
    if not trial.packages:
        return trial.name
    words = ["dpkg-query", "--show", "--showformat=${Version}", trial.packages]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    upstream = found.split(":")[-1].rsplit("-", 1)[0]
    return f"{trial.name} {upstream}"
