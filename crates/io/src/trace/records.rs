//! The lines of a trace that count, and a tally of those that do not.
//!
//! Nothing is refused here: the survey reads the tally to the end and then decides.

use super::blktrace::Broken;
use super::error::{TraceError, quoted};
use super::format::{Format, Framing, Noted, Parser, Record};
use super::lines::{HOPELESS_LINE_BYTES, Lines, MAX_LINE_BYTES};
use super::options::TraceOptions;
use super::source::{Compression, Source, is_window_too_large, unreadable};
use super::volumes::MAX_VOLUMES;
use crate::request::Op;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;

/// Called every so often with the number of lines read; `Break` cancels.
pub type Watch<'w> = &'w mut dyn FnMut(u64) -> ControlFlow<()>;

/// A few milliseconds of parsing.
pub const LINES_PER_WATCH: u64 = 1 << 16;

/// How many volume ids a message lists.
pub const KNOWN_VOLUMES: usize = 16;

/// How many lines that could not be read are kept to be shown.
pub const SHOWN_BAD_LINES: usize = 5;

/// How much of a trace's remark is kept.
const REMARK_BYTES: usize = 200;

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Its number, from 1; of a binary trace, the record's.
    pub line: u64,
    /// Its text, quoted and cut.
    pub text: String,
    /// What it should have been.
    pub expected: &'static str,
}

/// What was passed over, and what was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub kept: u64,
    pub bad_lines: u64,
    pub first_bad: Vec<BadLine>,
    pub zero_size: u64,
    pub other_volumes: u64,
    pub not_reads: u64,
    /// Some ids of those other volumes, for a message.
    pub known_volumes: BTreeSet<u64>,
    /// The first comment.
    pub remark: Option<String>,
    /// Why the compressed file ends early, if it does.
    pub damage: Option<String>,
    /// The volumes that were laid over one another.
    pub overlaid: BTreeSet<u64>,
    /// All that was left out, by kind.
    pub dropped: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts what is left out.
    fn drop(&mut self, kind: &str) {
        match self.dropped.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.dropped.insert(kind.to_owned(), 1)),
        }
    }
}

/// What a request that is left out is called.
const fn kind_of(op: Op) -> &'static str {
    match op {
        Op::Read => "reads",
        Op::Write => "writes",
        Op::Flush => "flushes",
        Op::Discard => "discards",
        Op::WriteZeroes => "write_zeroes",
    }
}

/// The requests of a trace in file order: those of the chosen volume, with a size, up to the limit.
pub struct Records<'w> {
    label: String,
    compression: Compression,
    lines: Lines,
    is_text: bool,
    parser: Box<dyn Parser>,
    parser_holds: bool,
    volume: Option<u64>,
    reads_only: bool,
    /// Whether volumes lie over one another, and the last that was.
    overlay: bool,
    present: Option<u64>,
    limit: u64,
    watch: Option<Watch<'w>>,
    tally: Tally,
}

impl<'w> Records<'w> {
    /// From the start of `source`.
    pub fn new(
        source: &Source,
        format: &'static Format,
        options: &TraceOptions,
        watch: Option<Watch<'w>>,
    ) -> Result<Self, TraceError> {
        let parser = (format.parser)(options)?;
        Ok(Self {
            label: source.label.clone(),
            compression: source.compression,
            lines: Lines::new(source.framed(format.framing)?, format.framing),
            is_text: format.framing == Framing::Lines,
            parser_holds: parser.holds(),
            parser,
            volume: options.volume,
            reads_only: options.reads_only,
            overlay: options.overlay_volumes,
            present: None,
            limit: options.limit.unwrap_or(u64::MAX),
            watch,
            tally: Tally::default(),
        })
    }

    /// What messages call the trace.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The last line that was read.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// What was passed over so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What the format tells beside requests, so far.
    pub fn noted(&self) -> Noted {
        self.parser.noted()
    }

    /// The next request; `None` at the end, at the limit, or where the file is damaged.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>, TraceError> {
        while self.tally.kept < self.limit {
            let Some(record) = self.next_of_any_kind()? else { return Ok(None) };
            if self.volume.is_some_and(|volume| volume != record.volume) {
                self.tally.other_volumes += 1;
                self.tally.drop("of_other_volumes");
                if self.tally.known_volumes.len() < KNOWN_VOLUMES {
                    self.tally.known_volumes.insert(record.volume);
                }
            } else if self.reads_only && record.op != Op::Read {
                self.tally.not_reads += 1;
                self.tally.drop(kind_of(record.op));
            } else if record.len_bytes == 0 && record.op != Op::Flush {
                self.tally.zero_size += 1;
                self.tally.drop(&format!("{}_of_no_bytes", kind_of(record.op)));
            } else {
                self.tally.kept += 1;
                return Ok(Some(self.laid(record)?));
            }
        }
        Ok(None)
    }

    /// Where volumes lie over one another, all are volume 0.
    #[inline]
    fn laid(&mut self, record: Record) -> Result<Record, TraceError> {
        if !self.overlay {
            return Ok(record);
        }
        if self.present != Some(record.volume) {
            self.present = Some(record.volume);
            self.tally.overlaid.insert(record.volume);
            if self.tally.overlaid.len() > MAX_VOLUMES {
                let path = self.label.clone();
                return Err(TraceError::TooManyVolumes { path, limit: MAX_VOLUMES });
            }
        }
        Ok(Record { volume: 0, ..record })
    }

    #[inline]
    fn next_of_any_kind(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if self.parser_holds
                && let Some(record) = self.parser.ready(false)
            {
                return Ok(Some(record));
            }
            if !self.advance()? {
                return Ok(self.parser.ready(true));
            }
            if self.is_text && is_comment(self.lines.text()) {
                self.remark();
            } else if let Some(record) = self.parse()? {
                return Ok(Some(record));
            }
        }
    }

    /// Keeps the first comment.
    fn remark(&mut self) {
        let text = self.lines.text();
        if self.tally.remark.is_none() && !text.is_empty() {
            let text = text[1..text.len().min(REMARK_BYTES)].trim_ascii();
            self.tally.remark = Some(text.escape_ascii().to_string());
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        if self.lines.number() % LINES_PER_WATCH == LINES_PER_WATCH - 1
            && let Some(watch) = &mut self.watch
            && watch(self.lines.number()).is_break()
        {
            return Err(TraceError::Interrupted { path: self.label.clone() });
        }
        match self.lines.advance() {
            Ok(more) => Ok(more && self.tally.damage.is_none()),
            Err(error) => match damage(self.compression, &error) {
                Some(reason) => {
                    self.tally.damage = Some(reason);
                    Ok(false)
                }
                None => Err(unreadable(&self.label, &error)),
            },
        }
    }

    /// The present line as a request, or `None` and a mark in the tally.
    #[inline]
    fn parse(&mut self) -> Result<Option<Record>, TraceError> {
        let line = self.lines.number();
        let expected = match self.lines.too_long_bytes() {
            Some(bytes) if bytes > HOPELESS_LINE_BYTES => {
                let text = quoted(self.lines.text());
                return Err(TraceError::NotText { path: self.label.clone(), line, text });
            }
            Some(_) => "a line of at most 4096 bytes",
            None => match self.parser.parse(self.lines.text(), line) {
                Ok(record) => return Ok(record.map(|record| Record { line, ..record })),
                Err(fault) => fault.0,
            },
        };
        self.tally.bad_lines += 1;
        self.tally.drop(&format!("malformed: expected {expected}"));
        if self.tally.first_bad.len() < SHOWN_BAD_LINES {
            let text = quoted(self.lines.text());
            self.tally.first_bad.push(BadLine { line, text, expected });
        }
        Ok(None)
    }
}

const _: () = assert!(MAX_LINE_BYTES == 4096, "the message about long lines says so");

/// Blank lines and lines that start with `#` say nothing, in every format.
#[inline]
pub fn is_comment(text: &[u8]) -> bool {
    matches!(text.first(), None | Some(b'#'))
}

/// What a decompressor's error says about the file, in words; `None` if not the file is at fault.
pub fn damage(compression: Compression, error: &io::Error) -> Option<String> {
    if let Some(broken) = error.get_ref().and_then(|inner| inner.downcast_ref::<Broken>()) {
        return Some(broken.to_string());
    }
    let name = match compression {
        Compression::Gzip => "gzip",
        Compression::Zstd => "zstd",
        Compression::None => return None,
    };
    if error.raw_os_error().is_some() || is_window_too_large(error) {
        return None;
    }
    Some(if error.kind() == io::ErrorKind::UnexpectedEof {
        format!("the {name} file is cut short")
    } else {
        format!("the {name} data are corrupt ({error})")
    })
}
