//! MSR Cambridge: `timestamp,host,disk,Read|Write,offset,size,response`, no header.
//!
//! Times count 100 ns (a Windows file time: since 1601), the response time too; it
//! includes the queue of the host. Offset and size are bytes. The disk is the volume;
//! where a file holds several hosts, a second one's disks are numbered from 256, a third
//! one's from 512, in the order in which they turn up.

use super::error::TraceError;
use super::format::{Fault, Format, Framing, Parser, Record, comma_separated};
use super::number::unsigned;
use super::options::TraceOptions;
use crate::request::Op;
use crate::units::Nanos;

pub static FORMAT: Format = Format {
    name: "msr",
    aliases: &["msr-cambridge", "msrc"],
    layout: "filetime,host,disk,Read|Write,offset,bytes,response",
    framing: Framing::Lines,
    in_sectors: None,
    parser,
};

const TICK_NS: u64 = 100;
const DISKS_PER_HOST: u64 = 256;
const HOSTS_MAX: usize = 256;

fn parser(_: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(Msr { hosts: Vec::new() }))
}

struct Msr {
    /// Names, by the number they got.
    hosts: Vec<Box<[u8]>>,
}

impl Msr {
    fn volume(&mut self, host: &[u8], disk: &[u8]) -> Result<u64, Fault> {
        let disk = unsigned(disk)
            .filter(|&disk| disk < DISKS_PER_HOST)
            .ok_or(Fault("a disk number below 256 (field 3)"))?;
        let known = self.hosts.iter().position(|name| **name == *host);
        let place = known.unwrap_or(self.hosts.len());
        if known.is_none() {
            if host.is_empty() || place == HOSTS_MAX {
                return Err(Fault("a host name (field 2), of at most 256 in a file"));
            }
            self.hosts.push(host.into());
        }
        Ok(place as u64 * DISKS_PER_HOST + disk)
    }
}

fn ticks(text: &[u8]) -> Option<Nanos> {
    unsigned(text)?.checked_mul(TICK_NS).map(Nanos)
}

impl Parser for Msr {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let Some([time, host, disk, kind, offset, size, response]) = comma_separated(line) else {
            return Err(Fault("seven fields filetime,host,disk,Read|Write,offset,bytes,response"));
        };
        let op = match kind {
            b"Read" | b"read" => Op::Read,
            b"Write" | b"write" => Op::Write,
            _ => return Err(Fault("Read or Write (field 4)")),
        };
        let arrival = ticks(time).ok_or(Fault("a time in units of 100 ns (field 1)"))?;
        let offset = unsigned(offset).ok_or(Fault("an offset in bytes (field 5)"))?;
        let size = unsigned(size).ok_or(Fault("a size in bytes (field 6)"))?;
        let latency = ticks(response).ok_or(Fault("a response time in 100 ns (field 7)"))?;
        // Last, so that a bad line leaves no host behind.
        let volume = self.volume(host, disk)?;
        let record = Record::at_byte(arrival, volume, op, offset, size)?;
        Ok(Some(record.taking(Some(latency))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;

    #[test]
    fn a_line_of_hm_0() {
        let records = parse_all(&FORMAT, "128166385295514663,hm,0,Write,9056014336,2048,2833");
        let record = records.expect("a good line")[0];
        assert_eq!(record.arrival, Nanos(12_816_638_529_551_466_300));
        assert_eq!((record.volume, record.op), (0, Op::Write));
        assert_eq!((record.offset_bytes, record.len_bytes), (9_056_014_336, 2048));
        assert_eq!(record.latency, Some(Nanos(283_300)));
    }

    #[test]
    fn disks_of_several_hosts_are_volumes_of_their_own() {
        let text = "1,hm,0,Read,0,512,1\n2,web,3,Read,0,512,1\n3,hm,1,Read,0,512,1";
        let records = parse_all(&FORMAT, text).expect("good lines");
        assert_eq!(records.iter().map(|r| r.volume).collect::<Vec<_>>(), [0, 259, 1]);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("x,hm,0,Read,0,512,1", "field 1"),
                ("184467440737095517,hm,0,Read,0,512,1", "field 1"),
                ("1,,0,Read,0,512,1", "field 2"),
                ("1,hm,256,Read,0,512,1", "field 3"),
                ("1,hm,0,R,0,512,1", "field 4"),
                ("1,hm,0,Read,-1,512,1", "field 5"),
                ("1,hm,0,Read,0,5.5,1", "field 6"),
                ("1,hm,0,Read,0,512,", "field 7"),
                ("1,hm,0,Read,0,512", "seven fields"),
            ],
        );
    }
}
