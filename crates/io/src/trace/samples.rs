//! A few requests in every format, and what holds for all of them.

use super::testing::{Scratch, gzip};
use super::vscsi::tests::made;
use super::*;
use crate::units::Bytes;
use std::ops::ControlFlow;

/// The same three requests in each format of text: a write of 4 KiB at sector 16, half a
/// second later a read of 8 KiB at 800, after another half a write of 1 KiB at 4000. The
/// last field says whether the trace tells latencies.
const SAMPLES: [(&str, &str, bool); 13] = [
    ("spc", "0,16,4096,w,1.0\n0,800,8192,R,1.5\n0,4000,1024,W,2.0\n", false),
    (
        "msr",
        "128166385290000000,hm,0,Write,8192,4096,10\n\
         128166385295000000,hm,0,Read,409600,8192,20\n\
         128166385300000000,hm,0,Write,2048000,1024,30\n",
        true,
    ),
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1.0,0.000001,W,0,8192,4096\n\
         1.5,0.000002,R,0,409600,8192\n2.0,0.000003,W,0,2048000,1024\n",
        true,
    ),
    (
        "alibaba",
        "0,W,8192,4096,1577808144000000\n0,R,409600,8192,1577808144500000\n\
         0,W,2048000,1024,1577808145000000\n",
        false,
    ),
    ("tencent", "1538323200,16,8,1,0\n1538323200.5,800,16,0,0\n1538323201,4000,2,1,0\n", false),
    (
        "fiu",
        "1000000000 42 nfsd 16 8 W 0 0 88b9\n1500000000 42 nfsd 800 16 R 0 0 88b9\n\
         2000000000 42 kworker/0:1 4000 2 W 0 0 88b9\n",
        false,
    ),
    (
        "blkparse",
        "0,0 1 1 1.0 7 Q W 16 + 8 [x]\n0,0 1 2 1.0 7 D W 16 + 8 [x]\n\
         0,0 1 3 1.000001 7 C W 16 + 8 [0]\n0,0 1 4 1.5 7 Q R 800 + 16 [x]\n\
         0,0 1 5 2.0 7 Q WS 4000 + 2 [x]\n\nCPU1 (0,0):\n Reads Queued:  1, 8KiB\n",
        true,
    ),
    (
        "ftrace",
        "# tracer: nop\n x-7 [1] ..... 1.0: block_bio_queue: 0,0 W 16 + 8 [x]\n\
         x-7 [1] ..... 1.0: block_rq_issue: 0,0 W 4096 () 16 + 8 [x]\n\
         x-7 [1] ..... 1.000001: block_rq_complete: 0,0 W () 16 + 8 [0]\n\
         x-7 [1] ..... 1.5: block_bio_queue: 0,0 RA 800 + 16 [x]\n\
         x-7 [1] ..... 2.0: block_bio_queue: 0,0 WS 4000 + 2 [x]\n",
        true,
    ),
    (
        "biosnoop",
        "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n1.001 x 7 sda W 16 4096 1\n\
         1.502 x y 7 sda R 800 8192 2.0\n2.003 x 7 sda W 4000 1024 3\n",
        true,
    ),
    (
        "fio",
        "fio version 3 iolog\n0 f add\n0 f open\n1000000 f write 8192 4096\n\
         1500000 f read 409600 8192\n2000000 f write 2048000 1024\n2000000 f close\n",
        false,
    ),
    ("disksim", "1000.0 0 16 8 0\n1500.0 0 800 16 1\n2000.0 0 4000 2 0\n", false),
    ("mqsim", "1000000000 0 16 8 0\n1500000000 0 800 16 1\n4000000000000000 0 4000 2 0\n", false),
    (
        "csv",
        "time_ms,op,offset_sectors,size_bytes\n1000,write,16,4096\n1500,read,800,8192\n\
         2000,write,4000,1024\n",
        false,
    ),
];

const ANYWHERE: Target = Target { offset: Bytes(0), capacity: Bytes(1 << 30), unit: Bytes(512) };

fn read(bytes: &[u8], options: &TraceOptions) -> Result<(Vec<Record>, TraceStats), TraceError> {
    let scratch = Scratch::new(bytes);
    let mut reader = open_records(&scratch.path, options, &mut |_| ControlFlow::Continue(()))?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((records, reader.stats().clone()))
}

fn plain(bytes: &[u8]) -> (Vec<Record>, TraceStats) {
    read(bytes, &TraceOptions::default()).expect("a good trace")
}

/// A VSCSI trace of the same requests.
fn vscsi(version: u8) -> Vec<u8> {
    let at = |command, sector, len, time| made(version, command, sector, len, time);
    let requests = [
        at(0x2a, 16, 4096, 1_000_000),
        at(0x28, 800, 8192, 1_500_000),
        at(0x12, 0, 36, 1_600_000),
        at(0x8a, 4000, 1024, 2_000_000),
    ];
    requests.concat()
}

fn all() -> Vec<(&'static str, Vec<u8>, bool)> {
    let text = SAMPLES.iter().map(|&(name, text, told)| (name, text.as_bytes().to_vec(), told));
    let binary = [
        ("vscsi1", vscsi(1), false),
        ("vscsi2", vscsi(2), true),
        ("blktrace", blktrace::made::sample(), true),
    ];
    text.chain(binary).collect()
}

#[test]
fn every_format_is_sampled() {
    let mut names: Vec<_> = all().iter().map(|&(name, ..)| name).collect();
    let mut known: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn content_alone_decides_and_every_format_says_the_same() {
    for (name, bytes, told) in all() {
        let (records, stats) = plain(&bytes);
        assert_eq!(stats.format.name, name);
        let essence = |r: &Record| (r.op, r.offset_bytes, r.len_bytes, r.volume);
        assert_eq!(
            records.iter().map(essence).collect::<Vec<_>>(),
            [
                (Op::Write, 8192, 4096, 0),
                (Op::Read, 409_600, 8192, 0),
                (Op::Write, 2_048_000, 1024, 0),
            ],
            "{name}"
        );
        assert_eq!(records[0].arrival, Nanos(0), "{name}");
        assert_eq!(records[1].arrival, Nanos(500_000_000), "{name}");
        assert_eq!(stats.latency_ns.is_some(), told, "{name}");
        assert_eq!((stats.requests, stats.writes, stats.bad_lines), (3, 2, 0), "{name}");
    }
}

#[test]
fn the_traces_own_latency_is_told_by_direction() {
    let (_, stats) = plain(SAMPLES[1].1.as_bytes());
    let told = stats.latency_ns.expect("MSR has responses");
    let (read, write) = (told.read.expect("a read"), told.write.expect("two writes"));
    assert_eq!((read.min, read.max), (2000, 2000));
    assert_eq!((write.min, write.max, write.mean), (1000, 3000, 2000.0));
}

#[test]
fn other_line_ends_and_packing_change_nothing() {
    for (name, text, _) in SAMPLES {
        let expected = plain(text.as_bytes()).0;
        assert_eq!(plain(text.replace('\n', "\r\n").as_bytes()).0, expected, "{name}");
        assert_eq!(plain(text.trim_end().as_bytes()).0, expected, "{name}");
        assert_eq!(plain(&gzip(text.as_bytes())).0, expected, "{name}");
    }
    assert_eq!(plain(&gzip(&vscsi(2))).0, plain(&vscsi(2)).0);
}

#[test]
fn a_malformed_line_is_shown_with_its_number_or_counted() {
    for (name, text, _) in SAMPLES {
        let mut lines: Vec<_> = text.lines().collect();
        lines.insert(lines.len() - 1, "rubbish, here");
        let broken = lines.join("\n");
        let number = lines.len() - 1;
        let named = TraceOptions { format: Some(name.to_owned()), ..TraceOptions::default() };
        let error = read(broken.as_bytes(), &named).expect_err(name).to_string();
        for part in [&format!("line {number}: expected"), "`rubbish, here`", "--skip-bad"] {
            assert!(error.contains(part), "{name}: {error}");
        }
        let skip = TraceOptions { skip_bad: true, ..named };
        let (records, stats) = read(broken.as_bytes(), &skip).expect("the rest is good");
        assert_eq!((records.len(), stats.bad_lines), (3, 1), "{name}");
        let shown = &stats.first_bad_lines[0];
        assert_eq!((shown.line, &shown.text[..]), (number as u64, "`rubbish, here`"));
    }
    let cut = &vscsi(2)[..150];
    let error = read(cut, &TraceOptions::default()).expect_err("half a record").to_string();
    assert!(error.contains("line 4: expected a whole record"), "{error}");
}

#[test]
fn requests_of_no_bytes_are_counted_and_flushes_kept() {
    let text = "fio version 3 iolog\n0 f add\n1 f read 0 0\n2 f sync\n3 f read 0 512\n";
    let (records, stats) = plain(text.as_bytes());
    assert_eq!(records.iter().map(|r| r.op).collect::<Vec<_>>(), [Op::Flush, Op::Read]);
    assert_eq!((stats.zero_size, stats.skipped), (1, 1));
    let scratch = Scratch::new(text.as_bytes());
    for fit in [Fit::Refuse, Fit::Wrap, Fit::Compact] {
        let options = TraceOptions { fit, ..TraceOptions::default() };
        let placed: Vec<_> = open_trace(&scratch.path, &options, ANYWHERE)
            .expect("fits")
            .map(|request| request.map(|r| (r.op, r.sectors.0)))
            .collect();
        assert_eq!(placed, [Ok((Op::Flush, 0)), Ok((Op::Read, 1))]);
    }
}

#[test]
fn columns_choose_named_csv_and_fit_no_other_format() {
    let columns = Some("time=s:5,op:4,offset=sectors:2,size:3,volume:1".to_owned());
    let options = TraceOptions { columns, ..TraceOptions::default() };
    let (records, stats) = read(SAMPLES[0].1.as_bytes(), &options).expect("SPC is a table");
    assert_eq!(records, plain(SAMPLES[0].1.as_bytes()).0);
    assert_eq!(stats.format.name, "csv");
    let spc = TraceOptions { format: Some("spc".to_owned()), ..options };
    let error = read(SAMPLES[0].1.as_bytes(), &spc).expect_err("spc has columns").to_string();
    assert!(error.contains("--columns is for named CSV"), "{error}");
}

#[test]
fn a_remark_is_kept_and_volumes_are_told_apart() {
    let text =
        "# synthetic: not the trace itself\n# more\n7,R,0,512,1000000\n9,W,512,512,2000000\n";
    let (records, stats) = plain(text.as_bytes());
    assert_eq!(stats.remark.as_deref(), Some("synthetic: not the trace itself"));
    assert_eq!(records.iter().map(|r| r.volume).collect::<Vec<_>>(), [7, 9]);
    let one = TraceOptions { volume: Some(9), ..TraceOptions::default() };
    let (records, stats) = read(text.as_bytes(), &one).expect("has volume 9");
    assert_eq!((records.len(), records[0].arrival, stats.other_volumes), (1, Nanos(0), 1));
}

#[test]
fn requests_of_one_second_are_spread_on_request() {
    let text = "1538323201,16,8,1,0\n1538323200,16,8,1,0\n1538323200,24,8,1,0\n";
    let spread = TraceOptions { spread_ties: true, ..TraceOptions::default() };
    let (records, stats) = read(text.as_bytes(), &spread).expect("a good trace");
    let times: Vec<_> = records.iter().map(|r| (r.arrival.0 / 1_000_000, r.line)).collect();
    assert_eq!(times, [(0, 2), (500, 3), (1000, 1)]);
    assert_eq!(stats.requests, 3);
}

#[test]
fn rows_become_columns() {
    let mut columns = TraceColumns::default();
    assert!(columns.is_empty());
    plain(SAMPLES[2].1.as_bytes()).0.iter().for_each(|record| columns.push(record));
    assert_eq!(columns.len(), 3);
    assert_eq!(columns.arrival_ns, [0, 500_000_000, 1_000_000_000]);
    assert_eq!((&columns.op[..], &columns.volume[..]), (&[1, 0, 1][..], &[0, 0, 0][..]));
    assert_eq!(columns.latency_ns, [1000, 2000, 3000]);
}

/// DiskSim's five fields with bytes in the place of blocks.
const BYTES: &str = "0.5 0 8192 4096 0\n500.5 0 409600 8192 1\n1000.5 0 15000002560 4096 0\n";

#[test]
fn bytes_in_the_place_of_blocks_are_not_read_as_blocks() {
    let fitted = TraceOptions { fit: Fit::Wrap, ..TraceOptions::default() };
    for options in [TraceOptions::default(), fitted] {
        let error = read(BYTES.as_bytes(), &options).expect_err("two readings").to_string();
        for part in [
            "as disksim 3 requests span 1.0 s and 6.9 TiB (requests of up to 4.0 MiB), as",
            "as disksim with bytes for sectors 13.9 GiB (requests of up to 8.0 KiB)",
            "--format disksim, or --columns time=ms:1,volume:2,offset:3,size:4,op=0w:5 for bytes",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
    let columns = Some("time=ms:1,volume:2,offset:3,size:4,op=0w:5".to_owned());
    let told = TraceOptions { columns, ..TraceOptions::default() };
    let (records, stats) = read(BYTES.as_bytes(), &told).expect("the other reading");
    let essence = |r: &Record| (r.op, r.offset_bytes, r.len_bytes);
    assert_eq!(essence(&records[1]), (Op::Read, 409_600, 8192));
    assert_eq!((stats.writes, stats.span_ns), (2, Nanos(1_000_000_000)));
    let named = TraceOptions { format: Some("disksim".to_owned()), ..TraceOptions::default() };
    let (records, _) = read(BYTES.as_bytes(), &named).expect("the reading asked for");
    assert_eq!(records[1].len_bytes, 8192 * 512);
}

#[test]
fn columns_that_are_offered_for_bytes_give_512_times_less() {
    for (name, text, _) in SAMPLES {
        let format = Format::named(name).expect("known");
        let Some(in_sectors) = format.in_sectors else { continue };
        let columns = Some(in_sectors.columns.to_owned());
        let (bytes, _) = read(text.as_bytes(), &TraceOptions { columns, ..Default::default() })
            .expect("the columns are there");
        for (bytes, sectors) in bytes.iter().zip(plain(text.as_bytes()).0) {
            let scale = if in_sectors.sizes { 512 } else { 1 };
            assert_eq!(bytes.offset_bytes * 512, sectors.offset_bytes, "{name}");
            assert_eq!(bytes.len_bytes * scale, sectors.len_bytes, "{name}");
            assert_eq!((bytes.op, bytes.arrival), (sectors.op, sectors.arrival), "{name}");
        }
    }
}

#[test]
fn what_shows_late_in_a_trace_counts() {
    let aligned = "0.5 0 4294967296 4096 1\n".repeat(3000);
    assert!(read(aligned.as_bytes(), &TraceOptions::default()).is_err(), "may be bytes");
    let sectors = format!("{aligned}0.5 0 8 8 1\n");
    assert_eq!(plain(sectors.as_bytes()).1.requests, 3001);
    let far = format!("{}0.5 0 200000000000 8 1\n", "0.5 0 8 8 1\n".repeat(3000));
    let error = read(far.as_bytes(), &TraceOptions::default()).expect_err("93 TiB").to_string();
    assert!(error.contains("93.1 TiB") && error.contains("186.2 GiB"), "{error}");
}

#[test]
fn reads_alone_are_read_on_request() {
    let reads = TraceOptions { reads_only: true, ..TraceOptions::default() };
    for (name, bytes, _) in all() {
        let (records, stats) = read(&bytes, &reads).expect("one read");
        assert_eq!(records.iter().map(|r| r.op).collect::<Vec<_>>(), [Op::Read], "{name}");
        assert_eq!((stats.writes, stats.not_reads, stats.requests), (0, 2, 1), "{name}");
    }
    let error = read(b"0,16,4096,w,1.0\n0,8,4096,w,1.5\n", &reads).expect_err("no read");
    assert!(error.to_string().contains("no requests that read; --reads-only leaves out 2"));
}
