//! FIU: `nanoseconds pid process sector sectors R|W major minor md5`, separated by blanks.
//!
//! Sectors are 512 bytes. The process may hold blanks. The device `major,minor` is volume
//! `major * 10,000,000 + minor`. Files that were unpacked carelessly hold the headers of a
//! tar archive in front of a line; they are passed over and counted.

use super::error::TraceError;
use super::format::{Fault, Format, Framing, Noted, Parser, Record, device_volume, read_or_write};
use super::number::unsigned;
use super::options::TraceOptions;
use super::plausible::InSectors;
use crate::units::{Nanos, SECTOR_BYTES};

pub static FORMAT: Format = Format {
    name: "fiu",
    aliases: &["fiu-iodedup"],
    layout: "nanoseconds pid process sector sectors R|W major minor md5",
    framing: Framing::Lines,
    in_sectors: Some(InSectors { sizes: true, columns: "time=ns:1,offset:4,size:5,op:6" }),
    parser,
};

/// Fields before the process, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 6;

fn parser(_: &TraceOptions) -> Result<Box<dyn Parser>, TraceError> {
    Ok(Box::new(Fiu { tar_headers: 0 }))
}

struct Fiu {
    tar_headers: u64,
}

impl Parser for Fiu {
    fn parse(&mut self, line: &[u8], _number: u64) -> Result<Option<Record>, Fault> {
        let Some(last_zero) = memchr::memrchr(0, line) else { return request(line).map(Some) };
        let zeros_only = line.iter().all(|&byte| byte == 0);
        if !zeros_only && memchr::memmem::find(line, b"ustar").is_none() {
            return Err(Fault("text, or the header of a tar archive"));
        }
        self.tar_headers += 1;
        match line[last_zero + 1..].trim_ascii() {
            b"" => Ok(None),
            rest => request(rest).map(Some),
        }
    }

    fn noted(&self) -> Noted {
        Noted::from([("tar_headers", self.tar_headers)])
    }
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let fields = || line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let count = fields().count();
    let expected = Fault("nine fields: nanoseconds pid process sector sectors R|W major minor md5");
    if count <= BEFORE + AFTER {
        return Err(expected);
    }
    let mut tail = fields().skip(count - AFTER);
    let mut next = || tail.next().ok_or(expected);
    let (sector, sectors, kind) = (next()?, next()?, next()?);
    let (major, minor) = (next()?, next()?);
    let op = read_or_write(kind).ok_or(Fault("R or W (field 6)"))?;
    let time = fields().next().and_then(unsigned).map(Nanos);
    let sectors = unsigned(sectors).ok_or(Fault("a number of 512-byte sectors (field 5)"))?;
    let volume = unsigned(major).zip(unsigned(minor));
    Record::new(
        time.ok_or(Fault("a time in whole nanoseconds (field 1)"))?,
        volume
            .and_then(|(major, minor)| device_volume(major, minor))
            .ok_or(Fault("device numbers major and minor (fields 7 and 8)"))?,
        op,
        unsigned(sector).ok_or(Fault("a 512-byte sector number (field 4)"))?,
        sectors.saturating_mul(SECTOR_BYTES),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, parse_all};
    use super::*;
    use crate::request::Op;

    const LINE: &str =
        "89966527950584 4253 nfsd 508516672 8 W 6 0 88b93b628d84082186026d9da044f173";

    #[test]
    fn a_line_of_cheetah() {
        let record = parse_all(&FORMAT, LINE).expect("a good line")[0];
        assert_eq!((record.arrival, record.op), (Nanos(89_966_527_950_584), Op::Write));
        assert_eq!((record.offset_bytes, record.len_bytes), (508_516_672 * 512, 4096));
        assert_eq!(record.volume, 60_000_000);
        let blanks = LINE.replace("nfsd", "my  daemon 2");
        assert_eq!(parse_all(&FORMAT, &blanks).expect("blanks in the name")[0], record);
    }

    #[test]
    fn headers_of_a_tar_archive_are_passed_over() {
        let header = format!("cheetah.1.blkparse\0\0\0000644\0ustar  \0root\0\0{LINE}");
        let mut parser = Fiu { tar_headers: 0 };
        let record = parser.parse(header.as_bytes(), 1).expect("a request behind it");
        assert_eq!(record, parser.parse(LINE.as_bytes(), 2).expect("a good line"));
        assert_eq!(parser.parse(&[0; 30], 3), Ok(None));
        assert_eq!(parser.noted()["tar_headers"], 2);
        assert!(parser.parse(b"1 2 a\0b 4 5 W 6 0 m", 4).is_err());
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        faults(
            &FORMAT,
            &[
                ("1.5 1 p 8 8 W 6 0 m", "field 1"),
                ("1 1 p -8 8 W 6 0 m", "field 4"),
                ("1 1 p 8 x W 6 0 m", "field 5"),
                ("1 1 p 8 8 1 6 0 m", "field 6"),
                ("1 1 p 8 8 W 6 a m", "fields 7 and 8"),
                ("1 1 p 8 8 W 6 0", "nine fields"),
            ],
        );
    }
}
