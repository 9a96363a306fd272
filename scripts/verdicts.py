"""Run the papers' studies whole, and keep what became of each of their statements.

    python -m scripts.verdicts [--paper KEY ...] [--seed N] [-O FOLDER]

Writes `verdicts.json` beside each `paper.toml`, and the lists at the end of docs/studies.md.
Minutes for a paper, and most of an hour for the models of huang2011: so it is run by hand, behind
a change of a study or of a preset. A test holds the cheap figures against what is kept.
"""

import argparse
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from ssdscope import __version__
from ssdscope.report.book import plan
from ssdscope.studies import run
from ssdscope.studies.paper import VERDICTS, Paper, load, sources

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
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("-O", dest="folder", help="keep figures and tables here")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for key in given.paper:
            _judge(load(key), given.seed, Path(given.folder or scratch) / key)
    load.cache_clear()
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    sections = [_section(load(key)) for key in SOURCES]
    PAGE.write_text("\n".join([before.rstrip() + "\n", INTRODUCTION, *sections]), encoding="utf-8")


def _judge(paper: Paper, seed: int, folder: Path) -> None:
    extras = plan.portion(paper.key, quick=False).extras
    result = run(paper.key, out_dir=folder, seed=seed, extras=extras, progress=_tell)
    judged = paper.judged([row for figure in result.figures for row in figure.rows])
    today = datetime.now(UTC).date().isoformat()
    document = {
        "made": f"a whole run with seed {seed}, ssdscope {__version__}, {today}",
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
