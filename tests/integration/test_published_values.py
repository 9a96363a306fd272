"""Published values of the presets' drives, found by all probes at once, which see the drive alone.

The rest of them are probed by `ssdscope reproduce presets`: of one model of drive one is enough.
"""

import json
from pathlib import Path

import pytest

from ssdscope import studies
from ssdscope.errors import UsageError
from ssdscope.studies.presets.published import SUBJECTS
from ssdscope.studies.record import Verdict
from ssdscope.targets import open_target

PROBED = {
    "kuo-transcend-slc": 0,
    "kuo-samsung-slc": 0,
    "kuo-mtron-slc": 0,
    "kuo-intel-mlc": 0,
    "ryu-a": 1,
    "ryu-b": 2,
}
"""How many of the published values no probe says, for a reason that is told."""


@pytest.mark.always(1)
@pytest.mark.parametrize("preset", PROBED)
def test_the_probes_find_what_was_published(preset: str, tmp_path: Path) -> None:
    result = studies.run("presets", figures=[preset], out_dir=tmp_path, seed=1)
    (figure,) = result.figures
    json.dumps(figure.to_json(), allow_nan=False)
    *published, others = figure.rows
    assert len(published) == len(SUBJECTS[preset].published)
    agreeing = [row for row in published if row.verdict == Verdict.AGREES]
    assert all(row.why for row in published if row.verdict == Verdict.DIFFERS)
    assert len(agreeing) == len(published) - PROBED[preset]
    assert others.ours == "none", others.why
    assert figure.data is not None
    assert figure.data.read_text(encoding="utf-8").count("\n") == 1 + len(figure.rows)


def test_of_a_drive_of_one_s_own_nothing_was_published(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="something was published"):
        studies.run("presets", out_dir=tmp_path, target=open_target("sim:mqsim-8g", seed=1))
