"""The commands, in the order of their list: what the list says of each, and how each is loaded.

The list needs only what stands here. A command is loaded when it is run, explained or completed,
so that one does not wait for all the others.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

import typer

MEASURE, LEARN, MANAGE = "Measure a drive", "Models and studies", "Drives, traces, settings"
"""Headings of the list."""


class Listed(NamedTuple):
    """What the list of commands says of one: its heading, and what it does in a line."""

    heading: str
    short: str


LISTED = {
    "characterize": Listed(MEASURE, "Measure a drive and write a page about it: the main job."),
    "compare": Listed(MEASURE, "Compare reports, runs or sweeps on one page."),
    "probe": Listed(MEASURE, "Detect properties of a drive."),
    "run": Listed(MEASURE, "Run a workload, with fio's options."),
    "replay": Listed(MEASURE, "Replay a trace of requests on a drive."),
    "import": Listed(MEASURE, "Import results of fio, drive by drive: files or folders."),
    "import-fio-log": Listed(MEASURE, "Import logs that fio wrote as results."),
    "serve": Listed(MEASURE, "Serve a drive to other programs, over NBD."),
    "twin": Listed(
        MEASURE, "The simulated double of a measured drive, and what if it were changed."
    ),
    "sweep": Listed(
        MEASURE,
        "Run every combination of workloads and drives in a plan: `ssdscope sweep FILE.toml`.",
    ),
    "search": Listed(
        MEASURE, "Find the best configuration of a drive for a workload, under limits."
    ),
    "reproduce": Listed(
        LEARN, "Reproduce the studies of papers, and show paper, ours and verdict."
    ),
    "advise": Listed(LEARN, "Advise settings and layouts that follow from a report."),
    "place": Listed(LEARN, "Find which workload belongs on which drive."),
    "model": Listed(LEARN, "Fit models that predict what a drive does with a workload."),
    "doctor": Listed(MANAGE, "Show the environment, or what a file or device is."),
    "drives": Listed(MANAGE, "List, show and check simulated drives."),
    "trace": Listed(MANAGE, "Show a trace, describe its minutes, or make one up after statistics."),
    "config": Listed(MANAGE, "Show the settings in force."),
}
"""Commands by name. The module of each in this package bears its name, with underscores; one more
where Python has the word itself."""


class Commands(Mapping[str, Any]):
    """The commands by name, each loaded when it is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _load(name, LISTED[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in LISTED

    def __iter__(self) -> Iterator[str]:
        return iter(LISTED)

    def __len__(self) -> int:
        return len(LISTED)


def module_of(name: str) -> str:
    """Name the module of a command."""
    return f"ssdscope.cli.{f'{name}_' if iskeyword(name) else name.replace('-', '_')}"


def _load(name: str, listed: Listed) -> Any:
    """Make a command of its module: of its `register`, or of the commands below it."""
    module = import_module(module_of(name))
    parent = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if hasattr(module, "register"):
        module.register(parent)
    else:
        parent.add_typer(module.app)
    command = typer.main.get_group(parent).commands[name]
    command.short_help = listed.short
    return command
