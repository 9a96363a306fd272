//! blkparse's default text: `maj,min cpu seq seconds pid action RWBS sector + sectors [process]`.
//!
//! What the events make of requests is written in [`events`](super::events). `maj,min` is volume
//! `maj * 10,000,000 + min`. Sectors are 512 bytes. What blkparse prints beside events (its
//! summaries, by processor and by process, and the files that it read) is passed over.

use super::error::TraceError;
use super::events::{
    Event, EventLines, Kind, action, direction, has_failed, is_flush, without_sectors,
};
use super::format::{Fault, Format, Framing, Parser, device_of};
use super::number::{SECOND_DIGITS, decimal_ns, unsigned};
use super::options::TraceOptions;

pub static FORMAT: Format = Format {
    name: "blkparse",
    aliases: &["blktrace-text"],
    layout: "maj,min cpu seq seconds pid action RWBS sector + sectors [process]",
    framing: Framing::Lines,
    in_sectors: None,
    parser,
};

/// How the lines begin that blkparse prints beside events.
const BESIDE: [&[u8]; 17] = [
    b"CPU",
    b"Total (",
    b"Reads ",
    b"Read ",
    b"Writes ",
    b"Write ",
    b"PC ",
    b"IO unplugs:",
    b"Timer unplugs:",
    b"Allocation wait:",
    b"Dispatch wait:",
    b"Completion wait:",
    b"Throughput (",
    b"Events (",
    b"Skips:",
    b"Trace started",
    b"Input file ",
];

fn parser(options: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    const NEAR: &str = "a time within a year of the events before (field 4)";
    Ok(EventLines::boxed(options, event_or_beside, NEAR))
}

/// The event of a line, if there is one that concerns requests.
fn event_or_beside(line: &[u8], number: u64) -> Result<Option<Event>, Fault> {
    if BESIDE.iter().any(|start| line.starts_with(start)) || is_process(line) {
        return Ok(None);
    }
    event(line, number)
}

/// Whether a line is the head of a summary by process: `fio (9400, ...)`.
fn is_process(line: &[u8]) -> bool {
    let Some(inside) = line.strip_suffix(b")") else { return false };
    let Some(open) = inside.iter().rposition(|&byte| byte == b'(') else { return false };
    let numbers = inside[open + 1..].split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let device = line.split(u8::is_ascii_whitespace).next().and_then(device_of);
    let is_id = |number: &[u8]| number == b"..." || unsigned(number).is_some();
    open > 0 && device.is_none() && numbers.into_iter().all(is_id)
}

/// The event of a line, if it is one that concerns requests.
fn event(line: &[u8], number: u64) -> Result<Option<Event>, Fault> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let mut next = || fields.next().ok_or(Fault(FORMAT.layout));
    let (device, cpu, seq, time, pid) = (next()?, next()?, next()?, next()?, next()?);
    let (letters, kind) = (next()?, next()?);
    let volume = device_of(device).ok_or(Fault("a device maj,min (field 1)"))?;
    if unsigned(cpu).is_none() || unsigned(seq).is_none() || unsigned(pid).is_none() {
        return Err(Fault("numbers of processor, event and process (fields 2, 3, 5)"));
    }
    let time = decimal_ns(time, SECOND_DIGITS).ok_or(Fault("a time in seconds (field 4)"))?;
    let Some(action) = action(letters)? else { return Ok(None) };
    let Some(op) = direction(kind)? else { return Ok(None) };
    let (sector, plus, count) = (fields.next(), fields.next(), fields.next());
    let sectors = match plus {
        Some(b"+") => count.and_then(unsigned).ok_or(Fault("a number of sectors after `+`"))?,
        _ => 0,
    };
    let failed = action == Kind::Complete && has_failed(line);
    let kind_of_event = if failed { Kind::Fail } else { action };
    let event = |op, sector, sectors| {
        Ok(Some(Event { time, line: number, kind: kind_of_event, op, volume, sector, sectors }))
    };
    if sectors == 0 && action != Kind::Split {
        return without_sectors(action, is_flush(kind)).map_or(Ok(None), |op| event(op, 0, 0));
    }
    event(op, sector.and_then(unsigned).ok_or(Fault("a sector (field 8)"))?, sectors)
}

#[cfg(test)]
mod tests {
    use super::super::format::{Noted, Record};
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;

    fn line(time_us: u64, action: &str, kind: &str, rest: &str) -> String {
        let time = format!("0.{time_us:06}000");
        format!("  8,16   3        4     {time}  3645  {action}   {kind} {rest} [java]\n")
    }

    /// (arrival in us, first sector, sectors, latency in us) of each request.
    fn essence(text: &str) -> Vec<(u64, u64, u64, Option<u64>)> {
        let us = |time: Nanos| time.0 / 1000;
        let records = parse_all(&FORMAT, text).expect("good lines");
        let essence = |r: &Record| {
            (us(r.arrival), r.offset_bytes / 512, r.len_bytes / 512, r.latency.map(us))
        };
        records.iter().map(essence).collect()
    }

    fn noted(text: &str) -> Noted {
        let mut parser = parser(&TraceOptions::default()).expect("no options");
        for (line, number) in text.lines().zip(1..) {
            parser.parse(line.trim().as_bytes(), number).expect("a good line");
        }
        while parser.ready(true).is_some() {}
        parser.noted()
    }

    #[test]
    fn arrival_is_queued_and_latency_from_dispatch_to_completion() {
        let text = line(10, "Q", "R", "100 + 8")
            + &line(12, "G", "R", "100 + 8")
            + &line(13, "I", "R", "100 + 8")
            + &line(20, "D", "R", "100 + 8")
            + &line(30, "Q", "WS", "500 + 16")
            + &line(95, "C", "R", "100 + 8")
            + "CPU0 (8,16):\n Reads Queued:           0,        0KiB\n";
        assert_eq!(essence(&text), [(10, 100, 8, Some(75)), (30, 500, 16, None)]);
        let record = parse_all(&FORMAT, &text).expect("good lines")[0];
        assert_eq!((record.volume, record.op), (80_000_016, Op::Read));
        assert_eq!(noted(&text)["without_completion"], 1);
    }

    #[test]
    fn merged_requests_share_a_dispatch_and_split_ones_wait_for_their_last_part() {
        let text = line(10, "Q", "W", "100 + 8")
            + &line(11, "Q", "W", "108 + 8")
            + &line(11, "M", "W", "108 + 8")
            + &line(20, "D", "W", "100 + 16")
            + &line(50, "C", "W", "100 + 16");
        assert_eq!(essence(&text), [(10, 100, 8, Some(30)), (11, 108, 8, Some(30))]);
        assert_eq!(noted(&text)["back_merges"], 1);

        let text = line(10, "Q", "R", "0 + 64")
            + &line(11, "X", "R", "0 / 32")
            + &line(20, "D", "R", "0 + 32")
            + &line(30, "D", "R", "32 + 32")
            + &line(80, "C", "R", "32 + 32")
            + &line(90, "C", "R", "0 + 32");
        assert_eq!(essence(&text), [(10, 0, 64, Some(70))]);
        assert_eq!(noted(&text)["splits"], 1);
    }

    #[test]
    fn two_requests_of_one_place_each_have_their_own_completion() {
        let mut text = String::new();
        for (at, action) in [(1, "Q"), (2, "Q"), (10, "D"), (20, "D"), (30, "C"), (60, "C")] {
            text += &line(at, action, "R", "100 + 8");
        }
        assert_eq!(essence(&text), [(1, 100, 8, Some(20)), (2, 100, 8, Some(40))]);
    }

    #[test]
    fn lines_out_of_order_are_matched_and_missing_events_are_made_up_for() {
        let text = line(90, "C", "R", "100 + 8")
            + &line(10, "I", "R", "100 + 8")
            + &line(20, "D", "R", "100 + 8")
            + &line(40, "D", "W", "7 + 1")
            + &line(70, "C", "W", "7 + 1")
            + &line(99, "C", "R", "5000 + 8");
        assert_eq!(essence(&text), [(10, 100, 8, Some(70)), (40, 7, 1, Some(30))]);
        assert_eq!(noted(&text)["completions_without_request"], 1);
    }

    #[test]
    fn flushes_and_discards_are_kept_and_a_requeue_starts_again() {
        let text = line(10, "Q", "FN", "").replace("FN  ", "FN ")
            + &line(20, "Q", "D", "0 + 2048")
            + &line(25, "D", "D", "0 + 2048")
            + &line(30, "R", "D", "0 + 2048")
            + &line(40, "D", "D", "0 + 2048")
            + &line(65, "C", "D", "0 + 2048");
        let records = parse_all(&FORMAT, &text).expect("good lines");
        assert_eq!(records.iter().map(|r| r.op).collect::<Vec<_>>(), [Op::Flush, Op::Discard]);
        assert_eq!(records[1].latency, Some(Nanos(25_000)));
        assert_eq!(noted(&text)["requeues"], 1);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("8 3 4 0.1 1 Q R 1 + 8 [p]", "field 1"),
                ("8,16 x 4 0.1 1 Q R 1 + 8 [p]", "field"),
                ("8,16 3 4 -0.1 1 Q R 1 + 8 [p]", "field 4"),
                ("8,16 3 4 0.1 1 Y R 1 + 8 [p]", "field 6"),
                ("8,16 3 4 0.1 1 Q read 1 + 8 [p]", "field 7"),
                ("8,16 3 4 0.1 1 Q R x + 8 [p]", "field 8"),
                ("8,16 3 4 0.1 1 Q R 1 + y [p]", "after `+`"),
                ("8,16 3 4 0.1", "maj,min"),
            ],
        );
        let leap = line(1, "Q", "R", "1 + 8") + "8,16 1 4 1266874889.7 1 I R 1 + 8 [java]";
        assert!(parse_all(&FORMAT, &leap).is_err());
    }
}
