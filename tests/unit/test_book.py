"""The book: all figures on one page, kept as they come, whatever becomes of one of them."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.made_up_studies import FIGURES, HOSTILE, Studies, register

from ssdscope import studies
from ssdscope.errors import DeviceError, OutputError, UsageError
from ssdscope.report import book
from ssdscope.report.book import plan
from ssdscope.results.marks import written_by_us
from ssdscope.studies.huang2011 import PREDICTING

KEYS = ("ryu2009", "huang2011", "machado2015")
"""As they are registered; on the page they stand in the order of the plan."""
ALL = [(key, name) for key in ("machado2015", "ryu2009", "huang2011") for name in FIGURES]


class Page(HTMLParser):
    """Elements, ids and references of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.elements: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attributes:
            assert not name.startswith("on"), name
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href", "src"):
                self.references.append(value or "")
            elif "url(" in (value or ""):
                self.references += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Studies:
    return Studies(monkeypatch, *KEYS)


def make(page: Path, *, seed: int = 1, quick: bool = True, **more) -> book.Book:
    argv = ["reproduce", "all", "--seed", str(seed)]
    return book.make(page, seed=seed, quick=quick, argv=argv, **more)


def test_all_figures_stand_on_one_page_in_the_order_of_the_papers(
    made_up: Studies, tmp_path: Path
) -> None:
    out = tmp_path / "book.html"
    made = make(out)
    assert made_up.made == ALL
    page = Page(out)
    anchors = [f"{key}-{name}" for key, name in ALL]
    assert [each for each in page.ids if each in anchors] == anchors
    assert page.elements.count("svg") == len(ALL)
    assert made.count("status", "made") == len(ALL)
    assert made.count("verdict", "agrees") == made.count("verdict", "differs") == len(ALL)
    for told in (
        "5.471",
        "its procedure: 5 %",
        "truth: 6 %",
        "a cause",
        "Tried: a run",
        "no reason",
    ):
        assert page.text.count(told) >= len(ALL), told
    assert f"{len(ALL)} agrees" not in page.text  # counts are by paper
    assert page.text.count("2 agrees") == 2 * len(KEYS)
    assert written_by_us(out)


@pytest.mark.usefixtures("made_up")
def test_nothing_is_loaded_and_names_stay_text(tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    make(out)
    page = Page(out)
    assert {"img", "link", "iframe", "object"}.isdisjoint(page.elements)
    assert page.elements.count("script") == 1, "only the page's own"
    assert page.text.count(HOSTILE) >= 4 * len(ALL)
    assert len(page.ids) == len(set(page.ids))
    assert page.references
    for each in page.references:
        assert each.startswith("#"), each
        assert each[1:] in page.ids, each
    text = out.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_no_figure_is_named_twice(made_up: Studies, tmp_path: Path) -> None:
    made_up.titles["1"] = "Figure 1: first"
    out = tmp_path / "book.html"
    make(out)
    text = Page(out).text
    assert "Figure 1: first" in text
    assert "Figure 1: Figure 1" not in text


@pytest.mark.usefixtures("made_up")
def test_letters_keep_their_size(tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    make(out)
    # 1/64, by which the outlines of letters are scaled: with two digits they would shrink.
    assert "0.015625" in out.read_text(encoding="utf-8")


def test_a_complete_book_is_not_made_again(made_up: Studies, tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    make(out)
    first = Page(out)
    made_up.made.clear()
    made = make(out)
    assert made_up.made == []
    assert made.count("status", "made") == len(ALL)
    assert Page(out).ids == first.ids
    # But for what is not as it was left.
    (book.folder_of(out) / "ryu2009-figure1.svg").unlink()
    make(out)
    assert made_up.made == [("ryu2009", "1")]


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(
    made_up: Studies, tmp_path: Path
) -> None:
    out = tmp_path / "book.html"
    made_up.troubles["ryu2009", "wear"] = KeyboardInterrupt()
    made = make(out)
    assert made.interrupted
    assert made_up.made == ALL[:3]
    page = Page(out)
    assert page.text.count("Not made: the book was interrupted") == len(ALL) - 3
    assert "The same command goes on with the rest" in page.text
    made_up.troubles.clear()
    made_up.made.clear()
    made = make(out)
    assert not made.interrupted
    assert made_up.made == ALL[3:]
    assert "interrupted" not in Page(out).text


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (DeviceError("plane 2 is stuck", hint="a smaller drive"), "plane 2 is stuck; a smaller"),
        (OutputError("cannot write x.svg: No space left"), "cannot write x.svg: No space"),
        (MemoryError(), "out of memory"),
        (ZeroDivisionError(HOSTILE), f"a defect of ssdscope: ZeroDivisionError: {HOSTILE}"),
    ],
)
def test_one_failure_does_not_end_the_book(
    made_up: Studies, tmp_path: Path, trouble: Exception, told: str
) -> None:
    out = tmp_path / "book.html"
    made_up.troubles["ryu2009", "1"] = trouble
    made = make(out)
    assert made_up.made == [each for each in ALL if each != ("ryu2009", "1")]
    assert (made.count("status", "failed"), made.interrupted) == (1, False)
    page = Page(out)
    assert f"Failed: {told}" in page.text
    assert f"failed: {told}" in page.text  # among what is missing, at the top
    made_up.troubles.clear()
    made_up.made.clear()
    make(out)
    assert made_up.made == [("ryu2009", "1")]


@pytest.mark.usefixtures("made_up")
def test_a_part_that_cannot_be_kept_is_a_failure_of_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = book.making.Parts.keep

    def full(self, study, figure, *more) -> None:
        if (study, figure.id) == ("ryu2009", "1"):
            raise OutputError("cannot write book.jsonl: No space left on device")
        keep(self, study, figure, *more)

    monkeypatch.setattr(book.making.Parts, "keep", full)
    made = make(tmp_path / "book.html")
    assert made.count("status", "failed") == 1
    assert made.count("status", "made") == len(ALL) - 1


@pytest.mark.parametrize(("seed", "quick"), [(2, True), (1, False)])
def test_parts_of_another_book_are_refused(
    made_up: Studies, tmp_path: Path, seed: int, quick: bool
) -> None:
    out = tmp_path / "book.html"
    make(out)
    text = out.read_bytes()
    with pytest.raises(UsageError, match="parts of another book: --seed 1 with --quick") as refused:
        make(out, seed=seed, quick=quick)
    assert "--seed 1 with --quick" in (refused.value.hint or "")
    assert out.read_bytes() == text
    assert len(made_up.made) == len(ALL)


def test_parts_of_another_version_are_made_again(
    made_up: Studies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "book.html"
    make(out)
    monkeypatch.setattr("ssdscope.report.book.parts.native_version", lambda: "another")
    made = make(out)
    assert made_up.made == ALL + ALL
    assert made.outdated == len(ALL)
    assert make(out).outdated == 0


def test_a_journal_of_something_else_is_refused(made_up: Studies, tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    parts = book.folder_of(out)
    parts.mkdir()
    (parts / "book.jsonl").write_text('{"key": 1}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="holds no parts of a book"):
        make(out)
    assert made_up.made == []
    assert book.begun(out) is None


def test_a_line_that_was_cut_short_is_made_again(made_up: Studies, tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    make(out)
    journal = book.folder_of(out) / "book.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    made_up.made.clear()
    make(out)
    assert made_up.made == ALL[-1:]


def test_what_is_cut_or_left_out_says_so_with_the_command_for_all_of_it(
    made_up: Studies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    portions = {
        "ryu2009": plan.Portion({"count": 7}, cut={"1": "7 runs of 90"}),
        "machado2015": plan.Portion(left_out={"wear": "it takes a day"}),
    }
    monkeypatch.setattr(plan, "_PORTIONS", {True: portions, False: {}})
    out = tmp_path / "book.html"
    made = make(out, seed=5)
    assert made_up.extras["ryu2009"] == {"count": 7}
    assert ("machado2015", "wear") not in made_up.made
    assert made.count("status", "left out") == 1
    text = Page(out).text
    assert "A quick book: 1 figures are cut" in text
    assert "Left out: it takes a day" in text
    assert "ssdscope reproduce machado2015 --figure wear --seed 5" in text
    assert "Cut: 7 runs of 90. All of it: ssdscope reproduce ryu2009 --figure 1 --seed 5" in text
    assert "Again: ssdscope reproduce ryu2009 --figure 1 --seed 5 --count 7" in text
    # What was made with less is made again once more is wanted.
    made_up.made.clear()
    portions["ryu2009"] = plan.Portion({"count": 8}, cut={"1": "8 runs of 90"})
    make(out, seed=5)
    assert made_up.made == [("ryu2009", "1"), ("ryu2009", "wear")]


@pytest.mark.usefixtures("made_up")
def test_a_picture_that_somebody_changed_is_left_out(tmp_path: Path) -> None:
    out = tmp_path / "book.html"
    make(out)
    for change in ("<script>alert(1)</script></svg>", '<a href="http://x.y">b</a></svg>'):
        path = book.folder_of(out) / "ryu2009-figure1.svg"
        before = path.read_text(encoding="utf-8")
        path.write_text(before.replace("</svg>", change), encoding="utf-8")
        make(out)
        page = Page(out)
        assert page.elements.count("svg") == len(ALL) - 1
        assert "not as it was drawn" in page.text
        assert page.elements.count("script") == 1, "only the page's own"
        path.write_text(before, encoding="utf-8")


@pytest.mark.usefixtures("made_up")
def test_progress_names_paper_and_figure_and_what_is_left(tmp_path: Path) -> None:
    seen: list[tuple[str, float]] = []
    make(tmp_path / "book.html", progress=lambda *told: seen.append(told))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.9 < shares[-1] < 1.0
    assert re.fullmatch(r"huang2011 figure wear: half of it, 1 to go, about .* s left", seen[-1][0])


def test_every_cut_is_of_a_figure_and_by_what_its_study_takes() -> None:
    assert set(plan.GRID_FIGURES) == PREDICTING
    for quick in (True, False):
        for key, info in studies.registry().items():
            portion = plan.portion(key, quick=quick)
            assert portion.extras.keys() <= info.extras
            assert portion.cut.keys() | portion.left_out.keys() <= info.figures.keys()
            assert all(plan.expected_s(key, name, quick=quick) > 0 for name in info.figures)
    assert list(plan.papers())[:4] == ["machado2015", "ryu2009", "kuo2009", "huang2011"]


def test_the_cheapest_figures_of_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = studies.registry()
    chosen = {"ryu2009": "12", "kuo2009": "18"}
    infos = [
        replace(real[key], figures={name: real[key].figures[name]}) for key, name in chosen.items()
    ]
    register(monkeypatch, *infos)
    out = tmp_path / "book.html"
    made = make(out)
    assert made.count("status", "made") == len(chosen)
    page = Page(out)
    assert page.elements.count("svg") == len(chosen)
    for study in made.document["studies"]:
        (figure,) = study["figures"]
        assert figure["rows"]
        for row in figure["rows"]:
            assert row["what"] in page.text
    lines = (book.folder_of(out) / "book.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["study"] for line in lines[1:]] == list(chosen)
