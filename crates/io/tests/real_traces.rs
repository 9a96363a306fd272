//! The real traces Financial1, WebSearch1 and DTRS on the drives they are replayed on.
//!
//! They lie beside the project and are not part of it; without them each test says
//! so and passes. The counts were found by an independent script over the raw text.

use ssdscope_io::trace::{
    Align, Fit, Record, Target, TraceError, TraceOptions, TraceStats, open_records, open_trace,
    sniff,
};
use ssdscope_io::{Bytes, Nanos, Op};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Exported bytes of `msr-32gb`: 8 elements x 8 planes x (2048 - 307) blocks x 63 pages of 4 KiB.
const MSR_32GB_BYTES: u64 = 8 * 8 * (2048 - 307) * 63 * 4096;

const MSR: Target = Target { offset: Bytes(0), capacity: Bytes(MSR_32GB_BYTES), unit: Bytes(4096) };
const MQSIM: Target = Target { offset: Bytes(0), capacity: Bytes(512 << 30), unit: Bytes(512) };

#[expect(clippy::print_stdout, reason = "a skip must be seen")]
fn beside_the_project(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: the reference file {name} is not beside the project");
    None
}

/// Reads it all and checks every request against the drive.
fn run(path: &Path, options: &TraceOptions, target: Target) -> (TraceStats, u64) {
    let mut reader = open_trace(path, options, target).expect("fits");
    let (mut last, mut count, mut reads) = (Nanos(0), 0, 0);
    for request in reader.by_ref() {
        let request = request.expect("reads");
        assert!(request.arrival >= last && request.sectors.0 > 0);
        assert!((request.lba + request.sectors).byte_offset().0 <= target.capacity.0);
        assert!((request.lba.byte_offset().0 | request.sectors.bytes().0) % target.unit.0 == 0);
        (last, count) = (request.arrival, count + 1);
        reads += u64::from(request.op == Op::Read);
    }
    assert_eq!((last, count), (reader.stats().span_ns, reader.stats().requests));
    (reader.stats().clone(), reads)
}

/// (misaligned, out of range) of the refusal on `msr-32gb`, which must name the options.
fn refused(path: &Path) -> (u64, u64) {
    let error = open_trace(path, &TraceOptions::default(), MSR).err().expect("is refused");
    let TraceError::DoesNotFit { misaligned, out_of_range, .. } = error else {
        panic!("{error:?}");
    };
    let message = error.to_string();
    assert_eq!(message.contains("--align expand"), misaligned > 0, "{message}");
    assert_eq!(message.contains("--fit compact"), out_of_range > 0, "{message}");
    (misaligned, out_of_range)
}

fn fitted() -> TraceOptions {
    TraceOptions { align: Align::Expand, fit: Fit::Compact, ..TraceOptions::default() }
}

struct Expected {
    file: &'static str,
    format: &'static str,
    requests: u64,
    reads: u64,
    volumes: u64,
    span_ns: u64,
    misaligned: u64,
    out_of_range: u64,
    packed_mib: u64,
}

fn check(expected: &Expected) {
    let Some(path) = beside_the_project(expected.file) else { return };
    assert_eq!(sniff(&path, &TraceOptions::default()).expect("known").format.name, expected.format);
    assert_eq!(refused(&path), (expected.misaligned, expected.out_of_range));

    let (stats, reads) = run(&path, &TraceOptions::default(), MQSIM);
    assert_eq!((stats.requests, reads), (expected.requests, expected.reads));
    assert_eq!((stats.volumes, stats.span_ns.0), (expected.volumes, expected.span_ns));
    assert_eq!((stats.skipped, stats.expanded, stats.wrapped, stats.reordered), (0, 0, 0, 0));

    let (stats, reads) = run(&path, &fitted(), MSR);
    assert_eq!((stats.requests, reads), (expected.requests, expected.reads));
    assert_eq!((stats.expanded, stats.span_ns.0), (expected.misaligned, expected.span_ns));
    assert_eq!(stats.packed_bytes, Some(expected.packed_mib << 20));
}

#[test]
fn financial1() {
    check(&Expected {
        file: "traces/Financial1.first10k.spc.zst",
        format: "spc",
        requests: 10_000,
        reads: 4_077,
        volumes: 22,
        span_ns: 259_601_203_000,
        misaligned: 9_989,
        out_of_range: 0,
        packed_mib: 174,
    });
}

#[test]
fn websearch1() {
    check(&Expected {
        file: "traces/WebSearch1.first60s.spc.zst",
        format: "spc",
        requests: 24_783,
        reads: 24_779,
        volumes: 6,
        span_ns: 60_055_212_000,
        misaligned: 26,
        out_of_range: 13_984,
        packed_mib: 4_629,
    });
}

#[test]
fn dtrs() {
    check(&Expected {
        file: "traces/DTRS.8h.ssdsim.zst",
        format: "mqsim",
        requests: 127_043,
        reads: 113_123,
        volumes: 1,
        span_ns: 29_999_951_600_000,
        misaligned: 3_325,
        out_of_range: 120_134,
        packed_mib: 6_937,
    });
}

#[test]
fn the_reference_traces_of_disksim_are_recognised() {
    for name in ["rand_read_8k", "rand_write_2048k"] {
        let file = format!("reference/disksim-traces/{name}.trace.gz");
        let Some(path) = beside_the_project(&file) else { return };
        assert_eq!(sniff(&path, &TraceOptions::default()).expect("known").format.name, "disksim");
        let (stats, reads) = run(&path, &TraceOptions::default(), MSR);
        assert_eq!((stats.requests, stats.span_ns), (300, Nanos(0)));
        assert_eq!(reads, if name.starts_with("rand_read") { 300 } else { 0 });
    }
}

/// What an independent script found in a trace that is read as it is.
struct Found {
    file: &'static str,
    format: &'static str,
    requests: u64,
    reads: usize,
    volumes: u64,
    reordered: u64,
    span_ns: u64,
}

fn check_records(found: &Found, options: &TraceOptions) -> Option<(TraceStats, Vec<Record>)> {
    let path = beside_the_project(found.file)?;
    let watch = &mut |_| ControlFlow::Continue(());
    let mut reader = open_records(&path, options, watch).expect("reads");
    let records: Vec<_> = reader.by_ref().collect::<Result<_, _>>().expect("reads");
    let stats = reader.stats().clone();
    assert!(records.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    assert_eq!(stats.format.name, found.format);
    assert_eq!((stats.requests, records.len() as u64), (found.requests, found.requests));
    assert_eq!(records.iter().filter(|r| r.op == Op::Read).count(), found.reads);
    assert_eq!((stats.volumes, stats.reordered), (found.volumes, found.reordered));
    assert_eq!(stats.span_ns.0, found.span_ns);
    Some((stats, records))
}

#[test]
fn msr_cambridge() {
    let found = Found {
        file: "traces/msr-cambridge1-sample.csv.zst",
        format: "msr",
        requests: 1000,
        reads: 508,
        volumes: 1,
        reordered: 0,
        span_ns: 127_233_494_100,
    };
    let Some((stats, _)) = check_records(&found, &TraceOptions::default()) else { return };
    assert!(stats.latency_ns.is_some_and(|told| told.read.is_some() && told.write.is_some()));
}

#[test]
fn systor17() {
    let found = Found {
        file: "traces/systor17-traces-sample.csv.zst",
        format: "systor",
        requests: 999,
        reads: 826,
        volumes: 1,
        reordered: 287,
        span_ns: 2_447_767_000,
    };
    let Some((_, records)) = check_records(&found, &TraceOptions::default()) else { return };
    assert!(records.iter().all(|record| record.latency.is_some()));
}

#[test]
fn tencent_cbs() {
    let found = Found {
        file: "traces/tencent-cbs-sample.csv.zst",
        format: "tencent",
        requests: 50_000,
        reads: 24_521,
        volumes: 2038,
        reordered: 1297,
        span_ns: 1_000_000_000,
    };
    check_records(&found, &TraceOptions::default());
}

#[test]
fn fiu_mail() {
    let found = Found {
        file: "traces/fiu-mail-cheetah.sample.blkparse.zst",
        format: "fiu",
        requests: 9997,
        reads: 8896,
        volumes: 1,
        reordered: 0,
        span_ns: 23_566_198_233,
    };
    check_records(&found, &TraceOptions::default());
}

#[test]
fn ycsb_by_blkparse() {
    // Two events older than the recording bear times of the year 2010; the completion of
    // their request is then of no known one. Two inserted requests were dispatched as one.
    let found = Found {
        file: "traces/ycsb-ext4.blkparse.txt.zst",
        format: "blkparse",
        requests: 9887,
        reads: 9038,
        volumes: 1,
        reordered: 0,
        span_ns: 810_379_292_522,
    };
    let options = TraceOptions { skip_bad: true, ..TraceOptions::default() };
    let Some((stats, records)) = check_records(&found, &options) else { return };
    assert_eq!((stats.bad_lines, stats.first_bad_lines[0].line), (2, 29_661));
    assert_eq!(stats.noted["completions_without_request"], 1);
    assert!(records.iter().all(|record| record.latency.is_some()));
    let told = stats.latency_ns.expect("D and C events");
    let means = (told.read.map(|read| read.mean), told.write.map(|write| write.mean));
    let (Some(read), Some(write)) = means else { panic!("reads and writes: {means:?}") };
    assert!((read - 1_369_825.41).abs() < 0.01, "{read}");
    // The script matched dispatches, one of which stands for two requests.
    assert!((write - 5_138_627.44).abs() < 0.002 * write, "{write}");
}
