"""Why a measurement is stopped: others at work, requests split or failed, a drive that is gone."""

from __future__ import annotations

import errno
from typing import NoReturn

import numpy as np

from ssdscope.errors import DeviceError
from ssdscope.findings import Reason
from ssdscope.probes.plan import Stopped
from ssdscope.targets.records import OP_DISCARD, OP_FLUSH, OP_READ, OP_WRITE, Log, Moved

__all__ = ["refuse_company", "refuse_gone", "refuse_split", "stop_for_errors"]

_GONE = (errno.ENODEV, errno.ENXIO)
_WORDS = {OP_READ: "reads", OP_WRITE: "writes", OP_FLUSH: "flushes", OP_DISCARD: "discards"}


def refuse_company(log: Log, theirs: Moved, read_ns_per_byte: float, most_share: float) -> None:
    """Stop if others kept the drive busy: a byte of theirs takes as long as one of our smallest.

    One that they read takes no longer than in small reads. Between host and drive it is known what
    others do (PROBING 2.2); a steady load of theirs would look like a slower drive. How large their
    requests are is not known; were they taken to be as large as our largest, a load that doubles
    the latency of small reads could pass.
    """
    moved = log.bytes > 0
    if max(theirs) <= 0 or not moved.any():
        return
    span_ns, ours = float(log.complete_ns.max() - log.submit_ns.min()), int(log.bytes[moved].sum())
    smallest = log.bytes == log.bytes[moved].min()
    ns_per_byte = float(np.quantile(log.latency_ns[smallest] / log.bytes[smallest], 0.1))
    if smallest[moved].all():  # of a deep queue latency says less than the rate
        ns_per_byte = min(ns_per_byte, span_ns / ours)
    busy_ns = theirs.written_bytes * ns_per_byte
    busy_ns += theirs.read_bytes * min(ns_per_byte, read_ns_per_byte)
    if busy_ns > most_share * span_ns:
        detail = f"others moved {sum(theirs)} bytes on the drive while we moved {ours}"
        raise Stopped(Reason.INTERFERENCE, detail)


def refuse_split(log: Log) -> None:
    """Stop if the kernel split requests of ours: two at a time are not one of twice the size.

    The counts are of the whole disk, so the log must hold all that we asked of it.
    """
    moved = np.isin(log.op, (OP_READ, OP_WRITE)) & (log.error == 0)
    if log.quiet is None or not moved.any():
        return
    if split := log.quiet.split(int(moved.sum()), int(log.bytes[moved].sum()), log.flushes):
        raise Stopped(Reason.REQUEST_SPLIT, split)


def refuse_gone(log: Log) -> None:
    """Raise if the drive is no longer there."""
    if np.isin(log.error, _GONE).any():
        raise DeviceError(
            "the drive has gone away in the middle of a probe",
            hint="what was found before is kept; look at the drive and its cable, then repeat",
        )


def stop_for_errors(log: Log) -> NoReturn:
    """Stop because requests failed, or because the drive does not take such requests at all."""
    first, failed = int(np.argmax(log.error != 0)), np.count_nonzero(log.error)
    if log.error[first] == errno.EOPNOTSUPP:
        raise Stopped(Reason.NOT_SUPPORTED, f"the drive refuses {_WORDS[int(log.op[first])]}")
    where = f"the first at byte {int(log.offset_bytes[first])}"
    raise Stopped(Reason.DEVICE_ERRORS, f"{failed} of {len(log)} requests failed, {where}")
