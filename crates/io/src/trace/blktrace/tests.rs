//! Recordings of one file and several, whole and broken.

use super::super::testing::Scratch;
use super::super::*;
use super::made::{COMPLETE, ISSUE, Made, QUEUE, READ, WRITE, events, sample};
use std::ops::ControlFlow;
use std::path::Path;

type Read = (Vec<Record>, TraceStats);

fn open(path: &Path, options: &TraceOptions) -> Result<Read, TraceError> {
    let mut reader = open_records(path, options, &mut |_| ControlFlow::Continue(()))?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((records, reader.stats().clone()))
}

fn read(bytes: &[u8], options: &TraceOptions) -> Result<Read, TraceError> {
    open(&Scratch::new(bytes).path, options)
}

fn plain(bytes: &[u8]) -> Read {
    read(bytes, &TraceOptions::default()).expect("a good recording")
}

fn skip() -> TraceOptions {
    TraceOptions { skip_bad: true, ..TraceOptions::default() }
}

/// Files of a recording that go when it is dropped.
struct Recording(std::path::PathBuf);

impl Recording {
    fn new(name: &str, files: &[&[u8]]) -> Self {
        let folder = std::env::temp_dir().join(format!("ssdscope-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("writable");
        for (number, bytes) in files.iter().enumerate() {
            std::fs::write(folder.join(format!("x.blktrace.{number}")), bytes).expect("writable");
        }
        Self(folder)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn byte_orders_versions_and_what_follows_an_event_change_nothing() {
    let (expected, _) = plain(&sample());
    for (big_endian, version) in [(false, 7), (true, 7), (false, 8), (true, 8)] {
        for tail in [&b""[..], b"fio\0", &[7; 65_535]] {
            let bytes = events().map(|event| event.bytes(big_endian, version, tail)).concat();
            assert_eq!(plain(&bytes).0, expected, "{big_endian} {version} {}", tail.len());
        }
    }
}

#[test]
fn files_of_processors_are_merged_by_time_whichever_is_named() {
    let queued = Made::new(10, READ | QUEUE, 8, 8).bytes(false, 7, b"");
    let (issued, done) = (Made::new(20, READ | ISSUE, 8, 8), Made::new(70, READ | COMPLETE, 8, 8));
    let other = [issued, done].map(|event| event.bytes(true, 7, b"")).concat();
    let recording = Recording::new("merged", &[&other, b"", &queued]);
    for name in ["x.blktrace.0", "x.blktrace.1", "x"] {
        let (records, stats) = open(&recording.0.join(name), &TraceOptions::default()).expect(name);
        assert_eq!(records.len(), 1, "{name}");
        assert_eq!(records[0].latency, Some(Nanos(50)), "{name}");
        assert_eq!((stats.format.name, stats.files), ("blktrace", 3));
    }
}

#[test]
fn a_cut_event_an_unknown_version_and_other_bytes_say_where() {
    let good = sample();
    let unknown = Made::new(3, READ | QUEUE, 8, 8).bytes(false, 9, b"");
    for (rest, why) in [
        (&good[..20], "ends within an event (20 bytes of it are there)"),
        (&good[..2], "ends within an event (2 bytes of it are there)"),
        (&unknown[..], "has an event of version 9, and 7 and 8 are read,"),
        (&b"rubbish, and more"[..], "has no event of blktrace but `rubbish,`"),
    ] {
        let bytes = [&good[..], rest].concat();
        let error = read(&bytes, &TraceOptions::default()).expect_err(why).to_string();
        for part in [why, "at byte 240, after 5 events; 3 requests", "--skip-bad"] {
            assert!(error.contains(part), "{error}");
        }
        let (records, stats) = read(&bytes, &skip()).expect("three requests");
        assert!(records.len() == 3 && stats.truncated);
        assert!(stats.damage.is_some_and(|reason| reason.contains(why)));
    }
    let error = read(&unknown, &TraceOptions::default()).expect_err("nothing").to_string();
    assert!(error.contains("version 9") && error.contains("at byte 0, after 0 events"), "{error}");
}

#[test]
fn a_broken_file_of_one_processor_does_not_end_the_others() {
    let late = Made::new(9_000_000_000, READ | QUEUE, 8, 8).bytes(false, 7, b"");
    let good = sample();
    let recording = Recording::new("broken", &[&late, &good[..130]]);
    let path = recording.0.join("x.blktrace.0");
    let error = open(&path, &TraceOptions::default()).expect_err("cut").to_string();
    assert!(error.contains("x.blktrace.1 ends within an event (34"), "{error}");
    assert_eq!(open(&path, &skip()).expect("the rest").0.len(), 2);
}

#[test]
fn times_are_those_that_were_chosen() {
    let text = [
        Made::new(10, WRITE | QUEUE, 16, 8),
        Made::new(12, WRITE | QUEUE, 24, 8),
        Made::new(40, WRITE | ISSUE, 16, 16),
        Made::new(90, WRITE | COMPLETE, 16, 16),
        Made::new(95, READ | QUEUE, 16, 8),
    ];
    let bytes = text.map(|event| event.bytes(false, 7, b"")).concat();
    let at = |times| {
        let options = TraceOptions { times, ..TraceOptions::default() };
        let (records, stats) = read(&bytes, &options).expect("good");
        (records.iter().map(|r| (r.arrival.0, r.latency)).collect::<Vec<_>>(), stats.noted)
    };
    let took = Some(Nanos(50));
    assert_eq!(at(Times::Queued).0, [(0, took), (2, took), (85, None)]);
    let (issued, noted) = at(Times::Issued);
    assert_eq!((issued, noted["without_dispatch"]), (vec![(0, took), (0, took)], 1));
    let (completed, noted) = at(Times::Completed);
    assert_eq!((completed, noted["without_completion"]), (vec![(0, took), (0, took)], 1));
    let issued = TraceOptions { times: Times::Issued, ..TraceOptions::default() };
    let error = read(b"0,1,512,r,0.0\n", &issued).expect_err("spc has one").to_string();
    assert!(error.contains("spc has one time") && error.contains("--times"), "{error}");
}

#[test]
fn a_device_that_dispatches_nothing_has_latencies_from_the_queue() {
    let bytes = [
        Made::new(10, READ | QUEUE, 0, 16),
        Made::new(30, READ | COMPLETE, 0, 8),
        Made::new(70, READ | COMPLETE, 8, 8),
    ];
    let (records, stats) = plain(&bytes.map(|event| event.bytes(false, 7, b"")).concat());
    assert_eq!(records[0].latency, Some(Nanos(60)));
    assert_eq!(stats.noted, Noted::from([("latencies_from_queue", 1)]));
}

#[test]
fn numbers_that_are_missing_are_counted() {
    let numbered =
        |sequence, cpu, time| Made { sequence, cpu, ..Made::new(time, READ | QUEUE, 8, 8) };
    let events = [numbered(5, 0, 1), numbered(9, 0, 2), numbered(1, 1, 3), numbered(2, 1, 4)];
    let bytes = events.map(|event| event.bytes(false, 7, b"")).concat();
    assert_eq!(plain(&bytes).1.noted["missing_events"], 3);
}
