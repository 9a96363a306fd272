"""Advice: the numbers follow the formulas, nothing is advised from what was not detected."""

import json
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ssdscope.advise import Advice, Gain, advise, of_document, tools
from ssdscope.advise.knobs import KNOBS
from ssdscope.errors import UsageError
from ssdscope.findings import (
    DEPTH_SWEEP,
    SIZE_SWEEP,
    Absent,
    Ambiguous,
    Axis,
    Detected,
    Evidence,
    Exhibit,
    Findings,
    Line,
    Reason,
    Undetectable,
    series,
)

KIB, MIB = 1 << 10, 1 << 20


def finding(name: str, value: float, evidence: Evidence | None = None) -> Detected:
    return Detected(
        name=name,
        probe="latency",
        value=value,
        interval=(value, value),
        effect=1.0,
        evidence=evidence or Evidence(),
    )


def swept(last: float) -> Evidence:
    """Reads of up to 64 KiB, and a line that holds up to `last`."""
    sizes = 4096 * 2.0 ** np.arange(5)
    shown = Exhibit(
        name=SIZE_SWEEP,
        title="t",
        caption="c",
        x=Axis("size", "bytes"),
        y=Axis("latency", "ns"),
        series=(series("reads", sizes, sizes),),
        fitted=(Line(intercept=0.0, slope=1.0, first=4096, last=last, error=0.0),),
    )
    return Evidence(exhibits=(shown,), figures={"n90_bytes": 32768})


def depths(*rates: float) -> Evidence:
    """Rates at depths 1, 2, 4, ..."""
    shown = Exhibit(
        name=DEPTH_SWEEP,
        title="t",
        caption="c",
        x=Axis("queue depth", "depth"),
        y=Axis("reads per second", "iops"),
        series=(series("mean rate", 2.0 ** np.arange(len(rates)), rates),),
    )
    return Evidence(exhibits=(shown,))


# Ryu's drive B as PROBING.md section 5 works it out: n90 is about 93 KB.
RYU_B = Findings(
    [
        finding("read_latency_alpha_ns", 124_000.0, swept(65536)),
        finding("read_latency_beta_ns_per_byte", 12_000 / 1024),
        finding("queue_depth_knee", 9.3),
    ]
)
MERGING = Findings(
    [
        *RYU_B.values(),
        finding("rmw_unit_bytes", 16 * KIB),
        finding("merge_unit_bytes", 4 * MIB),
        finding("alignment_phase_bytes", 0),
    ]
)
SUSTAINED = [
    {"rw": "randwrite", "block_bytes": 16384, "reached": True, "bandwidth_bytes_per_s": 16384e3},
    {"rw": "randwrite", "block_bytes": 4096, "reached": False, "bandwidth_bytes_per_s": None},
    {"rw": "write", "block_bytes": 16384, "reached": True, "bandwidth_bytes_per_s": 9e9},
]


def by_knob(given: list[Advice]) -> dict[str, Advice]:
    return {f"{each.tool} {each.knob}": each for each in given}


def test_read_ahead_of_ryu_b() -> None:
    given = by_knob(advise(RYU_B, "/dev/sdb"))
    read_ahead = given["linux read-ahead"]
    assert read_ahead.value == str(96 * 1024 // 512)  # 95,232 bytes, up to whole pages
    assert read_ahead.command == "blockdev --setra 192 /dev/sdb"
    assert "9·alpha/beta" in read_ahead.because
    assert given["mdadm chunk (RAID-0, RAID-10)"].value == "128K"
    assert given["postgres effective_io_concurrency"].value == "10"


@pytest.mark.parametrize(
    ("knob", "command"),
    [
        ("sfdisk partition start", "echo start=4MiB | sfdisk --label gpt /dev/sdb"),
        ("lvm dataalignment", "pvcreate --dataalignment 8192s /dev/sdb"),
        ("ext4 stride, stripe_width", "mkfs.ext4 -b 4096 -E stride=4,stripe_width=1024 /dev/sdb"),
        ("xfs su, sw", "mkfs.xfs -d su=4096k,sw=1 -l su=16k /dev/sdb"),
        ("f2fs segments per section", "mkfs.f2fs -s 2 -z 1 /dev/sdb"),
        ("zfs ashift", "zpool create -o ashift=14 POOL /dev/sdb"),
        ("bcache bucket", "make-bcache -C --bucket 4096K --block 4K /dev/sdb"),
        ("innodb innodb_flush_neighbors", None),
        ("innodb innodb_log_write_ahead_size", "innodb_log_write_ahead_size = 4096"),
        ("innodb innodb_io_capacity", "innodb_io_capacity = 500\ninnodb_io_capacity_max = 1000"),
    ],
)
def test_commands_of_a_drive_that_merges(knob: str, command: str | None) -> None:
    assert by_knob(advise(MERGING, "/dev/sdb", sustained=SUSTAINED))[knob].command == command


@pytest.mark.parametrize(
    ("knob", "units", "capacity_bytes", "command"),
    [
        # The driver takes no bucket above 16 MiB, and wants 513 of them.
        ("bcache bucket", (4096, 64 * MIB), 0, "make-bcache -C --bucket 16384K --block 4K"),
        ("bcache bucket", (4096, 8 * MIB), 2048 * MIB, "make-bcache -C --bucket 2048K --block 4K"),
        ("mdadm chunk (RAID-5, RAID-6)", (3 * MIB, None), 0, "--chunk=4096K /dev/sdb"),
        ("linux fstrim --minimum", (4096, 192 * MIB), 0, f"--minimum {128 * MIB} "),
        ("lvm thin chunk size", (96 * KIB, None), 0, "--chunksize 192k "),
        ("ext4 stride, stripe_width", (12 * KIB, MIB), 0, "-b 4096 -E stride=256,stripe_width=256"),
        ("xfs su, sw", (4096, 4 * MIB), 400 * MIB, "-d su=4096k,sw=1,agcount=4 -l su=4k"),
        ("xfs su, sw", (16 * KIB, 16 * MIB), 400 * MIB, "-d su=16k,sw=1,agcount=4 -l su=16k"),
        ("sfdisk partition start", (4096, 64 * MIB), 0, "echo start=64MiB |"),
        ("sfdisk partition start", (96 * KIB, 40 * MIB + 96 * KIB), 0, "echo start=41056KiB |"),
    ],
)
def test_commands_hold_the_limits_of_their_tools(
    knob: str, units: tuple[int, int | None], capacity_bytes: int, command: str
) -> None:
    rmw, merge = units
    found = [finding("rmw_unit_bytes", rmw), finding("trim_effect", 2.0)]
    found += [finding("merge_unit_bytes", merge)] if merge else []
    given = advise(Findings(found), "/dev/sdb", capacity_bytes=capacity_bytes)
    assert command in (by_knob(given)[knob].command or "")


def test_blocks_of_4096_bytes_are_what_tools_take_by_themselves() -> None:
    found = Findings([finding("rmw_unit_bytes", 16 * KIB), finding("queue_depth_knee", 40.0)])
    queue = {"logical_block_size": "4096", "physical_block_size": "4096", "nr_requests": "32"}
    given = by_knob(advise(found, "/dev/sdb", queue=queue))
    for knob, own in (
        ("dm-crypt sector-size", "4096"),
        ("innodb innodb_log_write_ahead_size", "4096"),
        ("linux nr_requests", "32"),
    ):
        assert (given[knob].command, given[knob].default) == (None, own)
    small = by_knob(advise(Findings([finding("rmw_unit_bytes", 2048)]), "/dev/sdb", queue=queue))
    assert small["zfs ashift"].command is None  # 11 would be below a block


def test_what_a_default_is_of_is_named_with_its_version() -> None:
    given = by_knob(advise(MERGING, "/dev/sdb", sustained=SUSTAINED, queue={"nr_requests": "31"}))
    assert given["postgres effective_io_concurrency"].default == "1"
    assert given["postgres effective_io_concurrency"].default_of == "PostgreSQL 15"
    assert given["rocksdb compaction_readahead_size"].default == "0"
    assert given["innodb innodb_flush_neighbors"].outcome == "no effect"
    assert given["linux nr_requests"].default_of is None  # that is set today
    for knob in KNOBS:
        assert knob.default in (None, 0) or knob.product or knob.typed_in is None


def test_units_that_begin_later_shift_a_partition() -> None:
    shifted = Findings([*MERGING.values(), finding("alignment_phase_bytes", 4096)])
    start = by_knob(advise(shifted, "/dev/sdb"))["sfdisk partition start"]
    assert start.value == "8188KiB"
    odd = Findings([finding("rmw_unit_bytes", 4096), finding("merge_unit_bytes", 3 * MIB // 2)])
    assert by_knob(advise(odd, "/dev/sdb"))["sfdisk partition start"].value == "3MiB"


def test_a_setting_that_stands_already_gets_no_command() -> None:
    pages = Findings([finding("rmw_unit_bytes", 4096)])
    start = by_knob(advise(pages, "/dev/sdb"))["sfdisk partition start"]
    assert (start.outcome, start.command, start.default) == ("no effect", None, "1MiB")
    assert start.default_of == "sfdisk 2.38"
    assert start.because.startswith("it is that already")


def test_what_is_set_today_counts_instead_of_the_default() -> None:
    target = {
        "uri": "/dev/sdb",
        "info": {"capacity_bytes": 1 << 34},
        "declared": {"queue": {"read_ahead_kb": "96", "nr_requests": "31"}},
    }
    document = {"target": target, "performance": {"sustained": []}}
    given = by_knob(of_document(document, RYU_B))
    assert given["linux read-ahead"].outcome == "no effect"
    assert given["linux nr_requests"].default == "31"


def test_a_staircase_uses_the_measured_size_instead_of_the_formula() -> None:
    found = [
        finding("read_latency_alpha_ns", 130_600.0, swept(16384)),
        finding("read_latency_beta_ns_per_byte", 0.4656),
    ]
    read_ahead = advise(Findings(found), "sim:msr-32gb", ["linux"])[0]
    assert read_ahead.value == "64"
    assert "not one line" in read_ahead.because


def test_a_size_beyond_which_bandwidth_may_rise_is_no_advice() -> None:
    rising = replace(swept(16384), figures={"n90_bytes": 49152})
    found = [
        finding("read_latency_alpha_ns", 130_600.0, rising),
        finding("read_latency_beta_ns_per_byte", 0.4656),
    ]
    given = by_knob(advise(Findings(found), "sim:msr-32gb", ["linux"]))["linux read-ahead"]
    assert given.command is None
    assert "bandwidth still rises at 64 KiB, the largest size read" in given.because


def test_a_knee_on_a_curve_that_still_rises_is_no_advice() -> None:
    level, rising = depths(100, 180, 200, 201), depths(100, 180, 200, 220)
    flat, steep = (
        by_knob(advise(Findings([finding("queue_depth_knee", 2.5, shown)]), "/dev/sdb", ["linux"]))
        for shown in (level, rising)
    )
    assert flat["linux nr_requests"].outcome == "set"
    assert steep["linux nr_requests"].command is None
    assert "still rise by 10% at depth 8" in steep["linux nr_requests"].because


def test_what_was_not_detected_keeps_the_default_and_says_why() -> None:
    either: tuple[float | str, ...] = (2.0, 4.0)
    found = Findings(
        [
            Ambiguous(name="queue_depth_knee", probe="latency", candidates=either, reason="noise"),
            Absent(name="merge_unit_bytes", probe="merge", bound=0.01, reason="no span is slower"),
            Undetectable(name="rmw_unit_bytes", probe="rmw", reason=Reason.MASKED),
        ]
    )
    given = advise(found, "sim:x")
    for each in given:
        if each.knob == "innodb_flush_neighbors":  # that a drive does not merge is a finding, too
            assert each.command == "innodb_flush_neighbors = 0"
            continue
        assert (each.outcome, each.command, each.is_default) == ("not known", None, True)
        assert each.because.strip()
        assert not each.because.endswith(("because", "because ", ": "))
    named = by_knob(given)
    assert "Queue-depth knee ambiguous, 2 or 4: noise" in named["linux nr_requests"].because
    assert named["f2fs segments per section"].because == "Merge unit absent: no span is slower"
    assert "RMW unit not detected: another mechanism" in named["zfs ashift"].because
    assert named["linux read-ahead"].because == "Read latency per request not probed"


@pytest.mark.parametrize("value", [0, -4096.0, float("nan"), "large"])
def test_a_value_that_no_drive_has_is_not_calculated_with(value: Any) -> None:
    found = Findings([finding("rmw_unit_bytes", value), finding("merge_unit_bytes", value)])
    assert {each.outcome for each in advise(found, "/dev/sdb")} == {"not known"}


def test_names_from_outside_are_quoted_for_the_shell() -> None:
    evil = "/dev/sd x; rm -rf /"
    found = Findings(
        [
            *MERGING.values(),
            finding("trim_effect", 2.0),
            finding("over_provisioning_ratio", 0.07),
        ]
    )
    commands = [each.command for each in advise(found, evil) if each.command]
    named = [each for each in commands if "rm -rf" in each]
    assert len(named) >= 10
    for each in named:
        words = shlex.split(each)
        assert evil in words or any(evil.removeprefix("/dev/") in word for word in words)


def test_spare_area_is_what_the_amplification_asks_for() -> None:
    found = [finding("trim_effect", 1.5), finding("over_provisioning_ratio", 0.07)]
    (free,) = advise(Findings(found), "/dev/sdb", ["spare-area"], capacity_bytes=100 << 30)
    # A = 2.5 asks for 2.5 · ln(2.5/1.5) - 1 = 27.7 % of spare space.
    assert free.value == "16.3 %"
    assert free.command is not None
    first, then = free.command.split(" && ")
    size = 102400 * 837 // 1000 - 2
    blocks = f"$(({size} * 1048576 / $(blockdev --getss /dev/sdb)))"
    assert first == f'echo "start=1MiB, size={blocks}" | sfdisk --label gpt /dev/sdb'
    assert then == "blkdiscard --force --offset 1MiB --length 102398MiB /dev/sdb"


def test_every_knob_says_what_it_needs_and_why_it_states_no_gain() -> None:
    names = [(knob.tool, knob.name) for knob in KNOBS]
    assert len(set(names)) == len(names)
    for knob in KNOBS:
        assert knob.needs
        assert knob.formula
        assert knob.stream is not None or knob.no_stream
    asked = {"sfdisk", "ext4", "xfs", "f2fs", "btrfs", "zfs", "mdadm", "linux", "postgres"}
    assert asked | {"innodb", "rocksdb", "spare-area", "bulk-load"} <= set(tools())


def test_advice_is_plain_data() -> None:
    given = advise(MERGING, "/dev/sdb", sustained=SUSTAINED)
    documents = json.loads(json.dumps([each.to_json() for each in given]))
    start = next(each for each in documents if each["knob"] == "partition start")
    assert start["source"] == "detected"
    assert start["findings"] == ["rmw_unit_bytes", "merge_unit_bytes", "alignment_phase_bytes"]
    assert (start["gain"], start["gain_remark"]) == (None, "no twin")


@pytest.mark.parametrize(
    ("ratio", "scatter", "none"),
    [(1.3, 0.1, False), (1.3, 0.4, True), (1.01, 0.001, True), (0.5, 0.1, False), (0.9, 0.2, True)],
)
def test_a_gain_is_none_if_runs_scatter_as_far_or_it_is_small(
    ratio: float, scatter: float, *, none: bool
) -> None:
    assert Gain(ratio, 0.1, 10.0, scatter=scatter).none is none


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (Gain(4.6, 4.1, 5.2, state="in use"), "4.6 times as fast (4.1 to 5.2) in use"),
        (Gain(1.25, 1.2, 1.3, at_most="if"), "at most 25 % faster (20 to 30) as found"),
        (Gain(0.7, 0.6, 0.8), "0.7 times as fast (0.6 to 0.8) as found"),
        (Gain(1.3, 0.8, 2.1), "not certain as found: 0.8 to 2.1 times as fast"),
        (Gain(1.01, 0.8, 1.2, at_most="if"), "no difference as found"),
    ],
)
def test_a_gain_says_its_interval_its_state_and_whether_it_is_a_bound(
    gain: Gain, said: str
) -> None:
    assert gain.in_words() == said
    assert Gain.from_json(json.loads(json.dumps(gain.to_json()))).in_words() == said


def test_what_cannot_be_typed_is_no_command() -> None:
    found = Findings([*MERGING.values(), finding("pslc_bytes", 1 << 30)])
    given = by_knob(advise(found, "/dev/sdb", sustained=SUSTAINED))
    for name in ("wal bytes per group commit", "bulk-load bytes between idle periods"):
        assert (given[name].command, given[name].typed_in) == (None, None)
        assert given[name].habit
    for each in given.values():
        if each.command is not None:
            assert each.typed_in
            assert each.habit is None


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="no advice for 'emacs'"):
        advise(Findings(), "sim:x", ["emacs"])
