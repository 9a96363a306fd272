"""A file behind a loop device is not written, whatever the kernel calls it: identity decides."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.holders import OTHER_MOUNTS, holding, mounted_elsewhere, mounted_here
from tests.integration.kept_content import (
    ALL,
    MIB,
    assert_ends_refused,
    assert_refused,
    digest,
    precious,
    written,
)
from tests.integration.loop_devices import NEEDS_LOOP_DEVICES, attached, done

pytestmark = NEEDS_LOOP_DEVICES


@dataclass
class Place:
    """A folder for a case, and what to undo in the end."""

    folder: Path
    undo: ExitStack

    def attach(self, file: Path, *options: str) -> str:
        return self.undo.enter_context(attached(file, *options))


def data(place: Place, name: str | bytes) -> Path:
    return precious(place.folder / os.fsdecode(name), 2 * MIB)


def called(name: str | bytes) -> Callable[[Place], Path]:
    """A file by a name that is hard to read out of the kernel's text."""

    def prepare(place: Place) -> Path:
        file = data(place, name)
        place.attach(file)
        return file

    return prepare


def attached_with(*options: str) -> Callable[[Place], Path]:
    def prepare(place: Place) -> Path:
        file = data(place, "scratch.img")
        place.attach(file, *options)
        return file

    return prepare


def name_deleted(place: Place) -> Path:
    file = data(place, "scratch.img")
    other = place.folder / "other.img"
    other.hardlink_to(file)
    place.attach(file)
    file.unlink()
    return other


def name_taken_by_another(place: Place) -> Path:
    """The backing name leads to something else by now."""
    file = data(place, "scratch.img")
    other = place.folder / "other.img"
    other.hardlink_to(file)
    place.attach(file)
    file.unlink()
    file.write_bytes(bytes(2 * MIB))
    return other


def name_renamed(place: Place) -> Path:
    file = data(place, "scratch.img")
    place.attach(file)
    return file.rename(place.folder / "other.img")


def hidden(place: Place) -> Path:
    """Another mount lies on its folder; a second name is elsewhere."""
    file = precious(place.folder / "hidden" / "scratch.img", 2 * MIB)
    other = place.folder / "other.img"
    other.hardlink_to(file)
    place.attach(file)
    place.undo.enter_context(mounted_here(file.parent, "-t", "tmpfs", "none"))
    return other


ATTACH = (
    "device = subprocess.check_output(['losetup', '--find', '--show', sys.argv[-1]], text=True);"
    "open(sys.argv[1], 'w').write(device)"
)


def detached_later(place: Place, note: Path) -> None:
    place.undo.callback(done, "losetup", "--detach", note.read_text().strip())


def attached_in_a_container(place: Place) -> Path:
    """By a path that only another mount namespace has."""
    file, note = data(place, "scratch.img"), place.folder / "note"
    (place.folder / "inside").mkdir()
    inside = place.folder / "inside" / "scratch.img"
    program = f"subprocess.run(['mount', '--bind', *sys.argv[2:4]], check=True)\n{ATTACH}"
    words = (note, place.folder, inside.parent, inside)
    place.undo.enter_context(holding(program, *words, within=OTHER_MOUNTS))
    detached_later(place, note)
    return file


def container_gone(place: Place) -> Path:
    """The namespace in which it was attached has ended; the device has not."""
    file, note = data(place, "scratch.img"), place.folder / "note"
    (place.folder / "inside").mkdir()
    inside = place.folder / "inside" / "scratch.img"
    program = f"subprocess.run(['mount', '--bind', *sys.argv[2:4]], check=True)\n{ATTACH}"
    with holding(program, note, place.folder, inside.parent, inside, within=OTHER_MOUNTS):
        pass
    detached_later(place, note)
    return file


def mounted_in_a_container(place: Place) -> Path:
    """As ``mount -o loop`` does it: 2,959 of 3,004 files were lost of one such image."""
    file = place.folder / "scratch.img"
    with file.open("wb") as image:
        image.truncate(16 * MIB)
    done("mkfs.ext4", "-q", file)
    (place.folder / "mnt").mkdir()
    place.undo.enter_context(mounted_elsewhere("-o", "loop,ro,noload", file, place.folder / "mnt"))
    return file


def behind_two(place: Place) -> Path:
    file = data(place, "scratch.img")
    place.attach(file, "--read-only")
    place.attach(file, "--offset", str(MIB))
    return file


def deep_folder(place: Place) -> Path:
    """The kernel's structure has room for 63 bytes of a name."""
    return called("deep/" * 30 + "scratch.img")(place)


def beneath_a_loop_on_a_loop(place: Place) -> Path:
    file = data(place, "scratch.img")
    place.attach(Path(place.attach(file)))
    return file


CASES: dict[str, Callable[[Place], Path]] = {
    "as usual": called("scratch.img"),
    "ends in a blank": called("scratch.img "),
    "begins with a blank": called(" scratch.img"),
    "ends in a tab": called("scratch.img\t"),
    "is a blank": called(" "),
    "not UTF-8": called(b"scratch\xff\xfe.img"),
    "a newline": called("scratch\n.img"),
    "ends in a newline": called("scratch.img\n"),
    "a backslash": called(r"scratch\012.img"),
    "like a deleted one": called("scratch.img (deleted)"),
    "escapes": called("scratch\x1b[31m.img"),
    "a long path": deep_folder,
    "its name deleted": name_deleted,
    "its name taken by another": name_taken_by_another,
    "renamed": name_renamed,
    "hidden under a mount": hidden,
    "read-only": attached_with("--read-only"),
    "from an offset on": attached_with("--offset", "65536"),
    "a part": attached_with("--offset", "512", "--sizelimit", "4096"),
    "direct": attached_with("--direct-io=on"),
    "two loop devices": behind_two,
    "in a container": attached_in_a_container,
    "in a container that is gone": container_gone,
    "mounted in a container": mounted_in_a_container,
    "beneath two loop devices": beneath_a_loop_on_a_loop,
}


@contextmanager
def place_in(folder: Path) -> Iterator[Place]:
    with ExitStack() as undo:
        yield Place(folder, undo)


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_not_written(cli: Callable[..., Any], tmp_path: Path, name: str) -> None:
    with place_in(tmp_path) as place:
        file = CASES[name](place)
        before = digest(file)
        token = cli("doctor", "--identify", str(file), "-o", "json").document["identity"]["token"]
        said = written(cli, file, token, *ALL)
        after = digest(file)
    assert_refused(said, "is the file behind loop", r"loop\d+ is attached to it")
    assert after == before


def test_it_is_not_served_for_writing(
    spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    with place_in(tmp_path) as place:
        file = name_deleted(place)
        process = spawn(
            "serve", str(file), "--socket", str(tmp_path / "socket"), "--destroy-data",
            "FILE:other.img", "--overwrite-existing",
        )  # fmt: skip
        assert_ends_refused(process, "is the file behind loop", r"loop\d+ is attached to it")


def test_a_member_of_an_array_is_asked_as_well(cli: Callable[..., Any], tmp_path: Path) -> None:
    with place_in(tmp_path) as place:
        file = name_deleted(place)
        free = tmp_path / "free.img"
        free.write_bytes(bytes(2 * MIB))
        before = digest(file, free)
        said = written(cli, f"raid0:{free},{file}?chunk=64k", "FILE:free.img,FILE:other.img", *ALL)
        assert_refused(said, "is the file behind loop", r"loop\d+ is attached to it")
        assert digest(file, free) == before


def test_a_file_that_was_detached_again_is_written(cli: Callable[..., Any], tmp_path: Path) -> None:
    """All refusals would pass if a file was never written again."""
    with place_in(tmp_path) as place:
        file = name_deleted(place)
    assert written(cli, file, "FILE:other.img", *ALL).status == 0


def test_a_file_of_the_same_inode_number_on_another_file_system_is_another(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Fresh tmpfs mounts number their files alike: the device belongs to the identity."""
    files = []
    with ExitStack() as undo:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            folder = undo.enter_context(mounted_here(tmp_path / name, "-t", "tmpfs", "none"))
            (folder / "scratch.img").write_bytes(bytes(MIB))
            files.append(folder / "scratch.img")
        if files[0].stat().st_ino != files[1].stat().st_ino:
            pytest.skip("this kernel numbers files of all tmpfs in one row")
        with attached(files[0]):
            assert written(cli, files[1], "FILE:scratch.img").status == 0
