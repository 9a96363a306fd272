//! fio's own logs (`write_lat_log`, `write_bw_log`, `write_iops_log`) as rows of ours, streamed.
//!
//! A line is `milliseconds, value, direction, block size[, offset][, priority][, issue ns]`. No
//! line says which of the last three there are, so the first thousand lines of a file must: a
//! priority is 0, 1 or hexadecimal. Files without priorities are of an fio before 3.18, and of
//! these 3.x wrote latencies in nanoseconds and 2.x in microseconds: somebody has to say which.
//!
//! The logs of several jobs are merged by time. Times are milliseconds; a latency is exact, so a
//! request is shown to complete at its time (or as long after 0 as it took), and to have begun so
//! much earlier.

use super::error::{TraceError, quoted};
use super::format::Framing;
use super::lines::{Lines, MAX_LINE_BYTES};
use super::number::{hexadecimal, unsigned};
use super::records::{BadLine, LINES_PER_WATCH, SHOWN_BAD_LINES, Watch, is_comment};
use super::source::{Source, unreadable};
use crate::attribution::Attribution;
use crate::log::{CHUNK_ROWS, LogChunk, LogRow};
use crate::recorder::Recorder;
use crate::request::{Op, Outcome};
use crate::summary::{LatencyStats, SectionSummary};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;

const SAMPLE_LINES: usize = 1000;
const MILLISECOND_NS: u64 = 1_000_000;
const LAYOUT: &str = "ms, value, 0|1|2, bytes[, offset][, priority][, issue ns]";
/// Later times and longer latencies are no measurement: 31 years.
const LATEST_NS: u64 = 1_000_000_000_000_000_000;

/// How logs are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FioLogOptions {
    /// Nanoseconds that a latency of 1 stands for where the columns do not say it; `None` = refuse
    /// such files; of values that are no latencies 1.
    pub unit_ns: Option<u64>,
    /// Leave out lines that cannot be read.
    pub skip_bad: bool,
}

/// One of the files.
#[derive(Clone, Debug, Serialize)]
pub struct FioLogFile {
    /// As it was named.
    pub path: String,
    /// Lines that hold a value.
    pub rows: u64,
    /// Lines left out.
    pub bad_lines: u64,
    /// The first of them.
    pub first_bad_lines: Vec<BadLine>,
    /// Whether offsets were logged.
    pub has_offsets: bool,
    /// Whether issue times were logged.
    pub has_issue_times: bool,
    /// Whether there is a column of priorities, as fio has it since 3.18.
    pub has_priorities: bool,
    /// Whether lines stand for windows (`log_avg_msec`) and not for requests.
    pub averaged: bool,
    /// Its reads, writes and discards.
    pub read: Option<SectionSummary>,
    /// Its writes.
    pub write: Option<SectionSummary>,
    /// Its discards.
    pub discard: Option<SectionSummary>,
}

/// What the logs hold. Of bandwidths and rates the "latencies" are the values as logged.
#[derive(Clone, Debug, Serialize)]
pub struct FioLogs {
    /// Rows of all files.
    pub requests: u64,
    /// For how long any of the jobs ran: from its first beginning to its last end, gaps between
    /// jobs left out.
    pub elapsed_ns: u64,
    /// Reads of all files.
    pub read: Option<SectionSummary>,
    /// Writes.
    pub write: Option<SectionSummary>,
    /// Discards.
    pub discard: Option<SectionSummary>,
    /// Each file.
    pub files: Vec<FioLogFile>,
}

/// What stands behind the block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    columns: usize,
    offset: bool,
    priority: bool,
    issue: bool,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    complete_ns: u64,
    value: u64,
    op: Op,
    bytes: u64,
    offset_bytes: u64,
}

/// The fields of a line, blanks around them cut.
struct Fields<'a> {
    texts: [&'a [u8]; 7],
    count: usize,
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let (mut texts, mut count) = ([&[][..]; 7], 0);
        for text in line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            *texts.get_mut(count)? = text;
            count += 1;
        }
        (count >= 4).then_some(Self { texts, count })
    }
}

/// 0 or 1, or the 16 bits of `log_prio`.
fn is_priority(text: &[u8]) -> bool {
    matches!(text, b"0" | b"1") || (text.starts_with(b"0x") && hexadecimal(text).is_some())
}

/// The layout that explains the last columns of all sampled lines.
fn layout_of(sample: &[Vec<Vec<u8>>]) -> Option<Layout> {
    let columns = sample.first()?.len();
    let all = |column: usize, test: fn(&[u8]) -> bool| {
        sample.iter().filter(|line| line.len() == columns).all(|line| test(&line[column]))
    };
    let (offset, priority, issue) = match columns {
        4 => (false, false, false),
        5 if all(4, is_priority) => (false, true, false),
        5 => (true, false, false),
        6 if all(5, is_priority) => (true, true, false),
        6 if all(4, is_priority) => (false, true, true),
        7 => (true, true, true),
        _ => return None,
    };
    Some(Layout { columns, offset, priority, issue })
}

/// Reads one line.
fn parse(line: &[u8], layout: Layout, unit_ns: u64) -> Result<Row, &'static str> {
    let fields = Fields::of(line).filter(|fields| fields.count == layout.columns);
    let Fields { texts, .. } = fields.ok_or("as many columns as the lines before, 4 to 7")?;
    let time = unsigned(texts[0]).and_then(|ms| ms.checked_mul(MILLISECOND_NS));
    let time_ns = time.filter(|&ns| ns <= LATEST_NS).ok_or("a time in milliseconds (column 1)")?;
    let value = unsigned(texts[1]).and_then(|value| value.checked_mul(unit_ns));
    let value = value.filter(|&ns| ns <= LATEST_NS).ok_or("a value (column 2)")?;
    let op = match texts[2] {
        b"0" => Op::Read,
        b"1" => Op::Write,
        b"2" => Op::Discard,
        _ => return Err("0 (read), 1 (write) or 2 (trim) (column 3)"),
    };
    let bytes = unsigned(texts[3]).ok_or("a block size in bytes (column 4)")?;
    let offset_bytes = match layout.offset {
        true => unsigned(texts[4]).ok_or("an offset in bytes (column 5)")?,
        false => 0,
    };
    let behind = 4 + usize::from(layout.offset);
    if layout.priority && !is_priority(texts[behind]) {
        return Err("a priority, 0, 1 or 0x0000 (behind block size and offset)");
    }
    if layout.issue && unsigned(texts[behind + 1]).is_none() {
        return Err("an issue time in nanoseconds (last column)");
    }
    Ok(Row { complete_ns: time_ns, value, op, bytes, offset_bytes })
}

/// A file being read.
struct Cursor {
    label: String,
    lines: Lines,
    /// `None` of an empty file.
    layout: Option<Layout>,
    unit_ns: u64,
    next: Option<Row>,
    bad_lines: u64,
    first_bad: Vec<BadLine>,
    sums: Sums,
    windows: bool,
    /// First beginning and last end.
    span: Option<(u64, u64)>,
}

impl Cursor {
    fn open(path: &std::path::Path, options: &FioLogOptions) -> Result<Self, TraceError> {
        let source = Source::open(path)?;
        let layout = sample_layout(&source)?;
        let unit_ns = match (layout, options.unit_ns) {
            (None | Some(Layout { priority: true, .. }), _) => 1,
            (_, Some(unit_ns)) => unit_ns,
            (_, None) => return Err(ambiguous_unit(&source)),
        };
        Ok(Self {
            lines: Lines::new(source.stream()?, Framing::Lines),
            label: source.label,
            layout,
            unit_ns,
            next: None,
            bad_lines: 0,
            first_bad: Vec::new(),
            sums: Sums::default(),
            windows: true,
            span: None,
        })
    }

    /// Goes to the next row; none at the end.
    fn advance(&mut self, watch: Watch<'_>) -> Result<(), TraceError> {
        self.next = None;
        while self.next.is_none() {
            if self.lines.number() % LINES_PER_WATCH == LINES_PER_WATCH - 1
                && watch(self.lines.number()).is_break()
            {
                return Err(TraceError::Interrupted { path: self.label.clone() });
            }
            match self.lines.advance() {
                Ok(true) => self.take_line(),
                Ok(false) => break,
                Err(error) => return Err(unreadable(&self.label, &error)),
            }
        }
        Ok(())
    }

    fn take_line(&mut self) {
        let text = self.lines.text();
        if is_comment(text) {
            return;
        }
        let row = match (self.lines.too_long_bytes(), self.layout) {
            (None, Some(layout)) => parse(text, layout, self.unit_ns),
            _ => Err("a line of at most 4096 bytes"),
        };
        match row {
            Ok(row) => self.next = Some(row),
            Err(expected) => {
                self.bad_lines += 1;
                if self.first_bad.len() < SHOWN_BAD_LINES {
                    let (line, text) = (self.lines.number(), quoted(text));
                    self.first_bad.push(BadLine { line, text, expected });
                }
            }
        }
    }

    /// The error of the first bad line, if there is one.
    fn malformed(&self) -> Option<TraceError> {
        let BadLine { line, text, expected } = self.first_bad.first()?.clone();
        Some(TraceError::Malformed {
            path: self.label.clone(),
            line,
            text,
            expected,
            format: "fio-log",
            layout: LAYOUT,
            bad_lines: 1,
        })
    }

    fn finish(mut self) -> FioLogFile {
        let elapsed_ns = self.span.map_or(0, |(first, last)| last - first);
        FioLogFile {
            rows: self.sums.rows(),
            bad_lines: self.bad_lines,
            first_bad_lines: self.first_bad,
            has_offsets: self.layout.is_some_and(|layout| layout.offset),
            has_issue_times: self.layout.is_some_and(|layout| layout.issue),
            has_priorities: self.layout.is_some_and(|layout| layout.priority),
            averaged: self.windows && self.span.is_some(),
            read: self.sums.section(Op::Read, elapsed_ns),
            write: self.sums.section(Op::Write, elapsed_ns),
            discard: self.sums.section(Op::Discard, elapsed_ns),
            path: self.label,
        }
    }
}

fn ambiguous_unit(source: &Source) -> TraceError {
    TraceError::AmbiguousFormat {
        path: source.label.clone(),
        readings: "it has no column of priorities, so an fio before 3.18 wrote it: 3.x logs \
                   latencies in nanoseconds, 2.x in microseconds"
            .into(),
        choices: "--unit ns or --unit us".into(),
    }
}

/// The layout that the first lines show; none where there are no lines, as in the log of submission
/// latencies of an engine that has none.
fn sample_layout(source: &Source) -> Result<Option<Layout>, TraceError> {
    let mut lines = Lines::new(source.stream()?, Framing::Lines);
    let mut sample: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut first: Option<(u64, String)> = None;
    while sample.len() < SAMPLE_LINES
        && lines.advance().map_err(|error| unreadable(&source.label, &error))?
    {
        let text = lines.text();
        if is_comment(text) || text.len() > MAX_LINE_BYTES {
            continue;
        }
        first.get_or_insert_with(|| (lines.number(), quoted(text)));
        let Some(Fields { texts, count }) = Fields::of(text) else { continue };
        if texts[..4].iter().all(|text| unsigned(text).is_some()) {
            sample.push(texts[..count].iter().map(|text| text.to_vec()).collect());
        }
    }
    let Some((line, text)) = first else {
        return Ok(None);
    };
    layout_of(&sample).map(Some).ok_or_else(|| TraceError::Malformed {
        path: source.label.clone(),
        line,
        text,
        expected: "a line of an fio log",
        format: "fio-log",
        layout: LAYOUT,
        bad_lines: 1,
    })
}

/// Reads, writes and discards of a file, or of all.
#[derive(Default)]
struct Sums {
    values: [Recorder; 3],
    bytes: [u64; 3],
}

const fn place(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        _ => 2,
    }
}

impl Sums {
    fn add(&mut self, row: &Row) {
        self.values[place(row.op)].record(row.value);
        let bytes = &mut self.bytes[place(row.op)];
        *bytes = bytes.saturating_add(row.bytes);
    }

    fn rows(&self) -> u64 {
        self.values.iter().map(Recorder::count).sum()
    }

    fn section(&mut self, op: Op, elapsed_ns: u64) -> Option<SectionSummary> {
        let values = &mut self.values[place(op)];
        let bytes = self.bytes[place(op)];
        let latency_ns = LatencyStats::of(values)?;
        let requests = values.count();
        let per_second =
            |amount: u64| (elapsed_ns > 0).then(|| amount as f64 * 1e9 / elapsed_ns as f64);
        Some(SectionSummary {
            requests,
            bytes,
            iops: per_second(requests),
            bandwidth_bytes_per_s: per_second(bytes),
            latency_ns,
            percentile_method: values.percentile_method(),
            ci95_method: values.interval().map(|interval| interval.method),
            attribution_ns: None,
        })
    }
}

/// Reads the logs at `paths`, merged by time, handing out rows in chunks.
///
/// # Errors
/// If one cannot be read, holds nothing, could mean two things, or has a bad line (unless those
/// are to be left out).
pub fn read_fio_logs(
    paths: &[PathBuf],
    options: &FioLogOptions,
    chunk: &mut dyn FnMut(LogChunk) -> ControlFlow<()>,
    watch: Watch<'_>,
) -> Result<FioLogs, TraceError> {
    let mut cursors = Vec::with_capacity(paths.len());
    for path in paths {
        let mut cursor = Cursor::open(path, options)?;
        cursor.advance(watch)?;
        cursors.push(cursor);
    }
    let mut all = Sums::default();
    let mut log = LogChunk::new(false);
    log.flow = (paths.len() > 1).then(Vec::new);
    let mut index = 0_u64;
    while let Some(flow) = earliest(&cursors) {
        let cursor = &mut cursors[flow];
        if !options.skip_bad
            && let Some(error) = cursor.malformed()
        {
            return Err(error);
        }
        let Some(row) = cursor.next else { break };
        let complete_ns = row.complete_ns.max(row.value);
        let submit_ns = complete_ns - row.value;
        let (first, last) = cursor.span.unwrap_or((submit_ns, complete_ns));
        cursor.span = Some((first.min(submit_ns), last.max(complete_ns)));
        cursor.sums.add(&row);
        cursor.windows &= row.bytes == 0;
        cursor.advance(watch)?;
        if paths.len() > 1 {
            all.add(&row);
        }
        log.push(&LogRow {
            index,
            flow: flow as u16,
            op: row.op,
            offset_bytes: row.offset_bytes,
            bytes: row.bytes,
            submit_ns,
            complete_ns,
            outcome: Outcome::Done,
            attribution: &Attribution::ZERO,
        });
        index += 1;
        if log.len() == CHUNK_ROWS {
            hand_out(&mut log, chunk, &cursors[0].label)?;
        }
    }
    if !options.skip_bad
        && let Some(error) = cursors.iter().find_map(Cursor::malformed)
    {
        return Err(error);
    }
    hand_out(&mut log, chunk, &cursors[0].label)?;
    Ok(summed_up(cursors, all, index))
}

/// Which file has the earliest row.
fn earliest(cursors: &[Cursor]) -> Option<usize> {
    let rows = cursors.iter().enumerate();
    let times = rows.filter_map(|(flow, cursor)| Some((cursor.next?.complete_ns, flow)));
    times.min().map(|(_, flow)| flow)
}

fn hand_out(
    log: &mut LogChunk,
    chunk: &mut dyn FnMut(LogChunk) -> ControlFlow<()>,
    label: &str,
) -> Result<(), TraceError> {
    if !log.is_empty() && chunk(log.take()).is_break() {
        return Err(TraceError::Interrupted { path: label.to_owned() });
    }
    Ok(())
}

/// How long the spans are together, what several share counted once.
fn union_ns(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let (mut total, mut until) = (0, 0);
    for (first, last) in spans {
        total += last.saturating_sub(first.max(until));
        until = until.max(last);
    }
    total
}

fn summed_up(mut cursors: Vec<Cursor>, mut all: Sums, requests: u64) -> FioLogs {
    let elapsed_ns = union_ns(cursors.iter().filter_map(|cursor| cursor.span).collect());
    if let [only] = &mut cursors[..] {
        all = std::mem::take(&mut only.sums);
    }
    let sections = [Op::Read, Op::Write, Op::Discard].map(|op| all.section(op, elapsed_ns));
    let [read, write, discard] = sections;
    let mut files: Vec<FioLogFile> = cursors.into_iter().map(Cursor::finish).collect();
    if let [only] = &mut files[..] {
        (only.rows, only.read, only.write) = (requests, read.clone(), write.clone());
        only.discard.clone_from(&discard);
    }
    FioLogs { requests, elapsed_ns, read, write, discard, files }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Scratch;
    use super::*;

    fn read(texts: &[&str], options: &FioLogOptions) -> Result<(FioLogs, LogChunk), TraceError> {
        let files: Vec<Scratch> = texts.iter().map(|text| Scratch::new(text.as_bytes())).collect();
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let mut log = LogChunk::new(false);
        log.flow = (texts.len() > 1).then(Vec::new);
        let mut keep = |rows| {
            log.append(rows);
            ControlFlow::Continue(())
        };
        let told = read_fio_logs(&paths, options, &mut keep, &mut |_| ControlFlow::Continue(()))?;
        Ok((told, log))
    }

    fn plain(text: &str) -> (FioLogs, LogChunk) {
        read(&[text], &FioLogOptions::default()).expect(text)
    }

    #[test]
    fn columns_are_told_by_what_they_hold() {
        for (text, offset, issue) in [
            ("0, 700, 0, 4096, 0\n1, 800, 1, 4096, 1", false, false),
            ("0, 700, 0, 4096, 0x0000\n", false, false),
            ("0, 700, 0, 4096, 8192, 0\n1, 800, 1, 4096, 0, 1", true, false),
            ("0, 700, 0, 4096, 8192, 0x4001\n", true, false),
            ("0, 700, 0, 4096, 0, 123456\n", false, true),
            ("0, 700, 0, 4096, 8192, 0, 123456\n", true, true),
        ] {
            let (told, log) = plain(text);
            assert_eq!(told.files[0].has_offsets, offset, "{text}");
            assert_eq!(told.files[0].has_issue_times, issue, "{text}");
            assert_eq!(log.offset_bytes[0], if offset { 8192 } else { 0 }, "{text}");
            assert_eq!(told.read.expect("reads").latency_ns.min, 700, "{text}");
        }
    }

    #[test]
    fn old_logs_need_a_unit() {
        for text in ["0, 700, 0, 4096\n", "0, 700, 0, 4096, 8192\n"] {
            let refused = read(&[text], &FioLogOptions::default()).expect_err(text).to_string();
            assert!(refused.contains("--unit ns or --unit us"), "{refused}");
            let options = FioLogOptions { unit_ns: Some(1000), ..FioLogOptions::default() };
            let (told, _) = read(&[text], &options).expect(text);
            assert_eq!(told.read.expect("reads").latency_ns.max, 700_000);
        }
    }

    #[test]
    fn logs_of_several_jobs_are_merged_by_time() {
        let options = FioLogOptions::default();
        let texts = ["1, 5, 0, 512, 0\n4, 6, 0, 512, 0\n", "2, 7, 1, 1024, 0\n3, 8, 1, 1024, 0\n"];
        let (told, log) = read(&texts, &options).expect("two logs");
        assert_eq!(log.flow, Some(vec![0, 1, 1, 0]));
        assert_eq!(log.complete_ns, [1, 2, 3, 4].map(|ms| ms * 1_000_000));
        assert_eq!((told.requests, told.files[1].rows), (4, 2));
        assert_eq!(told.write.expect("writes").bytes, 2048);
        assert!(told.files[1].read.is_none());
    }

    #[test]
    fn jobs_that_run_one_after_the_other_are_added_over_the_time_in_which_they_ran() {
        let texts = ["1, 0, 0, 512, 0\n11, 0, 0, 512, 0\n", "51, 0, 0, 512, 0\n61, 0, 0, 512, 0\n"];
        let (told, _) = read(&texts, &FioLogOptions::default()).expect("two logs");
        assert_eq!(told.elapsed_ns, 20_000_000);
        assert_eq!(told.read.expect("reads").iops, Some(200.0));
        assert_eq!(union_ns(vec![(3, 9), (0, 5), (4, 6)]), 9);
    }

    #[test]
    fn windows_are_known_by_blocks_of_nothing() {
        let (told, _) = plain("1, 4984, 1, 0, 0\n1, 3076, 0, 0, 0\n");
        assert!(told.files[0].averaged);
        assert!(!plain("1, 4984, 1, 0, 0\n1, 3076, 0, 512, 0\n").0.files[0].averaged);
    }

    #[test]
    fn an_empty_log_has_no_rows_and_windows() {
        let (told, log) = plain("\n");
        assert_eq!((told.requests, told.elapsed_ns, log.len()), (0, 0, 0));
        assert!(told.read.is_none() && !told.files[0].averaged);
        let (told, _) = read(&["", "1, 5, 0, 512, 0\n"], &FioLogOptions::default()).expect("two");
        assert_eq!((told.files[0].rows, told.files[1].rows), (0, 1));
    }

    #[test]
    fn a_unit_is_of_logs_that_do_not_say_theirs() {
        let options = FioLogOptions { unit_ns: Some(1000), ..FioLogOptions::default() };
        let (told, _) = read(&["0, 7, 0, 512\n", "0, 9000, 1, 512, 0\n"], &options).expect("two");
        assert_eq!(told.read.expect("reads").latency_ns.max, 7000);
        assert_eq!(told.write.expect("writes").latency_ns.max, 9000);
        assert!(!told.files[0].has_priorities && told.files[1].has_priorities);
    }

    #[test]
    fn a_latency_longer_than_its_time_ends_as_late_as_it_took() {
        let (_, log) = plain("0, 22784, 0, 4096, 0\n");
        assert_eq!((log.submit_ns[0], log.complete_ns[0]), (0, 22784));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let good = "0, 700, 0, 4096, 0\n";
        for (line, words) in [
            ("x, 700, 0, 4096, 0", "a time in milliseconds (column 1)"),
            ("0, -7, 0, 4096, 0", "a value (column 2)"),
            ("0, 700, 3, 4096, 0", "0 (read), 1 (write) or 2 (trim) (column 3)"),
            ("0, 700, 0, 4k, 0", "a block size in bytes (column 4)"),
            ("0, 700, 0, 4096, 0, 0", "as many columns"),
            ("0, 700, 0", "as many columns"),
            ("99999999999999999999, 700, 0, 4096, 0", "a time"),
        ] {
            let text = format!("{good}{line}\n{good}");
            let error = read(&[&text], &FioLogOptions::default()).expect_err(line).to_string();
            assert!(error.contains("line 2") && error.contains(words), "{line}: {error}");
            let options = FioLogOptions { skip_bad: true, ..FioLogOptions::default() };
            let (told, _) = read(&[&text], &options).expect(line);
            assert_eq!((told.requests, told.files[0].bad_lines), (2, 1), "{line}");
        }
        let error = read(&["hello\n"], &FioLogOptions::default()).expect_err("no log").to_string();
        assert!(error.contains("a line of an fio log"), "{error}");
    }
}
