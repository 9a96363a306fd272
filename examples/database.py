"""A database on simulated drives: what spare space is worth to SQLite.

    sudo .venv/bin/python examples/database.py [--transactions 1500] [--page FILE.html]

For each share of spare space it serves the same drive, puts ext4 on it, fills an SQLite
database, and runs transactions that each update a random account and are durable when they end.
One page shows both: transactions per second, write amplification, and where a write's time went.
Needs root, and from Debian: nbdfuse, e2fsprogs, util-linux.
"""

import argparse
import html
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
DRIVE = HERE / "drives" / "database.toml"
RATIOS = (0.07, 0.28)
NEEDED = ("nbdfuse", "losetup", "mkfs.ext4", "mount", "umount")
SSDSCOPE = (sys.executable, "-c", "from ssdscope.cli.start import main; main()")
FILLER = "x" * 360
PATIENCE_S = 30
COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")


@dataclass(frozen=True)
class Ran:
    """What one drive did while the transactions ran.

    Attributes
    ----------
    ratio
        Its spare space, over the exported capacity.
    per_s
        Transactions per second of the drive's own time.
    waf
        Bytes programmed over bytes written.
    writes
        How many.
    write_ns
        Mean latency of a write, by cause; the causes add up to it.
    """

    ratio: float
    per_s: float
    waf: float
    writes: int
    write_ns: dict[str, float]


def run(*words: str) -> str:
    """Run a tool; its message ends the script if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a program has made what it makes when it is ready."""
    end = time.monotonic() + PATIENCE_S
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"error: {process.args!r} did not make {path}")
        time.sleep(0.05)


class Server:
    """A served drive, and what it says of itself."""

    def __init__(self, folder: Path, ratio: float, slow_down: float, seed: int) -> None:
        self.socket, self._seen = folder / "ssd.sock", folder / "seen.jsons"
        self._out = self._seen.open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                *SSDSCOPE, "serve", str(DRIVE), "--socket", str(self.socket), "--seed", str(seed),
                "--set", f"over_provisioning_ratio={ratio}", "--slow-down", str(slow_down),
                "-o", "json",
            ],
            stdout=self._out, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip
        wait_for(self.socket, self.process)

    def statistics(self) -> dict[str, Any]:
        """Ask for the statistics so far."""
        before = self._documents()
        self.process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + PATIENCE_S
        while len(found := self._documents()) == len(before):
            if time.monotonic() > end:
                sys.exit("error: the server does not answer")
            time.sleep(0.05)
        return found[-1]

    def _documents(self) -> list[dict[str, Any]]:
        text, found = self._seen.read_text(encoding="utf-8"), []
        while text.strip():
            try:
                document, end = json.JSONDecoder().raw_decode(text.lstrip())
            except json.JSONDecodeError:
                break
            found.append(document)
            text = text.lstrip()[end:]
        return found

    def stop(self) -> None:
        """End it as Ctrl-C would."""
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_S)
        self._out.close()


def unmount(at: Path) -> None:
    """Unmount; what still holds it has a moment to let go, and then loses it."""
    for _ in range(20):
        done = subprocess.run(["umount", str(at)], capture_output=True, text=True, check=False)
        if done.returncode == 0 or "not mounted" in done.stderr:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "--lazy", str(at)], capture_output=True, check=False)


@contextmanager
def mounted(folder: Path, server: Server) -> Iterator[Path]:
    """Make an ext4 of the served drive; everything is undone at the end, however it comes."""
    with ExitStack() as undo:
        fuse, at = folder / "fuse", folder / "mnt"
        fuse.mkdir()
        at.mkdir()
        export = fuse / "disk"
        export.touch()
        process = subprocess.Popen(
            ["nbdfuse", str(export), f"nbd+unix:///?socket={server.socket}"],
            text=True, start_new_session=True,
        )  # fmt: skip
        undo.callback(process.wait, timeout=PATIENCE_S)
        undo.callback(unmount, export)
        end = time.monotonic() + PATIENCE_S
        while export.stat().st_size == 0:
            if process.poll() is not None or time.monotonic() > end:
                sys.exit("error: nbdfuse shows no disk")
            time.sleep(0.05)
        device = run("losetup", "--direct-io=on", "--find", "--show", str(export))
        undo.callback(subprocess.run, ["losetup", "--detach", device], check=False)
        # The drive is full of old data, as one that was in use; mkfs would discard all of it.
        run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", device)
        run("mount", device, str(at))
        undo.callback(unmount, at)
        yield at


@contextmanager
def filled(at: Path, rows: int) -> Iterator[sqlite3.Connection]:
    """Make the accounts, without a log; then write one ahead, durably."""
    base = sqlite3.connect(at / "bank.db", isolation_level=None)
    try:
        base.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-2000;"
            "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER, filler TEXT);"
            "CREATE TABLE history(account INTEGER, delta INTEGER);"
        )
        base.execute("BEGIN")
        accounts = ((number, 0, FILLER) for number in range(rows))
        base.executemany("INSERT INTO account VALUES (?, ?, ?)", accounts)
        base.execute("COMMIT")
        base.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        os.sync()
        yield base
    finally:
        base.close()


def transact(base: sqlite3.Connection, transactions: int, rows: int, seed: int) -> float:
    """Run transactions, each durable when it ends; give the seconds they took."""
    draw = random.Random(seed)
    begun = time.monotonic()
    for _ in range(transactions):
        account, delta = draw.randrange(rows), draw.randrange(-100, 100)
        base.execute("BEGIN")
        base.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (delta, account))
        base.execute("INSERT INTO history VALUES (?, ?)", (account, delta))
        base.execute("COMMIT")
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return time.monotonic() - begun


def measure(ratio: float, given: argparse.Namespace) -> Ran:
    """Run the database on a drive with this much spare space."""
    with TemporaryDirectory(prefix="ssdscope-database-") as name:
        folder = Path(name)
        server = Server(folder, ratio, given.slow_down, given.seed)
        try:
            with mounted(folder, server) as at, filled(at, given.rows) as base:
                before = server.statistics()
                took_s = transact(base, given.transactions, given.rows, given.seed)
                after = server.statistics()
        finally:
            server.stop()
    return difference(ratio, given.transactions * given.slow_down / took_s, before, after)


def difference(ratio: float, per_s: float, before: dict[str, Any], after: dict[str, Any]) -> Ran:
    """Take what came before the transactions away from what came until their end."""
    counters = [each["counters"] for each in (before, after)]
    written, programmed = (
        counters[1][key] - counters[0][key]
        for key in ("host_bytes_written", "flash_bytes_programmed")
    )
    writes = [each["write"] for each in (before, after)]
    count = writes[1]["requests"] - writes[0]["requests"]
    causes = {
        cause: (
            writes[1]["attribution_ns"][cause] * writes[1]["requests"]
            - writes[0]["attribution_ns"][cause] * writes[0]["requests"]
        )
        / count
        for cause in writes[1]["attribution_ns"]
    }
    return Ran(ratio, per_s, programmed / written, count, causes)


def bars(found: list[Ran], causes: list[str]) -> str:
    """Draw where a write's time went, a bar for each drive."""
    longest = max(sum(ran.write_ns.values()) for ran in found)
    parts = []
    for row, ran in enumerate(found):
        left, top = 110.0, 10 + 34 * row
        parts.append(f'<text x="0" y="{top + 17}">{ran.ratio:.0%} spare</text>')
        for colour, cause in zip(COLOURS, causes, strict=False):
            width = ran.write_ns[cause] / longest * 560
            parts.append(
                f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="24" fill="{colour}">'
                f"<title>{html.escape(cause)}: {ran.write_ns[cause] / 1e3:.0f} us</title></rect>"
            )
            left += width
    height = 20 + 34 * len(found)
    legend = []
    for number, (colour, cause) in enumerate(zip(COLOURS, causes, strict=False)):
        x, y = 110 + number % 4 * 140, height + 8 + number // 4 * 20
        legend.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour}"/>')
        legend.append(f'<text x="{x + 15}" y="{y + 9}">{html.escape(cause)}</text>')
    return (
        f'<svg role="img" viewBox="0 0 680 {height + 52}" aria-label="mean latency of a write">'
        f"{''.join(parts + legend)}</svg>"
    )


def page(found: list[Ran], given: argparse.Namespace) -> str:
    """Write the page."""
    shares = {cause: max(ran.write_ns[cause] for ran in found) for cause in found[0].write_ns}
    causes = [cause for cause in sorted(shares, key=lambda each: -shares[each]) if shares[cause]]
    rows = "".join(
        f"<tr><th>{ran.ratio:.0%} spare</th><td>{ran.per_s:,.0f}</td><td>{ran.waf:.2f}</td>"
        f"<td>{sum(ran.write_ns.values()) / 1e3:,.0f}</td><td>{ran.writes:,}</td></tr>"
        for ran in found
    )
    return f"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>SQLite on two drives</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;
color-scheme:light dark}}table{{border-collapse:collapse}}
td,th{{padding:.3rem .8rem;text-align:right;white-space:nowrap}}
svg{{width:100%;font-size:13px}}text{{fill:currentColor}}</style>
<h1>SQLite on two simulated drives</h1>
<p>{given.transactions:,} durable transactions on {given.rows:,} accounts, ext4, on
{html.escape(DRIVE.name)} with different spare space. Times are the drive's own.</p>
<table><tr><th></th><th>transactions/s</th><th>write amplification</th><th>mean write, us</th>
<th>writes</th></tr>{rows}</table>
<h2>Where a write's time went</h2>{bars(found, causes)}
</html>
"""


def main() -> int:
    """Measure both, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--transactions", type=int, default=1500)
    parser.add_argument("--rows", type=int, default=600_000, help="accounts of about 430 bytes")
    parser.add_argument("--slow-down", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, default=Path("database.html"))
    given = parser.parse_args()
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        lacks = f"these tools: {', '.join(missing)}" if missing else "root: mounting needs it"
        print(f"error: this needs {lacks}", file=sys.stderr)
        return 2
    # Ended from outside, it undoes its mounts as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    found = []
    for ratio in RATIOS:
        try:
            found.append(ran := measure(ratio, given))
        except sqlite3.OperationalError as error:
            print(f"error: SQLite: {error}; fewer --rows take less room", file=sys.stderr)
            return 1
        print(
            f"{ratio:.0%} spare: {ran.per_s:,.0f} transactions/s, write amplification "
            f"{ran.waf:.2f}, mean write {sum(ran.write_ns.values()) / 1e3:,.0f} us"
        )
    given.page.write_text(page(found, given), encoding="utf-8")
    print(f"page: {given.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
