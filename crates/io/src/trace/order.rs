//! Puts late lines back where their time belongs, within a bounded window.
//!
//! Some recorders write a request when it completes, so neighbours swap places. A
//! heap of a million requests sorts that, and all of any shorter trace; requests of one
//! instant keep the order of their lines. What comes later than the window is refused.

use super::error::TraceError;
use super::format::Record;
use super::records::Records;
use crate::units::Nanos;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How many requests are held: some 50 MB.
pub const WINDOW_REQUESTS: usize = 1 << 20;

#[derive(PartialEq, Eq)]
struct ByTime(Record);

impl ByTime {
    const fn key(&self) -> (Nanos, u64) {
        (self.0.arrival, self.0.line)
    }
}

impl Ord for ByTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for ByTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The window.
pub struct Sorter {
    held: BinaryHeap<Reverse<ByTime>>,
    window: usize,
    last: Nanos,
}

impl Sorter {
    /// An empty window of `window` requests.
    pub const fn new(window: usize) -> Self {
        Self { held: BinaryHeap::new(), window, last: Nanos(0) }
    }

    /// The next request of `records` by time.
    pub fn next(&mut self, records: &mut Records<'_>) -> Result<Option<Record>, TraceError> {
        while self.held.len() < self.window {
            let Some(record) = records.next()? else { break };
            self.held.push(Reverse(ByTime(record)));
        }
        let Some(Reverse(ByTime(record))) = self.held.pop() else { return Ok(None) };
        if record.arrival < self.last {
            return Err(TraceError::TooUnsorted {
                path: records.label().to_owned(),
                line: record.line,
                window: self.window,
            });
        }
        self.last = record.arrival;
        Ok(Some(record))
    }
}
