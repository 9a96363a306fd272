"""Run the papers' studies whole, and keep what became of each of their statements.

    python -m scripts.verdicts [--paper KEY ...] [--figure ID ...] [--seed N] [-O FOLDER]

Writes `verdicts.json` beside each `paper.toml`, and the lists at the end of docs/studies.md.
Minutes for a paper, and more than an hour for the models of huang2011: so it is run by hand, behind
a change of a study or of a preset. The folder keeps the rows of each figure; what is there is not
made again, so that a run goes on, and figures may be made side by side. A test holds the cheap
figures against what is kept.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ssdscope import __version__
from ssdscope.report.book import plan
from ssdscope.studies import run
from ssdscope.studies.making import Watch
from ssdscope.studies.paper import VERDICTS, Paper, load, sources
from ssdscope.studies.record import FigureResult

SOURCES = sources()
ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "python" / "ssdscope" / "studies"
PAGE = ROOT / "docs" / "studies.md"
HEAD = "## What the sources state"
INTRODUCTION = f"""{HEAD}

Every numbered figure and table of a source, and every sentence in it that states a result, in its
order. `ssdscope reproduce list KEY` prints the words of the source, too;
`ssdscope reproduce KEY --figure ID` shows the rows that judge it. A statement has the worst verdict
of its rows. `python -m scripts.verdicts` makes this part of the page.
"""


def main() -> None:
    """Run the studies that are named, and write their verdicts and the page."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--paper", nargs="*", default=SOURCES, choices=SOURCES)
    asked.add_argument("--figure", nargs="*", help="of one paper; all of them if none is named")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("-O", dest="folder", help="keep rows, pictures and tables here")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for key in given.paper:
            paper = load(key)
            figures = given.figure or list(paper.figures)
            _judge(paper, given.seed, Path(given.folder or scratch) / key, figures)
    load.cache_clear()
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    sections = [_section(load(key)) for key in SOURCES]
    PAGE.write_text("\n".join([before.rstrip() + "\n", INTRODUCTION, *sections]), encoding="utf-8")


class _Keeping(Watch):
    """Says how far a run is, and keeps the rows of each figure as soon as it is complete."""

    def __init__(self, folder: Path) -> None:
        super().__init__(_tell)
        self._folder = folder

    def made(self, figure: FigureResult) -> None:
        rows = json.dumps(figure.to_json()["rows"], ensure_ascii=False)
        _rows(self._folder, figure.id).write_text(rows, encoding="utf-8")


def _rows(folder: Path, figure: str) -> Path:
    return folder / f"rows-{figure}.json"


def _judge(paper: Paper, seed: int, folder: Path, figures: Sequence[str]) -> None:
    """Make the figures that the folder does not have yet, and judge by all that it has."""
    wanted = [each for each in figures if not _rows(folder, each).is_file()]
    if wanted:
        folder.mkdir(parents=True, exist_ok=True)
        extras = plan.portion(paper.key, quick=False).extras
        keep = _Keeping(folder)
        run(paper.key, out_dir=folder, figures=wanted, seed=seed, extras=extras, progress=keep)
    files = {each: _rows(folder, each) for each in paper.figures}
    missing = [each for each, file in files.items() if not file.is_file()]
    found = [
        json.loads(each.read_text(encoding="utf-8")) for each in files.values() if each.is_file()
    ]
    judged = paper.judged([row for rows in found for row in rows])
    today = datetime.now(UTC).date().isoformat()
    which = f"a run without figures {', '.join(missing)}" if missing else "a whole run"
    document = {
        "made": f"{which} with seed {seed}, ssdscope {__version__}, {today}",
        "by_number": {number: str(verdict) for number, verdict in judged.items()},
    }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (STUDIES / paper.key / VERDICTS).write_text(f"{text}\n", encoding="utf-8")


def _tell(stage: str, share: float) -> None:
    print(f"\r{100 * share:3.0f} % {stage:70.70}", end="", flush=True)


def _section(paper: Paper) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in paper.counted().items())
    lines = [f"### {paper.key}, statement by statement", "", f"{paper.title}. {counts}.", ""]
    lines += ["| | states | |", "| --- | --- | --- |"]
    lines += [
        f"| {each.number} | {_cell(each.says)} | {_cell(paper.outcome(each))} |"
        for each in paper.statements
    ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
