"""Workloads as people write them: lists in TOML or JSON, fio's options in a word, traces."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdscope.advise.placement.tables import parsed, require_known
from ssdscope.advise.placement.workloads import Load, Stream, Traced
from ssdscope.errors import ConfigError, UsageError, nearest
from ssdscope.models import asking
from ssdscope.targets.opening import read_text
from ssdscope.targets.sources import require_file
from ssdscope.targets.toml_files import parse_toml
from ssdscope.targets.traces import TraceOptions, read_trace
from ssdscope.units import parse_duration, parse_size
from ssdscope.workloads.grid import COLUMNS, Vector
from ssdscope.workloads.options import in_option_names, standard, workload_from_options
from ssdscope.workloads.replaying import ALIGNMENTS, FITS

FIO = ("rw", "bs", "rwmixread", "stride", "percentage_random")
COMMON = ("name", "size", "rate_iops", "latency")
OF_TRACE = ("name", "trace", "latency", "fit", "align", "time_scale", "limit", "volume", "format",
            "spread_ties")  # fmt: skip
CHARACTERISTICS = tuple(name for name in COLUMNS if name != "q_dep")
TRACE_REQUESTS = 1_000_000
"""Of a trace so many requests are read, if nobody says otherwise."""
HINT = (
    'a list has a [[workload]] table for each: name, size = "10g", rate_iops = 200 and rw = '
    '"randread", bs = "4k" (or wr_ratio, rd_size ... of `model predict`), or trace = "FILE"'
)


@dataclass(frozen=True)
class Reading:
    """What holds for all workloads that do not say otherwise.

    Attributes
    ----------
    latency_ns
        Bound on the mean latency.
    fit, align, time_scale, limit, format
        How traces are read.
    """

    latency_ns: int | None = None
    fit: str = "refuse"
    align: str = "refuse"
    time_scale: float = 1.0
    limit: int | None = None
    format: str | None = None


def read_loads(words: Sequence[str], given: Reading) -> list[Load]:
    """Read all workloads of a command line.

    Parameters
    ----------
    words
        Each a list (``.toml``, ``.json``), fio's options in one word
        (``rw=randread,bs=4k,rate_iops=200,size=10g``), or a trace.
    given
        What holds for those that do not say otherwise.

    Raises
    ------
    UsageError
        If one cannot be read, or two have one name; the message says which.
    TraceError
        If a trace cannot be read.
    """
    loads = [load for word in words for load in _loads_of(word, given)]
    for place, each in enumerate(loads):
        if each.name in {other.name for other in loads[:place]}:
            raise UsageError(
                f"two workloads are called {each.name!r}", hint='name = "..." tells them apart'
            )
    return loads


def files_of(word: str) -> list[str]:
    """List the files behind a word of the command line: a list, and the traces in it."""
    if _is_inline(word):
        return []
    if Path(word).suffix not in (".toml", ".json"):
        return [word]
    traces = [each.get("trace") for each in _tables(word)]
    return [word, *(str(_beside(word, each)) for each in traces if isinstance(each, str))]


def _is_inline(word: str) -> bool:
    return "=" in word and not Path(word).exists()


def _loads_of(word: str, given: Reading) -> list[Load]:
    if _is_inline(word):
        return [_inline(word, given)]
    if Path(word).suffix not in (".toml", ".json"):
        return [_of_trace({"trace": word}, word, "", given)]
    return [
        _of_table(each, f"{word}: workload {number}", word, given)
        for number, each in enumerate(_tables(word), start=1)
    ]


def _inline(word: str, given: Reading) -> Load:
    table: dict[str, Any] = {}
    for part in word.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                f"workload {word!r}: {part!r} is not KEY=VALUE",
                hint="as in rw=randread,bs=4k,rate_iops=200,size=10g",
            )
        table[key.strip().replace("-", "_")] = value.strip()
    return _of_table({"name": word, **table}, f"workload {word!r}", "", given)


def _tables(path: str) -> list[dict[str, Any]]:
    """Give the tables of a list of workloads.

    Raises
    ------
    ConfigError
        If it is no list of workloads.
    """
    text = read_text(path)
    try:
        document = json.loads(text) if path.endswith(".json") else parse_toml(text, path, HINT)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply", hint=HINT) from None
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}", hint=HINT) from error
    tables = document.get("workload") if isinstance(document, dict) else document
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise ConfigError(f"{path} is no list of workloads", hint=HINT)
    if isinstance(document, dict) and (others := document.keys() - {"workload"}):
        raise ConfigError(f"{path}: there is no key {min(others)!r}", hint=HINT)
    return tables


def _of_table(table: Mapping[str, Any], where: str, path: str, given: Reading) -> Load:
    name = table.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{where}: it has no name", hint=HINT)
    where = f"{where} ({name})" if path else where
    if "trace" in table:
        return _of_trace(table, where, path, given)
    require_known(table, (*COMMON, *FIO, *CHARACTERISTICS), where)
    missing = [key for key in ("size", "rate_iops") if key not in table]
    if missing:
        raise ConfigError(
            f"{where}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            hint="size is how much of a drive it takes, rate_iops how many requests come a second",
        )
    load = Stream(
        name=name,
        vector=_vector(table, where),
        rate=_positive(table["rate_iops"], f"{where}: rate_iops"),
        size_bytes=parsed(table["size"], f"{where}: size", parse_size),
        latency_limit_ns=_latency(table, where, given),
    )
    longest = max(load.vector.effective().wr_size, load.vector.effective().rd_size)
    if load.size_bytes < longest:
        raise ConfigError(f"{where}: a size of {load.size_bytes:,} bytes holds not one request")
    return load


def _vector(table: Mapping[str, Any], where: str) -> Vector:
    """Read the characteristics, under fio's names or those of a model."""
    fio = {key: table[key] for key in FIO if key in table}
    own = {key: table[key] for key in CHARACTERISTICS if key in table}
    if fio and own:
        raise ConfigError(
            f"{where}: {next(iter(fio))} and {next(iter(own))} say the same in two ways",
            hint="use fio's names (rw, bs ...) or those of `model predict` (wr_ratio ...)",
        )
    if not fio:
        return asking.vector(own, lambda key: f"{where}: {key}")
    return _of_fio(fio, where)


def _of_fio(options: Mapping[str, Any], where: str) -> Vector:
    def named(key: str) -> str:
        return f"{where}: {key}"

    try:
        plan = workload_from_options(standard(options, named), seed=0, where=named)
    except UsageError as error:
        raise in_option_names(error, named) from error
    usual = 100 if plan.rw.startswith("rand") else 0
    share = usual if plan.percentage_random is None else plan.percentage_random

    def pick(own: int | None, common: int) -> int:
        return common if own is None else own

    reads = {"read": 100, "randread": 100, "write": 0, "randwrite": 0}
    vector = Vector(
        wr_ratio=100 - reads.get(plan.rw, plan.read_percent),
        q_dep=1,
        wr_size=pick(plan.write_block_bytes, plan.block_bytes),
        rd_size=pick(plan.read_block_bytes, plan.block_bytes),
        wr_rand=pick(plan.write_percentage_random, share),
        rd_rand=pick(plan.read_percentage_random, share),
        wr_stride=pick(plan.write_stride_bytes, plan.stride_bytes),
        rd_stride=pick(plan.read_stride_bytes, plan.stride_bytes),
    )
    if min(vector.wr_stride, vector.rd_stride) < 0:
        raise ConfigError(f"{where}: stride: it goes backwards", hint="use a gap of 0 or more")
    return vector


def _of_trace(table: Mapping[str, Any], where: str, path: str, given: Reading) -> Load:
    require_known(table, OF_TRACE, where)
    file = _beside(path, table["trace"]) if path else Path(str(table["trace"]))
    fit, align = table.get("fit", given.fit), table.get("align", given.align)
    for key, value, known in (("fit", fit, FITS), ("align", align, ALIGNMENTS)):
        if value not in known:
            raise UsageError(f"{where}: {key}: {value!r} is unknown", hint=nearest(value, known))
    limit = table.get("limit", given.limit)
    options = TraceOptions(
        format=table.get("format", given.format),
        volume=table.get("volume"),
        limit=TRACE_REQUESTS if limit is None else int(_positive(limit, f"{where}: limit")),
        spread_ties=bool(table.get("spread_ties", False)),
    )
    require_file(str(file))
    trace = read_trace(str(file), options)
    return Traced(
        name=str(table.get("name") or file.name.partition(".")[0] or file.name),
        trace=trace,
        fit=fit,
        align=align,
        time_scale=_positive(table.get("time_scale", given.time_scale), f"{where}: time_scale"),
        latency_limit_ns=_latency(table, where, given),
        source=f"trace {file.name}",
    )


def _beside(path: str, name: Any) -> Path:
    """Find a file that a list names: beside the list."""
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{path}: trace: {name!r} is not the name of a file")
    return Path(path).parent / name


def _latency(table: Mapping[str, Any], where: str, given: Reading) -> int | None:
    """Take a workload's own bound, or that for all."""
    if "latency" not in table:
        return given.latency_ns
    found = parsed(table["latency"], f"{where}: latency", parse_duration)
    if found <= 0:
        raise ConfigError(f"{where}: latency: no drive answers in no time")
    return found


def _positive(value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number < float("inf"):
        raise ConfigError(f"{where}: {value!r} is not a number above zero")
    return number
