//! What can be wrong with a trace, and what to do about it.
//!
//! Each message says what, where and what was expected; where an option helps,
//! a `hint:` after a blank line names it. Text out of a trace is escaped and cut.

use crate::units::Bytes;

/// How much of a line a message repeats.
const QUOTED_BYTES: usize = 80;

/// Why a trace cannot be read or cannot run on this drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("cannot read trace {path}: {reason}")]
    Unreadable {
        /// The trace.
        path: String,
        /// The kernel's reason in plain words.
        reason: String,
    },
    /// A pipe, a terminal, a device.
    #[error(
        "trace {path} is not a regular file; a trace is read twice, first for its volumes, its \
         span and its problems\n\nhint: save the stream to a file (plain, gzip or zstd) first"
    )]
    NotAFile {
        /// The trace.
        path: String,
    },
    /// Packed by something else than gzip or zstd.
    #[error(
        "trace {path} is packed with {packer}; plain text, gzip and zstd are read\n\nhint: unpack \
         it, or repack it with zstd"
    )]
    UnsupportedCompression {
        /// The trace.
        path: String,
        /// What packed it.
        packer: &'static str,
    },
    /// The compressed stream ends early or is corrupt.
    #[error(
        "trace {path} is damaged after line {line}: {reason}; {requests} requests before that can \
         be read{}",
        salvage(.requests)
    )]
    Damaged {
        /// The trace.
        path: String,
        /// The last line that could be read.
        line: u64,
        /// Requests up to there.
        requests: u64,
        /// What the decompressor says.
        reason: String,
    },
    /// Tens of megabytes without the end of a line.
    #[error(
        "trace {path} is not text: line {line} goes on for more than {}, starting {text}",
        Bytes(super::lines::HOPELESS_LINE_BYTES)
    )]
    NotText {
        /// The trace.
        path: String,
        /// Where that line starts.
        line: u64,
        /// How it starts, quoted.
        text: String,
    },
    /// No request in it, or none that was asked for.
    #[error("trace {path} holds no requests{but}")]
    Empty {
        /// The trace.
        path: String,
        /// What it holds instead, if anything.
        but: String,
    },
    /// `--format` with a name that is none.
    #[error("there is no trace format `{name}`\n\nhint: the formats are {known}")]
    NoSuchFormat {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// `--columns` that cannot be meant.
    #[error(
        "--columns: `{word}` is not understood, expected {expected}\n\nhint: as in --columns \
             time=us:1,op:2,offset=bytes:3,size=bytes:4"
    )]
    Columns {
        /// The part at fault.
        word: String,
        /// What it should have been.
        expected: String,
    },
    /// `--columns` for a format that has its own.
    #[error("--columns is for named CSV, and format {format} has columns of its own")]
    ColumnsOfOther {
        /// The format asked for.
        format: &'static str,
    },
    /// A file of another kind, which is known.
    #[error("{path} is {what}, and no trace that is read\n\nhint: {advice}")]
    Stranger {
        /// The file.
        path: String,
        /// What it is.
        what: &'static str,
        /// What to do with it.
        advice: &'static str,
    },
    /// A choice of times for a format that has one.
    #[error(
        "format {format} has one time for each request, and --times is for events: blktrace, \
         blkparse, ftrace, biosnoop"
    )]
    OneTime {
        /// The format.
        format: &'static str,
    },
    /// Content of no known format.
    #[error(
        "trace {path} is of no known format: line {line} is {text}\n\nhint: known are {known}; \
         --format names one of them, --columns describes a table; --skip-bad then leaves bad lines out"
    )]
    UnknownFormat {
        /// The trace.
        path: String,
        /// The first line that the nearest format does not explain.
        line: u64,
        /// That line, quoted.
        text: String,
        /// The formats.
        known: String,
    },
    /// Content that more than one format explains.
    #[error(
        "trace {path} can be read in more than one way: {readings}\n\nhint: choose with {choices}"
    )]
    AmbiguousFormat {
        /// The trace.
        path: String,
        /// Each reading with the span it gives.
        readings: String,
        /// The options that choose one.
        choices: String,
    },
    /// A line that the format does not explain.
    #[error(
        "trace {path}, line {line}: expected {expected}, found {text} (format {format}: {layout}{}){hint}",
        others(.bad_lines),
        hint = "\n\nhint: --skip-bad leaves such lines out and counts them"
    )]
    Malformed {
        /// The trace.
        path: String,
        /// The first such line.
        line: u64,
        /// It, quoted.
        text: String,
        /// What the format wants there.
        expected: &'static str,
        /// The format.
        format: &'static str,
        /// How its lines look.
        layout: &'static str,
        /// How many such lines there are.
        bad_lines: u64,
    },
    /// A volume was chosen that the trace does not have.
    #[error("trace {path} has no requests to volume {volume}; it has {known}")]
    NoSuchVolume {
        /// The trace.
        path: String,
        /// The volume asked for.
        volume: u64,
        /// Those there are.
        known: String,
    },
    /// More volumes than anyone has; most likely the wrong format.
    #[error(
        "trace {path} names more than {limit} volumes, which looks like the wrong format\n\nhint: \
         --format names the right one, --volume chooses one volume"
    )]
    TooManyVolumes {
        /// The trace.
        path: String,
        /// How many are too many.
        limit: usize,
    },
    /// Requests lie off the drive's grid or past its end.
    #[error("trace {path} does not fit the drive: {problems}\n\nhint: {remedies}")]
    DoesNotFit {
        /// The trace.
        path: String,
        /// Requests in all.
        requests: u64,
        /// Requests that are not whole units of the drive.
        misaligned: u64,
        /// Requests that reach past its end.
        out_of_range: u64,
        /// The counts in words.
        problems: String,
        /// The options that help.
        remedies: String,
    },
    /// Times so far out of order that a bounded sort cannot mend them.
    #[error(
        "trace {path}, line {line}: this time is earlier than that of a request more than {window} \
         requests before\n\nhint: sort the file by time first"
    )]
    TooUnsorted {
        /// The trace.
        path: String,
        /// The late line.
        line: u64,
        /// How many requests are held to be sorted.
        window: usize,
    },
    /// The second reading differs from the first.
    #[error("trace {path} changed while it was read (seen at line {line})")]
    Changed {
        /// The trace.
        path: String,
        /// Where that was noticed.
        line: u64,
    },
    /// The user cancelled the first pass.
    #[error("reading trace {path} was interrupted")]
    Interrupted {
        /// The trace.
        path: String,
    },
}

const fn salvage(requests: &u64) -> &'static str {
    if *requests == 0 { "" } else { "\n\nhint: --skip-bad uses the part before the damage" }
}

fn others(bad_lines: &u64) -> String {
    match bad_lines.saturating_sub(1) {
        0 => String::new(),
        more => format!("; {more} more bad lines"),
    }
}

/// A piece of the trace as a message shows it: escaped, cut, in backquotes.
pub(super) fn quoted(text: &[u8]) -> String {
    let cut = &text[..text.len().min(QUOTED_BYTES)];
    let more = if cut.len() < text.len() { "..." } else { "" };
    format!("`{}{more}`", cut.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_trace_is_escaped_and_cut() {
        assert_eq!(quoted(b"a\x1b[31m\xff"), "`a\\x1b[31m\\xff`");
        assert_eq!(quoted(&[b'x'; 500]).len(), QUOTED_BYTES + 5);
    }
}
