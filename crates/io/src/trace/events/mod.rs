//! What happens to requests in Linux's block layer: events, from whichever tool recorded them.
//!
//! `blkparse` and `ftrace` read them from text, `blktrace` from the kernel's own records. A
//! request arrives when it is queued (Q); where a trace has no such event, when it is inserted
//! (I) or dispatched (D). The device's latency is the time from D to C. Merges (M, F) and splits
//! (X) leave a request what the host made it: it has its latency from the first dispatch to the
//! last completion of the spans that cover it. `--times` takes the time of dispatch or of
//! completion instead.
//!
//! A device that passes bios on (dm, md) has no dispatches: latency is then from Q to C, and
//! counted as such.
//!
//! Recorders merge the logs of several processors, and not always in order: events are sorted
//! within a [`window`] before they are [matched](matching).

mod index;
mod lines;
mod matching;
mod window;

use super::format::Fault;
use super::number::unsigned;
use crate::request::Op;
use crate::units::Nanos;
use std::cmp::Ordering;

pub use lines::EventLines;
pub use matching::Matcher;

/// A recorder's clock does not leap a year; blktrace's does, in events older than its start.
const LEAP_NS_MAX: u64 = 365 * 86_400 * 1_000_000_000;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Queue,
    Insert,
    Dispatch,
    Complete,
    /// A completion that reports an error.
    Fail,
    Requeue,
    BackMerge,
    FrontMerge,
    Split,
}

/// Something that happened to the sectors `sector..sector + sectors` of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub time: Nanos,
    pub line: u64,
    pub kind: Kind,
    pub op: Op,
    pub volume: u64,
    pub sector: u64,
    pub sectors: u64,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.line).cmp(&(other.time, other.line))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What an action of blktrace means here; `None` for those that concern no single request.
pub fn action(letters: &[u8]) -> Result<Option<Kind>, Fault> {
    Ok(Some(match letters {
        b"Q" => Kind::Queue,
        b"I" => Kind::Insert,
        b"D" => Kind::Dispatch,
        b"C" => Kind::Complete,
        b"R" => Kind::Requeue,
        b"M" => Kind::BackMerge,
        b"F" => Kind::FrontMerge,
        b"X" => Kind::Split,
        b"A" | b"B" | b"G" | b"S" | b"P" | b"U" | b"UT" | b"T" | b"m" | b"a" | b"d" => {
            return Ok(None);
        }
        _ => return Err(Fault("an action of blktrace such as Q, D or C (field 6)")),
    }))
}

/// The direction in `RWBS`; `None` for what moves no data and flushes nothing.
pub fn direction(letters: &[u8]) -> Result<Option<Op>, Fault> {
    let known = !letters.is_empty() && letters.iter().all(|byte| b"RWDNFASMBPVE".contains(byte));
    let letter = |wanted: u8| letters.contains(&wanted);
    match known {
        false => Err(Fault("RWBS letters such as R, WS or FWS (field 7)")),
        true if letter(b'D') => Ok(Some(Op::Discard)),
        true if letter(b'W') => Ok(Some(Op::Write)),
        true if letter(b'R') => Ok(Some(Op::Read)),
        true => Ok(is_flush(letters).then_some(Op::Flush)),
    }
}

/// A leading F asks for a flush before; one after the W is forced unit access.
pub fn is_flush(letters: &[u8]) -> bool {
    letters.first() == Some(&b'F')
}

/// Whether a completion ends in an error, as `[5]` or `[-5]` does.
pub fn has_failed(line: &[u8]) -> bool {
    let last = line.rsplit(|byte| byte.is_ascii_whitespace()).next();
    let error = last.and_then(|word| word.strip_prefix(b"[")?.strip_suffix(b"]"));
    error.is_some_and(|error| {
        unsigned(error.strip_prefix(b"-").unwrap_or(error)).is_some_and(|number| number != 0)
    })
}

/// What an event without sectors is: a flush as it arrives, else nothing. One that precedes
/// the data of a write is part of that write.
pub const fn without_sectors(kind: Kind, flushes: bool) -> Option<Op> {
    match kind {
        Kind::Queue | Kind::Dispatch if flushes => Some(Op::Flush),
        _ => None,
    }
}

/// Refuses a time that leaps away from all that were before.
#[derive(Default)]
pub struct Clock(Option<Nanos>);

impl Clock {
    /// Takes the next time.
    pub fn accepts(&mut self, time: Nanos) -> bool {
        let latest = self.0.unwrap_or(time);
        let near = time.saturating_sub(latest).0 <= LEAP_NS_MAX;
        if near {
            self.0 = Some(latest.max(time));
        }
        near
    }
}
