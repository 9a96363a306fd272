//! The kernel's block events as text: what ftrace, `trace-cmd report` and `perf script` print.
//!
//! `process-pid [cpu] flags seconds: block_rq_issue: maj,min RWBS bytes () sector + sectors [...]`;
//! perf writes `block:block_rq_issue:`. Only the time before an event's name and what follows it
//! are read, since names of processes may hold anything. What the tracer `blk` prints in their
//! place, `seconds: maj,min D R sector + sectors [process]`, is read as well. Events of other
//! kinds are passed over. What the events make of requests is written in [`events`](super::events);
//! often only dispatches and completions were recorded, and a request then arrives when it is
//! dispatched.

use super::error::TraceError;
use super::events::{
    Event, EventLines, Kind, action, direction, has_failed, is_flush, without_sectors,
};
use super::format::{Fault, Format, Framing, Parser, device_of};
use super::number::{SECOND_DIGITS, decimal_ns, unsigned};
use super::options::TraceOptions;
use crate::units::Nanos;
use memchr::memmem;

pub static FORMAT: Format = Format {
    name: "ftrace",
    aliases: &["perf-script", "trace-cmd"],
    layout: "process [cpu] seconds: block_rq_issue: maj,min RWBS bytes () sector + sectors [...]",
    framing: Framing::Lines,
    in_sectors: None,
    parser,
};

/// The kernel's events that say of a single request what happened, without `block_`.
const EVENTS: [(&[u8], Kind); 10] = [
    (b"bio_queue", Kind::Queue),
    (b"rq_insert", Kind::Insert),
    (b"rq_issue", Kind::Dispatch),
    (b"rq_complete", Kind::Complete),
    (b"bio_complete", Kind::Complete),
    (b"rq_requeue", Kind::Requeue),
    (b"bio_backmerge", Kind::BackMerge),
    (b"bio_frontmerge", Kind::FrontMerge),
    (b"split", Kind::Split),
    (b"rq_error", Kind::Fail),
];

const PREFIX: &[u8] = b"block_";

fn parser(options: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    Ok(EventLines::boxed(options, event, "a time within a year of the events before"))
}

/// When it happened, what, and the rest of the line.
type Parts<'a> = (Nanos, &'a [u8], &'a [u8]);

/// The time, the name of the event and what it says: `seconds: name: rest`. A name of a process
/// may look like one, so the last that does is taken.
fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let mut found = None;
    for colon in memmem::find_iter(line, b": ") {
        let before = &line[..colon];
        let word =
            before.iter().rposition(u8::is_ascii_whitespace).map_or(before, |at| &before[at + 1..]);
        let rest = line[colon + 2..].trim_ascii_start();
        if let Some(time) = decimal_ns(word, SECOND_DIGITS).filter(|_| word.contains(&b'.')) {
            let colon = memmem::find(rest, b":").filter(|&at| !rest[..at].contains(&b' '));
            found = Some(match colon {
                Some(at) if rest[at..].starts_with(b":block_") => {
                    after_name(time, &rest[at + 1..])?
                }
                Some(_) => after_name(time, rest)?,
                None => (time, &b""[..], rest),
            });
        }
    }
    found
}

fn after_name(time: Nanos, text: &[u8]) -> Option<Parts<'_>> {
    let colon = text.iter().position(|&byte| byte == b':')?;
    Some((time, &text[..colon], text[colon + 1..].trim_ascii_start()))
}

/// The event of a line, if it is one that concerns requests.
fn event(line: &[u8], number: u64) -> Result<Option<Event>, Fault> {
    let (time, name, rest) = parts(line).ok_or(Fault(FORMAT.layout))?;
    let mut fields = rest.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let device = fields.next().ok_or(Fault(FORMAT.layout))?;
    let kind = match name.strip_prefix(PREFIX) {
        Some(name) => EVENTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind),
        None if name.is_empty() => action(fields.next().ok_or(Fault(FORMAT.layout))?)?,
        None => None,
    };
    let Some(kind) = kind else { return Ok(None) };
    let volume = device_of(device).ok_or(Fault("a device maj,min after the event's name"))?;
    let letters = fields.next().ok_or(Fault("RWBS letters after the device"))?;
    let Some(op) = direction(letters)? else { return Ok(None) };
    let (sector, sectors) = place(fields).unwrap_or((0, 0));
    let flushes = is_flush(letters);
    let kind = match kind {
        Kind::Complete if has_failed(line) => Kind::Fail,
        other => other,
    };
    if sectors == 0 && kind != Kind::Split {
        let flush = without_sectors(kind, flushes);
        return Ok(flush.map(|op| Event {
            time,
            line: number,
            kind,
            op,
            volume,
            sector: 0,
            sectors,
        }));
    }
    Ok(Some(Event { time, line: number, kind, op, volume, sector, sectors }))
}

/// The numbers around a `+`.
fn place<'a>(fields: impl Iterator<Item = &'a [u8]>) -> Option<(u64, u64)> {
    let (mut before, mut fields) = (&b""[..], fields);
    loop {
        match fields.next()? {
            b"+" => return Some((unsigned(before)?, unsigned(fields.next()?)?)),
            field => before = field,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::request::Op;

    const ISSUE: &str =
        "  a: b-1 [001] ..... 5.000100: block_rq_issue: 7,0 WS 4096 () 16 + 8 be,0,4 [fio]\n";
    const DONE: &str =
        "  ksoftirqd/1-22 [001] ..s.. 5.000350: block_rq_complete: 7,0 WS () 16 + 8 be,0,4 [0]\n";

    #[test]
    fn ftrace_perf_and_the_blk_tracer_say_the_same() {
        let perf = |text: &str| text.replace("block_rq", "  block:block_rq");
        let blk = "  dd-1 [000] d..1. 5.000100:   7,0    D  WS 16 + 8 [fio]\n\
                   ksoftirqd/0-14 [000] d.s1. 5.000350:   7,0    C  WS 16 + 8 [0]\n";
        for text in [format!("{ISSUE}{DONE}"), perf(&format!("{ISSUE}{DONE}")), blk.to_owned()] {
            let records = parse_all(&FORMAT, &text).expect("good lines");
            assert_eq!(records.len(), 1, "{text}");
            let record = records[0];
            assert_eq!(
                (record.arrival, record.latency),
                (Nanos(5_000_100_000), Some(Nanos(250_000)))
            );
            assert_eq!((record.op, record.offset_bytes, record.len_bytes), (Op::Write, 8192, 4096));
            assert_eq!(record.volume, 70_000_000);
        }
    }

    #[test]
    fn a_flush_counts_once_whether_it_was_queued_or_only_issued() {
        let issued = "x-1 [001] ..... 5.2: block_rq_issue: 7,0 FF 0 () 0 + 0 none,0,0 [x]\n";
        let queued = "x-1 [001] ..... 5.1: block_bio_queue: 7,0 FWS 0 + 0 [x]\n";
        for text in [issued.to_owned(), format!("{queued}{issued}")] {
            let records = parse_all(&FORMAT, &text).expect("good lines");
            assert_eq!(records.iter().map(|r| r.op).collect::<Vec<_>>(), [Op::Flush], "{text}");
        }
    }

    #[test]
    fn other_events_are_passed_over_and_wrong_ones_named() {
        let other = "sshd-9 [000] d.h. 3.25: sched_switch: prev_comm=sshd prev_pid=9\n";
        assert_eq!(parse_all(&FORMAT, other), Ok(vec![]));
        faults(
            &FORMAT,
            &[
                ("x-1 [0] 5.0: block_rq_issue: 7 WS 4096 () 16 + 8 [fio]", "a device"),
                ("x-1 [0] 5.0: block_rq_issue: 7,0 write 4096 () 16 + 8 [fio]", "RWBS"),
                ("8,16 3 4 0.1 1 Q R 1 + 8 [p]", "block_rq_issue"),
            ],
        );
    }
}
