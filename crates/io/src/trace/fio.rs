//! fio's iolog, versions 2 and 3: `file action offset length`, in version 3 after a time.
//!
//! The first line says the version. Times of version 3 are microseconds from the start.
//! Version 2 has none but `file wait TIME 0`. fio documents a pause in microseconds since the last
//! one; fio 3.33 takes the milliseconds since it began, and passes over such a line that has three
//! fields. What fio does counts here. Without such lines all requests arrive at once, and
//! `--mode asap` is the way to replay them. Files
//! must be added before they are used, and are volumes in the order in which they are, from 0.
//! `sync` and `datasync` are flushes, `trim` a discard.

use super::error::TraceError;
use super::format::{Fault, Format, Framing, Parser, Record};
use super::number::{MICROSECOND_DIGITS, decimal_ns, unsigned};
use super::options::TraceOptions;
use crate::request::Op;
use crate::units::Nanos;
use std::collections::HashMap;

pub static FORMAT: Format = Format {
    name: "fio",
    aliases: &["fio-iolog", "iolog"],
    layout: "`fio version 2 iolog` or 3, then [microseconds] file action [offset bytes]",
    framing: Framing::Lines,
    in_sectors: None,
    parser,
};

const FILES_MAX: usize = 1 << 14;

fn parser(_: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(Fio { timed: None, files: HashMap::new(), waited: Nanos::ZERO }))
}

struct Fio {
    /// Whether lines begin with a time; `None` before the first line.
    timed: Option<bool>,
    files: HashMap<Box<[u8]>, u64>,
    /// How far pauses have come, in version 2.
    waited: Nanos,
}

impl Parser for Fio {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let Some(timed) = self.timed else {
            self.timed = Some(match line {
                b"fio version 2 iolog" => false,
                b"fio version 3 iolog" => true,
                _ => return Err(Fault("`fio version 2 iolog` or `fio version 3 iolog` first")),
            });
            return Ok(None);
        };
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let arrival = if timed {
            let time = fields.next().and_then(|time| decimal_ns(time, MICROSECOND_DIGITS));
            time.ok_or(Fault("a time in microseconds first"))?
        } else {
            self.waited
        };
        let (Some(file), Some(action)) = (fields.next(), fields.next()) else {
            return Err(Fault("a file and an action"));
        };
        let numbers = (fields.next().map(unsigned), fields.next().map(unsigned));
        if fields.next().is_some() {
            return Err(Fault("nothing after offset and length"));
        }
        self.act(arrival, file, action, numbers)
    }
}

/// The third and the fourth field: there or not, numbers or not.
type Numbers = (Option<Option<u64>>, Option<Option<u64>>);

impl Fio {
    fn act(
        &mut self,
        arrival: Nanos,
        file: &[u8],
        action: &[u8],
        numbers: Numbers,
    ) -> Result<Option<Record>, Fault> {
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Discard,
            b"sync" | b"datasync" => {
                return Ok(Some(Record::flush(arrival, self.volume(file)?)));
            }
            b"wait" if self.timed == Some(false) => return self.wait(numbers).map(|()| None),
            b"add" => return self.add(file).map(|()| None),
            b"open" | b"close" => return self.volume(file).map(|_| None),
            _ => return Err(Fault("an action of fio such as add, open, read, write, sync, trim")),
        };
        let (Some(Some(offset)), Some(Some(length))) = numbers else {
            return Err(Fault("an offset and a length in bytes after the action"));
        };
        Record::at_byte(arrival, self.volume(file)?, op, offset, length).map(Some)
    }

    fn wait(&mut self, numbers: Numbers) -> Result<(), Fault> {
        let (Some(Some(milliseconds)), Some(Some(_))) = numbers else {
            return Err(Fault("milliseconds since fio began, and a number, after `wait`"));
        };
        let until = milliseconds.checked_mul(1_000_000).map(Nanos);
        let until = until.ok_or(Fault("fewer milliseconds after `wait`"))?;
        self.waited = self.waited.max(until);
        Ok(())
    }

    fn add(&mut self, file: &[u8]) -> Result<(), Fault> {
        let next = self.files.len() as u64;
        if self.files.len() == FILES_MAX && !self.files.contains_key(file) {
            return Err(Fault("at most 16,384 files"));
        }
        self.files.entry(file.into()).or_insert(next);
        Ok(())
    }

    fn volume(&self, file: &[u8]) -> Result<u64, Fault> {
        self.files.get(file).copied().ok_or(Fault("a file that was added before"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;

    #[test]
    fn version_3_has_times() {
        let text = "fio version 3 iolog\n0 /dev/sdb add\n0 b add\n12 /dev/sdb open\n\
                    100 /dev/sdb write 4096 8192\n250 b read 0 512\n300 b datasync\n\
                    301 b trim 0 1048576\n400 b close";
        let records = parse_all(&FORMAT, text).expect("good lines");
        let essence: Vec<_> = records
            .iter()
            .map(|r| (r.arrival.0, r.volume, r.op, r.offset_bytes, r.len_bytes))
            .collect();
        assert_eq!(
            essence,
            [
                (100_000, 0, Op::Write, 4096, 8192),
                (250_000, 1, Op::Read, 0, 512),
                (300_000, 1, Op::Flush, 0, 0),
                (301_000, 1, Op::Discard, 0, 1_048_576),
            ]
        );
    }

    #[test]
    fn pauses_of_version_2_reach_to_a_time_since_the_beginning() {
        let text = "fio version 2 iolog\na add\na open\na read 0 512\na wait 150 0\na read 512 512\n\
                    a wait 50 0\na write 0 512\na wait 200 0\na read 0 512";
        let records = parse_all(&FORMAT, text).expect("good lines");
        let arrivals: Vec<_> = records.iter().map(|r| r.arrival.0).collect();
        assert_eq!(arrivals, [0, 150_000_000, 150_000_000, 200_000_000]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        faults(
            &FORMAT,
            &[
                ("fio version 1 iolog", "version 2"),
                ("fio version 2 iolog\na read 0 512", "added before"),
                ("fio version 2 iolog\na add\na read 0", "a length"),
                ("fio version 2 iolog\na add\na wait 150", "milliseconds"),
                ("fio version 2 iolog\na add\na wait x 0", "milliseconds"),
                ("fio version 2 iolog\na add\na wait 18446744073709551615 0", "fewer"),
                ("fio version 2 iolog\na add\na jump 0 512", "an action"),
                ("fio version 2 iolog\na add\na read 0 512 9", "nothing after"),
                ("fio version 3 iolog\na add", "a time"),
                ("fio version 3 iolog\n0 a add\n1 a wait 5", "an action"),
                ("fio version 3 iolog\n0 a", "a file and an action"),
            ],
        );
    }
}
