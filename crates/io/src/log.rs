//! The log of a run: one row per request, in columns, handed out in chunks.
//!
//! Rows are in order of completion; `index` numbers requests in order of issue.
//! Rows of the ramp are left out, so that every rate of a summary can be
//! recomputed from the log.

use crate::attribution::{Attribution, Cause};
use crate::request::{Op, Outcome};

/// Rows per chunk.
pub const CHUNK_ROWS: usize = 65_536;

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub struct LogRow<'a> {
    /// Its place in the order of issue, from 0.
    pub index: u64,
    /// Its flow, in a run of several.
    pub flow: u16,
    /// What it did.
    pub op: Op,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// When its latency starts: at submission, or at arrival where arrivals are given.
    pub submit_ns: u64,
    /// When it completed.
    pub complete_ns: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Where the time went.
    pub attribution: &'a Attribution,
}

/// Some rows of a log as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogChunk {
    /// Place in the order of issue, from 0.
    pub index: Vec<u64>,
    /// 0 read, 1 write, 2 flush, 3 discard, 5 write zeros.
    pub op: Vec<u8>,
    /// First byte.
    pub offset_bytes: Vec<u64>,
    /// Length in bytes.
    pub bytes: Vec<u64>,
    /// When the latency starts, on the device's clock.
    pub submit_ns: Vec<u64>,
    /// When the request completed, on the device's clock.
    pub complete_ns: Vec<u64>,
    /// 0, or the errno of a failed request.
    pub error: Vec<i32>,
    /// The place of its flow, in a run of several.
    pub flow: Option<Vec<u16>>,
    /// A column per [`Cause`], where the device attributes.
    pub attribution_ns: Option<Box<[Vec<u64>; Cause::COUNT]>>,
}

impl LogChunk {
    /// An empty chunk, with columns for causes or without.
    #[must_use]
    pub fn new(attribution: bool) -> Self {
        let attribution_ns = attribution.then(Default::default);
        Self { attribution_ns, ..Self::default() }
    }

    /// Takes the rows out, columns and all; as many again find room without growing.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let mut empty = Self::new(self.attribution_ns.is_some());
        empty.flow = self.flow.as_ref().map(|_| Vec::new());
        empty.reserve(self.len());
        std::mem::replace(self, empty)
    }

    /// Makes room for so many more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.index.reserve_exact(rows);
        self.op.reserve_exact(rows);
        self.offset_bytes.reserve_exact(rows);
        self.bytes.reserve_exact(rows);
        self.submit_ns.reserve_exact(rows);
        self.complete_ns.reserve_exact(rows);
        self.error.reserve_exact(rows);
        self.flow.iter_mut().for_each(|flow| flow.reserve_exact(rows));
        let causes = self.attribution_ns.iter_mut().flat_map(|columns| columns.iter_mut());
        causes.for_each(|column| column.reserve_exact(rows));
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Appends a row.
    pub fn push(&mut self, row: &LogRow<'_>) {
        self.index.push(row.index);
        self.op.push(row.op as u8);
        self.offset_bytes.push(row.offset_bytes);
        self.bytes.push(row.bytes);
        self.submit_ns.push(row.submit_ns);
        self.complete_ns.push(row.complete_ns);
        self.error.push(match row.outcome {
            Outcome::Done => 0,
            Outcome::Failed(errno) => errno,
        });
        if let Some(flow) = &mut self.flow {
            flow.push(row.flow);
        }
        if let Some(columns) = &mut self.attribution_ns {
            for (column, part_ns) in columns.iter_mut().zip(row.attribution.parts_ns()) {
                column.push(*part_ns);
            }
        }
    }

    /// Appends the rows of another chunk of the same run.
    pub fn append(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.index.extend_from_slice(&other.index);
        self.op.extend_from_slice(&other.op);
        self.offset_bytes.extend_from_slice(&other.offset_bytes);
        self.bytes.extend_from_slice(&other.bytes);
        self.submit_ns.extend_from_slice(&other.submit_ns);
        self.complete_ns.extend_from_slice(&other.complete_ns);
        self.error.extend_from_slice(&other.error);
        if let (Some(ours), Some(theirs)) = (&mut self.flow, &other.flow) {
            ours.extend_from_slice(theirs);
        }
        if let (Some(ours), Some(theirs)) = (&mut self.attribution_ns, &other.attribution_ns) {
            for (column, more) in ours.iter_mut().zip(theirs.iter()) {
                column.extend_from_slice(more);
            }
        }
    }
}
