"""``reproduce all`` and ``reproduce list``: where the page goes, what is refused, how it ends."""

import json
import signal
import time
from pathlib import Path

import pytest
from tests.unit.made_up_studies import FIGURES, Studies

ALL = ("reproduce", "all", "--quick")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Studies:
    monkeypatch.chdir(tmp_path)
    return Studies(monkeypatch, "machado2015", "ryu2009")


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ((), "out/book.html"),
        (("-O", "somewhere"), "somewhere/book.html"),
        (("-O", "new/mine.html"), "new/mine.html"),
    ],
)
@pytest.mark.usefixtures("made_up")
def test_the_page_is_where_it_is_named(cli, words: tuple[str], page: str) -> None:
    said = cli(*ALL, "--seed", "1", *words)
    assert said.status == 0, said.err
    assert f"page: {page}" in said.out
    assert Path(page).is_file()
    assert (Path(page).parent / f"{Path(page).name}.parts" / "book.jsonl").is_file()
    lines = [line.split() for line in said.out.splitlines()]
    assert ["machado2015", "2", "of", "2", "2", "2", "0", "2"] in [line[:8] for line in lines]
    assert f"ssdscope reproduce all --quick --seed 1 {' '.join(words)}".strip() in said.err
    assert "rows that differ: 4" in said.err
    assert cli(*ALL, "--seed", "1", *words, "--strict").status == 1


def test_a_study_may_have_a_page_of_its_own(cli, made_up: Studies) -> None:
    said = cli("reproduce", "ryu2009", "--figure", "1", "-O", "mine.html", "--seed", "1")
    assert said.status == 0, said.err
    assert made_up.made == [("ryu2009", "1")]
    assert "page: mine.html" in said.out
    page = Path("mine.html").read_text(encoding="utf-8")
    assert "<h1>ryu2009, reproduced</h1>" in page
    assert FIGURES["1"] in page
    assert "ryu2009-wear" not in page
    assert "ryu2009-1" in page
    assert sorted(each.name for each in Path().iterdir()) == ["mine.html", "mine.html.parts"]


def test_the_document_has_every_study(cli, made_up: Studies) -> None:
    said = cli(*ALL, "--seed", "7", "-o", "json")
    assert said.document["seed"] == 7
    assert said.document["schema_version"] == 1
    assert [each["study"] for each in said.document["studies"]] == ["machado2015", "ryu2009"]
    for study in said.document["studies"]:
        assert [each["id"] for each in study["figures"]] == list(FIGURES)
        assert all(each["status"] == "made" for each in study["figures"])
        assert all(row["verdict"] for each in study["figures"] for row in each["rows"])
    assert made_up.made


def test_without_a_seed_it_goes_on_with_the_one_it_began_with(cli, made_up: Studies) -> None:
    made_up.troubles["ryu2009", "1"] = KeyboardInterrupt()
    first = cli(*ALL, "-o", "json")
    assert first.status == 130
    assert "interrupted; the page holds 2 figures" in first.err
    assert first.document["interrupted"] is True
    made_up.troubles.clear()
    again = cli(*ALL, "-o", "json")
    assert (again.status, again.document["seed"]) == (0, first.document["seed"])
    assert [key for key, _ in made_up.made] == ["machado2015"] * 2 + ["ryu2009"] * 2
    refused = cli("reproduce", "all", "--seed", "3")
    assert (refused.status, refused.out) == (2, "")
    assert "parts of another book" in refused.err


def test_what_failed_is_told_and_ends_with_1(cli, made_up: Studies) -> None:
    made_up.troubles["machado2015", "1"] = MemoryError()
    said = cli(*ALL, "--seed", "1")
    assert said.status == 1
    assert "failed: machado2015 figure 1: out of memory" in said.err
    assert "1 of 2" in said.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("all", "--figure", "99"), "reproduce all takes no --figure"),
        (("all", "--target", "sim:mqsim-8g"), "reproduce all takes no --target"),
        (("all", "--count", "300"), "reproduce all takes no --count"),
        (("all", "--only", "SSD_I"), "ssdscope reproduce KEY --only"),
        (("all", "--set", "gc.policy=fifo"), "reproduce all takes no --set"),
        (("list", "--seed", "1"), "reproduce list takes no --seed"),
        (("machado2015", "--quick"), "hint: ssdscope reproduce all --quick"),
        (("al",), "did you mean all?"),
        (("all", "-O", ""), "it is not the name of a f"),
        (("all", "-O", "/dev/null"), "/dev/null is not a folder"),
        (("all", "-O", "/dev/null/book.html"), "not a folder"),
    ],
)
def test_what_the_book_does_not_take(
    cli, made_up: Studies, words: tuple[str, ...], told: str
) -> None:
    said = cli("reproduce", *words)
    assert (said.status, said.out) == (2, "")
    assert told in said.err
    assert made_up.made == []
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    "place", ["book.html", "book.html.parts/ryu2009-figure1.svg", "book.html.parts/book.jsonl"]
)
def test_what_is_not_ours_is_not_replaced(cli, made_up: Studies, place: str) -> None:
    Path("book.html.parts").mkdir()
    Path(place).write_text("my notes\n", encoding="utf-8")
    words = (*ALL, "--seed", "1", "-O", "book.html")
    said = cli(*words)
    assert (said.status, said.out) == (2, "")
    assert f"cannot write {place}" in said.err
    assert Path(place).read_text(encoding="utf-8") == "my notes\n"
    assert made_up.made == []
    assert cli(*words, "--force").status == 0
    assert "my notes" not in Path(place).read_text(encoding="utf-8")
    assert cli(*words).status == 0  # and what is ours is gone on with


def test_a_folder_at_the_place_of_the_page_and_a_file_at_that_of_its_parts(
    cli, made_up: Studies
) -> None:
    Path("a.html").mkdir()
    assert "it is a folder" in cli(*ALL, "-O", "a.html").err
    Path("b.html.parts").write_text("", encoding="utf-8")
    said = cli(*ALL, "-O", "b.html")
    assert said.status == 2
    assert "is not a folder" in said.err
    assert made_up.made == []


def test_the_list_tells_every_study_and_its_figures(cli) -> None:
    from ssdscope import studies

    document = cli("reproduce", "list", "-o", "json").document
    assert [each["study"] for each in document["studies"]] == list(studies.registry())
    text = cli("reproduce", "list").out
    for key, info in studies.registry().items():
        assert f"{key}: {info.summary}" in text
        for name in info.figures:
            assert f"\n{name} " in text


def test_ctrl_c_writes_the_page_of_what_there_is(spawn, tmp_path: Path) -> None:
    page = tmp_path / "book.html"
    process = spawn(*ALL, "-O", str(page), "--seed", "1", "-o", "json")
    journal = tmp_path / "book.html.parts" / "book.jsonl"
    try:
        while process.poll() is None:
            if journal.exists() and journal.read_text(encoding="utf-8").count("\n") >= 2:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    figures = [each for study in json.loads(out)["studies"] for each in study["figures"]]
    made = sum(each["status"] == "made" for each in figures)
    assert 1 <= made < len(figures)
    assert "Interrupted: this page shows" in page.read_text(encoding="utf-8")
