"""What a sweep came to, as a table: a row per combination, means over its seeds."""

from collections.abc import Sequence

from ssdscope.report.parts import Table
from ssdscope.sweep.summary import Combination, varied_names

ROUNDING = 1e-9


def names(combinations: Sequence[Combination]) -> list[str]:
    """Name what tells rows apart; the target if nothing was varied."""
    return varied_names(combinations) or ["target"]


def table(combinations: Sequence[Combination], metrics: Sequence[str]) -> Table:
    """Give a row per combination: what was varied, its runs, the metrics; latencies in us."""
    headings = [name.replace("latency_ns", "latency_us") for name in metrics]
    varied = names(combinations)
    rows = [_row(each, varied, metrics) for each in combinations]
    return Table((*varied, "runs", *headings), rows)


def _row(each: Combination, varied: Sequence[str], metrics: Sequence[str]) -> tuple[str, ...]:
    told = each.to_json(metrics)
    values = [_shown(told["metrics"][name], 1e3 if "latency_ns" in name else 1) for name in metrics]
    return (*(str(each.varied.get(name, "-")) for name in varied), str(told["runs"]), *values)


def _shown(interval: dict[str, float] | None, over: float) -> str:
    """Write a mean with half the width of its interval, if that is known and not nothing."""
    if interval is None:
        return "-"
    mean, half = interval["mean"] / over, (interval["high"] - interval["mean"]) / over
    known = half < float("inf")
    width = f" ± {half:,.3g}" if known and half > ROUNDING * abs(mean) else ""
    return f"{mean:,.5g}{width}"
