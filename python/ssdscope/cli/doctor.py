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
from ssdscope.cli.help import MANAGE, command
from ssdscope.cli.layout import table
from ssdscope.cli.output import emit, emit_json
from ssdscope.errors import EXIT_DONE

EXAMPLES = """
Versions, kernel, io_uring, optional tools:
  ssdscope doctor
What a drive or file is, and the token that --destroy-data takes:
  ssdscope doctor --identify scratch.bin
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
    short = "Show the environment, or what a file or device is."
    command(app, short=short, examples=EXAMPLES, panel=MANAGE)(doctor)


def doctor(
    identify: Annotated[
        str | None,
        typer.Option(
            "--identify",
            metavar="TARGET",
            help="Show what a file or device is, and the token that --destroy-data takes.",
        ),
    ] = None,
    output_format: options.OutputFormat = "normal",
) -> int:
    """Show versions, kernel, io_uring and optional tools, or what a file or device is."""
    from ssdscope.results.record import envelope

    if identify is None:
        report = _environment()
        title = "environment"
    else:
        from ssdscope.targets.opening import identify as identify_path

        report = identify_path(identify)
        title = "identity"
    if output_format == "json":
        emit_json({**envelope(), title: report})
    else:
        emit(table(("what", "value"), _rows(report), left=2))
    return EXIT_DONE


def _environment() -> dict[str, Any]:
    from ssdscope.targets.native_build import native_build
    from ssdscope.targets.opening import native_version

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
        "libraries": {name: _library(name) for name in LIBRARIES},
        "tools": {
            name: shutil.which(name) or f"missing: needed for the {purpose}"
            for name, purpose in OPTIONAL_TOOLS.items()
        },
    }


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
        else:
            rows.append([f"{prefix}{key}", "-" if value is None else str(value)])
    return rows
