"""The headline of a page and for whom a drive is: each sentence is held against the drive.

A sentence is read as a reader does. Its workloads run again, with other seeds, on the drive itself,
and its figures have to come out. A sentence that nothing here can read fails, too.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.integration.small_drives import opened
from tests.unit.report_documents import document as blank

from ssdscope.findings import Detected, Findings
from ssdscope.report import mixed, survey, sustaining, uses, verdict
from ssdscope.report.nearest import FIGURES, presets
from ssdscope.report.performance import REQUESTS
from ssdscope.report.survey import Effort, Measurement, Point
from ssdscope.targets import Device, open_target
from ssdscope.workloads import Workload
from ssdscope.workloads.sustained import sustain

DRIVES = (
    "ryu-a", "kuo-samsung-slc", "mqsim-8g", "huang-ssd-i", "kuo-intel-mlc", "sata-tlc",
    "huang-hdd-s",
)  # fmt: skip
"""With a map in zones, with merges, with neither, one that collects, with buffers, and a disk."""
SEED, OTHER = 11, 977
NEAR, NEAR_RATIO = 0.1, 0.2
UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9, "k": 1e3, "M": 1e6, "": 1.0,
         "MB/s": 1e6, "GB/s": 1e9}  # fmt: skip
TIME, RATE, SPEED = r"([\d.,]+) (ns|µs|ms|s)", r"([\d.,]+) ?(k|M|)", r"([\d.,]+) (MB/s|GB/s)"
FACTOR = r"([\d.,]+)"
SMALL = 4096
Check = Callable[[str, tuple[str, ...]], None]
EFFORT = Effort(REQUESTS, 0)


@cache
def drive(name: str) -> Device:
    return open_target(f"sim:{name}", seed=SEED).device


@cache
def measured(name: str, point: Point, seed: int) -> Measurement:
    (found,) = survey.collect(
        drive(name), [point], EFFORT, seed=seed, progress=lambda _text, _done: None
    )
    return found


def figure(name: str, rw: str, size: int = SMALL, depth: int = 1, field: str = "mean_ns") -> float:
    found = measured(name, Point(rw, size, depth), OTHER).figure
    assert found is not None
    return float(getattr(found, field))


@cache
def told(name: str) -> tuple[verdict.Verdict, uses.Uses | None]:
    """Give the sentences of a page that holds what they are made of."""
    points = {Point(rw, SMALL, 1) for rw in survey.READS + survey.WRITES}
    points |= {Point("randread", SMALL, depth) for depth in (4, 16)}
    points |= {Point(each.rw, each.block_bytes, each.iodepth) for each in FIGURES}
    rows = [measured(name, each, SEED).to_json() | {"split": "grid"} for each in sorted(points)]
    found = Findings(
        Detected(name=key, probe="p", value=value, interval=None, effect=1.0)
        for key, value in presets()[name]["findings"].items()
    )
    page = blank(rows)
    return verdict.verdict(page, found), uses.uses(page)


def number(digits: str, unit: str = "") -> float:
    return float(digits.replace(",", "")) * UNITS[unit]


def near(said: float, found: float, within: float = NEAR) -> None:
    assert said == pytest.approx(found, rel=within)


def dear(name: str, parts: tuple[str, ...]) -> None:
    what, digits, unit, factor = parts
    random, ordered = (figure(name, f"{rand}{what}") for rand in ("rand", ""))
    near(number(digits, unit), random)
    near(number(factor), random / ordered, NEAR_RATIO)


def written(name: str, parts: tuple[str, ...]) -> None:
    digits, unit, factor = parts
    write, read = figure(name, "randwrite"), figure(name, "randread")
    near(number(digits, unit), write)
    near(number(factor), write / read, NEAR_RATIO)


def even(name: str, parts: tuple[str, ...]) -> None:
    most, read, read_unit, write, write_unit = parts
    random = figure(name, "randread"), figure(name, "randwrite")
    near(number(read, read_unit), random[0])
    near(number(write, write_unit), random[1])
    ratios = random[0] / figure(name, "read"), random[1] / figure(name, "write")
    near(number(most or "1"), max(ratios), NEAR_RATIO)


def queued(name: str, parts: tuple[str, ...]) -> None:
    digits, unit, depth, factor = parts
    deep = figure(name, "randread", depth=int(depth), field="iops")
    near(number(digits, unit), deep)
    near(number(factor), deep / figure(name, "randread", field="iops"), NEAR_RATIO)


def cause(part: str) -> Check:
    """Check by where the drive spends the time of the dearest small requests."""

    def check(name: str, _parts: tuple[str, ...]) -> None:
        shares = []
        for rw in ("randwrite", "randread"):
            found = measured(name, Point(rw, SMALL, 1), OTHER).figure
            assert found is not None
            assert found.attribution_ns is not None
            work = {k: v for k, v in found.attribution_ns.items() if k not in verdict.WAITING}
            shares.append(work.get(part, 0.0) / max(work.values()))
        assert max(shares) == 1, f"{part} is not where most of the time goes"

    return check


def read_rate(name: str, parts: tuple[str, ...]) -> None:
    near(number(*parts), figure(name, "randread", depth=32, field="iops"))


def small_time(name: str, parts: tuple[str, ...]) -> None:
    near(number(*parts[1:]), figure(name, f"rand{parts[0]}"))


def stream(name: str, parts: tuple[str, ...]) -> None:
    what, digits, unit = parts
    near(number(digits, unit), figure(name, what, 262_144, 16, "bandwidth_bytes_per_s"))


HEADLINES: dict[str, Check] = {
    rf"Random (write|read)s of 4 KiB take {TIME} each(?: in a burst)?, {FACTOR} times as long as "
    r"in sequence\.": dear,
    rf"Writes of 4 KiB take {TIME} each in a burst, {FACTOR} times as long as reads\.": written,
    rf"Random requests (?:are as fast as|take at most {FACTOR} times as long as) those in "
    rf"sequence: at 4 KiB, {TIME} for a read and {TIME} for a write in a burst\.": even,
    rf"Random reads gain from queues: {RATE} a second with (\d+) in flight, {FACTOR} times as many "
    r"as one at a time\.": queued,
    r"An arm has to move for each\.": cause("mechanical"),
    r"To make room for them, the drive rewrites (?:blocks of [\d.]+ [KM]iB|whole blocks)\.": cause(
        "merge"
    ),
    r"For them, the drive reads and rewrites (?:units of [\d.]+ KiB|larger units)\.": cause("rmw"),
    r"To make room for them, the drive moves older data(?: out of units of .*)?\.": cause("gc"),
    r"To find their places, the drive loads parts of its address table(?:, .*)?\.": cause("map"),
}
USES: dict[str, Check] = {
    rf"{RATE} random reads of 4 KiB a second, 32 at a time": read_rate,
    rf"random (read|write)s of 4 KiB take {TIME} each(?:, in a burst)?": small_time,
    rf"sequential (read|write)s of 256 KiB at {SPEED}, 16 at a time(?:, in a burst)?": stream,
}


def hold(name: str, sentence: str, checks: dict[str, Check]) -> None:
    for pattern, check in checks.items():
        if (read := re.fullmatch(pattern, sentence)) is not None:
            check(name, read.groups())
            return
    pytest.fail(f"nothing here can check: {sentence}")


@pytest.mark.parametrize("name", DRIVES)
def test_the_headline_and_what_follows_are_true(name: str) -> None:
    said, _ = told(name)
    for sentence in (said.sentence, *said.more):
        hold(name, sentence, HEADLINES)
    assert len(said.sentence.split()) <= 30, "ten seconds are enough to read it"


@pytest.mark.parametrize("name", DRIVES)
def test_for_whom_a_drive_is_rests_on_what_it_does(name: str) -> None:
    _, said = told(name)
    if said is None:
        for of in FIGURES:
            value = figure(name, of.rw, of.block_bytes, of.iodepth, of.field)
            *places, every = uses.ranked(of, value)
            assert max(places) <= uses.MOST * every + 1
        return
    for side, word in ((said.fits, "better"), (said.unfit, "worse")):
        for each in side:
            use, _, rest = each.text.partition(": ")
            assert use == uses.NEEDS[each.key]
            does, _, place = rest.rpartition(f", {word} than ")
            hold(name, does, USES)
            count, every = (int(digits) for digits in re.findall(r"\d+", place))
            assert (every, count >= uses.MOST * every) == (len(presets()), True)
            _ranked(name, each.key, word, count)


def _ranked(name: str, key: str, word: str, count: int) -> None:
    """Count the presets again, by what the drive does now; neighbours may change places."""
    (of,) = (each for each in FIGURES if each.key == key)
    value = figure(name, of.rw, of.block_bytes, of.iodepth, of.field)
    better, worse, _ = uses.ranked(of, value)
    assert abs((better if word == "better" else worse) - count) <= 1


def test_writes_that_do_not_last_are_told_with_what_lasts(tmp_path: Path) -> None:
    device = opened(tmp_path, {"over_provisioning_ratio": 0.12, "nand.blocks_per_plane": 600})
    (burst,) = survey.collect(
        device, [Point("randwrite", SMALL, 16)], EFFORT, seed=SEED, progress=lambda *_: None
    )
    kept = sustaining.Course(burst.point)
    kept.found = sustain(device.fork(), survey.workload_of(burst.point, SEED))
    page = blank([burst.to_json() | {"split": "grid"}], [kept.to_json()])
    said, whom = verdict.verdict(page, Findings()), uses.uses(page)
    assert whom is not None
    fall = re.fullmatch(
        rf"Random writes of 4 KiB fall from {SPEED} to {SPEED} once the drive has been written "
        r"through\.",
        said.sentence,
    )
    times = re.fullmatch(rf"That is {FACTOR} times slower, with 16 in flight\.", said.more[0])
    rates = re.search(rf"{RATE} random writes of 4 KiB a second become {RATE}", whom.unfit[0].text)
    assert fall is not None
    assert times is not None
    assert rates is not None
    worn = device.fork()
    plan = Workload("randwrite", SMALL, iodepth=16, seed=OTHER)
    worn.run(replace(plan, io_bytes=4 * device.info.capacity_bytes))
    last = worn.run(replace(plan, requests=10_000, seed=OTHER + 1)).elapsed_ns / 10_000
    first = device.fork().run(replace(plan, requests=REQUESTS, seed=OTHER)).elapsed_ns / REQUESTS
    near(number(*fall.groups()[:2]), SMALL * 1e9 / first)
    near(number(*fall.groups()[2:]), SMALL * 1e9 / last)
    near(number(times[1]), last / first, NEAR_RATIO)
    near(number(*rates.groups()[:2]), 1e9 / first)
    near(number(*rates.groups()[2:]), 1e9 / last)


def test_a_drive_without_figures_is_for_nobody() -> None:
    assert uses.uses(blank([])) is None


@pytest.mark.parametrize("name", ["mqsim-8g", "ryu-a"])
def test_a_mix_is_measured_at_each_depth_and_leaves_the_drive_as_it_was(name: str) -> None:
    device = drive(name)
    before = device.now_ns()
    rows = list(mixed.measure(device, EFFORT, SEED))
    assert device.now_ns() == before
    assert [each["iodepth"] for each in rows] == list(mixed.DEPTHS)
    for each in rows:
        reads, writes = (each[side]["requests"] for side in ("read", "write"))
        assert reads / (reads + writes) == pytest.approx(0.7, abs=0.03)
        rate = each["read"]["iops"] + each["write"]["iops"]
        mean = (reads * each["read"]["mean_ns"] + writes * each["write"]["mean_ns"]) / (
            reads + writes
        )
        assert rate * mean / 1e9 == pytest.approx(each["iodepth"], rel=0.05), "Little's law"
    page = blank([])
    page["performance"]["mixed"] = rows
    shown = mixed.table(page)
    assert shown is not None
    assert [row[0] for row in shown.rows] == ["1", "16"]
