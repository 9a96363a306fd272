"""When a run writes its log: that has no name before it is whole."""

import subprocess
import time
from pathlib import Path

PARQUET = b"PAR1"


def wait_until_writing(process: "subprocess.Popen[str]", folder: Path, seconds: float = 60) -> None:
    """Wait until a process has begun a Parquet file without a name in a folder."""
    end = time.monotonic() + seconds
    while not _writes(process.pid, folder):
        assert time.monotonic() < end, f"nothing is written in {folder}"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def _writes(pid: int, folder: Path) -> bool:
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if str(each.readlink()).startswith(f"{folder}/#"):
                with each.open("rb") as file:
                    if file.read(len(PARQUET)) == PARQUET:
                        return True
        except FileNotFoundError:
            continue
    return False
