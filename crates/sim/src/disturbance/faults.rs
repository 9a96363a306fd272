//! Requests that fail, and flushes that do not do what they should.

use crate::config::{Disturbance, Flushing};
use ssdscope_io::{Op, Outcome, Request, SECTOR_BYTES};
use std::ops::Range;

/// Reading or writing the medium failed.
const EIO: i32 = 5;
/// The device is gone: what Linux says of requests to a disk that is offline.
const ENODEV: i32 = 19;
/// The command is not known to the device.
const EOPNOTSUPP: i32 = 95;

/// How long a host takes to find out that a drive is gone.
const GONE_NS: u64 = 10_000;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The drive serves it.
    Served,
    /// The drive works on it and fails.
    Fails(i32),
    /// It never gets to the drive: it ends so, after so many nanoseconds.
    Answered(Outcome, u64),
}

/// What is broken.
#[derive(Clone, Debug)]
pub struct Faults {
    bad: Range<u64>,
    gone_after: Option<u64>,
    flush: Flushing,
    requests: u64,
}

impl Faults {
    /// What the drive file says.
    pub fn new(config: &Disturbance) -> Self {
        let begin = config.fault_offset_bytes;
        let gone_after = config.gone_after_requests;
        Self {
            bad: begin..begin + config.fault_bytes,
            gone_after: (gone_after > 0).then_some(gone_after),
            flush: config.flush,
            requests: 0,
        }
    }

    /// Whether the drive has gone.
    pub fn gone(&self) -> bool {
        self.gone_after.is_some_and(|requests| self.requests >= requests)
    }

    /// Counts a request and decides what becomes of it.
    pub fn judge(&mut self, request: &Request) -> Fate {
        if self.gone() {
            return Fate::Answered(Outcome::Failed(ENODEV), GONE_NS);
        }
        self.requests += 1;
        if request.op == Op::Flush {
            return match self.flush {
                Flushing::Honoured => Fate::Served,
                Flushing::Ignored => Fate::Answered(Outcome::Done, 0),
                Flushing::Refused => Fate::Answered(Outcome::Failed(EOPNOTSUPP), 0),
            };
        }
        let (begin, end) = (request.lba.0 * SECTOR_BYTES, request.end().0 * SECTOR_BYTES);
        if begin < self.bad.end && self.bad.start < end { Fate::Fails(EIO) } else { Fate::Served }
    }
}
