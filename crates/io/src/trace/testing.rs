//! Helpers of the tests: files that remove themselves, and packed bytes.

use super::format::{Fault, Format, Record};
use super::options::TraceOptions;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that goes when it is dropped.
pub struct Scratch {
    pub path: PathBuf,
}

impl Scratch {
    pub fn new(bytes: &[u8]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ssdscope-trace-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).expect("the temporary directory is writable");
        Self { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

/// The requests of a text, with the lines they came from left out, or the first fault.
pub fn parse_all(format: &Format, text: &str) -> Result<Vec<Record>, Fault> {
    let mut parser = (format.parser)(&TraceOptions::default()).expect("no options");
    let mut records = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        records.extend(parser.parse(line.trim().as_bytes(), number)?);
    }
    while let Some(record) = parser.ready(true) {
        records.push(record);
    }
    Ok(records)
}

/// Checks that each line is refused with words that hold the given ones.
pub fn faults(format: &Format, cases: &[(&str, &str)]) {
    for (line, words) in cases {
        let Fault(expected) = parse_all(format, line).expect_err(line);
        assert!(expected.contains(words), "{line}: {expected}");
    }
}
