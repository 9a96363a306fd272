"""What runs inside the guest: it takes the names of cases from the host, and runs one by one."""

import gc
import traceback
from pathlib import Path

from tests.lab import tools
from tests.lab.cases import FAILED, PASSED, SKIPPED, Case, Skipped, all_cases

SEEN_MAX = 600


def _last_line(failure: BaseException) -> str:
    """Say where it failed, without a whole traceback."""
    frames = [
        each for each in traceback.extract_tb(failure.__traceback__) if "lab" in each.filename
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}: " if frames else ""
    return f"{where}{type(failure).__name__}: {failure}"


def tried(case: Case) -> tuple[str, str]:
    """Try a case; give how it ended and what was seen."""
    try:
        return PASSED, case.run()
    except Skipped as why:
        return SKIPPED, str(why)
    except Exception as failure:  # noqa: BLE001 (a case that fails is a result)
        return FAILED, _last_line(failure)


def main() -> None:
    """Load what commands need once, then run what the host asks for."""
    import ssdscope.cli.app
    import ssdscope.cli.run
    import ssdscope.targets  # noqa: F401

    for name in ("nvme", "ahci", "virtio_scsi", "sd_mod", "loop", "ext4", "drivetemp"):
        tools.module(name)
    host = tools.host()
    host.say(ready=True)
    by_key = {case.key: case for case in all_cases()}
    asked = host.hear()
    host.slow_down = asked["slow_down"]
    for key in asked["cases"]:
        host.say(begun=key)
        outcome, seen = tried(by_key[key])
        host.say(outcome=outcome, seen=seen[:SEEN_MAX])
        gc.collect()


if __name__ == "__main__":
    main()
