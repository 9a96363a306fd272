//! What the user chose about a trace, and what is reported back.

use super::format::{Format, Noted};
use super::records::BadLine;
use super::source::Compression;
use crate::device::DeviceInfo;
use crate::summary::LatencyStats;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What to do with requests that are not whole units of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Refuse the trace, with the count.
    #[default]
    Refuse,
    /// Widen each to the whole units it touches.
    Expand,
}

/// What to do with requests that reach past the end of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// Refuse the trace, with the count.
    #[default]
    Refuse,
    /// Take offsets modulo the capacity. A request that would then cross the end is moved
    /// back to finish there: it stays one request of its size.
    Wrap,
    /// Pack the 1 MiB regions that the trace touches, in address order, whether or not
    /// it would have fitted as it is.
    Compact,
}

/// Which of its times a request of a trace of events has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Times {
    /// When the host asked for it.
    #[default]
    Queued,
    /// When the device first got it, or a part of it.
    Issued,
    /// When all of it was done.
    Completed,
}

/// How to read a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// The format's name; `None` = by content.
    pub format: Option<String>,
    /// Where a named CSV has its columns, as `time=us:3,op:1,offset:4,size:5`; implies it.
    pub columns: Option<String>,
    /// Requests off the drive's grid.
    pub align: Align,
    /// Requests past the drive's end.
    pub fit: Fit,
    /// Which times requests of a trace of events have.
    pub times: Times,
    /// Lay all volumes over one another, as MQSim does, and not end to end.
    pub overlay_volumes: bool,
    /// Only this volume (ASU, device), at its own addresses; `None` = all, laid end to end
    /// in id order, each as long as its highest touched byte rounded up to 1 MiB.
    pub volume: Option<u64>,
    /// Leave out all that is no read.
    pub reads_only: bool,
    /// Leave out lines that cannot be read, and the unreadable rest of a damaged
    /// compressed file, instead of refusing the trace.
    pub skip_bad: bool,
    /// Use only so many requests from the beginning.
    pub limit: Option<u64>,
    /// Spread requests of one instant evenly until the next: for clocks of whole seconds.
    pub spread_ties: bool,
}

/// The part of a drive that a trace is to land on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// First byte.
    pub offset: Bytes,
    /// How much there is from there.
    pub capacity: Bytes,
    /// The drive's smallest unit: a multiple of 512 bytes.
    pub unit: Bytes,
}

impl Target {
    /// All of a drive.
    #[must_use]
    pub const fn whole(info: &DeviceInfo) -> Self {
        Self {
            offset: Bytes(0),
            capacity: Bytes(info.capacity_bytes),
            unit: Bytes(info.logical_block_bytes),
        }
    }
}

/// What a trace is and what was done to make it fit, known before the first request runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStats {
    /// Its format.
    pub format: &'static Format,
    /// How the file is packed.
    pub compression: Compression,
    /// Requests that will be replayed.
    pub requests: u64,
    /// How many of them write or discard.
    pub writes: u64,
    /// How many files it is: a recording of blktrace has one for each processor.
    pub files: u64,
    /// Lines left out: [`bad_lines`](Self::bad_lines) + [`zero_size`](Self::zero_size).
    pub skipped: u64,
    /// Lines that could not be read (only with `skip_bad`).
    pub bad_lines: u64,
    /// The first of them, with what was expected.
    pub first_bad_lines: Vec<BadLine>,
    /// What the format tells beside requests, such as merges, counted by name.
    pub noted: Noted,
    /// The first comment of the trace; of synthetic ones it says so.
    pub remark: Option<String>,
    /// Requests of no bytes, which no drive can serve.
    pub zero_size: u64,
    /// Whether the file breaks off and only its beginning is used (only with `skip_bad`).
    pub truncated: bool,
    /// Where and why, if so.
    pub damage: Option<String>,
    /// All that was left out, counted by kind.
    pub dropped: BTreeMap<String, u64>,
    /// Requests widened to whole units.
    pub expanded: u64,
    /// Requests moved by `fit wrap`.
    pub wrapped: u64,
    /// Requests whose time lay before that of an earlier line; they were sorted.
    pub reordered: u64,
    /// Requests left out because another volume was chosen.
    pub other_volumes: u64,
    /// Requests left out because only reads were wanted.
    pub not_reads: u64,
    /// Number of volumes replayed.
    pub volumes: u64,
    /// Each of them.
    pub volume_map: Vec<VolumeStats>,
    /// Space between the first and the last byte that the volumes end to end take.
    pub address_span_bytes: u64,
    /// Space that the touched regions take, where they were packed.
    pub packed_bytes: Option<u64>,
    /// From the first arrival to the last, before any time scale.
    pub span_ns: Nanos,
    /// How long the traced device took, where the trace tells.
    pub latency_ns: Option<TracedLatency>,
}

/// Latencies that a trace brought along.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracedLatency {
    /// Of reads.
    pub read: Option<LatencyStats>,
    /// Of writes.
    pub write: Option<LatencyStats>,
}

/// An address space of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VolumeStats {
    /// ASU, device or volume number.
    pub id: u64,
    /// Where it starts in the volumes laid end to end.
    pub base_bytes: u64,
    /// Its highest touched byte, rounded up to 1 MiB.
    pub extent_bytes: u64,
    /// Requests to it.
    pub requests: u64,
}
