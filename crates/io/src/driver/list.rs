//! Explicit requests as a source: what a probe wants asked, in its own order.

use super::ahead;
use super::closed::{self, Slots};
use super::open;
use super::session::{Goals, Session};
use super::source::{Next, Planned, Source};
use super::{RunError, RunObserver};
use crate::device::{Device, DeviceInfo, check_request};
use crate::request::{Op, Request};
use crate::summary::{LatencyFrom, RunSummary, StopReason};
use crate::units::{Bytes, Lba, Nanos, SECTOR_BYTES};
use crate::workload::LONGEST_SPAN;
use std::ops::Range;

/// Requests in columns of equal length.
#[derive(Clone, Copy, Debug)]
pub struct RequestList<'a> {
    /// 0 read, 1 write, 2 flush, 3 discard, 4 write that is durable when acknowledged (FUA),
    /// 5 write zeros.
    pub ops: &'a [u8],
    /// First byte of each.
    pub offsets_bytes: &'a [u64],
    /// Length of each in bytes; zero for a flush.
    pub lengths_bytes: &'a [u64],
    /// When each arrives, counted from the start of the run and ascending. With
    /// arrivals the loop is open, without them it is closed.
    pub arrivals_ns: Option<&'a [u64]>,
    /// Pause before each, in a closed loop. A request with a pause above zero waits until all
    /// before it have ended and then for so long; those behind it wait for it.
    pub pauses_ns: Option<&'a [u64]>,
}

/// The code of a write with forced unit access.
const WRITE_FUA: u8 = 4;

impl RequestList<'_> {
    fn request(&self, index: usize) -> Option<Request> {
        let op = match self.ops[index] {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Flush,
            3 => Op::Discard,
            WRITE_FUA => Op::Write,
            5 => Op::WriteZeroes,
            _ => return None,
        };
        let offset_bytes = self.offsets_bytes[index];
        let sectors = Bytes(self.lengths_bytes[index]).whole_sectors()?;
        if !offset_bytes.is_multiple_of(SECTOR_BYTES) {
            return None;
        }
        let lba = Lba(offset_bytes / SECTOR_BYTES);
        let fua = self.ops[index] == WRITE_FUA;
        Some(Request { fua, ..Request::new(index as u64, op, lba, sectors) })
    }

    /// The bytes that the requests write, discard or zero.
    fn lost(&self) -> Vec<Range<u64>> {
        let requests = (0..self.ops.len()).filter_map(|index| self.request(index));
        ahead::of_requests(requests.map(|each| (each.op, each.lba, each.sectors))).collect()
    }

    fn pause_ns(&self, index: usize) -> u64 {
        self.pauses_ns.map_or(0, |pauses| pauses[index])
    }

    /// Where the stretch without a pause ends that begins at `start`.
    fn stretch_end(&self, start: usize) -> usize {
        let count = self.ops.len();
        (start + 1..count).find(|&index| self.pause_ns(index) > 0).unwrap_or(count)
    }

    /// Refuses the whole list if any request of it cannot be served.
    fn check(&self, info: &DeviceInfo) -> Result<(), String> {
        let count = self.ops.len();
        let [arrivals, pauses] =
            [self.arrivals_ns, self.pauses_ns].map(|column| column.map_or(count, <[u64]>::len));
        if [self.offsets_bytes.len(), self.lengths_bytes.len(), arrivals, pauses] != [count; 4] {
            return Err("the columns of a request list must be of one length".to_owned());
        }
        if self.arrivals_ns.is_some() && self.pauses_ns.is_some() {
            return Err("a request list has arrival times or pauses, not both".to_owned());
        }
        if self.arrivals_ns.is_some_and(|arrivals| !arrivals.is_sorted()) {
            return Err("the arrival times of a request list must ascend".to_owned());
        }
        let last = self.arrivals_ns.and_then(<[u64]>::last);
        if last.is_some_and(|&arrival| arrival > LONGEST_SPAN.0) {
            return Err(format!("an arrival is later than {LONGEST_SPAN}"));
        }
        let longest = self.pauses_ns.and_then(|pauses| pauses.iter().max());
        if longest.is_some_and(|&pause| pause > LONGEST_SPAN.0) {
            return Err(format!("a pause is longer than {LONGEST_SPAN}"));
        }
        for index in 0..count {
            let request = self.request(index).ok_or_else(|| {
                format!(
                    "request {index} (op {}, offset {}, length {}) needs an op of 0 to 5, \
                     and offset and length in whole {SECTOR_BYTES}-byte sectors",
                    self.ops[index], self.offsets_bytes[index], self.lengths_bytes[index]
                )
            })?;
            check_request(info, &request).map_err(|error| format!("request {index}: {error}"))?;
        }
        Ok(())
    }
}

/// Runs explicit requests in their order: with `iodepth` in flight and
/// `thinktime` after each completion, or at their arrivals where those are given.
///
/// Failed requests do not end it, however many: each has its row in the log.
///
/// # Errors
/// [`RunError::Refused`], naming the first request that cannot be served, before
/// anything is issued; [`RunError::Broken`] if the device fails on the way.
pub fn run_list(
    device: &mut dyn Device,
    list: &RequestList<'_>,
    iodepth: u32,
    thinktime: Nanos,
    observer: &mut dyn RunObserver,
) -> Result<RunSummary, RunError> {
    list.check(&device.info()).map_err(RunError::Refused)?;
    let slots = Slots::of_one_job(iodepth, thinktime)?;
    let latency_from = match list.arrivals_ns {
        Some(_) => LatencyFrom::Arrival,
        None => LatencyFrom::Submission,
    };
    let requests = Some(list.ops.len() as u64);
    let goals = Goals { requests, gives_up: false, ..Goals::until_the_end(latency_from) };
    let mut session = Session::new(device, observer, goals)?;
    session.expect_writes(|| list.lost())?;
    let mut source = Listed { list, next: 0, end: 0, start: session.now() };
    let mut reason = StopReason::End;
    while source.next < list.ops.len() && session.stopped().is_none() {
        session.pause(Nanos(list.pause_ns(source.next)));
        source.end = list.stretch_end(source.next);
        reason = match latency_from {
            LatencyFrom::Arrival => open::drive(&mut session, &mut source),
            LatencyFrom::Submission => closed::drive(&mut session, &mut source, slots),
        };
    }
    session.finish(reason)
}

/// A list, up to where the next pause comes.
struct Listed<'a> {
    list: &'a RequestList<'a>,
    next: usize,
    end: usize,
    start: Nanos,
}

impl Source for Listed<'_> {
    fn next(&mut self, _lane: u32, free_at: Nanos) -> Next {
        if self.next == self.end {
            return Next::End(StopReason::End);
        }
        let index = self.next;
        self.next += 1;
        let Some(request) = self.list.request(index) else { return Next::End(StopReason::End) };
        let due = match self.list.arrivals_ns {
            Some(arrivals) => self.start + Nanos(arrivals[index]),
            None => free_at,
        };
        let Request { op, lba, sectors, fua, .. } = request;
        Next::Request(Planned { due, op, lba, sectors, fua, measured: true, flow: 0 })
    }
}
