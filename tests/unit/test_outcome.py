"""What a stage came to and what it left out, said of documents that were made up."""

from typing import Any

import pytest

from ssdscope.findings import Absent, Detected, Findings, Reason, Undetectable
from ssdscope.probes.budget import Budget
from ssdscope.report import outcome
from ssdscope.report.stages import STAGES

DEFAULT, FULL = Budget.parse("default"), Budget.parse("full")
FOUND = [
    Detected(name="merge_unit_bytes", value=4 << 20, interval=None, effect=3.0, probe="a"),
    Detected(name="write_buffer_bytes", value=128 << 10, interval=None, effect=3.0, probe="a"),
    Absent(name="read_cache_bytes", bound=0.1, reason="none", probe="a"),
    Undetectable(name="map_zone_bytes", reason=Reason.BUDGET_EXHAUSTED, probe="a"),
]
SMALL = {"block_bytes": 4096, "iodepth": 1, "split": "grid"}


def document(**parts: Any) -> dict[str, Any]:
    """Compose a document in which nothing was found but what is given."""
    info = {"writable": True, "clock": "wall", "kind": "block"} | parts.pop("info", {})
    performance = {"points": [], "sustained": [], "distributions": [], "trace": None}
    return {
        "target": {"info": info},
        "findings": Findings(FOUND).to_json(),
        "performance": performance | parts.pop("performance", {}),
        "models": [],
        "twin": None,
        "advice": [],
        **parts,
    }


def test_what_was_found_so_far_stands_in_a_line_the_newest_first() -> None:
    assert outcome.found_so_far(Findings(FOUND)) == "write buffer 128 KiB · merge unit 4 MiB"
    said = outcome.line("findings", document())
    assert said == "2 of 4 properties detected: write buffer 128 KiB · merge unit 4 MiB"


@pytest.mark.parametrize("name", [name for name, _ in STAGES])
def test_a_stage_that_found_nothing_says_so_or_nothing(name: str) -> None:
    said = outcome.line(name, document())
    assert said is None or name in ("findings", "performance")
    assert all(isinstance(each, str) for each in outcome.left_out(name, document(), DEFAULT))


def test_properties_for_which_there_was_no_budget_are_named() -> None:
    (short,) = outcome.left_out("findings", document(), DEFAULT)
    names, said = short.split(": ")
    assert "map_zone_bytes" in names or "more" in names
    assert said.startswith("3 of 33 properties tried; --budget full adds ")
    assert {"table", "collection", "spare"} <= {*said.split(" adds ")[1].split(", ")}
    (short,) = outcome.left_out("findings", document(), FULL)
    assert "; --budget full:2h adds " in short


@pytest.mark.parametrize(
    ("info", "budget", "said"),
    [
        ({}, DEFAULT, ["what it keeps up of writes: only with --budget full"]),
        ({}, FULL, []),
        ({"writable": False}, FULL, ["what it keeps up of writes: nothing may be written"]),
    ],
)
def test_sustained_writes_that_were_not_tried_are_named(
    info: dict[str, Any], budget: Budget, said: list[str]
) -> None:
    assert outcome.left_out("sustained", document(info=info), budget) == said


def test_a_figure_of_a_busy_machine_is_a_bound_and_says_so() -> None:
    row = SMALL | {"failure": None, "mean_ns": 80_000.0, "iops": 12_500.0, "sort": "read"}
    calm = row | {"rw": "randread", "waited_share": None}
    busy, many = calm | {"waited_share": 0.12}, calm | {"iodepth": 32, "waited_share": 0.4}
    told = document(performance={"points": [busy, many]})
    said = outcome.line("overview", told)
    assert said is not None
    assert "at most 80 µs (12 % waiting)" in said
    assert "at depth 32 at least 12.5 k IOPS (40 % waiting)" in said
    assert outcome.doubts(told) == [
        "the machine was busy: 2 of the first 2 figures are bounds, not values"
    ]
    assert outcome.doubts(document(performance={"points": [calm] * 6 + [busy]})) == []
    (missing,) = outcome.left_out("performance", told, DEFAULT)
    assert "2 workloads, which are bounds: the machine was busy" in missing


def test_a_report_that_tells_nothing_is_not_to_be_trusted() -> None:
    failed = SMALL | {"rw": "randread", "failure": "late"}
    nothing = document(performance={"points": [failed]}, findings=Findings(FOUND[3:]).to_json())
    assert outcome.doubts(nothing) == ["nothing at all could be told of this target"]
    assert outcome.doubts(document(performance={"points": [failed]})) == []


def test_what_has_no_figures_is_counted_by_the_reason() -> None:
    rows = [
        SMALL | {"rw": "randread", "sort": "read", "failure": None, "mean_ns": 80_000.0},
        *2 * [SMALL | {"rw": "randwrite", "sort": "burst", "failure": "late", "mean_ns": None}],
    ]
    measured = document(performance={"points": rows})
    said = outcome.line("performance", measured)
    assert said == "1 workloads measured · random read of 4 KiB 80 µs"
    assert outcome.left_out("performance", measured, DEFAULT) == ["2 workloads: late"]


def test_no_twin_is_left_out_with_its_reason() -> None:
    assert outcome.left_out("twin", document(twin={"reason": "it turns"}), DEFAULT) == [
        "the twin: it turns"
    ]
    twin = {"errors": {"median_ape": 0.042}}
    assert outcome.line("twin", document(twin=twin)) == (
        "off by 4.2 % in the median on unseen workloads"
    )


def test_only_settings_that_are_to_be_set_are_counted_as_advice() -> None:
    idle = [{"outcome": "no effect"}, {"outcome": "missing"}]
    assert outcome.line("advice", document(advice=idle)) == "0 of 2 settings"
    given = [*idle, {"outcome": "set"}]
    assert outcome.line("advice", document(advice=given)) == "1 of 3 settings"
