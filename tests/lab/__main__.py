"""``make lab``: real kernel drivers in QEMU guests. See docs/lab.md."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.lab import boot, machine, report, served
from tests.lab.cases import FAILED, Case, Result, chosen
from tests.lines import in_lab

OUT = boot.ROOT / "out"
MACHINES = {each.name: each for each in (machine.DISKS, machine.SIMULATED)}
STARTS_MAX = 25
"""A guest that hangs is started again for the rest; more often than this nobody waits."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("--only", metavar="NAMES", help="suites or kinds, as in nvme,refusals")
    parser.add_argument("--list", action="store_true", help="name the cases, and run none")
    parser.add_argument("--patience", type=float, default=1.0, help="all time-outs times this")
    parser.add_argument("--slow-down", type=float, default=1.0, help="of the simulated drive")
    parser.add_argument("--kernel", type=Path, default=OUT / "lab/kernel", help="unpacked there")
    return parser.parse_args()


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _run(
    which: machine.Machine, cases: list[Case], typed: argparse.Namespace, results: dict[str, Result]
) -> None:
    """Run the cases of a machine, starting it again after a case that hung; fill in the results."""

    def ended(result: Result) -> None:
        results[result.key] = result
        _tell(
            f"{result.outcome:9}  {result.seconds:5.1f} s  {result.kind}: {result.name}"
            f"  ({report.one_line(result.seen)})"
        )

    for _ in range(STARTS_MAX):
        left = [case for case in cases if case.key not in results]
        if not left:
            break
        _tell(f"starting the machine {which.name!r} for {len(left)} cases")
        with ExitStack() as undo:
            folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="ssdscope-lab-")))
            undo.callback(_keep, folder, which)
            more: list[str] = []
            if which is machine.SIMULATED:
                server = undo.enter_context(served.simulated(folder, typed.slow_down))
                more = server.arguments
            before = len(results)
            boot.run(
                which, left, kernel=typed.kernel, folder=folder, more=more,
                patience=typed.patience * max(1.0, typed.slow_down), slow_down=typed.slow_down,
                ended=ended,
            )  # fmt: skip
            if which is machine.SIMULATED:
                _tell(server.said())
            if len(results) == before:
                break
    for case in cases:
        if case.key not in results:
            ended(Result.of(case, FAILED, "the guest ended before it"))


def _keep(folder: Path, which: machine.Machine) -> None:
    """Keep the console of a guest, and what cases kept, after its folder is gone."""
    if (folder / "console.txt").exists():
        shutil.copy(folder / "console.txt", OUT / f"lab/console-{which.name}.txt")
    for said in folder.glob("*.said.txt"):
        shutil.copy(said, OUT / "lab" / said.name)


def main() -> int:
    """Run what was asked for; 0 if all passed."""
    typed = _arguments()
    try:
        cases = chosen(typed.only)
    except ValueError as failure:
        sys.stderr.write(f"make lab: {failure}\n")
        return 2
    if typed.list:
        _tell("\n".join(case.key for case in cases))
        return 0
    if any(case.suite == "lines" for case in cases):
        in_lab.prepare()
    by_key: dict[str, Result] = {}
    status = 0
    try:
        for name, which in MACHINES.items():
            mine = [case for case in cases if case.machine == name]
            if mine:
                _run(which, mine, typed, by_key)
    except KeyboardInterrupt:
        status = 130
    except boot.BootError as failure:
        sys.stderr.write(f"make lab: {failure}\n")
        status = 1
    version = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True)
    (kernel,) = (path.name for path in (typed.kernel / "lib/modules").iterdir())
    about = {"kernel": kernel, "qemu": version.stdout.splitlines()[0]}
    results = [by_key[case.key] for case in cases if case.key in by_key]
    report.write(results, OUT, about)
    _tell("\n" + report.table(results) + "\n\n" + report.summary(results))
    return status or (0 if report.is_good(results) else 1)


if __name__ == "__main__":
    sys.exit(main())
