"""Lines that advise prints are taken by their tools, where these are installed.

`python -m tests.lines` tries all of them; here each form has its least and its greatest values.
"""

import os

import pytest
from tests.lines.advised import advised
from tests.lines.devices import NotHereError, RefusedError, loop
from tests.lines.line import BLOCKS, Line
from tests.lines.shell import ext4, sfdisk, xfs
from tests.lines.trials import TRIALS, WITHOUT_KERNEL

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="a loop device needs root"),
]
SERVERS = ("innodb", "postgres", "rocksdb")
"""Of their lines one each is tried: they take seconds to start."""


def few(setting: str) -> list[Line]:
    """Return the least and the greatest of each form, on blocks of either size."""
    chosen: dict[tuple[str, int], list[Line]] = {}
    for line in advised():
        if line.setting == setting:
            chosen.setdefault((line.form, line.block_bytes), []).append(line)
    ordered = [sorted(each, key=lambda line: line.numbers) for each in chosen.values()]
    if setting.startswith(SERVERS):
        return [each[-1] for each in ordered]
    return [line for each in ordered for line in dict.fromkeys((each[0], each[-1]))]


@pytest.mark.parametrize("setting", TRIALS)
def test_tools_take_the_lines_and_do_what_they_say(setting: str) -> None:
    trial = TRIALS[setting]
    run = WITHOUT_KERNEL.get(setting, trial.run)
    for line in few(setting):
        try:
            run(line)
        except NotHereError as why:
            pytest.skip(f"{setting} was not tried: {why}")


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_a_line_that_a_tool_refuses_or_does_not_do_is_seen(block_bytes: int) -> None:
    def line(text: str, capacity_bytes: int = 1 << 30) -> Line:
        return Line("s", text, block_bytes, capacity_bytes, "a shell, as root")

    try:
        with loop(block_bytes, 1 << 20):
            pass
    except NotHereError as why:
        pytest.skip(f"that refusals are seen was not tried: {why}")
    other = ": start=4MiB; echo start=1MiB | sfdisk --label gpt /dev/DEVICE"
    for run, wrong in (
        (sfdisk, line("echo start=4096MiB | sfdisk --label gpt /dev/DEVICE")),
        (sfdisk, line(other)),
        (ext4, line("mkfs.ext4 -b 4096 -E stride=4,stripe_width=6 /dev/DEVICE")),
        (xfs, line("mkfs.xfs -d su=64k,sw=1 -l su=6k /dev/DEVICE")),
    ):
        try:
            run(wrong)
        except NotHereError:
            continue
        except RefusedError:
            continue
        pytest.fail(f"nobody saw that {wrong.text} is wrong")
