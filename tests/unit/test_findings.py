"""What is known of a drive, typed: each kind of evidence on made-up data, from JSON to picture."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ssdscope.errors import UsageError
from ssdscope.findings import (
    PROPERTIES,
    Absent,
    Ambiguous,
    Axis,
    Contrast,
    Course,
    Detected,
    Evidence,
    Exhibit,
    Finding,
    Findings,
    Fit,
    Line,
    Partition,
    Period,
    Reason,
    Recurrence,
    Series,
    Step,
    Undetectable,
    Where,
    fits,
    series,
)
from ssdscope.findings.families import FAMILIES
from ssdscope.plots import PAGE, findings, inline_svg
from ssdscope.recovery.truth import Kind
from ssdscope.recovery.truth_of_disks import EVERY_KIND as KINDS
from ssdscope.report import words
from ssdscope.results.record import strict_json

PLACES = np.array([4096, 8192, 65536, 1 << 20])
TIMES = np.array([1e5, 2e5, 4e5, 8e6])

FITS: dict[str, tuple[Fit, str, str]] = {
    "line": (
        Line(intercept=9e4, slope=2.0, first=4096, last=65536, error=0.031, word="a + b"),
        "a + b",
        "misses them by 3.1 % (root mean square). It holds from 4 KiB to 64 KiB",
    ),
    "step": (Step(at=8192, low=8000, high=9000, word="full & over"), "full &amp; over", "8 KiB"),
    "course": (Course(word="theory", x=(4096, 65536), y=(1e5, 4e5)), "theory", ""),
    "period": (Period(period=65536, phase=4096, word="unit begins"), "unit begins", "64 KiB"),
    "recurrence": (
        Recurrence(every=524288, share=0.9, p_value=1e-6, word="again"), "again", "512 KiB",
    ),
    "contrast": (
        Contrast(
            one="reads", other="writes", one_at=2e5, other_at=1e5, ratio=2.0, low=1.9, high=2.1,
        ),
        "reads",
        "Ratio of reads to writes: 2 (1.9 … 2.1)",
    ),
    "partition": (
        Partition(names=("odd", "even"), members=((4096.0,), (8192.0, 65536.0))),
        "odd",
        "Odd: 1, even: 2.",
    ),
}  # fmt: skip
"""Of each kind one, a word that its drawing has, and a part of what is said of it."""


def exhibit(look: Any = "points", *, log: bool = True, fitted: tuple[Fit, ...] = ()) -> Exhibit:
    return Exhibit(
        name="made-up",
        title="Latency against size",
        caption="A caption.",
        x=Axis("working set", "bytes", log=log),
        y=Axis("latency", "ns", log=log),
        series=(
            series("reads", PLACES, TIMES, look, low=TIMES * 0.9, high=TIMES * 1.1),
            series("writes", PLACES, 2 * TIMES),
        ),
        fitted=fitted,
    )


EVIDENCE = Evidence(
    exhibits=(exhibit(fitted=tuple(fit for fit, _, _ in FITS.values())),),
    figures={"blocks": 12, "by": "reads", "told": [1, 2.5, None], "sure": True},
    cautions=("slow: a disk",),
    detail="two places differ",
)
COMMON: dict[str, Any] = {"name": "rmw_unit_bytes", "probe": "units", "evidence": EVIDENCE}
ANSWERS: dict[str, tuple[Finding, str]] = {
    "exact": (
        Detected(value=16384, interval=None, effect=0.5, **COMMON),
        "Finding(rmw_unit_bytes = 16 KiB, detected)",
    ),
    "interval": (
        Detected(
            name="read_latency_alpha_ns", probe="latency",
            value=130_600.0, interval=(130_000.0, 131_000.0), effect=0.5,
        ),
        "Finding(read_latency_alpha_ns = 130.6 us [130 us, 131 us], detected)",
    ),
    "word": (
        Detected(name="allocation", probe="allocation", value="order", interval=None, effect=0.1),
        "Finding(allocation = order, detected)",
    ),
    "absent": (
        Absent(bound=512.0, reason="no place costs more", **COMMON),
        "Finding(rmw_unit_bytes: absent)",
    ),
    "ambiguous": (
        Ambiguous(candidates=(4096.0, 8192.0), reason="parts explain it", **COMMON),
        "Finding(rmw_unit_bytes = 4 KiB or 8 KiB, ambiguous)",
    ),
    "undetectable": (
        Undetectable(
            reason=Reason.MASKED, where=Where("file", full=True, left_out=("trim",)), **COMMON
        ),
        "Finding(rmw_unit_bytes: undetectable, masked)",
    ),
}  # fmt: skip


def test_every_kind_is_tried_here() -> None:
    assert set(FITS) == set(fits.KINDS)


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("log", [True, False])
def test_each_kind_is_drawn_and_said(kind: str, log: bool) -> None:
    fit, word, said = FITS[kind]
    shown = exhibit(log=log, fitted=(fit,))
    svg = inline_svg(findings.exhibit(shown, PAGE), "x", "an exhibit")
    plain = inline_svg(findings.exhibit(exhibit(log=log), PAGE), "x", "an exhibit")
    assert word in svg
    assert svg != plain
    assert said in words.fitted(shown)


@pytest.mark.parametrize("look", ["points", "line", "steps", "bars"])
@pytest.mark.parametrize("log", [True, False])
def test_every_look_is_drawn_with_its_names(look: str, log: bool) -> None:
    beyond = Step(at=1 << 40, word="beyond")
    svg = inline_svg(findings.exhibit(exhibit(look, log=log, fitted=(beyond,)), PAGE), "x", "y")
    assert svg.startswith("<svg")
    for text in ("reads", "writes", "working set"):
        assert text in svg
    assert "beyond" not in svg, "a mark outside of the view is left out"


def test_many_classes_are_counted_and_not_named() -> None:
    members = tuple((float(place),) * (1 + place % 3) for place in range(50))
    many = Partition(names=tuple(f"unit {each}" for each in range(50)), members=members)
    shown = exhibit(fitted=(many,))
    assert words.fitted(shown) == "50 classes of 1 to 3 each."
    assert "unit 7" not in inline_svg(findings.exhibit(shown, PAGE), "x", "an exhibit")


def test_one_value_is_drawn() -> None:
    one = replace(exhibit(), series=(series("a", [1], [5.0]),))
    assert "svg" in inline_svg(findings.exhibit(one, PAGE), "x", "an exhibit")


@pytest.mark.parametrize("kind", FITS)
def test_each_kind_is_read_back_equal(kind: str) -> None:
    fit = FITS[kind][0]
    assert Fit.from_json(json.loads(json.dumps(fit.to_json())), "fit") == fit


@pytest.mark.parametrize("name", ANSWERS)
def test_each_answer_is_read_back_equal_and_shown_in_a_line(name: str) -> None:
    finding, shown = ANSWERS[name]
    written = json.loads(strict_json(finding.to_json()))
    read = Finding.from_json(written)
    assert read == finding
    assert read.to_json() == finding.to_json() == finding.to_dict()
    assert json.loads(strict_json(read.to_json())) == written
    assert repr(read) == repr(finding) == shown


def test_a_refusal_read_back_has_the_words_of_where_it_was_met() -> None:
    finding = ANSWERS["undetectable"][0]
    assert isinstance(finding, Undetectable)
    assert finding.what_was_seen.endswith(": two places differ")
    assert Finding.from_json(finding.to_json()).to_json()["what_would_help"] == (
        finding.what_would_help
    )


def test_numbers_of_arrays_are_plain_in_json() -> None:
    ends: dict[str, Any] = {"low": np.float64(7), "high": np.int64(9)}
    step = Step(at=8.0, word="w", **ends)
    finding = Detected(
        name="open_units",
        probe="p",
        value=np.int64(8),  # type: ignore[arg-type]
        interval=(np.float64(7), np.int64(9)),  # type: ignore[arg-type]
        effect=np.float32(0.5),  # type: ignore[arg-type]
        evidence=Evidence(exhibits=(exhibit(fitted=(step,)),)),
    )
    written = finding.to_json()
    assert json.loads(json.dumps(written)) == written
    assert type(written["value"]) is int
    assert Finding.from_json(written) == finding


def test_json_keeps_the_keys_of_the_contract() -> None:
    evidence = EVIDENCE.to_json()
    assert evidence["told"] == [1, 2.5, None]
    assert (evidence["cautions"], evidence["detail"]) == (["slow: a disk"], "two places differ")
    (shown,) = evidence["exhibits"]
    assert [each["kind"] for each in shown["fitted"]] == list(FITS)
    assert shown["series"][0]["x"] == PLACES.tolist()
    assert Evidence().to_json() == {}


WRONG: list[tuple[str, Any]] = [
    ("kind: expected one of line", {"kind": "wave"}),
    ("'sharp' is not known here", {"kind": "step", "at": 1, "word": "w", "sharp": 2}),
    ("missing", {"kind": "step", "word": "w"}),
    ("at: expected a number, not a text", {"kind": "step", "at": "8k", "word": "w"}),
    ("word: expected a text, not a number", {"kind": "step", "at": 1, "word": 2}),
    ("both ends", {"kind": "step", "at": 1, "word": "w", "low": 1}),
    ("ends where it begins", {"kind": "step", "at": 1, "word": "w", "low": 2, "high": 1}),
    ("begins before it ends",
     {"kind": "line", "intercept": 1, "slope": 1, "first": 2, "last": 1, "error": 0}),
    ("1 values over 2 places", {"kind": "course", "word": "w", "x": [1, 2], "y": [1]}),
    ("x: expected a list", {"kind": "course", "word": "w", "x": 1, "y": [1]}),
    ("longer than nothing", {"kind": "period", "period": 0, "word": "w"}),
    ("more than nothing", {"kind": "recurrence", "every": -1, "word": "w"}),
    ("neither x nor y",
     {"kind": "contrast", "one": "a", "other": "b", "one_at": 1, "other_at": 1, "ratio": 1,
      "axis": "z"}),
    ("1 names for 2 classes", {"kind": "partition", "names": ["a"], "members": [[1], [2]]}),
    ("expected an object, not a list", []),
]  # fmt: skip


@pytest.mark.parametrize(("said", "value"), WRONG)
def test_a_malformed_fit_is_refused_with_its_place(said: str, value: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Fit.from_json(value, "fitted[3]")
    assert said in caught.value.message
    assert caught.value.message.startswith("fitted[3]")
    assert "ssdscope" in (caught.value.hint or "")


def damaged(*path: Any, to: Any) -> Any:
    """Give the JSON of an answer with one place changed, or without it."""
    document = json.loads(strict_json([ANSWERS["exact"][0].to_json()]))
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return document


SERIES = (0, "evidence", "exhibits", 0, "series", 0)
PLACES_OF_FAULTS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("findings[0]: 'property' is missing", (0, "property"), None),
    ("findings[0].property: there is no property 'colour'", (0, "property"), "colour"),
    ("findings[0].outcome: expected one of detected", (0, "outcome"), "perhaps"),
    ("findings[0].value: a value is missing", (0, "value"), None),
    ("findings[0].interval: expected two ends", (0, "interval"), [2, 1]),
    ("findings[0].evidence: expected an object, not a list", (0, "evidence"), []),
    ("findings[0].evidence: 'curve' is neither", (0, "evidence", "curve"), {"a": 1}),
    ("findings[0].evidence.exhibits[0].series[0].y[1]: expected a number", (*SERIES, "y", 1), "x"),
    ("findings[0].evidence.exhibits[0].series[0]: y has 1 values", (*SERIES, "y"), [1]),
    ("findings[0].evidence.exhibits[0].series[0]: look", (*SERIES, "look"), "cloud"),
    ("findings[0].evidence.exhibits[0].x: unit", (0, "evidence", "exhibits", 0, "x", "unit"), "ft"),
    ("findings[0].evidence.exhibits[0]: an exhibit has", (*SERIES[:4], "series"), []),
    ("findings[0].evidence.exhibits[0]: name", (*SERIES[:4], "name"), '"><script>'),
]


@pytest.mark.parametrize(("said", "path", "to"), PLACES_OF_FAULTS)
def test_a_malformed_document_is_refused_with_the_place(
    said: str, path: tuple[Any, ...], to: Any
) -> None:
    with pytest.raises(UsageError) as caught:
        Findings.from_json(damaged(*path, to=to))
    assert caught.value.message.startswith(said)


def test_a_series_refuses_half_an_interval() -> None:
    with pytest.raises(ValueError, match="both ends"):
        Series("s", (1.0,), (2.0,), low=(1.0,))


def test_evidence_takes_numbers_of_arrays_and_nothing_nested() -> None:
    taken = Evidence(figures={"a": np.float64(2.5), "b": np.arange(2), "c": np.bool_(1)})
    assert taken.figures == {"a": 2.5, "b": (0, 1), "c": True}
    assert type(taken.figures["a"]) is float
    for bad in ({"a": {"b": 1}}, {"a": [[1]]}, {"detail": "x"}):
        with pytest.raises(ValueError, match=r"figure|neither"):
            Evidence(figures=bad)


def test_evidence_grows_without_changing_what_was_given_before() -> None:
    step = Step(at=1.0, word="w")
    grown = EVIDENCE.noting(more=1).saying("else").fitting("made-up", step)
    assert grown.exhibits[0].fitted[-1] is step
    assert (grown.figures["more"], grown.detail) == (1, "else")
    assert "more" not in EVIDENCE.figures
    assert grown.unfitted().exhibits[0].fitted == ()
    other = replace(exhibit(), title="Another")
    assert [each.title for each in EVIDENCE.showing(other).exhibits] == ["Another"]


def test_evidence_is_asked_by_kind_and_by_name() -> None:
    assert EVIDENCE.fit(Period) == FITS["period"][0]
    assert Evidence().fit(Period) is None
    assert EVIDENCE.exhibit("made-up") is EVIDENCE.exhibits[0]
    assert EVIDENCE.exhibit("another") is None
    assert EVIDENCE.exhibits[0].span == (4096, 1 << 20)


def test_findings_are_a_mapping_with_a_row_for_each() -> None:
    found = Findings([ANSWERS["absent"][0], ANSWERS["interval"][0], ANSWERS["exact"][0]])
    assert list(found) == ["rmw_unit_bytes", "read_latency_alpha_ns"], "of one property the last"
    assert repr(found) == "Findings(2 detected)"
    assert repr(Findings()) == "Findings(none)"
    assert Findings.from_json(json.loads(strict_json(found.to_json()))) == found


def test_the_study_judges_as_properties_say() -> None:
    assert set(KINDS) == set(PROPERTIES)
    exact = {name for name, kind in KINDS.items() if kind is Kind.EXACT}
    assert exact == {each.key for each in PROPERTIES.values() if each.exact}


@pytest.mark.parametrize(
    ("unit", "text"),
    [("bytes", "1.5 MiB"), ("ns", "1.57 ms"), ("bytes/s", "1.57 MB/s"), ("iops", "1.57 M")],
)
def test_values_are_written_in_the_unit_of_their_axis(unit: str, text: str) -> None:
    assert words.of_unit(1.5 * (1 << 20), unit) == text


def test_every_property_has_all_that_a_row_says() -> None:
    for key, each in PROPERTIES.items():
        assert each.key == key
        assert each.families, key
        assert all((each.name, each.note, each.sign, each.meaning)), key
        assert bool(each.words) <= (not each.unit and each.exact), key


UNIT_OF_BUFFER = "write_buffer_unit_bytes"
"""Of two families: short writes show it, and so does a buffer that fills."""


def test_families_hold_every_property_and_nothing_else() -> None:
    assert {key for keys in FAMILIES.values() for key in keys} == set(PROPERTIES)
    assert FAMILIES["units"] == ("rmw_unit_bytes", "alignment_phase_bytes", UNIT_OF_BUFFER)
    assert FAMILIES["buffer"] == ("write_buffer_bytes", UNIT_OF_BUFFER)
