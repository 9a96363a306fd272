"""Settings of servers: each is loaded by its server, with its data on the device, and asked for."""

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.lines.devices import NotHereError, RefusedError, loop, mounted, need, ran
from tests.lines.line import Line

POSTGRES = Path("/usr/lib/postgresql/15/bin")
START_S = 120
MIB = 1 << 20


def mariadb(line: Line) -> None:
    """Start MariaDB with the setting, and ask for it."""
    need("mariadbd", "mariadb-install-db", "mariadb")
    size = next((int(text) for name, text in _pairs(line) if name == "innodb_page_size"), None)
    with loop(line.block_bytes, 1024 * MIB) as device, mounted(device) as at:
        data = at / "data"
        shutil.copytree(_installed(size or 16384), data)
        _own(data, "mysql")
        settings = at / "my.cnf"
        settings.write_text(f"[mysqld]\n{line.text}\n")
        with _mariadbd(data, settings) as ask:
            for name, wanted in _pairs(line):
                found = ask(f"select @@{name}")
                if found != wanted:
                    raise RefusedError(f"{line.text}: {name} is {found}")


def _pairs(line: Line) -> list[tuple[str, str]]:
    return [(name, value) for name, value in
            (each.split(" = ") for each in line.text.splitlines())]  # fmt: skip


@cache
def _installed(page_bytes: int) -> Path:
    """Make an empty database with pages of a size; it is copied for each line."""
    import atexit
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="ssdscope-lines-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    data = folder / "data"
    words = [f"--datadir={data}", f"--innodb-page-size={page_bytes}", "--skip-test-db"]
    root = "--auth-root-authentication-method=normal"
    ran("mariadb-install-db", "--no-defaults", *words, root, "--user=mysql")
    return data


@contextmanager
def _mariadbd(data: Path, settings: Path) -> Iterator["Ask"]:
    socket, log = data / "s", data / "said.txt"
    words = [
        "mariadbd", f"--defaults-file={settings}", "--user=mysql", f"--datadir={data}",
        f"--socket={socket}", f"--pid-file={data}/pid", "--skip-networking",
    ]  # fmt: skip
    client = ["mariadb", "--no-defaults", "-N", f"--socket={socket}", "-u", "root", "-e"]
    with _server(words, log, Ask([*client])) as ask:
        yield ask


class Ask:
    """A client of a server that is asked one thing at a time."""

    def __init__(self, words: list[str], user: str | None = None) -> None:
        self._words, self._user = words, user

    def __call__(self, question: str) -> str:
        """Return the answer."""
        return ran(*self._words, question).strip()


@contextmanager
def _server(words: list[str], log: Path, ask: Ask, user: str | None = None) -> Iterator[Ask]:
    """Let a server run until it answers, and end it afterwards."""
    with log.open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, user=user)
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                ask("select 1")
                break
            except RefusedError:
                text = log.read_text(errors="replace")
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RefusedError(f"{words[0]} does not start: {text[-600:]}") from None
                time.sleep(0.1)
        yield ask
    finally:
        process.terminate()
        process.wait(timeout=START_S)


def _own(folder: Path, user: str) -> None:
    """Hand a folder and all in it over to a user."""
    entry = pwd.getpwnam(user)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid)


def postgres(line: Line) -> None:
    """Type it into a running PostgreSQL, let that load it, and ask for it."""
    if not (POSTGRES / "initdb").exists():
        raise NotHereError("PostgreSQL 15 is not installed")
    name, wanted = line.text.removeprefix("ALTER SYSTEM SET ").rstrip(";").split(" = ")
    ask = _postgres(line.block_bytes)
    ask(line.text)
    ask("select pg_reload_conf()")
    for _ in range(100):
        found = ask(f"show {name}")
        if found == wanted:
            return
        time.sleep(0.05)
    raise RefusedError(f"{line.text}: {name} is {found}")


@cache
def _postgres(block_bytes: int) -> Ask:
    """Start a server whose data lie on a device, once; it ends with this process."""
    import atexit
    from contextlib import ExitStack

    undo = ExitStack()
    atexit.register(undo.close)
    at = undo.enter_context(mounted(undo.enter_context(loop(block_bytes, 1024 * MIB))))
    at.chmod(0o755)
    data = at / "data"
    data.mkdir()
    _own(data, "postgres")
    subprocess.run(
        [POSTGRES / "initdb", "-D", data, "--no-sync", "-A", "trust"],
        check=True, capture_output=True, timeout=START_S, user="postgres", cwd="/",
    )  # fmt: skip
    words = [str(POSTGRES / "postgres"), "-D", str(data), "-k", str(data), "-h", ""]
    client = ["psql", "-h", str(data), "-U", "postgres", "-At", "-c"]
    return undo.enter_context(_server(words, at / "said.txt", Ask(client), user="postgres"))
