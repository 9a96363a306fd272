"""What a probe can ask in one call: mixed lists, pauses, and drives that fail meanwhile."""

import numpy as np
import pytest

from ssdscope.errors import DeviceError, UsageError
from ssdscope.targets import Device, open_target
from ssdscope.targets.records import (
    OP_DISCARD,
    OP_FLUSH,
    OP_READ,
    OP_WRITE,
    OP_WRITE_FUA,
)
from ssdscope.workloads import Workload

PAGE = 8192
MS = 1_000_000
EIO, ENODEV, EOPNOTSUPP = 5, 19, 95


def open_drive(*sets: str) -> Device:
    return open_target("sim:mqsim-8g", state="fresh", sets=sets, seed=1).device


def test_all_operations_in_one_list() -> None:
    device = open_drive("write_buffer.bytes=1m", "write_buffer.drain=full")
    ops = [OP_WRITE, OP_WRITE_FUA, OP_WRITE, OP_FLUSH, OP_READ, OP_DISCARD]
    offsets = [0, PAGE, 2 * PAGE, 0, 0, PAGE]
    lengths = [PAGE, PAGE, PAGE, 0, PAGE, PAGE]
    log = device.run_list(ops, offsets, lengths)
    assert log.op.tolist() == [OP_WRITE, OP_WRITE, OP_WRITE, OP_FLUSH, OP_READ, OP_DISCARD]
    write, forced, _, flush, *_ = log.latency_ns
    assert write < 0.1 * forced
    assert write < 0.1 * flush, "what a flush or a forced write waits for, a buffered one does not"


@pytest.mark.parametrize("depth", [1, 4])
def test_bursts_and_rests_are_one_call(depth: int) -> None:
    device = open_drive()
    bursts, burst, rest_ns = 5, 12, 30 * MS
    pauses = np.zeros((bursts, burst), np.uint64)
    pauses[:, 0] = rest_ns
    count = bursts * burst
    log = device.run_list(
        np.full(count, OP_READ),
        np.arange(count) * PAGE,
        np.full(count, PAGE),
        pauses_ns=pauses.ravel(),
        iodepth=depth,
    )
    order = np.argsort(log.index)
    submit = log.submit_ns[order].reshape(bursts, burst)
    complete = log.complete_ns[order].reshape(bursts, burst)
    np.testing.assert_array_equal(submit[1:, 0] - complete[:-1].max(axis=1), rest_ns)
    assert (submit[:, :depth] == submit[:, :1]).all(), "as many at once as the depth says"
    assert (np.diff(submit, axis=1) < MS).all(), "no rest within a burst"
    assert (submit[:, depth:] == np.sort(complete, axis=1)[:, :-depth]).all()


def test_pauses_and_arrivals_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="arrival times or pauses, not both"):
        open_drive().run_list([OP_READ], [0], [PAGE], arrivals_ns=[0], pauses_ns=[0])
    with pytest.raises(UsageError, match="of one length"):
        open_drive().run_list([OP_READ], [0], [PAGE], pauses_ns=[0, 0])


def test_a_list_over_a_bad_range_goes_on() -> None:
    bad = 300
    device = open_drive(
        f"disturbance.fault_offset_bytes={PAGE}", f"disturbance.fault_bytes={bad * PAGE}"
    )
    count = bad + 2
    ops = np.where(np.arange(count) % 2 == 0, OP_READ, OP_WRITE)
    log = device.run_list(ops, np.arange(count) * PAGE, np.full(count, PAGE))
    assert log.error.tolist() == [0] + [EIO] * bad + [0]
    assert (log.latency_ns > 0).all()
    with pytest.raises(DeviceError, match="101 requests in a row failed, the last with errno 5"):
        device.run(Workload(rw="read", block_bytes=PAGE, requests=1000, seed=1))


def test_a_drive_that_is_gone_can_be_told_from_a_bad_range() -> None:
    device = open_drive("disturbance.gone_after_requests=20", "disturbance.fault_bytes=8192")
    log = device.run_list(np.full(200, OP_READ), np.arange(200) * PAGE, np.full(200, PAGE))
    assert log.error.tolist() == [EIO] + [0] * 19 + [ENODEV] * 180
    again = device.run_list([OP_READ, OP_FLUSH], [0, 0], [PAGE, 0])
    assert again.error.tolist() == [ENODEV, ENODEV]


def test_flushes_that_are_refused_have_their_row() -> None:
    log = open_drive("disturbance.flush=refused").run_list([OP_FLUSH, OP_READ], [0, 0], [0, PAGE])
    assert log.error.tolist() == [EOPNOTSUPP, 0]


def test_noise_is_in_the_log_and_in_its_attribution() -> None:
    sets = ("disturbance.noise_sigma=0.1", "disturbance.foreign_iops=1000")
    reads = (np.full(500, OP_READ), np.arange(500) * PAGE, np.full(500, PAGE))
    noisy, calm = open_drive(*sets).run_list(*reads), open_drive().run_list(*reads)
    assert (noisy.latency_ns >= calm.latency_ns.min()).all()
    assert np.median(noisy.latency_ns) > 1.05 * np.median(calm.latency_ns)
    assert noisy.attribution_ns is not None
    parts = np.sum(list(noisy.attribution_ns.values()), axis=0)
    np.testing.assert_array_equal(parts, noisy.latency_ns)
    assert noisy.attribution_ns["firmware"].any()
