"""Each sentence on what was tried rests on tests that are there, and on refusals that hold."""

import ast
from pathlib import Path

import pytest
from tests.syntax import tree_of

from ssdscope.report.tried import TRIED

ROOT = Path(__file__).parents[2]

RESTS_ON: dict[str, tuple[str, ...]] = {
    "Simulated drives": (
        "tests/integration/test_recovery.py::test_nothing_is_wrong",
        "tests/integration/test_recovery.py::test_every_property_of_every_drive_is_judged",
    ),
    "Files": (
        "tests/integration/test_real_files.py::test_a_file_is_read_and_unchanged",
        "tests/integration/test_real_files.py::test_writing_needs_the_token",
        "tests/integration/test_characterize.py::test_a_trace_of_hours_is_cut_off_on_a_real_drive",
        "tests/integration/test_probe_command.py::test_a_file_that_is_only_read_is_left_to_the_bit",
    ),
    "Loop devices": (
        "tests/e2e/test_block_device.py::test_the_kernel_counts_the_reads_we_report",
        "tests/e2e/test_block_device.py::test_a_block_device_with_data_is_not_written",
        "tests/integration/test_block_safety.py::test_is_refused_and_unchanged",
    ),
    "NBD exports": (
        "tests/integration/test_serving.py::test_a_served_drive_is_the_drive",
        "tests/integration/test_serving.py::test_writing_to_an_export_needs_its_token",
    ),
    "Hardware": (),
}


def test_every_sentence_is_held_to_something() -> None:
    assert RESTS_ON.keys() == TRIED.keys()
    assert (ROOT / "docs" / "recovery.md").exists()


@pytest.mark.parametrize("test", [each for tests in RESTS_ON.values() for each in tests])
def test_what_a_sentence_rests_on_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    tree = tree_of(ROOT / path)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert name in functions


def test_no_probe_is_tried_on_a_loop_device() -> None:
    text = (ROOT / "tests" / "e2e" / "test_block_device.py").read_text(encoding="utf-8")
    assert '"probe"' not in text
    assert "characterize" not in text


def test_every_kind_has_one_sentence_in_the_documentation() -> None:
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for kind, sentence in TRIED.items():
        assert f"| {kind} | {sentence} |" in text
