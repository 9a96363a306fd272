//! What biosnoop of bcc and of its libbpf tools prints: a line for each request that is done.
//!
//! `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`, by the words of the header. TIME is
//! when a request was done; it was issued LAT before, and queued QUE before that (`-Q`). A disk
//! without a name is one of its own; disks are volumes from 0, in the order in which they appear.
//! Names of processes may hold blanks, so a line is read from its end. A request of no bytes at
//! no sector is a flush.

use super::format::{Fault, Format, Framing, Parser, Record};
use super::number::{MILLISECOND_DIGITS, SECOND_DIGITS, decimal_ns, unsigned};
use super::options::Times;
use crate::request::Op;
use crate::units::Nanos;

pub static FORMAT: Format = Format {
    name: "biosnoop",
    aliases: &["bcc-biosnoop"],
    layout: "a header TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms), and such lines",
    framing: Framing::Lines,
    in_sectors: None,
    parser: |options| {
        Ok(Box::new(Biosnoop { times: options.times, columns: None, disks: Vec::new() }))
    },
};

/// Of columns that only some versions print, whether they are there.
#[derive(Clone, Copy)]
struct Columns {
    queue: bool,
    pattern: bool,
}

struct Biosnoop {
    times: Times,
    columns: Option<Columns>,
    disks: Vec<Vec<u8>>,
}

/// More disks than anybody has.
const DISKS_MAX: usize = 1 << 16;

const HEADER: [&[u8]; 7] = [b"TIME(s)", b"COMM", b"PID", b"DISK", b"T", b"SECTOR", b"BYTES"];

fn header(line: &[u8]) -> Option<Columns> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let same = HEADER.iter().all(|word| words.next() == Some(word));
    let rest: Vec<&[u8]> = words.collect();
    let has = |word: &[u8]| rest.contains(&word);
    let known = same && has(b"LAT(ms)");
    known.then(|| Columns { queue: has(b"QUE(ms)"), pattern: has(b"PATTERN") })
}

impl Parser for Biosnoop {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        if let Some(columns) = header(line) {
            self.columns = Some(columns);
            return Ok(None);
        }
        let columns = self.columns.ok_or(Fault(FORMAT.layout))?;
        self.request(line, columns).map(Some)
    }
}

impl Biosnoop {
    fn request(&mut self, line: &[u8], columns: Columns) -> Result<Record, Fault> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let done = fields.next().and_then(|time| decimal_ns(time, SECOND_DIGITS));
        let done = done.ok_or(Fault("a time in seconds (field 1)"))?;
        let mut from_end = fields.rev().skip(usize::from(columns.pattern));
        let mut millis = |what| {
            let time = from_end.next().and_then(|time| decimal_ns(time, MILLISECOND_DIGITS));
            time.ok_or(Fault(what))
        };
        let latency = millis("a latency in milliseconds at the end")?;
        let queued = if columns.queue {
            millis("a time in the queue before the latency")?
        } else {
            Nanos::ZERO
        };
        let mut next = || from_end.next().ok_or(Fault(FORMAT.layout));
        let bytes = unsigned(next()?).ok_or(Fault("a number of bytes before the times"))?;
        let sector = next()?;
        let op = next()?;
        let disk = next()?;
        let arrival = match self.times {
            Times::Queued => done.saturating_sub(latency).saturating_sub(queued),
            Times::Issued => done.saturating_sub(latency),
            Times::Completed => done,
        };
        let volume = self.volume(disk)?;
        if bytes == 0 || op.first() == Some(&b'F') && op.len() > 1 {
            return Ok(Record::flush(arrival, volume).taking(Some(latency)));
        }
        let sector = unsigned(sector).ok_or(Fault("a sector before the bytes"))?;
        Ok(Record::new(arrival, volume, operation(op)?, sector, bytes)?.taking(Some(latency)))
    }

    /// The number of a disk; of a line without one, the process's number stands in its place.
    fn volume(&mut self, disk: &[u8]) -> Result<u64, Fault> {
        let disk = if unsigned(disk).is_some() { &b""[..] } else { disk };
        let at = self.disks.iter().position(|known| known == disk);
        let at = at.unwrap_or_else(|| {
            self.disks.push(disk.to_vec());
            self.disks.len() - 1
        });
        if at < DISKS_MAX { Ok(at as u64) } else { Err(Fault("a disk among 65536")) }
    }
}

fn operation(letters: &[u8]) -> Result<Op, Fault> {
    let has = |letter| letters.contains(&letter);
    match letters {
        _ if has(b'D') => Ok(Op::Discard),
        _ if has(b'W') => Ok(Op::Write),
        _ if has(b'R') => Ok(Op::Read),
        _ => Err(Fault("R, W or D in the column T")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;

    const HEAD: &str = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  ";

    #[test]
    fn a_request_begins_its_latency_before_it_is_done() {
        let text = format!("{HEAD}QUE(ms) LAT(ms)\n1.000000 dd 9 sda W 24 4096 0.25 1.50\n");
        let record = parse_all(&FORMAT, &text).expect("good lines")[0];
        assert_eq!(record.arrival, Nanos(998_250_000));
        assert_eq!((record.latency, record.volume), (Some(Nanos(1_500_000)), 0));
        assert_eq!((record.offset_bytes, record.len_bytes, record.op), (24 * 512, 4096, Op::Write));
    }

    #[test]
    fn names_with_blanks_disks_without_a_name_and_flushes() {
        let text = format!(
            "{HEAD}LAT(ms)\n1.0 Socket Threa 4 nvme0n1 R 8 512 0.5\n\
             2.0 ?              0              R 16 8 0.5\n\
             3.0 kworker/23:1   9126           R 18446744073709551615 0         0.61\n\
             4.0 dd 4 nvme0n1 D 8 512 0.5\n"
        );
        let records = parse_all(&FORMAT, &text).expect("good lines");
        let essence: Vec<_> = records.iter().map(|r| (r.volume, r.op)).collect();
        assert_eq!(essence, [(0, Op::Read), (1, Op::Read), (1, Op::Flush), (0, Op::Discard)]);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        for (line, words) in [
            ("x dd 9 sda W 24 4096 1.50", "field 1"),
            ("1.0 dd 9 sda W 24 4096 x", "a latency"),
            ("1.0 dd 9 sda W 24 y 1.5", "bytes"),
            ("1.0 dd 9 sda W z 4096 1.5", "a sector"),
            ("1.0 dd 9 sda Q 24 4096 1.5", "column T"),
        ] {
            faults(&FORMAT, &[(&format!("{HEAD}LAT(ms)\n{line}"), words)]);
        }
        faults(&FORMAT, &[("1.0 dd 9 sda W 24 4096 1.50", "a header TIME(s)")]);
    }
}
