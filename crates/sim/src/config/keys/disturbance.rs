//! The keys of the table `[disturbance]`: what spoils a measurement.

use super::Fallback::{Float, Int, Word};
use super::Kind::{Bytes, Choice, Count, Nanos, Ratio};
use super::Scope::All;
use super::{Key, key};

/// No drive is larger, in bytes.
const LARGEST: u64 = 1 << 50;

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
    key(
        "disturbance.noise_sigma",
        Ratio(0.0, 1.0),
        Float(0.0),
        All,
        "every latency is multiplied by exp(sigma |z|), z standard normal; 0: no noise",
    ),
    key(
        "disturbance.spike_ratio",
        Ratio(0.0, 1.0),
        Float(0.0),
        All,
        "share of requests that take disturbance.spike_ns longer",
    ),
    key("disturbance.spike_ns", Nanos, Int(1_000_000), All, "how much longer such a request takes"),
    key(
        "disturbance.drift_ratio",
        Ratio(0.0, 1.0),
        Float(0.0),
        All,
        "latencies rise by up to this share and fall again, evenly in time",
    ),
    key(
        "disturbance.drift_period_ns",
        Nanos,
        Int(1_000_000_000),
        All,
        "time from one low of such a drift to the next",
    ),
    key(
        "disturbance.foreign_iops",
        Count(0, 1_000_000),
        Int(0),
        All,
        "requests per second of another user, at random times and places; 0: none",
    ),
    key(
        "disturbance.foreign_bytes",
        Bytes(512, 1 << 25),
        Int(4096),
        All,
        "size of a request of the other user",
    ),
    key(
        "disturbance.foreign_write_ratio",
        Ratio(0.0, 1.0),
        Float(0.0),
        All,
        "share of writes among the other user's requests; the others are reads",
    ),
    key(
        "disturbance.foreign_on_ns",
        Nanos,
        Int(0),
        All,
        "the other user asks for so long, then pauses; 0: without a pause",
    ),
    key("disturbance.foreign_off_ns", Nanos, Int(0), All, "how long the other user pauses"),
    key(
        "disturbance.fault_offset_bytes",
        Bytes(0, LARGEST),
        Int(0),
        All,
        "where the bytes begin that cannot be read or written",
    ),
    key(
        "disturbance.fault_bytes",
        Bytes(0, LARGEST),
        Int(0),
        All,
        "how many bytes cannot be read or written: requests that touch them fail with errno 5",
    ),
    key(
        "disturbance.gone_after_requests",
        Count(0, 1 << 50),
        Int(0),
        All,
        "after so many requests the drive is gone: all others fail with errno 19; 0: never",
    ),
    key(
        "disturbance.flush",
        Choice(&["honoured", "ignored", "refused"]),
        Word("honoured"),
        All,
        "flushes have their effect, or are answered at once without, or fail with errno 95",
    ),
];
