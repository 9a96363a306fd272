"""``ssdscope doctor``: the environment, and who a device or file is."""

import os
import platform
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ssdscope import __version__
from ssdscope.cli import options
from ssdscope.cli.help import command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.cli.target_names import complete_target
from ssdscope.errors import EXIT_DONE, EXIT_FAILED, UsageError

EXAMPLES = """
Versions, kernel, io_uring, optional tools:
  ssdscope doctor
What a drive or file is, and the token that --destroy-data takes:
  ssdscope doctor scratch.bin
The same of all members of an array:
  ssdscope doctor raid0:scratch.bin,big.bin
Set back what a killed run has left changed on a disk:
  ssdscope doctor --restore
"""
OPTIONAL_TOOLS = {
    "fio": "comparison of run with fio",
    "chromium": "rendering of the page in tests",
    "valgrind": "instruction counts of make bench",
    "zstd": "traces compressed by hand",
}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "matplotlib", "joblib", "typer")
_IO_URING_SETTINGS = {
    "0": "on",
    "1": "for privileged processes only",
    "2": "off",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, examples=EXAMPLES)(doctor)


def doctor(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="A file, device, export or array: who it is, and the token that --destroy-data "
            "takes.",
            show_default=False,
            autocompletion=complete_target,
        ),
        options.TARGET,
    ] = None,
    identify: Annotated[
        str | None,
        typer.Option(
            "--identify",
            metavar="TARGET",
            help="The same as TARGET alone.",
        ),
        options.TARGET,
    ] = None,
    restore: Annotated[
        bool,
        typer.Option(
            "--restore", help="Set back attributes of disks that a killed run has left changed."
        ),
    ] = False,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show versions, kernel, io_uring and optional tools, or what a file or device is."""
    from ssdscope.results.record import envelope

    if target is not None and identify is not None:
        raise UsageError(
            f"{target}: --identify names a target already", hint="doctor takes one at a time"
        )
    identify = target or identify
    if restore:
        if identify is not None:
            raise UsageError(f"--restore is of all disks, and takes no target: {identify}")
        return _restore(output_format)
    if identify is None:
        report = _environment()
        title = "environment"
    else:
        from ssdscope.targets.identifying import identify_target

        report = identify_target(identify)
        title = "identity"
    if output_format == "json":
        emit_json({**envelope(), title: report})
    else:
        emit(table(("what", "value"), _rows(report), left=2))
    return EXIT_DONE


def _restore(output_format: str) -> int:
    """Set back what is left, and say what became of it."""
    from ssdscope.results.record import envelope
    from ssdscope.targets.attributes import restore_left

    done = restore_left()
    if output_format == "json":
        emit_json({**envelope(), "restored": [asdict(each) for each in done]})
    else:
        emit("\n".join(each.in_words() for each in done) or "nothing is left to set back")
    stuck = any(each.outcome in ("failed", "refused") for each in done)
    return EXIT_FAILED if stuck else EXIT_DONE


def _environment() -> dict[str, Any]:
    from ssdscope.targets.machine import machine_state
    from ssdscope.targets.native_build import native_build
    from ssdscope.targets.opening import native_version
    from ssdscope.targets.quieter import quieter

    state = machine_state()
    return {
        "ssdscope": __version__,
        "native module": native_version(),
        "build": asdict(native_build()),
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "io_uring": _io_uring(),
        "root": os.geteuid() == 0,
        "attributes of disks": _may_set(),
        "measuring": {
            key: ", ".join(value) if isinstance(value, list) else value
            for key, value in state.items()
        },
        "quieter": {each.what: f"{each.now}; {each.command}" for each in quieter(state)},
        "libraries": {name: _library(name) for name in LIBRARIES},
        "tools": {
            name: shutil.which(name) or f"missing: needed for the {purpose}"
            for name, purpose in OPTIONAL_TOOLS.items()
        },
    }


def _may_set() -> str:
    """Say whether --quiet-queue works here."""
    if os.geteuid() != 0:
        return "cannot be set: root only"
    if not os.access("/sys/block", os.R_OK) or os.statvfs("/sys").f_flag & os.ST_RDONLY:
        return "cannot be set: /sys is read-only"
    return "can be set for a measurement (--quiet-queue)"


def _io_uring() -> str:
    """Read the kernel's own switch; a kernel without it has io_uring on or not at all."""
    try:
        setting = Path("/proc/sys/kernel/io_uring_disabled").read_text(encoding="ascii").strip()
    except OSError:
        return "no switch in this kernel; tried when a device is opened"
    return _IO_URING_SETTINGS.get(setting, f"unknown setting {setting}")


def _library(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _rows(report: dict[str, Any], prefix: str = "") -> list[list[str]]:
    rows = []
    for key, value in report.items():
        if isinstance(value, dict):
            rows += _rows(value, f"{prefix}{key}: ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, each in enumerate(value, start=1):
                rows += _rows(each, f"{prefix}{key} {number}: ")
        else:
            rows.append([f"{prefix}{key}", "-" if value is None else str(value)])
    return rows
