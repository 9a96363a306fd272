"""When a command writes: its outputs have no names before they are whole."""

import subprocess
import time
from pathlib import Path


def wait_until_writing(process: "subprocess.Popen[str]", folder: Path, seconds: float = 30) -> None:
    """Wait until a process has a file without a name open in a folder."""
    end = time.monotonic() + seconds
    while not any(named.startswith(f"{folder}/#") for named in _open_files(process.pid)):
        assert time.monotonic() < end, f"nothing is written in {folder}"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def _open_files(pid: int) -> list[str]:
    found = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(str(each.readlink()))
        except FileNotFoundError:
            continue
    return found
