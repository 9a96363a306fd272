"""The model on the page: fitted to runs of its own and the page's, held to others, and told."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ssdscope.errors import DeviceError, UsageError
from ssdscope.models import collecting, designs, evaluation, explaining, features, fitting
from ssdscope.models.fitted import FittedModel
from ssdscope.models.table import Collected, Runs
from ssdscope.probes.budget import Budget, StageProgress
from ssdscope.report import model_runs
from ssdscope.report.model_runs import Kinds
from ssdscope.report.stage_budget import brevity
from ssdscope.report.sustaining import Settled
from ssdscope.targets import Device
from ssdscope.targets.metered import ExhaustedError
from ssdscope.targets.records import DeviceInfo
from ssdscope.workloads.filling import filled
from ssdscope.workloads.grid import KIB, Stop, Vector

POINTS = 256
TEST = 64
REPEATS = 16
UNTIL_CI = 0.05
RUNTIME_NS = 10_000_000_000
"""A run on a simulated drive ends by then, so that slow drives do not hold up the page."""
RUN_BYTES = 256 << 20
"""What a run on a simulated drive may move while it is measured..."""
FILLED_TIMES = 3
"""... and so many times as much with what fills buffers before."""
RUNS_SHARE = 0.6
"""Of the time of the stage on a real drive; the rest is for fitting."""
LEAST_RUN_S = 0.1
"""On a real drive there are as many runs as fit, each at least so long."""
MODELS = ("service", "guide")
SETS = ("extended",)
SIZES_BYTES: tuple[int, ...] = tuple(kib * KIB for kib in (4, 8, 16, 32, 64, 128, 256))
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
WRITE_RATIOS = (0, 25, 50, 75, 100)
"""Shares of writes of the map of mixes, in percent."""


def plan_of(info: DeviceInfo, budget: Budget, seed: int) -> collecting.Plan:
    """Say which runs there are time for."""
    if info.clock == "virtual":
        stop = Stop(UNTIL_CI, RUNTIME_NS, most_bytes=RUN_BYTES)
        share = brevity(budget)
        points, test, repeats = (round(share * count) for count in (POINTS, TEST, REPEATS))
        return collecting.Plan("sobol", points, test, repeats, seed, stop)
    seconds = RUNS_SHARE * budget.wall_s
    runs = min(POINTS + TEST, max(1, int(seconds / LEAST_RUN_S)))
    points = max(1, runs * POINTS // (POINTS + TEST))
    stop = Stop(UNTIL_CI, round(seconds / runs * 1e9))
    return collecting.Plan("sobol", points, runs - points, 0, seed, stop, prepare=False)


def writes_bytes(info: DeviceInfo, budget: Budget) -> int:
    """Give what runs on copies of a simulated drive write at most."""
    plan = plan_of(info, budget, 0)
    return (plan.points + plan.test + plan.repeats) * FILLED_TIMES * RUN_BYTES


def filled_plan(device: Device, budget: Budget, seed: int) -> collecting.Plan:
    """Say which runs there are time for, and what fills a simulated drive's buffer before each.

    Raises
    ------
    DeviceError
        If the drive fails.
    """
    plan = plan_of(device.info, budget, seed)
    if not device.info.snapshot:
        return plan
    return replace(plan, stop=filled(plan.stop, device, seed))


def model(
    device: Device,
    uri: str,
    budget: Budget,
    seed: int,
    progress: StageProgress,
    performance: Mapping[str, Any],
    settled: Settled,
) -> list[dict[str, Any]]:
    """Collect, fit and evaluate.

    Parameters
    ----------
    device, uri, budget, seed, progress
        As elsewhere on the page.
    performance
        What the page has of the drive already (`model_runs.of_page`).
    settled
        Drives that writes were brought to rest on.

    Returns
    -------
    list of dict
        What the page shows of the model; nothing where the drive is too small or too few runs
        can be used.
    """
    try:
        designs.require(device.info)
    except UsageError:
        return []
    kinds = Kinds.of(settled)
    try:
        known = model_runs.of_page(performance, sustained=bool(kinds.drives))
        plan = _plan(device, kinds, budget, seed)
        rows = _collect(device, kinds, plan, lambda what, share: progress(what, 0.7 * share))
        rows = [*known, *model_runs.without_known(rows, [*known, *rows])]
        progress("fitting a model", 0.7)
        header = plan.header({"target": uri}, 0)
        fits = fitting.Fits()
        fitted = fitting.fit(
            rows, header, model=MODELS, feature_set=SETS, tails=False, seed=seed, fits=fits
        )
        progress("holding the model to unseen runs", 0.9)
        document = _document(fitted, rows, plan, fits)
        return [
            document
            | {"cut_short": not device.left_s()}
            | {"maps": _maps(fitted, device.info, kinds), "writes": _sort(device.info, kinds)}
            | {"mix": _mix(fitted, device.info, kinds)}
        ]
    except (DeviceError, UsageError):  # a drive that fails is told of elsewhere on the page
        return []


def _plan(device: Device, kinds: Kinds, budget: Budget, seed: int) -> collecting.Plan:
    if kinds.drives:
        return plan_of(device.info, budget, seed)
    return filled_plan(device, budget, seed)


def _collect(
    device: Device, kinds: Kinds, plan: collecting.Plan, progress: StageProgress
) -> list[Collected]:
    """Make runs, as far as the budget goes: on settled drives if any, else on one in use."""
    runs = Runs()
    with suppress(ExhaustedError):  # of the runs that were made a model can be learnt
        if kinds.drives:
            for row in model_runs.on_settled(device, kinds, plan, progress):
                runs.append(row)
        else:
            collecting.collect(device, plan, runs, progress)
    return runs.rows


def _sort(info: DeviceInfo, kinds: Kinds) -> str | None:
    """Say of what sort the model's writes are."""
    if not info.writable:
        return None
    return "sustained" if kinds.drives else "in use"


def _document(
    fitted: FittedModel, rows: Sequence[Collected], plan: collecting.Plan, fits: fitting.Fits
) -> dict[str, Any]:
    evaluated = evaluation.evaluate(
        rows, models=[fitted.model], feature_sets=[fitted.feature_set], seed=plan.seed, fits=fits
    )
    test = [each.row for each in rows if each.split == "test" and each.usable]
    predicted = fitted.rows(features.inputs([row.vector for row in test]))
    held_out = [
        row.to_dict()
        | {"mean_ns": row.latency_ns, "predicted_ns": value, "low_ns": low, "high_ns": high}
        for row, (value, low, high) in zip(test, predicted.tolist(), strict=True)
    ]
    return {
        "name": fitted.model,
        "features": fitted.feature_set,
        "runs": len(rows),
        "usable": sum(each.usable for each in rows),
        "rows": evaluated,
        "held_out": held_out,
        "importances": explaining.importances(fitted),
        "tree": explaining.nested(fitted.readable()),
        "tree_grouped_mre": fitted.tree["grouped_mre"],
        "grouped_mre": fitted.predictions[fitted.target].grouped["mre"],
        "rules": explaining.rules(fitted),
    }


def _maps(fitted: FittedModel, info: DeviceInfo, kinds: Kinds) -> list[dict[str, Any]]:
    """Predict random reads, and writes where they may be, of each size at each depth.

    Sizes of sustained writes are between those that were brought to rest.
    """
    settled = kinds.sizes("randwrite")
    shown = SIZES_BYTES
    if kinds.drives:
        shown = tuple(size for size in shown if settled and settled[0] <= size <= settled[-1])
    sizes = {0: SIZES_BYTES} | ({100: shown} if info.writable else {})
    return [
        {
            "name": f"random {'writes' if ratio else 'reads'}",
            "sizes_bytes": list(each),
            "depths": list(DEPTHS),
            "cells": [_cells(fitted, ratio, depth, each) for depth in DEPTHS],
        }
        for ratio, each in sizes.items()
        if each
    ]


def _mix(fitted: FittedModel, info: DeviceInfo, kinds: Kinds) -> dict[str, Any] | None:
    """Predict the mean latency of small random requests, by depth and share of writes.

    Of the smallest size that the model knows writes of; nothing where it knows none.
    """
    settled = kinds.sizes("randwrite") if kinds.drives else (SIZES_BYTES[0],)
    if not info.writable or not settled:
        return None
    size = settled[0]
    cells = []
    for depth in DEPTHS:
        vectors = [Vector(ratio, depth, size, size, 100, 100) for ratio in WRITE_RATIOS]
        found = fitted.rows(features.inputs(vectors)).tolist()
        cells.append([dict(zip(("value", "low", "high"), each, strict=True)) for each in found])
    return {
        "block_bytes": size, "depths": list(DEPTHS), "wr_ratios": list(WRITE_RATIOS),
        "cells": cells,
    }  # fmt: skip


def _cells(
    fitted: FittedModel, ratio: int, depth: int, sizes: Sequence[int]
) -> list[dict[str, float]]:
    vectors = [Vector(ratio, depth, size, size, 100, 100) for size in sizes]
    found = fitted.rows(features.inputs(vectors)).tolist()
    return [dict(zip(("value", "low", "high"), each, strict=True)) for each in found]
