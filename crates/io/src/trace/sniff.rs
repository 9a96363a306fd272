//! Which format a trace is in, decided by its content where one reading is possible.
//!
//! A binary format is known by a mark in each of its records. Otherwise every format of
//! text tries every line. The one that explains most lines (and more than
//! half) is it. DiskSim and MQSim lines can look alike; then a reading is impossible if
//! its times are (an hour of nanoseconds read as milliseconds is a thousand centuries).
//! If two remain, or sectors that may be bytes, the rest of the file is asked, and at its
//! end the user.

use super::blktrace;
use super::csv;
use super::error::{TraceError, quoted};
use super::format::{FORMATS, Format, Framing, Parser};
use super::lines::Lines;
use super::options::{Times, TraceOptions};
use super::plausible::{Extent, Told, ambiguous};
use super::records::{LINES_PER_WATCH, Watch, damage, is_comment};
use super::source::{Compression, Source, unreadable};
use super::strangers;
use crate::units::Nanos;
use serde::Serialize;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

/// Every so many lines a single remaining reading is taken.
const SAMPLE_LINES: u64 = 1000;

/// Nobody records a block trace of one request in ten minutes.
const MEAN_GAP_NS_MAX: u64 = 600 * 1_000_000_000;

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sniffed {
    /// Its format.
    pub format: &'static Format,
    /// How it is packed.
    pub compression: Compression,
}

/// What the trace at `path` is, by its content or as the options say.
///
/// # Errors
/// If the file cannot be read, holds no requests, or its content does not decide.
pub fn sniff(path: &Path, options: &TraceOptions) -> Result<Sniffed, TraceError> {
    let source = Source::open(path)?;
    let format = choose(&source, options, &mut |_| ControlFlow::Continue(()))?;
    (format.parser)(options)?;
    Ok(Sniffed { format, compression: source.compression })
}

/// The format that was asked for, or the one that the content shows.
pub(super) fn choose(
    source: &Source,
    options: &TraceOptions,
    watch: Watch<'_>,
) -> Result<&'static Format, TraceError> {
    let format = named_or_by_content(source, options, watch)?;
    if options.times != Times::Queued && !format.has_times() {
        return Err(TraceError::OneTime { format: format.name });
    }
    Ok(format)
}

fn named_or_by_content(
    source: &Source,
    options: &TraceOptions,
    watch: Watch<'_>,
) -> Result<&'static Format, TraceError> {
    let named = options.format.as_deref().map(Format::named).transpose()?;
    match (named, &options.columns) {
        (Some(format), Some(_)) if *format != csv::FORMAT => {
            Err(TraceError::ColumnsOfOther { format: format.name })
        }
        (Some(format), _) => Ok(format),
        (None, Some(_)) => Ok(&csv::FORMAT),
        (None, None) => match binary_by_content(source)? {
            Some(format) => Ok(format),
            None => {
                strangers::refuse(source)?;
                by_content(source, watch)
            }
        },
    }
}

/// The binary format whose mark all of the first records carry.
fn binary_by_content(source: &Source) -> Result<Option<&'static Format>, TraceError> {
    for file in source.files() {
        let mut head = Vec::new();
        // Damage within so little is told by whoever reads the trace.
        let _ = file.stream()?.take(4).read_to_end(&mut head);
        if blktrace::is_blktrace(&head) {
            return Ok(Some(&blktrace::FORMAT));
        }
    }
    let binary = FORMATS.into_iter().filter(|format| matches!(format.framing, Framing::Records(_)));
    for format in binary {
        let mut lines = Lines::new(source.stream()?, format.framing);
        let mut reading = Reading::new(format)?;
        // Damage ends the sample; whoever reads the trace will tell of it.
        while reading.puzzle.is_none()
            && lines.number() < SAMPLE_LINES
            && lines.advance().unwrap_or(false)
        {
            reading.take(lines.number(), lines.text());
        }
        let cut_short = reading.explained > 0 && reading.explained + 1 == lines.number();
        let all = reading.puzzle.is_none() || (cut_short && !lines.advance().unwrap_or(false));
        if all && reading.explained > 0 {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

/// How one format explains the lines seen so far.
struct Reading {
    format: &'static Format,
    parser: Box<dyn Parser>,
    explained: u64,
    /// The first line it does not explain, with its number.
    puzzle: Option<(u64, String)>,
    first: Nanos,
    last: Nanos,
    extent: Extent,
}

impl Reading {
    fn new(format: &'static Format) -> Result<Self, TraceError> {
        Ok(Self {
            format,
            parser: (format.parser)(&TraceOptions::default())?,
            explained: 0,
            puzzle: None,
            first: Nanos::MAX,
            last: Nanos(0),
            extent: Extent::NONE,
        })
    }

    fn take(&mut self, number: u64, line: &[u8]) {
        match self.parser.parse(line, number) {
            Ok(record) => {
                self.explained += 1;
                let ready = if self.parser.holds() { self.parser.ready(false) } else { record };
                if let Some(record) = ready {
                    self.first = self.first.min(record.arrival);
                    self.last = self.last.max(record.arrival);
                    self.extent.add(&record);
                }
            }
            Err(_) => drop(self.puzzle.get_or_insert_with(|| (number, quoted(line)))),
        }
    }

    fn span(&self) -> Nanos {
        self.last.saturating_sub(self.first)
    }

    fn may_be_bytes(&self) -> bool {
        !self.extent.may_be_bytes(self.format).is_empty()
    }

    fn told(&self) -> Told<'_> {
        let Self { format, explained, extent, .. } = self;
        Told { format, requests: *explained, span: self.span(), extent }
    }

    fn is_possible(&self) -> bool {
        self.span().0 / self.explained.saturating_sub(1).max(1) < MEAN_GAP_NS_MAX
    }
}

/// All readings of a trace, and what to say if none is right.
struct Judgement {
    readings: Vec<Reading>,
    lines: u64,
}

impl Judgement {
    fn new() -> Result<Self, TraceError> {
        let text = FORMATS.into_iter().filter(|format| format.framing == Framing::Lines);
        Ok(Self { readings: text.map(Reading::new).collect::<Result<_, _>>()?, lines: 0 })
    }

    fn take(&mut self, number: u64, line: &[u8]) {
        self.lines += 1;
        for reading in &mut self.readings {
            reading.take(number, line);
        }
    }

    /// The readings that are left: none, the answer, or several.
    fn left(&self) -> Vec<&Reading> {
        let most = self.readings.iter().map(|reading| reading.explained).max().unwrap_or(0);
        if most * 2 <= self.lines {
            return Vec::new();
        }
        let mut left: Vec<_> =
            self.readings.iter().filter(|reading| reading.explained == most).collect();
        if left.iter().any(|reading| reading.is_possible()) {
            left.retain(|reading| reading.is_possible());
        }
        left
    }

    fn refusal(&self, path: String) -> TraceError {
        if self.lines == 0 {
            return TraceError::Empty { path, but: String::new() };
        }
        let left = self.left();
        if left.is_empty() {
            // The line that the best reading fails at: for it the others explain nothing more.
            let best = self.readings.iter().max_by_key(|reading| reading.explained);
            let (line, text) = best.and_then(|best| best.puzzle.clone()).unwrap_or_default();
            let known = FORMATS.map(|format| format.name);
            return TraceError::UnknownFormat { path, line, text, known: known.join(", ") };
        }
        ambiguous(path, &left.iter().map(|reading| reading.told()).collect::<Vec<_>>())
    }
}

fn by_content(source: &Source, watch: Watch<'_>) -> Result<&'static Format, TraceError> {
    let mut judgement = Judgement::new()?;
    let mut lines = Lines::new(source.stream()?, Framing::Lines);
    let path = || source.label.clone();
    let broken = loop {
        match lines.advance() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
        if !is_comment(lines.text()) {
            judgement.take(lines.number(), lines.text());
            if judgement.lines.is_multiple_of(SAMPLE_LINES) {
                match judgement.left()[..] {
                    [] => return Err(judgement.refusal(path())),
                    [only] if !only.may_be_bytes() => return Ok(only.format),
                    _ => {}
                }
            }
        }
        if lines.number().is_multiple_of(LINES_PER_WATCH) && watch(lines.number()).is_break() {
            return Err(TraceError::Interrupted { path: path() });
        }
    };
    match (&judgement.left()[..], broken) {
        ([only], _) if !only.may_be_bytes() => Ok(only.format),
        (_, None) => Err(judgement.refusal(path())),
        (left, Some(error)) => Err(match damage(source.compression, &error) {
            Some(_) if !left.is_empty() => judgement.refusal(path()),
            Some(reason) => {
                TraceError::Damaged { path: path(), line: lines.number(), requests: 0, reason }
            }
            None => unreadable(&source.label, &error),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Scratch, gzip};
    use super::*;

    fn sniffed(text: impl AsRef<[u8]>) -> Result<&'static str, String> {
        let scratch = Scratch::new(text.as_ref());
        sniff(&scratch.path, &TraceOptions::default())
            .map(|s| s.format.name)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn each_format_is_known_by_its_content() {
        assert_eq!(sniffed("0,303567,3584,w,0.000000\n1,55590,3072,W,0.5\n"), Ok("spc"));
        assert_eq!(sniffed("0.0 0 1428224 256 1\n0.0 0 2602240 256 1\n"), Ok("disksim"));
        assert_eq!(sniffed("1 0 8 8 1\n2 0 8 8 b\n"), Ok("disksim"), "hex flags");
        assert_eq!(sniffed("1 0 8 8 1\n2 0 8 8 3\n"), Ok("disksim"), "flags above 1");
        assert_eq!(sniffed("0 0 8 2 1\r\n97900000 0 16 8 0\r\n5000000000 0 8 8 1"), Ok("mqsim"));
        assert_eq!(
            sniffed("1538323200000000000 0 8 8 1\n1538323201000000000 0 8 8 1"),
            Ok("mqsim")
        );
    }

    #[test]
    fn two_possible_readings_are_refused_with_both_spans() {
        let error = sniffed("0 0 8 8 1\n5 0 16 8 0\n2000 0 24 8 1\n").expect_err("ambiguous");
        for part in ["disksim 3 requests span 2.0 s", "mqsim 3 requests span 2.0 us"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(error.ends_with("hint: choose with --format disksim or mqsim"), "{error}");
        let scratch = Scratch::new(b"0 0 8 8 1\n");
        let options = TraceOptions { format: Some("DiskSim".to_owned()), ..Default::default() };
        let named = sniff(&scratch.path, &options).map(|sniffed| sniffed.format.name);
        assert_eq!(named, Ok("disksim"));
    }

    #[test]
    fn evidence_may_come_late() {
        let mut text = String::new();
        for at in 0..3000 {
            text += &format!("{at} 0 8 8 1\n");
        }
        assert!(sniffed(&text).is_err());
        text += "3000.25 0 8 8 1\n";
        assert_eq!(sniffed(&text), Ok("disksim"));
    }

    #[test]
    fn one_bad_line_does_not_hide_a_format() {
        assert_eq!(sniffed("garbage\n0,1,512,r,0.0\n0,1,512,r,0.0\n"), Ok("spc"));
        assert_eq!(sniffed("# header\n\n0,1,512,r,0.0\n"), Ok("spc"));
    }

    #[test]
    fn the_line_that_hides_the_format_is_shown() {
        let error = sniffed("0,1,512,r,0.1\nGARBAGE\n").expect_err("half of it is garbage");
        assert!(error.contains("line 2 is `GARBAGE`"), "{error}");
    }

    #[test]
    fn what_is_no_trace_says_what_was_found() {
        for text in [&b"Timestamp,Response,IOType\n1,2,R\n"[..], &[0x80; 9000], b"\x00\x01\n\xff"] {
            let error = sniffed(text).expect_err("unknown");
            assert!(error.contains("line 1 is `") && error.contains("--format"), "{error}");
            assert!(error.is_ascii() && error.len() < 640, "{error}");
        }
        for text in ["", "\n\r\n \t\n", "# only\n# comments\n"] {
            assert!(sniffed(text).expect_err("empty").contains("holds no requests"));
        }
        let cut = &gzip(b"0,1,512,r,0.0\n")[..12];
        assert!(sniffed(cut).expect_err("cut").contains("cut short"));
    }
}
