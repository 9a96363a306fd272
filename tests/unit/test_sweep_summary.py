"""Results of a sweep, read while it may still be writing them."""

import json
from pathlib import Path

import pytest

from ssdscope.errors import UsageError
from ssdscope.sweep.summary import read_results

OUTCOME = {
    "tool": "ssdscope",
    "key": "a",
    "sweep_seed": 1,
    "point": {"target": "null:1g", "varied": {}},
    "record": None,
    "error": "it failed",
}


@pytest.mark.parametrize(
    "last", ['{"key": "b"}', '{"key"', "[]", json.dumps({**OUTCOME, "key": []})]
)
def test_a_last_line_that_is_no_outcome_is_left_out(tmp_path: Path, last: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(f"{json.dumps(OUTCOME)}\n{last}", encoding="utf-8")
    assert read_results(str(path)) == [OUTCOME]
    path.write_text(f"{last}\n{json.dumps(OUTCOME)}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1 is not an outcome"):
        read_results(str(path))
