"""How quiet the machine was: sums, words, and what probes make of them. No real time."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ssdscope import stats
from ssdscope.findings import Detected, Evidence, Reason, Undetectable
from ssdscope.probes.bench.company import refuse_split
from ssdscope.probes.bench.discipline import undivided
from ssdscope.probes.bench.machine import naming_machine
from ssdscope.results.remarks import of_machine
from ssdscope.seeds import stream
from ssdscope.targets.machine import machine_state
from ssdscope.targets.quiet import DiskCounts, Quiet, machine_busy
from ssdscope.targets.quieter import quieter
from ssdscope.targets.records import LOG_TYPES, Log

SECOND = 1_000_000_000
STILL = Quiet(SECOND)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"waited_ns": SECOND // 10}, "waited for a core for 10 % of the time"),
        ({"steal_ns": SECOND // 20}, "took 5 % of a core"),
        ({"others_cpu_share": 0.5}, "used 50 % of all cores"),
        ({"stalls": 2, "longest_stall_ns": 40_000_000}, "stood still 2 times, 40 ms"),
        ({"clock_step_ns": 3_000_000}, "moved by 3 ms"),
    ],
)
def test_each_disturbance_is_named(change: dict[str, Any], words: str) -> None:
    assert machine_busy(STILL) == ""
    assert words in machine_busy(replace(STILL, **change))


def test_times_of_a_drowned_machine_are_known() -> None:
    assert not replace(STILL, waited_ns=SECOND // 2).drowned
    assert replace(STILL, waited_ns=SECOND // 2 + 1).drowned


def test_stretches_join_by_their_time() -> None:
    busy = Quiet(3 * SECOND, waited_ns=7, others_cpu_share=0.8, stalls=1, longest_stall_ns=9)
    both = STILL.joined(busy)
    assert (both.wall_ns, both.waited_ns, both.stalls) == (4 * SECOND, 7, 1)
    assert both.others_cpu_share == pytest.approx(0.6)
    assert STILL.joined(None) == STILL
    assert Quiet.from_dict(None) is None


def test_the_disk_tells_split_requests_and_other_work() -> None:
    ours = (100, 409_600)
    alone = replace(STILL, disk=DiskCounts(100, 0, 0, 409_600, 0))
    split = replace(STILL, disk=DiskCounts(200, 0, 0, 409_600, 0))
    others = replace(STILL, disk=DiskCounts(150, 0, 0, 700_000, 0))
    assert alone.on_disk(*ours) == ()
    assert "2.00 requests of each" in split.on_disk(*ours)[0]
    assert "others moved 290,400 bytes" in others.on_disk(*ours)[0]
    assert STILL.on_disk(*ours) == ()


class Splitting:
    """Stands for a bench on a disk whose kernel splits requests above a size."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.counts_requests = True
        self.info = SimpleNamespace(capacity_bytes=1 << 30)
        self.lists = 0

    def read(self, offsets: Any, lengths: Any, *, undivided: bool) -> Log:
        assert undivided
        self.lists += 1
        requests = int(sum(-(-int(each) // self.most_bytes) for each in lengths))
        disk = DiskCounts(requests, 0, 0, int(lengths.sum()), 0)
        columns = {name: np.zeros(len(lengths), kind) for name, kind in LOG_TYPES.items()}
        columns |= {"offset_bytes": offsets, "bytes": lengths}
        log = Log(columns, replace(STILL, disk=disk))
        refuse_split(log)
        return log


def test_sizes_that_the_kernel_splits_are_left_out() -> None:
    rng, sizes = stream(1, "test"), np.array([4096, 65536, 131072, 1 << 20], np.uint64)
    for most_bytes, kept in ((1 << 20, 4), (131072, 3), (100_000, 2), (512, 0)):
        bench: Any = Splitting(most_bytes)
        assert len(undivided(bench, sizes, rng)) == kept
        assert bench.lists == min(5 - kept, 4)
    bench.counts_requests = False
    assert len(undivided(bench, sizes, rng)) == 4


def test_whose_requests_were_split_is_not_told_if_others_were_at_work() -> None:
    split = replace(STILL, disk=DiskCounts(200, 0, 0, 409_600, 0))
    assert "2.00 requests of each" in split.split(100, 409_600)
    others = replace(STILL, disk=DiskCounts(200, 0, 0, 500_000, 0))
    assert others.split(100, 409_600) == ""
    assert replace(STILL, disk=DiskCounts(104, 0, 0, 409_600, 0)).split(100, 409_600) == ""
    assert STILL.split(100, 409_600) == ""


def test_a_flush_is_no_split_request() -> None:
    """The kernel counts each as a write of nothing, too; what was split beside flushes is said."""
    flushed = replace(STILL, disk=DiskCounts(0, 200, 0, 0, 409_600, 100))
    assert flushed.on_disk(100, 409_600, flushes=100) == ()
    both = replace(STILL, disk=DiskCounts(0, 500, 0, 0, 409_600, 100))
    assert "4.00 requests of each" in both.split(100, 409_600, flushes=100)
    # Durable writes of a drive without FUA: flushes that follow them, counted as no writes.
    durable = replace(STILL, disk=DiskCounts(0, 400, 0, 0, 409_600, 100))
    assert "4.00 requests of each" in durable.split(100, 409_600)
    # A drive without a cache gets no flushes, and none are counted.
    through = replace(STILL, disk=DiskCounts(0, 200, 0, 0, 409_600, 0))
    assert "2.00 requests of each" in through.split(100, 409_600, flushes=100)
    # Of dm nobody knows whether the kernel counted them: what is certain is said.
    unknown = replace(STILL, disk=DiskCounts(0, 200, 0, 0, 409_600, None))
    assert unknown.split(100, 409_600, flushes=100) == ""
    more = replace(STILL, disk=DiskCounts(0, 400, 0, 0, 409_600, None))
    assert "made at least 3.00 requests of each" in more.split(100, 409_600, flushes=100)
    assert "made 4.00 requests of each" in more.split(100, 409_600)
    mixed = unknown.joined(both)
    assert mixed.disk is not None
    assert mixed.disk.flush_requests is None
    joined = flushed.joined(both)
    assert joined.disk is not None
    assert joined.disk.flush_requests == 200


def test_a_refusal_names_a_busy_machine_and_only_that() -> None:
    busy = replace(STILL, others_cpu_share=0.9)
    name, probe = "read_latency_alpha_ns", "latency"
    noise = Undetectable(name=name, probe=probe, reason=Reason.EFFECT_BELOW_NOISE)
    said = naming_machine(noise, busy)
    assert isinstance(said, Undetectable)
    assert said.what_was_seen.startswith("the machine was busy: other processes")
    assert naming_machine(noise, STILL) is noise
    assert naming_machine(noise, None) is noise
    masked = replace(noise, reason=Reason.MASKED)
    assert naming_machine(masked, busy) is masked
    found = Detected(
        name=name, probe=probe, value=1.0, interval=(0.9, 1.1), effect=1.0, evidence=Evidence()
    )
    assert naming_machine(found, busy) is found


def test_an_interval_holds_what_another_run_finds() -> None:
    """Two runs, each with a state of the machine of its own that wanders through it."""
    seed = 11
    rng, sittings, blocks, met = np.random.default_rng(seed), 12, 20, 0
    for _ in range(400):
        lasting = 100 + rng.normal(0, 3, (2, sittings))
        halves = lasting[:, :, None] + rng.normal(0, 1 / np.sqrt(blocks / 2), (2, sittings, 2))
        values = halves.mean(axis=2)
        widths = [stats.lasting(*each) for each in zip(values, halves, strict=True)]
        other = 100 + rng.normal(0, 3)  # one state that a whole run keeps
        met += abs(values[0].mean() - other) <= widths[0]
    assert 0.92 <= met / 400 <= 0.99, f"seed {seed}: {met}"
    alike = np.repeat(rng.normal(100, 1, (12, 1)), 2, axis=1) + rng.normal(0, 2, (12, 2))
    assert stats.lasting(alike.mean(axis=1), alike) >= stats.student(alike.mean(axis=1)).half_width


def test_remarks_of_a_run_name_the_machine() -> None:
    quiet = {
        "wall_ns": SECOND, "waited_ns": 0, "involuntary_switches": 0, "steal_ns": SECOND,
        "others_cpu_share": 0.0, "clock_step_ns": 0, "stalls": 0, "longest_stall_ns": 0,
        "disk": {"read_requests": 20, "write_requests": 0, "merges": 0,
                 "read_bytes": 40_960, "written_bytes": 0},
    }  # fmt: skip
    record = {
        "quiet": quiet, "target": {"kind": "block", "access": {"direct_io": True}},
        "workload": {}, "read": {"requests": 10, "bytes": 40_960}, "write": None,
    }  # fmt: skip
    said = of_machine(record)
    assert said[0].startswith("the machine was busy: the host of this virtual machine")
    assert "2.00 requests of each" in said[1]
    assert of_machine({"quiet": None}) == []


def test_the_state_of_a_machine_is_read_from_plain_files(tmp_path: Path) -> None:
    texts = {
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu0/cpuidle/state0/name": "POLL\n",
        "sys/devices/system/cpu/cpu0/cpuidle/state1/name": "C6\n",
        "sys/devices/system/cpu/cpu0/cpuidle/state1/disable": "1\n",
        "sys/module/pcie_aspm/parameters/policy": "default performance [powersave]\n",
        "sys/module/nvme_core/parameters/default_ps_max_latency_us": "100000\n",
        "sys/block/nvme0n1/device/power/control": "auto\n",
        "sys/block/nvme0n1/device/power/pm_qos_latency_tolerance_us": "100000\n",
        "proc/cpuinfo": "processor: 0\nflags : fpu hypervisor sse\n",
    }
    for name, text in texts.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    state = machine_state("nvme0n1", str(tmp_path))
    assert state.pop("clock_overhead_ns") > 0
    assert state == {
        "clock_source": "tsc",
        "governors": ["performance", "powersave"],
        "idle_states": ["POLL"],
        "aspm_policy": "powersave",
        "nvme_power_states": "up to 100000 us to wake",
        "virtual_machine": True,
        "disk": "nvme0n1",
        "power": {"control": "auto", "apst_us": "100000", "link": None},
    }
    said = {each.what.partition(" ")[0]: each for each in quieter(state)}
    assert said["governor"].now == "performance, powersave"
    assert said["governor"].command == (
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    )
    assert "/sys/module/pcie_aspm/parameters/policy" in said["power"].command
    apst = "echo 0 | sudo tee /sys/block/nvme0n1/device/power/pm_qos_latency_tolerance_us"
    assert said["the"].command == apst
    assert said["suspending"].now == "auto"
    assert "idle" not in said, "C6 is switched off"
    deep = quieter({"idle_states": ["POLL", "C1", "C6", "C10"]})[0]
    assert (deep.now, deep.command) == (
        "C6, C10",
        "sudo cpupower idle-set --disable-by-latency 10",
    )
    empty = machine_state(None, str(tmp_path / "nothing"))
    assert empty["governors"] is None
    assert empty["virtual_machine"] is False
    assert quieter(empty) == []


def test_the_link_of_a_sata_disk_is_found_where_the_kernel_has_it(tmp_path: Path) -> None:
    host = tmp_path / "sys/devices/ata1/host0"
    (host / "target0:0:0/0:0:0:0").mkdir(parents=True)
    (host / "scsi_host/host0").mkdir(parents=True)
    policy = host / "scsi_host/host0/link_power_management_policy"
    policy.write_text("med_power_with_dipm\n")
    disk = tmp_path / "sys/block/sda"
    disk.mkdir(parents=True)
    (disk / "device").symlink_to(host / "target0:0:0/0:0:0:0")
    (link,) = quieter(machine_state("sda", str(tmp_path)))
    assert link.now == "med_power_with_dipm"
    assert "echo max_performance" in link.command
    policy.write_text("max_performance\n")
    assert quieter(machine_state("sda", str(tmp_path))) == []
