//! blktrace's binary events, as in `X.blktrace.0` and in what `blkparse -d` writes.
//!
//! The layout is `struct blk_io_trace` of the kernel's `linux/blktrace_api.h`, version 7, and
//! `struct blk_io_trace2`, version 8, in the byte order of the machine that recorded it. [`cpus`]
//! merges the files of all processors by time and brings each event into one shape. What events
//! make of requests is written in [`events`](super::events). Packet commands, messages and names
//! of processes are passed over.
//!
//! A processor numbers its events of a device. What is missing in the numbers was dropped by the
//! recorder, or left out by whoever wrote the file, and is counted.

mod cpus;
mod layout;
#[cfg(test)]
pub mod made;
#[cfg(test)]
mod tests;

use super::error::TraceError;
use super::events::{Event, Kind, Matcher, without_sectors};
use super::format::{Fault, Format, Framing, Noted, Parser, Record, device_volume};
use super::options::TraceOptions;
use super::volumes::MAX_VOLUMES;
use crate::request::Op;
use crate::units::{Nanos, SECTOR_BYTES};
use layout::Raw;

pub use cpus::{Broken, Cpus};
pub use layout::{EVENT_BYTES, is_blktrace};

pub static FORMAT: Format = Format {
    name: "blktrace",
    aliases: &["blktrace-binary"],
    layout: "binary events of the kernel, version 7 or 8, in either byte order",
    framing: Framing::Events,
    in_sectors: None,
    parser,
};

/// Bits of an action above its number: what is done, and what kind of event it is.
mod category {
    pub const WRITE: u32 = 1 << 17;
    pub const FLUSH: u32 = 1 << 18;
    pub const PACKET: u32 = 1 << 25;
    pub const NOTIFY: u32 = 1 << 26;
    pub const DISCARD: u32 = 1 << 29;
    pub const DRIVER_DATA: u32 = 1 << 30;
}

fn parser(options: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    let matcher = Matcher::new(options.times);
    Ok(Box::new(Blktrace { matcher, sequences: Sequences::default() }))
}

struct Blktrace {
    matcher: Matcher,
    sequences: Sequences,
}

impl Parser for Blktrace {
    #[inline]
    fn parse(&mut self, bytes: &[u8], number: u64) -> Result<Option<Record>, Fault> {
        let raw = Raw::of(bytes.try_into().map_err(|_| Fault("a whole event"))?);
        if raw.action & category::NOTIFY != 0 {
            return Ok(None);
        }
        self.sequences.take(&raw);
        if let Some(kind) = kind(&raw) {
            match raw.action & (category::PACKET | category::DRIVER_DATA) {
                0 => {
                    if let Some(event) = event(&raw, kind, number)? {
                        self.matcher.push(event);
                    }
                }
                _ if kind == Kind::Complete => self.matcher.note("packet_commands"),
                _ => {}
            }
        }
        Ok(None)
    }

    fn holds(&self) -> bool {
        true
    }

    fn ready(&mut self, at_end: bool) -> Option<Record> {
        self.matcher.ready(at_end)
    }

    fn noted(&self) -> Noted {
        let mut noted = self.matcher.noted();
        let missing = self.sequences.missing();
        if missing > 0 {
            noted.insert("missing_events", missing);
        }
        noted
    }
}

/// What an event says of requests, by the number of its action; `None` if nothing.
#[inline]
const fn kind(raw: &Raw) -> Option<Kind> {
    Some(match raw.action & 0xff {
        1 => Kind::Queue,
        2 => Kind::BackMerge,
        3 => Kind::FrontMerge,
        6 => Kind::Requeue,
        7 => Kind::Dispatch,
        8 if raw.error != 0 => Kind::Fail,
        8 => Kind::Complete,
        12 => Kind::Insert,
        13 => Kind::Split,
        _ => return None,
    })
}

/// The event as all recorders have it; `None` if it says nothing of a request.
#[inline]
fn event(raw: &Raw, kind: Kind, number: u64) -> Result<Option<Event>, Fault> {
    let volume = device_volume(u64::from(raw.device >> 20), u64::from(raw.device & 0xf_ffff));
    let volume = volume.ok_or(Fault("a device below 10,000,000"))?;
    // The halves of a split are dispatched by themselves.
    let sectors = if kind == Kind::Split { 0 } else { u64::from(raw.bytes) / SECTOR_BYTES };
    let op = match raw.action {
        action if sectors == 0 && kind != Kind::Split => {
            match without_sectors(kind, action & category::FLUSH != 0) {
                Some(op) => op,
                None => return Ok(None),
            }
        }
        action if action & category::DISCARD != 0 => Op::Discard,
        action if action & category::WRITE != 0 => Op::Write,
        _ => Op::Read,
    };
    let sector = if op == Op::Flush { 0 } else { raw.sector };
    Ok(Some(Event { time: Nanos(raw.time), line: number, kind, op, volume, sector, sectors }))
}

/// More processors than any machine has; events of others are not counted.
const CPUS_MAX: u32 = 1 << 12;

/// The numbers of events, by device and processor.
#[derive(Default)]
struct Sequences {
    /// Of each device those of its processors, and which device the last event was of.
    of: Vec<(u32, Vec<Sequence>)>,
    present: usize,
}

#[derive(Clone, Copy)]
struct Sequence {
    first: u32,
    last: u32,
    events: u64,
}

impl Sequence {
    const NONE: Self = Self { first: u32::MAX, last: 0, events: 0 };

    fn missing(&self) -> u64 {
        let numbers = u64::from(self.last.saturating_sub(self.first)) + 1;
        if self.events == 0 { 0 } else { numbers.saturating_sub(self.events) }
    }
}

impl Sequences {
    #[inline]
    fn take(&mut self, raw: &Raw) {
        if raw.cpu >= CPUS_MAX {
            return;
        }
        if self.of.get(self.present).is_none_or(|(device, _)| *device != raw.device) {
            self.turn_to(raw.device);
        }
        let Some((_, cpus)) = self.of.get_mut(self.present) else { return };
        let cpu = raw.cpu as usize;
        if cpu >= cpus.len() {
            cpus.resize(cpu + 1, Sequence::NONE);
        }
        let sequence = &mut cpus[cpu];
        sequence.first = sequence.first.min(raw.sequence);
        sequence.last = sequence.last.max(raw.sequence);
        sequence.events += 1;
    }

    #[cold]
    fn turn_to(&mut self, wanted: u32) {
        let known = self.of.iter().position(|(device, _)| *device == wanted);
        self.present = known.unwrap_or_else(|| {
            if self.of.len() < MAX_VOLUMES {
                self.of.push((wanted, Vec::new()));
                return self.of.len() - 1;
            }
            self.of.len()
        });
    }

    /// How many numbers are not there; none are where a recorder does not count (ftrace).
    fn missing(&self) -> u64 {
        self.of.iter().flat_map(|(_, cpus)| cpus).map(Sequence::missing).sum()
    }
}
