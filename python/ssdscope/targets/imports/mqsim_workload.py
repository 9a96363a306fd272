"""MQSim's workload file: of one scenario the synthetic flows, as a file for ``run --jobs``."""

import json
from xml.etree.ElementTree import Element

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.imports.reading import Values, natural, positive, quantity, truth
from ssdscope.targets.imports.xml_text import texts
from ssdscope.targets.names import printable

ROOT = "MQSim_IO_Scenarios"
SECTOR_BYTES = 512
SYNTHETIC, TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
PRIORITIES = {each: each.lower() for each in ("URGENT", "HIGH", "MEDIUM", "LOW")}
WITHOUT_MEANING = {
    "Channel_IDs": "flows share all of the drive",
    "Chip_IDs": "flows share all of the drive",
    "Die_IDs": "flows share all of the drive",
    "Plane_IDs": "flows share all of the drive",
    "Device_Level_Data_Caching_Mode": "the buffer is the drive's: see write_buffer.bytes",
    "Initial_Occupancy_Percentage": "`--state` says how the drive was used before",
    "Seed": "`--seed` is given where something is drawn",
}
Option = str | int | float


def jobs(root: Element, path: str, scenario: int, notes: list[str]) -> str:
    """Write the jobs of one scenario.

    Raises
    ------
    ConfigError
        If a value is missing or wrong.
    UsageError
        If there is no such scenario, or it replays traces only.
    """
    scenarios = root.findall("IO_Scenario")
    if not 1 <= scenario <= len(scenarios):
        raise UsageError(f"{path} has {len(scenarios)} scenarios, and no {scenario}")
    if len(scenarios) > 1:
        notes.append(f"scenario {scenario} of {len(scenarios)}; --scenario takes another")
    flows, chosen = list[dict[str, Option]](), scenarios[scenario - 1]
    for number, flow in enumerate(chosen, start=1):
        where = f"{path}, scenario {scenario}, flow {number}"
        if flow.tag == SYNTHETIC:
            flows.append(_flow(Values(where, texts(flow), notes)))
        elif flow.tag == TRACE:
            notes.append(f"flow {number} {_replayed(flow)}")
        else:
            notes.append(f"flow {number}, <{flow.tag}>: not known, left out")
    if not flows:
        raise UsageError(
            f"{path}, scenario {scenario} has no synthetic flow", hint="; ".join(notes) or None
        )
    _drop_same_class(flows, notes)
    return _toml(flows, [f"Imported from {path}, scenario {scenario}.", *dict.fromkeys(notes)])


def _drop_same_class(flows: list[dict[str, Option]], notes: list[str]) -> None:
    """Leave classes out where they make no difference: a drive needs queues for them."""
    if len({flow["priority"] for flow in flows}) == 1:
        for flow in flows:
            del flow["priority"]
        return
    notes.append(
        f"flows of several classes: --set host.queues={len(flows)} "
        "--set host.arbitration=priority gives the drive queues for them"
    )


def _replayed(flow: Element) -> str:
    file = (flow.findtext("File_Path") or "FILE").strip()
    return f"replays a trace: ssdscope replay TARGET {file} --format mqsim"


def _flow(given: Values) -> dict[str, Option]:
    options = _what(given) | _where(given) | _pace(given) | _end(given)
    options["priority"] = given.choose("Priority_Class", PRIORITIES)
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    return options


def _what(given: Values) -> dict[str, Option]:
    """Give pattern and sizes."""
    reads = given.take("Read_Percentage", natural)
    if reads > 100:
        raise ConfigError(f"{given.where}: Read_Percentage is {reads}")
    in_order = given.take("Address_Distribution", str) == "STREAMING"
    word = {0: "write", 100: "read"}.get(reads, "rw")
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    options: dict[str, Option] = {"rw": word if in_order else f"rand{word}", "bs": size}
    if word == "rw":
        options["rwmixread"] = reads
    if given.take("Request_Size_Distribution", str) != "FIXED":
        given.notes.append("Request_Size_Distribution: every request has the mean size")
    spread = given.take("Variance_Request_Size", natural) if "Variance_Request_Size" in given else 0
    if spread:
        given.notes.append(f"Variance_Request_Size = {spread}: every request has the mean size")
    return options


def _where(given: Values) -> dict[str, Option]:
    """Give the region and what in it is asked for more often."""
    share = given.take("Working_Set_Percentage", positive)
    options: dict[str, Option] = {} if share >= 100 else {"size": f"{share}%"}
    kinds = {"RANDOM_UNIFORM": "", "STREAMING": "", "RANDOM_HOTCOLD": "hot"}
    hot = given.take("Percentage_of_Hot_Region", natural)
    if given.choose("Address_Distribution", kinds) and 0 < hot < 100:
        # Of the requests, as many as the cold region has of the addresses go to the hot one.
        options["random_distribution"] = f"zoned:{100 - hot}/{hot}:{hot}/{100 - hot}"
    aligned = given.take("Generated_Aligned_Addresses", truth)
    unit = (
        SECTOR_BYTES * given.take("Address_Alignment_Unit", positive) if aligned else SECTOR_BYTES
    )
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    if unit != size:
        given.notes.append(
            f"addresses on multiples of {unit} bytes: here on multiples of the size, {size} bytes"
        )
    return options


def _pace(given: Values) -> dict[str, Option]:
    by_depth = {"QUEUE_DEPTH": True, "BANDWIDTH": False}
    depth = given.take("Average_No_of_Reqs_in_Queue", positive)
    rate = [given.take(name, quantity) for name in ("Bandwidth", "Intensity") if name in given]
    if given.choose("Synthetic_Generator_Type", by_depth):
        return {"iodepth": depth}
    if not rate or rate[0] <= 0:
        raise ConfigError(f"{given.where}: Bandwidth is missing: bytes per second")
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    return {"rate_iops": max(1, round(rate[0] / size)), "arrival": "poisson"}


def _end(given: Values) -> dict[str, Option]:
    """Give the limit: a number of requests, or a time."""
    requests = given.take("Total_Requests_To_Generate", natural)
    stop_ns = given.take("Stop_Time", natural)
    return {"number_ios": requests} if requests else {"runtime": f"{stop_ns}ns"}


def _toml(flows: list[dict[str, Option]], header: list[str]) -> str:
    lines = [f"# {printable(line)}" for line in header] + [""]
    for number, flow in enumerate(flows, start=1):
        lines += [f"[flow-{number}]", *(f"{key} = {json.dumps(v)}" for key, v in flow.items()), ""]
    return "\n".join(lines)
