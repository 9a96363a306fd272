"""MQSim's workload file: of one scenario the synthetic flows, as a file for ``run --jobs``."""

import json
from xml.etree.ElementTree import Element

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.imports.mqsim_names import (
    DISTRIBUTIONS,
    FLOW_DEFAULTS,
    FLOW_OLD_NAMES,
    GENERATORS,
    SYNTHETIC,
    TRACE,
)
from ssdscope.targets.imports.reading import (
    Account,
    Values,
    natural,
    positive,
    quantity,
    renamed,
    truth,
)
from ssdscope.targets.imports.xml_text import texts
from ssdscope.targets.names import printable

ROOT = "MQSim_IO_Scenarios"
SECTOR_BYTES = 512
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
USUAL_REPLAY = {
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}
Option = str | int | float


def jobs(root: Element, path: str, account: Account, scenario: int) -> str:
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
        account.note(f"scenario {scenario} of {len(scenarios)}; --scenario takes another")
    flows, chosen = list[dict[str, Option]](), scenarios[scenario - 1]
    for number, flow in enumerate(chosen, start=1):
        if flow.tag in SYNTHETIC:
            where = f"{path}, scenario {scenario}, flow {number}"
            given = renamed(texts(flow), FLOW_OLD_NAMES)
            flows.append(_flow(Values(where, given, account, f"flow-{number}", FLOW_DEFAULTS)))
        elif flow.tag in TRACE:
            account.note(f"flow {number} {_replayed(flow)}")
        else:
            account.note(f"flow {number}, <{flow.tag}>: not known, left out")
    if not flows:
        raise UsageError(
            f"{path}, scenario {scenario} has no synthetic flow",
            hint="; ".join(account.notes) or None,
        )
    _drop_same_class(flows, account)
    return _toml(flows, [f"Imported from {path}, scenario {scenario}.", *account.notes])


def _drop_same_class(flows: list[dict[str, Option]], account: Account) -> None:
    """Leave classes out where they make no difference: a drive needs queues for them."""
    if len({flow["priority"] for flow in flows}) == 1:
        for flow in flows:
            del flow["priority"]
        return
    account.note(
        f"flows of several classes: --set host.queues={len(flows)} "
        "--set host.arbitration=priority gives the drive queues for them"
    )


def _replayed(flow: Element) -> str:
    file = (flow.findtext("File_Path") or "FILE").strip()
    others = {name: (flow.findtext(name) or usual).strip() for name, usual in USUAL_REPLAY.items()}
    unusual = [f"{name} = {each}" for name, each in others.items() if each != USUAL_REPLAY[name]]
    besides = f" ({', '.join(unusual)}: not taken over)" if unusual else ""
    return f"replays a trace: ssdscope replay TARGET {file} --format mqsim{besides}"


def _flow(given: Values) -> dict[str, Option]:
    kind = given.choose("Address_Distribution", DISTRIBUTIONS)
    options = _what(given, kind) | _where(given, kind) | _pace(given) | _end(given)
    options["priority"] = given.choose("Priority_Class", PRIORITIES)
    given.without_meaning(WITHOUT_MEANING)
    given.name_the_rest()
    return options


def _what(given: Values, kind: str) -> dict[str, Option]:
    """Give pattern and sizes."""
    reads = given.take("Read_Percentage", natural)
    if reads > 100:
        raise ConfigError(f"{given.where}: Read_Percentage is {reads}")
    word = {0: "write", 100: "read"}.get(reads, "rw")
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    options: dict[str, Option] = {"rw": word if kind == "in order" else f"rand{word}", "bs": size}
    if word == "rw":
        options["rwmixread"] = reads
    if given.choose("Request_Size_Distribution", {"FIXED": False, "NORMAL": True}):
        given.account.note("Request_Size_Distribution: every request has the mean size")
        spread = given.take("Variance_Request_Size", natural)
        if spread:
            given.account.note(f"Variance_Request_Size = {spread}: every request has the mean size")
    else:
        given.without_meaning({"Variance_Request_Size": "all requests are of one size"})
    return options


def _where(given: Values, kind: str) -> dict[str, Option]:
    """Give the region and what in it is asked for more often."""
    region = given.take("Working_Set_Percentage", positive)
    options: dict[str, Option] = {} if region >= 100 else {"size": f"{region}%"}
    if kind == "hot":
        hot = given.take("Percentage_of_Hot_Region", natural)
        if 0 < hot < 100:
            # Of the requests, as many as the cold region has of the addresses go to the hot one.
            options["random_distribution"] = f"zoned:{100 - hot}/{hot}:{hot}/{100 - hot}"
    else:
        given.without_meaning({"Percentage_of_Hot_Region": "there is no hot region"})
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    unit = _unit_bytes(given, size)
    if unit != size:
        given.account.note(
            f"addresses on multiples of {unit} bytes: here on multiples of the size, {size} bytes"
        )
    return options


def _unit_bytes(given: Values, size: int) -> int:
    """Return what addresses are multiples of; before there was a choice the requests' size."""
    if "Generated_Aligned_Addresses" not in given:
        given.account.note(
            "Generated_Aligned_Addresses is missing: addresses on multiples of the size"
        )
        return size
    if not given.take("Generated_Aligned_Addresses", truth):
        given.without_meaning({"Address_Alignment_Unit": "addresses are not aligned"})
        return SECTOR_BYTES
    return SECTOR_BYTES * given.take("Address_Alignment_Unit", positive)


def _pace(given: Values) -> dict[str, Option]:
    if given.choose("Synthetic_Generator_Type", GENERATORS) == "depth":
        given.without_meaning({"Bandwidth": "the queue's depth sets the pace"})
        return {"iodepth": given.take("Average_No_of_Reqs_in_Queue", positive)}
    given.without_meaning({"Average_No_of_Reqs_in_Queue": "the rate sets the pace"})
    rate = given.take("Bandwidth", quantity)
    if rate <= 0:
        raise ConfigError(f"{given.where}: Bandwidth is 0: expected bytes per second")
    size = SECTOR_BYTES * given.take("Average_Request_Size", positive)
    return {"rate_iops": max(1, round(rate / size)), "arrival": "poisson"}


def _end(given: Values) -> dict[str, Option]:
    """Give the limit: a number of requests, or a time."""
    requests = given.take("Total_Requests_To_Generate", natural)
    if requests:
        given.without_meaning({"Stop_Time": "the number of requests ends the flow"})
        return {"number_ios": requests}
    stop_ns = given.take("Stop_Time", natural)
    if not stop_ns:
        raise ConfigError(
            f"{given.where}: Stop_Time and Total_Requests_To_Generate are 0, so it never ends",
            hint="--override Stop_Time=1000000000 ends it after a second",
        )
    return {"runtime": f"{stop_ns}ns"}


def _toml(flows: list[dict[str, Option]], header: list[str]) -> str:
    lines = [f"# {printable(line)}" for line in header] + [""]
    for number, flow in enumerate(flows, start=1):
        lines += [f"[flow-{number}]", *(f"{key} = {json.dumps(v)}" for key, v in flow.items()), ""]
    return "\n".join(lines)
