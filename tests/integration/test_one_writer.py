"""One writer for one output: locked before anything is measured, replaced whole or not at all."""

import contextlib
import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.writing import wait_until_writing

from ssdscope.cli.interrupts import install
from ssdscope.errors import OutputError, SsdscopeError, UsageError
from ssdscope.results import LogWriter, read_log, renaming
from ssdscope.results.claims import claim_of
from ssdscope.results.files import Together, creating, together, write_text, write_with_others
from ssdscope.results.guard import Place, claim_places
from ssdscope.results.marks import LIST, TOOL, written_by_us
from ssdscope.results.publishing import Part
from ssdscope.results.whole_lines import WholeLines

LONG = ("--rw", "randread", "--runtime", "1000s", "--seed", "1")
OURS = json.dumps({"tool": TOOL}) + "\n"
STEPS = 12
"""More than putting two files at their places takes."""


def named(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize(
    "other", ["a.parquet", "./a.parquet", "../here/a.parquet", "link.parquet", "hard.parquet"]
)
def test_a_second_log_is_refused_at_once_by_whatever_name(
    spawn: Callable[..., Any], cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    first = ("run", "sim:mqsim-8g", "--rw", "randread", "--number-ios", "10", "--seed", "1")
    assert cli(*first, "--log", "a.parquet").status == 0
    Path("link.parquet").symlink_to("a.parquet")
    os.link("a.parquet", "hard.parquet")
    process = spawn("run", "sim:mqsim-512g", *LONG, "--log", "a.parquet")
    try:
        wait_until_writing(process, folder)
        said = cli("run", "sim:mqsim-512g", *LONG, "--log", other, "--force")
        time.sleep(0.5)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert (said.status, said.out) == (2, "")
    assert f"another process is writing {other}: process {process.pid} (" in said.err
    assert " run sim:mqsim-512g --rw randread " in said.err
    assert "hint: wait until it has ended" in said.err
    assert process.returncode == 130
    assert read_log("a.parquet")[1] == json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert named(folder) == ["a.json", "a.parquet", "hard.parquet", "link.parquet"]


def test_of_two_records_at_once_one_is_made(spawn: Callable[..., Any], tmp_path: Path) -> None:
    words = ("probe", "latency", "sim:msr-4gb", "--record", str(tmp_path / "a.npz"), "--seed", "1")
    both = [spawn(*words), spawn(*words)]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    (refused,) = (text for process, text in zip(both, said, strict=True) if process.returncode)
    assert "another process is writing" in refused
    assert named(tmp_path) == ["a.npz"]
    assert written_by_us(tmp_path / "a.npz")


@pytest.fixture
def holder() -> Iterator[Callable[[Path], "subprocess.Popen[str]"]]:
    """Let another process claim a place."""
    begun: list[subprocess.Popen[str]] = []

    def hold(path: Path) -> "subprocess.Popen[str]":
        program = (
            "import sys, time\n"
            "from ssdscope.results.guard import Place, claim_places\n"
            f"claims = claim_places([Place({str(path)!r})], [])\n"
            "print('held', flush=True)\n"
            "time.sleep(600)"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
        )
        begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in begun:
        process.kill()
        process.communicate()


def test_a_lock_ends_with_its_process_and_what_is_left_is_in_nobody_s_way(
    holder: Callable[[Path], "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    place = tmp_path / "new.json"
    process = holder(place)
    with pytest.raises(UsageError, match=rf"process {process.pid} \("):
        claim_places([Place(str(place))], [])
    assert len(named(tmp_path)) == 1, "the lock, and nothing else"
    process.kill()
    process.wait()
    assert len(named(tmp_path)) == 1
    with claim_places([Place(str(place))], []):
        write_text(place, OURS)
    assert named(tmp_path) == ["new.json"]


def test_a_lock_file_that_somebody_wrote_into_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    with claim_places([Place(str(place))], []):
        (lock,) = tmp_path.iterdir()
        lock.write_text("my notes", encoding="utf-8")
    with claim_places([Place(str(place))], []):
        pass
    assert lock.read_text(encoding="utf-8") == "my notes"


def test_special_files_are_not_locked(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    places = [Place("/dev/null"), Place(str(pipe))]
    with claim_places(places, []), claim_places(places, []):
        write_text("/dev/null", "text")
    assert named(tmp_path) == ["pipe"]


def test_a_device_beside_a_log_is_written_into_and_stays(cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("/dev/null")
    log = str(tmp_path / "a.parquet")
    assert cli("run", "null:1m", "--number-ios", "10", "--log", log).status == 0
    with LogWriter(log, attribution=False) as writer:
        assert writer.path == tmp_path / "a.parquet"  # left without a document
    assert (tmp_path / "a.json").is_symlink()
    assert Path("/dev/null").is_char_device()


def test_a_command_that_holds_a_lock_is_named_without_codes_of_terminals(tmp_path: Path) -> None:
    place = str(tmp_path / "a\x1b[31m.json")
    program = (
        "import sys, time\n"
        "from ssdscope.results.guard import Place, claim_places\n"
        "claims = claim_places([Place(sys.argv[1])], [])\n"
        "print('held', flush=True)\n"
        "time.sleep(600)"
    )
    words = [sys.executable, "-c", program, place]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        with pytest.raises(UsageError) as caught:
            claim_places([Place(place)], [])
    finally:
        process.kill()
        process.communicate()
    assert "\x1b" not in caught.value.message.partition(": process")[2]


def test_a_file_system_without_locks_is_told(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(_file: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", without)
    log = tmp_path / "a.parquet"
    said = cli("run", "null:1m", "--number-ios", "10", "--log", str(log))
    assert said.status == 0
    assert f"warning: {log}: its file system has no locks" in said.err
    assert named(tmp_path) == ["a.json", "a.parquet"]


def test_names_as_long_as_names_may_be_are_locked(tmp_path: Path) -> None:
    one, other = (tmp_path / ("é" * 120 + end) for end in ("1.json", "2.json"))
    with claim_places([Place(str(one))], []), claim_places([Place(str(other))], []):
        write_text(one, OURS)
        write_text(other, OURS)
    assert named(tmp_path) == [one.name, other.name]


def test_a_folder_is_one_output(cli, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ("reproduce", "ryu2009", "--figure", "12", "-O", str(folder), "--seed", "1")
    with claim_places([Place(str(folder), folder=True)], []):
        said = cli(*words)
    assert (said.status, said.out) == (2, "")
    assert f"another process is writing {folder}" in said.err
    assert not folder.exists(), "it was made for the claim, and nothing came into it"


def test_what_was_put_into_a_folder_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with claim_places([Place(str(folder), folder=True)], []):
        (folder / "table.csv").write_text("my notes", encoding="utf-8")
        with (
            pytest.raises(OutputError, match="did not write"),
            creating(folder / "table.csv") as file,
        ):
            file.write("1,2\n")
    assert (folder / "table.csv").read_text(encoding="utf-8") == "my notes"


def test_what_was_put_at_a_place_meanwhile_stays_and_what_was_measured_too(tmp_path: Path) -> None:
    for stood in (True, False):
        place = tmp_path / f"a{stood}.json"
        if stood:
            place.write_text(OURS, encoding="utf-8")
        with claim_places([Place(str(place))], []):
            place.unlink(missing_ok=True)
            place.write_text("my notes", encoding="utf-8")
            with pytest.raises(OutputError, match="was put there after it was checked") as caught:
                write_text(place, "measured")
        assert place.read_text(encoding="utf-8") == "my notes"
        kept = Path(str(caught.value.hint).removeprefix("what was measured is in "))
        assert kept.read_text(encoding="utf-8") == "measured"
        assert (kept.parent, kept.suffix) == (tmp_path, ".json")


def test_a_device_that_is_a_file_by_now_is_not_written(tmp_path: Path) -> None:
    link, precious = tmp_path / "link", tmp_path / "precious"
    precious.write_text("precious", encoding="utf-8")
    link.symlink_to("/dev/null")
    with claim_places([Place(str(link))], []):
        link.unlink()
        link.symlink_to(precious)
        write_text(link, "measured")
    assert precious.read_text(encoding="utf-8") == "precious"


def test_a_journal_that_is_another_file_by_now_is_not_added_to(tmp_path: Path) -> None:
    journal, precious = tmp_path / "a.jsonl", tmp_path / "precious"
    precious.write_text("precious\n", encoding="utf-8")
    for first in (OURS, None):
        if first is not None:
            journal.write_text(first, encoding="utf-8")
        with claim_places([Place(str(journal), resumed=True)], []):
            journal.unlink(missing_ok=True)
            journal.symlink_to(precious)
            with pytest.raises(SsdscopeError, match="cannot write"):
                WholeLines(journal)
        journal.unlink()
    assert precious.read_text(encoding="utf-8") == "precious\n"


def two(folder: Path, text: str) -> None:
    """Write two files that belong together."""
    with Together() as files:
        files.write(folder / "a.json", text.encode())
        files.write(folder / "b.json", text.encode())


def two_and_wait(folder: Path) -> None:
    two(folder, "new")
    time.sleep(1)


def held(folder: Path) -> list[str]:
    return [(folder / name).read_text(encoding="utf-8") for name in ("a.json", "b.json")]


@pytest.mark.parametrize("stood", [True, False])
@pytest.mark.parametrize("failing", ["make_ready", "put"])
def test_where_one_file_fails_the_whole_set_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, stood: bool
) -> None:
    if stood:
        two(tmp_path, "old")
    works = getattr(Part, failing)

    def fails(part: Part) -> None:
        if part.claim.name == "b.json":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        works(part)

    with monkeypatch.context() as patch:
        patch.setattr(Part, failing, fails)
        with pytest.raises(OutputError, match=r"b\.json: Input/output error"):
            two(tmp_path, "new")
    assert named(tmp_path) == (["a.json", "b.json"] if stood else [])
    assert not stood or held(tmp_path) == ["old", "old"]
    two(tmp_path, "new")
    assert held(tmp_path) == ["new", "new"]


def test_what_does_not_come_whole_comes_not_at_all(tmp_path: Path) -> None:
    def interrupted() -> None:
        with together():
            with creating(tmp_path / "table.csv") as file:
                file.write("1,2\n")
            write_with_others(tmp_path / "picture.svg", b"<svg/>")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert named(tmp_path) == []


def killed_after(calls: int, folder: Path) -> bool:
    """Put two files at their places in a process that is killed at a rename or another step."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = calls
    rename = renaming._rename

    def step(*given: Any) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        done = rename(*given)
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    renaming._rename = step
    places = [Place(str(folder / name)) for name in ("a.json", "b.json")]
    with claim_places(places, []):
        two(folder, OURS + "new")
    os._exit(0)


def test_a_kill_at_any_step_leaves_each_file_whole_and_nothing_for_long(tmp_path: Path) -> None:
    kills = 0
    for calls in range(STEPS):
        folder = tmp_path / str(calls)
        folder.mkdir()
        two(folder, OURS + "old")
        kills += killed_after(calls, folder)
        assert set(held(folder)) <= {OURS + "old", OURS + "new"}
        places = [Place(str(folder / name)) for name in ("a.json", "b.json")]
        with claim_places(places, []):
            two(folder, OURS + "again")
        assert named(folder) == ["a.json", "b.json"]
        assert held(folder) == [OURS + "again"] * 2
    assert 4 <= kills < STEPS, "two renames, each before and after"


def test_a_table_is_known_as_ours_whenever_a_kill_comes(tmp_path: Path) -> None:
    """Killed between the list and the table: the old one is still ours, and so is the new one."""
    table = tmp_path / "table.csv"
    for text in ("1,2\n", "3,4\n", "5,6\n"):
        with creating(table) as file:
            file.write(text)
    for number, text in enumerate(("7,8\n", "9,10\n", "11,12\n")):
        child = os.fork()
        if not child:
            put = Part.put

            def killed(part: Part, put: Callable[[Part], None] = put) -> None:
                put(part)
                if part.claim.name == LIST:
                    os.kill(os.getpid(), signal.SIGKILL)

            Part.put = killed  # type: ignore[method-assign]
            with creating(table) as file:
                file.write(text)
            os._exit(0)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert table.read_text(encoding="utf-8") == "5,6\n"
        assert written_by_us(table), number
    with creating(table) as file:
        file.write("13,14\n")
    assert written_by_us(table)
    table.write_text("1,2\n", encoding="utf-8")
    assert not written_by_us(table), "it was ours long ago"


def test_an_interrupt_waits_until_both_are_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGALRM)}
    put = Part.put

    def interrupted(part: Part) -> None:
        put(part)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Part, "put", interrupted)
    install()
    try:
        with pytest.raises(KeyboardInterrupt):
            two_and_wait(tmp_path)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert held(tmp_path) == ["new", "new"]
    assert named(tmp_path) == ["a.json", "b.json"]


@pytest.mark.parametrize("missing", ["O_TMPFILE", "renameat2", "links"])
def test_file_systems_that_know_less_hold_whole_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    opened = os.open

    def without(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return opened(path, flags, *more, **named)

    def refused(*_given: Any, **_named: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if missing == "O_TMPFILE":
        monkeypatch.setattr(os, "open", without)
    else:
        monkeypatch.setattr(renaming, "_rename", lambda *_given: False)
    if missing == "links":
        monkeypatch.setattr(os, "link", refused)
    for text in ("first", "second"):
        two(tmp_path, text)
        assert held(tmp_path) == [text, text]
        assert named(tmp_path) == ["a.json", "b.json"]
    with claim_places([Place(str(tmp_path / "c.json"))], []):
        (tmp_path / "c.json").write_text("my notes", encoding="utf-8")
        with pytest.raises(OutputError, match="was put there after it was checked"):
            write_text(tmp_path / "c.json", "measured")
    assert (tmp_path / "c.json").read_text(encoding="utf-8") == "my notes"


def test_the_rights_of_what_is_replaced_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")
    page.chmod(0o640)
    write_text(page, "new")
    assert page.stat().st_mode & 0o777 == 0o640
    assert page.read_text(encoding="utf-8") == "new"
    assert claim_of(page) is None


FLIPS = {
    "links": (
        "os.symlink(('ours.json', 'precious.db')[turn % 2], 'next'); os.replace('next', 'out.json')"
    ),
    "names": "renaming.exchange(here, 'out.json', 'precious.db')",
}
"""What somebody else does with a name, again and again: turns a link, or exchanges two files."""
FLIPPER = """
import os, sys
from ssdscope.results import renaming
here = os.open(".", os.O_PATH)
turn = 0
print("begun", flush=True)
while not os.path.exists("enough"):
    try:
        {flip}
    except OSError:
        pass
    turn += 1
print(turn)
"""


@pytest.mark.parametrize("how", FLIPS)
def test_a_name_that_flips_never_gets_anything_else_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("precious.db").write_text("precious", encoding="utf-8")
    Path("ours.json" if how == "links" else "out.json").write_text(OURS, encoding="utf-8")
    flipper = subprocess.Popen(
        [sys.executable, "-c", FLIPPER.format(flip=FLIPS[how])], stdout=subprocess.PIPE, text=True
    )
    assert flipper.stdout is not None
    assert flipper.stdout.readline() == "begun\n"
    ends = time.monotonic() + 3
    written = refused = 0
    while time.monotonic() < ends or not (written and refused):
        assert time.monotonic() < ends + 60, (written, refused)
        try:
            with claim_places([Place("out.json")], []):
                write_text("out.json", OURS)
            written += 1
        except SsdscopeError:
            refused += 1
        contents = []
        for name in ("precious.db", "out.json"):
            with contextlib.suppress(FileNotFoundError):
                contents.append(Path(name).read_text(encoding="utf-8"))
        assert how == "names" or contents[0] == "precious", (written, refused)
    Path("enough").touch()
    flips = int(flipper.communicate(timeout=30)[0])
    print(f"{flips} flips, {written} written, {refused} refused")  # noqa: T201
    assert flips >= 1000
    contents = [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()]
    assert contents.count("precious") >= 1
