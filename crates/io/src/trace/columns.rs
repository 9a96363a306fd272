//! The requests of a trace as columns, for those who compute on many at once.

use super::format::Record;

/// Rows that are handed out at a time: some 40 MB.
pub const CHUNK_ROWS: usize = 1 << 20;

/// Requests, a row each, in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceColumns {
    /// When each was issued, counted from the first of the trace.
    pub arrival_ns: Vec<u64>,
    /// What it does: the number of its [`Op`](crate::Op).
    pub op: Vec<u8>,
    /// Its volume.
    pub volume: Vec<u64>,
    /// Its first byte within that.
    pub offset_bytes: Vec<u64>,
    /// Its length.
    pub bytes: Vec<u64>,
    /// How long the traced device took; [`u64::MAX`] where the trace does not tell.
    pub latency_ns: Vec<u64>,
}

impl TraceColumns {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, record: &Record) {
        self.arrival_ns.push(record.arrival.0);
        self.op.push(record.op as u8);
        self.volume.push(record.volume);
        self.offset_bytes.push(record.offset_bytes);
        self.bytes.push(record.len_bytes);
        self.latency_ns.push(record.latency.map_or(u64::MAX, |latency| latency.0));
    }

    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.op.is_empty()
    }
}
