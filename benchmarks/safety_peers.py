"""Who writes where somebody's data are: fio, mke2fs, qemu-io and ssdscope on the same cases.

``python benchmarks/safety_peers.py`` prepares each case of the safety tests anew for each tool, as
root, on files and loop devices of 1 to 16 MiB. It prints a table of what came of it, for
docs/real-drives.md. Writing is seen by the hash of the content, before and after.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from tests.integration import (
    test_block_safety,
    test_no_way_round_attached,
    test_no_way_round_mounts,
    test_no_way_round_users,
)
from tests.integration.kept_content import MIB, digest, holes, zeros

LIMIT_S = 100
SLOW_S = 20
"""A tool that takes longer has waited: for a lease, the kernel lets it wait 45 s."""

NOT_FOUND = ("you need to specify size=", "No such file or directory")
"""What tools say of a name that they take for another one; fio drops a blank at its end."""


@dataclass(frozen=True)
class Ready:
    """A case that is prepared."""

    target: str
    token: str
    kept: tuple[Path, ...]
    """The files whose content is compared."""


@dataclass(frozen=True)
class Case:
    """What is shown of a case, and how it is prepared in a folder."""

    label: str
    prepare: Callable[[Path, ExitStack], Ready]


def on_device(label: str, name: str) -> Case:
    """Take a case of the block devices."""

    def prepare(folder: Path, undo: ExitStack) -> Ready:
        case = test_block_safety.CASES[name]
        place = undo.enter_context(test_block_safety.place_for(case, folder))
        prepared = case.prepare(place)
        target, token = prepared if isinstance(prepared, tuple) else (prepared, "LOOP:scratch.img")
        return Ready(target, token, (place.image,))

    return Case(label, prepare)


def on_stack(label: str, name: str) -> Case:
    """Take a case of stacks and namespaces."""

    def prepare(folder: Path, undo: ExitStack) -> Ready:
        image = holes(folder / "scratch.img")
        place = test_no_way_round_mounts.Place(image, undo)
        target, token = test_no_way_round_mounts.CASES[name].prepare(place)
        return Ready(target, token, tuple(sorted(folder.glob("*.img"))))

    return Case(label, prepare)


def on_file_behind_a_loop(label: str, name: str) -> Case:
    """Take a case of files that a loop device is made of."""

    def prepare(folder: Path, undo: ExitStack) -> Ready:
        place = test_no_way_round_attached.Place(folder, undo)
        file = test_no_way_round_attached.CASES[name](place)
        return Ready(str(file), f"FILE:{file.name}", (file,))

    return Case(label, prepare)


def on_file_in_use(label: str, name: str) -> Case:
    """Take a case of files that another process uses."""

    def prepare(folder: Path, undo: ExitStack) -> Ready:
        file = zeros(folder / "scratch.img", 16 * MIB)
        test_no_way_round_users.CASES[name].prepare(test_no_way_round_users.Place(file, undo))
        return Ready(str(file), "FILE:scratch.img", (file,))

    return Case(label, prepare)


CASES = [
    on_device("mounted, by its name in the table", "mounted whole"),
    on_device("mounted, by a link", "mounted, by a link"),
    on_device("mounted, by another node", "mounted, by another node"),
    on_device("disk of a mounted partition", "mounted partition, the disk"),
    on_stack("mounted in another namespace", "mounted in a container"),
    on_stack(
        "the same, and its signature overwritten", "mounted in a container, and its signature lost"
    ),
    on_stack("disk of a partition mounted there", "a partition mounted in a container"),
    on_stack("a loop device on one that is mounted there", "attached and mounted in a container"),
    on_stack("three loop devices on one that is", "beneath three loop devices"),
    on_stack("below a loop device that is mounted there", "on top, mounted in a container"),
    on_device("active swap", "swap in use"),
    on_stack("a loop device on active swap", "swap beneath"),
    on_device("claimed by another open file (`O_EXCL`)", "claimed by another process"),
    on_stack("a loop device on one that is claimed", "claimed beneath"),
    on_device("a loop device on it", "a loop device on it"),
    on_device("another loop device on the same file", "its file behind another loop device"),
    on_stack("the same, by a deleted name", "its file attached by a deleted name"),
    on_device("ext4, not in use", "ext4"),
    on_device("LVM, not in use", "LVM"),
    on_device("LUKS 2, not in use", "LUKS 2"),
    on_device("md, not in use", "md 1.0, at the end"),
    on_device("GPT, not in use", "GPT"),
    on_device("only the backup of a GPT", "GPT, only its backup"),
    on_device("open in another process", "open in another process"),
    on_device("a partition of it open in another process", "its partition open in another process"),
    on_stack("its file open in another process", "its file open in another process"),
    on_device("read-only", "read-only device"),
    on_file_behind_a_loop("file behind a loop device", "as usual"),
    on_file_behind_a_loop("the same, read-only", "read-only"),
    on_file_behind_a_loop("the same, its name deleted", "its name deleted"),
    on_file_behind_a_loop("the same, its name ends in a blank", "ends in a blank"),
    on_file_behind_a_loop("the same, its name is not UTF-8", "not UTF-8"),
    on_file_behind_a_loop("the same, hidden under a mount", "hidden under a mount"),
    on_file_behind_a_loop("the same, in another namespace", "in a container"),
    on_file_behind_a_loop("the same, mounted there", "mounted in a container"),
    on_file_in_use("file open in another process", "open to write"),
    on_file_in_use("the same, only for reading", "open to read"),
    on_file_in_use("file mapped by another process", "mapped shared, and closed"),
    on_file_in_use("file with a POSIX lock", "POSIX lock to write"),
    on_file_in_use("file with an OFD lock", "OFD lock to write"),
    on_file_in_use("file with `flock`", "flock, exclusive"),
    on_file_in_use("file with a lease to write", "lease to write"),
    on_file_in_use("descriptor under way in a socket", "in flight between two sockets"),
    on_file_in_use("file registered with a ring", "registered with a ring"),
    on_file_in_use("SQLite inside a transaction", "SQLite in a transaction"),
    on_file_in_use("image that `qemu-nbd` serves", "qemu-nbd"),
]

Command = Callable[[Ready], list[str]]


def fio(ready: Ready) -> list[str]:
    """Write 2,000 blocks at random."""
    return ["fio", "--name=try", f"--filename={ready.target}", "--rw=randwrite", "--bs=4k",
            "--direct=1", "--number_ios=2000", "--allow_file_create=0"]  # fmt: skip


def mke2fs(ready: Ready) -> list[str]:
    """Make a file system, without the option that forces it."""
    return ["mke2fs", "-q", ready.target]


def qemu_io(ready: Ready) -> list[str]:
    """Write one block."""
    return ["qemu-io", "-f", "raw", "-c", "write -P 0x55 64k 4k", ready.target]


def ssdscope(ready: Ready) -> list[str]:
    """Write 16 blocks, with the right token and every option that could help."""
    return [sys.executable, "-c", "from ssdscope.cli.start import main; main()", "run",
            ready.target, "--rw", "write", "--number-ios", "16", "--destroy-data", ready.token,
            "--overwrite-existing", "--allow-virtual"]  # fmt: skip


TOOLS: dict[str, Command] = {
    "fio": fio, "mke2fs": mke2fs, "qemu-io": qemu_io, "ssdscope": ssdscope
}  # fmt: skip


@contextmanager
def folder_of_its_own() -> Iterator[tuple[Path, ExitStack]]:
    """Make a folder for a case, and undo what the case makes before it goes."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name, ExitStack() as undo:
        yield Path(name), undo


def tried(case: Case, command: Command, *, show: bool) -> str:
    """Prepare a case, let a tool write, and say in words what came of it."""
    with folder_of_its_own() as (folder, undo):
        try:
            ready = case.prepare(folder, undo)
        except pytest.skip.Exception as reason:
            return f"not tried: {reason}"
        leased = "lease" in case.label  # whoever opens it would wait
        os.sync()  # what a mount itself still has to write
        before = None if leased else digest(*ready.kept)
        begun = time.monotonic()
        ran = run(command(ready))
        lasted_s = time.monotonic() - begun
        if leased:
            undo.close()
        changed = any_change(ready, before)
        if show:
            print(f"--- {case.label}: {ran.args}\n{ran.stdout}{ran.stderr}", file=sys.stderr)
    if not changed and any(text in ran.stdout + ran.stderr for text in NOT_FOUND):
        return "does not find it"
    return in_words(ran.returncode, changed=changed, waited=lasted_s > SLOW_S)


def run(words: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a tool that nobody can be asked by."""
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", "no end\n")


def any_change(ready: Ready, before: str | None) -> bool:
    """Compare the content with its hash, or with the zeros that it was."""
    for _ in range(2):  # what was written to a stack goes down a step at a time
        os.sync()
    if before is None:
        return any(ready.kept[0].read_bytes())
    return digest(*ready.kept) != before


def in_words(status: int, *, changed: bool, waited: bool) -> str:
    """Say what came of it."""
    words = "**writes**" if changed else "refuses"
    if changed and status:
        words = "**writes**, then fails"
    if not changed and not status:
        words = "refuses, with exit code 0"
    return words + (" after 45 s" if waited else "")


def versions() -> Iterator[str]:
    """Say what is compared."""
    kernel = os.uname().release.partition("-")[0]
    yield f"kernel {kernel}"
    for words in (["fio", "--version"], ["mke2fs", "-V"], ["qemu-io", "--version"]):
        ran = run(words)
        yield (ran.stdout or ran.stderr).splitlines()[0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose label holds this")
    parser.add_argument("--tools", default=",".join(TOOLS), help="which, with commas")
    parser.add_argument("--show", action="store_true", help="print what the tools say")
    asked = parser.parse_args()
    names = asked.tools.split(",")
    missing = [name for name in names if name != "ssdscope" and shutil.which(name) is None]
    if os.geteuid() != 0 or missing:
        sys.exit(f"needs root, and installed: {', '.join(missing) or 'all of it is'}")
    print(*versions(), sep="; ")
    print("| case |", " | ".join(names), "|")
    print("| --- |", " | ".join("---" for _ in names), "|", flush=True)
    for case in CASES:
        if asked.only in case.label:
            cells: list[Any] = [tried(case, TOOLS[name], show=asked.show) for name in names]
            print("|", case.label, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
