"""Flows as people write them: words on a command line, or tables of a file.

Both take the options of `run` and besides ``name`` (the table's own in a file), ``priority``
and ``turn``. What is given for all flows stands on the command line beside them, or in the
table ``[global]`` of a file.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssdscope.errors import UsageError
from ssdscope.targets.opening import read_text
from ssdscope.targets.toml_files import parse_toml
from ssdscope.units import parse_count
from ssdscope.workloads.flows import Flow, Flows
from ssdscope.workloads.options import (
    OPTIONS,
    fields_of,
    in_option_names,
    instead,
    on_command_line,
    standard,
    workload_from_options,
)

_EXAMPLE = 'write words, as "name=web rw=randread bs=4k iodepth=8"'
_GLOBAL = "global"
_EXIT_ALL = "exitall"


def read_flows(
    texts: Sequence[str], path: str | None, common: Mapping[str, Any], *, exit_all: bool
) -> Flows | None:
    """Read flows from the command line or a file; None where there are none.

    Parameters
    ----------
    texts
        One per flow: words ``option=value``.
    path
        A TOML file instead: a table for each flow, ``[global]`` for all; or None.
    common
        Options of all flows that do not say otherwise, as in `workload_from_options`.
    exit_all
        Whether the first flow that ends stops the others; in a file ``exitall = true`` in
        ``[global]`` says so too.

    Returns
    -------
    Flows or None
        With seed 0; see `Flows.seeded`.

    Raises
    ------
    UsageError
        If one cannot be read, or two have one name.
    """
    if texts and path is not None:
        raise UsageError("--flow and --jobs both name flows", hint="use one of them")
    if path is not None:
        return _from_file(path, common, exit_all)
    if texts:
        return Flows(_different(_from_words(texts, common)), exit_all)
    if exit_all:
        raise UsageError("--exitall: there are no flows", hint="name some with --flow or --jobs")
    return None


def _from_words(texts: Sequence[str], common: Mapping[str, Any]) -> list[Flow]:
    flows = []
    for number, text in enumerate(texts):
        given = _words(text, number)
        name = given.pop("name", f"flow{number + 1}")
        place = f"--flow {name}"
        flows.append(_flow(name, {**common, **standard(given, _within(place))}, place))
    return flows


def _from_file(path: str, common: Mapping[str, Any], exit_all: bool) -> Flows:
    tables = _tables(path)
    shared = tables.pop(_GLOBAL, {})
    stops = shared.pop(_EXIT_ALL, False)
    if not isinstance(stops, bool):
        raise UsageError(f"{path}: [{_GLOBAL}] {_EXIT_ALL} is {stops!r}, neither true nor false")
    if not tables:
        raise UsageError(f"{path}: there is no flow", hint='a flow is a table: [web] rw = "read"')
    shared = standard(shared, _within(f"{path}: [{_GLOBAL}]"))
    flows = []
    for name, table in tables.items():
        place = f"{path}: [{name}]"
        own = standard(table, _within(place))
        flows.append(_flow(name, {**common, **shared, **own}, place))
    return Flows(tuple(flows), exit_all or stops)


def overriding(flows: Flows, common: Mapping[str, Any]) -> list[str]:
    """Say which flows have values of their own for options that stand beside them, a line each.

    Parameters
    ----------
    common
        As of `read_flows`, without those that were not given.
    """
    lines = []
    for name, text in common.items():
        beside = fields_of(name, str(text))
        for flow in flows.flows:
            own = {field: getattr(flow.workload, field) for field in beside}
            if own != beside:
                option = on_command_line(name)
                lines.append(f"flow {flow.name} keeps its own {name}, {option} is for the others")
    return lines


def in_flow_names(error: UsageError) -> UsageError:
    """Say what a driver found wrong with flows in the names that they were written in."""
    lines = []
    for line in error.message.splitlines():
        flow, colon, rest = line.partition(": ")
        if not (colon and flow.startswith("flow ")):
            lines.append(line)
            continue
        told = in_option_names(UsageError(rest), _within(flow))
        lines.append(told.message if told.message != rest else line)
    return UsageError("\n".join(dict.fromkeys(lines)), hint=error.hint or _hint(error.message))


def _hint(message: str) -> str | None:
    if "have no classes" not in message:
        return None
    return (
        "classes need a simulated NVMe drive with several queues: "
        '--set host.interface=nvme --set host.queues=4 --set host.arbitration="priority"'
    )


def _within(place: str) -> Callable[[str], str]:
    return lambda option: f"{place}: {option}"


def _words(text: str, number: int) -> dict[str, str]:
    place = f"--flow {number + 1}"
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{place}: {text!r}: {error}", hint=_EXAMPLE) from error
    if not words:
        raise UsageError(f"{place}: it is empty", hint=_EXAMPLE)
    given: dict[str, str] = {}
    for word in words:
        option, equals, value = word.partition("=")
        option = option.lstrip("-").replace("-", "_")
        if not equals or not option:
            raise UsageError(f"{place}: {word!r} is not option=value", hint=_EXAMPLE)
        if option in given:
            raise UsageError(f"{place}: {option} is given twice")
        given[option] = value
    return given


def _flow(name: str, options: Mapping[str, Any], place: str) -> Flow:
    where = _within(place)
    options = dict(options)
    priority = options.pop("priority", None)
    turn = options.pop("turn", None)
    for option in options:
        if option not in OPTIONS:
            raise UsageError(
                f"{where(option)}: there is no such option",
                hint=instead(option, "name", "priority", "turn"),
            )
    workload = workload_from_options(options, seed=0, where=where)
    if not name:
        raise UsageError(f"{place}: a flow needs a name")
    try:
        requests = None if turn is None else parse_count(str(turn))
    except UsageError as error:
        raise UsageError(f"{where('turn')}: {error.message}", hint=error.hint) from error
    try:
        return Flow(name, workload, priority, requests)
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}", hint=error.hint) from error


def _different(flows: Sequence[Flow]) -> tuple[Flow, ...]:
    names = [flow.name for flow in flows]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--flow {name}: there are two flows of this name")
    return tuple(flows)


def _tables(path: str) -> dict[str, dict[str, Any]]:
    document = parse_toml(read_text(path), path)
    for name, table in document.items():
        if not isinstance(table, dict):
            raise UsageError(
                f"{path}: {name} stands outside of a table",
                hint=f"a flow is a table: [web]; what is for all flows stands in [{_GLOBAL}]",
            )
    return document
