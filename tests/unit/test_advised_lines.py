"""Every line that may be advised was tried: the page that says so is held against the knobs."""

from tests.lines import in_lab, page
from tests.lines.advised import advised
from tests.lines.line import BLOCKS, Line, form_of
from tests.lines.trials import TRIALS

from ssdscope.advise.knobs import KNOBS
from ssdscope.targets.presets import preset_names


def test_a_line_that_was_not_tried_fails() -> None:
    now, tried = {page.key(line) for line in advised()}, page.read()
    assert not now - tried, "not tried: python -m tests.lines --renew"
    assert not tried - now, "no longer advised: python -m tests.lines --renew"


def test_every_knob_that_prints_a_line_is_tried_on_both_blocks() -> None:
    printing = {f"{knob.tool} {knob.name}" for knob in KNOBS if knob.typed_in is not None}
    assert printing == set(TRIALS)
    for block in BLOCKS:
        assert {line.setting for line in advised() if line.block_bytes == block} == printing
    assert len(preset_names()) >= 24


def test_a_line_is_known_by_its_form_and_its_numbers() -> None:
    text = "mkfs.ext4 -b 4096 -E stride=2,stripe_width=64 /dev/DEVICE"
    line = Line("ext4 stride, stripe_width", text, 512, 1 << 30, "a shell, as root")
    assert line.form == "mkfs.ext4 -b N -E stride=N,stripe_width=N /dev/DEVICE"
    assert line.numbers == (4096, 2, 64)
    assert form_of("a = 1\nb = 2") == "a = N ; b = N"
    changed = Line(line.setting, text.replace("=64", "=65"), 512, 1 << 30, line.typed_in)
    assert page.key(changed) not in page.read()


def test_what_the_laboratory_tried_is_known_by_its_lines() -> None:
    lines = [each for each in advised() if each.setting == "bcache bucket"]
    assert lines
    assert in_lab.digest(lines) == in_lab.digest(reversed(lines))
    assert in_lab.digest(lines) != in_lab.digest(lines[1:])
