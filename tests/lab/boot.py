"""One start of a guest: it is given cases, answers them one by one, and is killed if it hangs."""

import json
import queue
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.lab import initrd, machine
from tests.lab.cases import FAILED, TIMED_OUT, Case, Result
from tests.lab.images import Images
from tests.lab.qmp import Monitor

BOOT_S = 600
"""A translated guest boots in 12 s on a quiet machine, and in minutes on a busy one."""
ROOT = Path(__file__).parents[2]


class BootError(Exception):
    """The guest did not come up."""


def guest_script() -> str:
    """Give what the guest runs: this worktree's own package, as it is built here."""
    root = shlex.quote(str(ROOT))
    # No udev runs there, so dmsetup makes its nodes itself.
    environment = "\n".join(
        f"export {each}"
        for each in (
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME=/tmp TERM=dumb NO_COLOR=1 COLUMNS=200",
            f"PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={root}",
            "DM_DISABLE_UDEV=1",
        )
    )
    return f"{environment}\ncd {root} && exec .venv/bin/python -m tests.lab.inside\n"


@contextmanager
def started(words: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start QEMU, and end it whatever happens."""
    with (folder / "qemu.txt").open("wb") as said:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "channel").exists() or not (folder / "qmp").exists():
            if process.poll() is not None or time.monotonic() > deadline:
                text = (folder / "qemu.txt").read_text(errors="replace").strip()
                raise BootError(f"QEMU did not start: {text}")
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


class Channel:
    """Lines of JSON to and from the guest."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._heard: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        with self._socket.makefile("r", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    self._heard.put(json.loads(line))
                except ValueError:
                    continue  # cut short, as the guest died within it
        self._heard.put(None)

    def hear(self, patience_s: float) -> dict[str, Any] | None:
        """Wait for a message; None if the guest is gone.

        Raises
        ------
        TimeoutError
            If none came.
        """
        try:
            return self._heard.get(timeout=max(patience_s, 0.01))
        except queue.Empty:
            raise TimeoutError from None

    def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        """End it."""
        self._socket.close()


def run(
    which: machine.Machine,
    cases: list[Case],
    *,
    kernel: Path,
    folder: Path,
    more: list[str],
    patience: float,
    slow_down: float,
    ended: Callable[[Result], None],
) -> None:
    """Start the guest once, and let it run cases until it is done, dies or hangs.

    ``more`` are arguments of QEMU, ``patience`` multiplies the time-outs, and ``slow_down`` says
    how many times slower a simulated disk of the guest lives.

    Each case that was begun ends with a result; who calls starts the guest again for the others.

    Raises
    ------
    BootError
        If the guest does not come up.
    """
    (version,) = (path.name for path in (kernel / "lib/modules").iterdir())
    initrd.build(kernel, version, guest_script(), folder / "initrd.gz")
    machine.prepare(which, folder)
    for left in ("channel", "qmp"):
        (folder / left).unlink(missing_ok=True)
    with started(machine.command(which, kernel, version, folder, more), folder):
        channel, monitor = Channel(folder / "channel"), Monitor(folder / "qmp")
        try:
            _await_ready(channel, folder, BOOT_S * patience)
            channel.say({"cases": [case.key for case in cases], "slow_down": slow_down})
            _listen(channel, Images(folder, monitor), cases, patience, ended)
        finally:
            channel.close()
            monitor.close()


def _await_ready(channel: Channel, folder: Path, patience_s: float) -> None:
    try:
        ready = channel.hear(patience_s)
    except TimeoutError:
        ready = None
    if ready is None or "ready" not in ready:
        console = (folder / "console.txt").read_text(errors="replace").strip().splitlines()
        raise BootError("the guest did not come up; its console ends: " + "\n".join(console[-20:]))


def _listen(
    channel: Channel,
    images: Images,
    cases: list[Case],
    patience: float,
    ended: Callable[[Result], None],
) -> None:
    by_key = {case.key: case for case in cases}
    begun: Case | None = None
    since, deadline = time.monotonic(), time.monotonic() + BOOT_S * patience
    while True:
        try:
            message = channel.hear(deadline - time.monotonic())
        except TimeoutError:
            message = {"hangs": True}
        now = time.monotonic()
        if message is None or "hangs" in message:
            if begun is not None:
                outcome = TIMED_OUT if message else FAILED
                seen = "no answer" if message else "the guest died"
                ended(Result.of(begun, outcome, seen, now - since))
            return
        if "begun" in message:
            begun = by_key[message["begun"]]
            since, deadline = now, now + begun.patience_s * patience
        elif "ask" in message:
            channel.say(_answer(images, message))
        elif "outcome" in message and begun is not None:
            ended(Result.of(begun, message["outcome"], message["seen"], now - since))
            begun, deadline = None, now + 60 * patience


def _answer(images: Images, message: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": images.answer(message["ask"], message["words"])}
    except Exception as failure:  # noqa: BLE001 (said inside, where the case fails by it)
        return {"failed": f"{type(failure).__name__}: {failure}"}
