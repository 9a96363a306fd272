//! The reader as a whole: good traces, odd ones, and evil ones.

use super::testing::{Scratch, gzip};
use super::*;
use crate::units::Bytes;
use proptest::prelude::*;
use std::ops::ControlFlow;

const MIB: u64 = 1 << 20;

fn target(capacity_bytes: u64, unit_bytes: u64) -> Target {
    Target { offset: Bytes(0), capacity: Bytes(capacity_bytes), unit: Bytes(unit_bytes) }
}

fn options(format: &str) -> TraceOptions {
    TraceOptions { format: Some(format.to_owned()), ..TraceOptions::default() }
}

type Read = (Vec<TimedRequest>, TraceStats);

fn read(bytes: &[u8], options: &TraceOptions, target: Target) -> Result<Read, TraceError> {
    let scratch = Scratch::new(bytes);
    let mut reader = open_trace(&scratch.path, options, target)?;
    let requests: Vec<_> = reader.by_ref().collect::<Result<_, _>>()?;
    assert_eq!(requests.len() as u64, reader.stats().requests);
    Ok((requests, reader.stats().clone()))
}

fn refusal(bytes: &[u8], options: &TraceOptions, target: Target) -> String {
    read(bytes, options, target).expect_err("is refused").to_string()
}

/// (arrival, volume-free sector, sectors, line) of each request.
fn essence(requests: &[TimedRequest]) -> Vec<(u64, u64, u64, u64)> {
    requests.iter().map(|r| (r.arrival.0, r.lba.0, r.sectors.0, r.source_line)).collect()
}

#[test]
fn a_trace_starts_at_zero_with_its_volumes_end_to_end() {
    let text = b"# SPC\n3,1,512,w,10.000000001\r\n\n 0,0,1024,R,10.5\n3,0,512,r,10.5\n";
    let (requests, stats) =
        read(text, &TraceOptions::default(), target(1 << 30, 512)).expect("a good trace");
    assert_eq!(
        essence(&requests),
        [(0, 2049, 1, 2), (499_999_999, 0, 2, 4), (499_999_999, 2048, 1, 5)]
    );
    assert_eq!(requests[0].op, Op::Write);
    assert_eq!((stats.volumes, stats.span_ns), (2, Nanos(499_999_999)));
    assert_eq!(stats.volume_map[1].base_bytes, MIB);
    let json = serde_json::to_value(&stats).expect("serialises");
    for key in ["format", "requests", "skipped", "expanded", "wrapped", "volumes", "span_ns"] {
        assert!(json.get(key).is_some(), "{key}: {json}");
    }
    assert_eq!((&json["format"], &json["volumes"]), (&"spc".into(), &2.into()));
}

#[test]
fn a_chosen_volume_keeps_its_own_addresses() {
    let text = b"0,5,512,r,1\n1,7,512,r,2\n1,8,512,r,3\n";
    let chosen = |volume| TraceOptions { volume: Some(volume), ..TraceOptions::default() };
    let (requests, stats) = read(text, &chosen(1), target(1 << 30, 512)).expect("has volume 1");
    assert_eq!(essence(&requests), [(0, 7, 1, 2), (1_000_000_000, 8, 1, 3)]);
    assert_eq!((stats.volumes, stats.other_volumes, stats.skipped), (1, 1, 0));
    let message = refusal(text, &chosen(2), target(1 << 30, 512));
    assert!(message.contains("no requests to volume 2; it has 0, 1"), "{message}");
}

#[test]
fn a_refusal_counts_everything_and_names_the_options() {
    // Off the 4096-byte grid: lines 1 and 3. Past 2 MiB: lines 2 and 3.
    let text = b"0.5 0 1 8 1\n1 0 8192 8 1\n2 0 4096 9 1\n3 0 0 8 0\n";
    let plain = TraceOptions::default();
    let error = read(text, &plain, target(2 * MIB, 4096)).expect_err("is refused");
    assert!(
        matches!(error, TraceError::DoesNotFit { requests: 4, misaligned: 2, out_of_range: 2, .. }),
        "{error:?}"
    );
    let message = error.to_string();
    for part in ["2 of 4 requests are not whole 4096-byte units", "2 of 4 requests reach past"] {
        assert!(message.contains(part), "{message}");
    }
    for option in ["\n\nhint: ", "--align expand", "--fit compact", "--fit wrap"] {
        assert!(message.contains(option), "{message}");
    }
    let expand = TraceOptions { align: Align::Expand, ..plain.clone() };
    let message = refusal(text, &expand, target(2 * MIB, 4096));
    assert!(!message.contains("--align") && message.contains("2 of 4"), "{message}");
    let compact = TraceOptions { fit: Fit::Compact, ..plain };
    let message = refusal(text, &compact, target(4 * MIB, 4096));
    assert!(message.contains("--align expand") && !message.contains("--fit"), "{message}");
}

#[test]
fn expand_with_wrap_or_compact_fits() {
    let text = b"0.5 0 1 8 1\n1 0 8192 8 1\n2 0 4096 9 1\n3 0 0 8 0\n";
    let how = |fit| TraceOptions { align: Align::Expand, fit, ..TraceOptions::default() };
    let (requests, stats) = read(text, &how(Fit::Wrap), target(2 * MIB, 4096)).expect("wraps");
    let places: Vec<_> = requests.iter().map(|r| (r.lba.0, r.sectors.0)).collect();
    assert_eq!(places, [(0, 16), (0, 8), (0, 16), (0, 8)]);
    assert_eq!((stats.expanded, stats.wrapped, stats.packed_bytes), (2, 2, None));

    let (requests, stats) = read(text, &how(Fit::Compact), target(3 * MIB, 4096)).expect("packs");
    let places: Vec<_> = requests.iter().map(|r| (r.lba.0, r.sectors.0)).collect();
    assert_eq!(places, [(0, 16), (4096, 8), (2048, 16), (0, 8)]);
    assert_eq!((stats.expanded, stats.wrapped, stats.packed_bytes), (2, 0, Some(3 * MIB)));

    let message = refusal(text, &how(Fit::Compact), target(3 * MIB - 4096, 4096));
    assert!(
        message.contains("at least 3145728 bytes") && message.contains("--fit wrap"),
        "{message}"
    );
    let message = refusal(b"0.5 0 0 4097 1\n", &how(Fit::Wrap), target(2 * MIB, 4096));
    assert!(message.contains("1 of 1 requests are larger than its 2097152 bytes"), "{message}");
}

#[test]
fn a_window_of_the_drive_is_filled_from_its_start() {
    let window = Target { offset: Bytes(MIB), capacity: Bytes(4096), unit: Bytes(512) };
    let (requests, _) = read(b"0.5 0 7 1 1\n", &TraceOptions::default(), window).expect("fits");
    assert_eq!(requests[0].lba, Lba(2048 + 7));
    assert!(read(b"0.5 0 8 1 1\n", &TraceOptions::default(), window).is_err());
}

#[test]
fn a_bad_line_is_shown_or_counted() {
    let text =
        b"0,0,512,r,0\n0,0,512,r,0.5\n0,0,512,\x1b[2J,1\n0,-8,512,r,1\n0,0,0,r,2\n0,1,512,w,3\n";
    let message = refusal(text, &TraceOptions::default(), target(MIB, 512));
    for part in
        ["line 3", "R or W (field 4)", "`0,0,512,\\x1b[2J,1`", "1 more bad line", "--skip-bad"]
    {
        assert!(message.contains(part), "{message}");
    }
    let skip = TraceOptions { skip_bad: true, ..TraceOptions::default() };
    let (requests, stats) = read(text, &skip, target(MIB, 512)).expect("the rest is good");
    assert_eq!(essence(&requests).iter().map(|r| r.3).collect::<Vec<_>>(), [1, 2, 6]);
    assert_eq!((stats.skipped, stats.bad_lines, stats.zero_size), (3, 2, 1));
    assert_eq!((stats.requests, stats.writes), (3, 1));
}

#[test]
fn late_lines_are_sorted_and_counted() {
    let text = b"0,0,512,r,2\n0,1,512,r,1\n0,2,512,r,3\n0,3,512,r,1\n";
    let (requests, stats) =
        read(text, &TraceOptions::default(), target(MIB, 512)).expect("sortable");
    let second = 1_000_000_000;
    assert_eq!(
        essence(&requests),
        [(0, 1, 1, 2), (0, 3, 1, 4), (second, 0, 1, 1), (2 * second, 2, 1, 3)]
    );
    assert_eq!((stats.reordered, stats.span_ns), (2, Nanos(2 * second)));
}

#[test]
fn disorder_beyond_the_window_is_refused_before_anything_runs() {
    let mut text: String =
        (0..order::WINDOW_REQUESTS).map(|at| format!("{}.5 0 1 1 1\n", at + 10)).collect();
    text += "1.5 0 1 1 1\n";
    let message = refusal(text.as_bytes(), &TraceOptions::default(), target(MIB, 512));
    assert!(message.contains("line 1048577") && message.contains("sort the file"), "{message}");
}

#[test]
fn a_limit_counts_requests_and_hides_what_follows() {
    let text = b"0,0,512,r,0\n0,0,0,r,1\n0,1,512,r,2\nrubbish\n0,99999999,1,r,3\n";
    let limited = TraceOptions { limit: Some(2), ..options("spc") };
    let (requests, stats) = read(text, &limited, target(MIB, 512)).expect("the start is good");
    assert_eq!((requests.len(), stats.zero_size, stats.bad_lines), (2, 1, 0));
}

#[test]
fn packed_traces_read_like_plain_ones_and_cut_ones_say_so() {
    let text: String = (0..5000).map(|at| format!("0,{at},512,r,{at}.25\n")).collect();
    let plain =
        read(text.as_bytes(), &TraceOptions::default(), target(1 << 30, 512)).expect("good");
    let zstd = zstd::encode_all(text.as_bytes(), 3).expect("packs");
    for (packed, name) in [(gzip(text.as_bytes()), "gzip"), (zstd, "zstd")] {
        let whole = read(&packed, &TraceOptions::default(), target(1 << 30, 512)).expect("good");
        assert_eq!(whole.0, plain.0, "{name}");

        let cut = &packed[..packed.len() - packed.len() / 3];
        let message = refusal(cut, &options("spc"), target(1 << 30, 512));
        assert!(message.contains(&format!("the {name} file is cut short")), "{message}");
        let saved = !message.contains("; 0 requests before that");
        assert_eq!(message.contains("--skip-bad"), saved, "{message}");

        let skip = TraceOptions { skip_bad: true, ..options("spc") };
        match read(cut, &skip, target(1 << 30, 512)) {
            Ok((requests, stats)) => {
                assert!(stats.truncated && requests.len() < 5000);
                let whole_lines = requests.len().saturating_sub(1);
                assert_eq!(requests[..whole_lines], plain.0[..whole_lines]);
            }
            // A zstd block may only come out whole.
            Err(error) => assert!(error.to_string().contains("holds no requests"), "{error}"),
        }
    }
}

#[test]
fn corrupt_gzip_is_damage_not_a_bad_line() {
    let text: String =
        (0..20_000).map(|at| format!("0,{},512,r,{at}\n", at * 7919 % 10_007)).collect();
    let mut packed = gzip(text.as_bytes());
    let middle = packed.len() / 2;
    packed[middle..middle + 64].fill(0xff);
    let message = refusal(&packed, &options("spc"), target(1 << 30, 512));
    assert!(message.contains("damaged") || message.contains("expected"), "{message}");
}

#[test]
fn empty_traces_of_every_kind() {
    for bytes in [&b""[..], b"\n\n", b"# nothing\n#\n", &gzip(b""), &gzip(b"# nothing\n")] {
        for options in [TraceOptions::default(), options("mqsim")] {
            let message = refusal(bytes, &options, target(MIB, 512));
            assert!(message.contains("holds no requests"), "{message}");
        }
    }
    let message = refusal(b"0,0,0,r,1\n", &TraceOptions::default(), target(MIB, 512));
    assert!(message.contains("1 requests of no bytes"), "{message}");
}

#[test]
fn an_endless_line_costs_neither_memory_nor_patience() {
    let mut packed = zstd::stream::Encoder::new(Vec::new(), 1).expect("memory");
    for _ in 0..100 {
        std::io::Write::write_all(&mut packed, &vec![b'7'; 1 << 20]).expect("memory");
    }
    let packed = packed.finish().expect("memory");
    for options in [options("spc"), TraceOptions { skip_bad: true, ..options("disksim") }] {
        let message = refusal(&packed, &options, target(MIB, 512));
        assert!(message.contains("is not text: line 1 goes on for more than 64 MiB"), "{message}");
    }
    let message = refusal(&packed, &TraceOptions::default(), target(MIB, 512));
    assert!(message.contains("no known format"), "{message}");
}

#[test]
fn garbage_volumes_do_not_eat_the_memory() {
    let text: String = (0..70_000).map(|id| format!("{id},0,512,r,{id}\n")).collect();
    let message = refusal(text.as_bytes(), &TraceOptions::default(), target(1 << 40, 512));
    assert!(message.contains("more than 65536 volumes"), "{message}");
}

#[test]
fn addresses_at_the_edge_of_numbers_are_refused() {
    let far = (1_u64 << 53) - 1;
    let text: String = (0..5).map(|id| format!("{id},{far},512,r,0\n")).collect();
    for fit in [Fit::Refuse, Fit::Wrap] {
        let how = TraceOptions { fit, ..options("spc") };
        let message = refusal(text.as_bytes(), &how, target(MIB, 512));
        assert!(message.contains("--volume"), "{message}");
    }
    let time = "0,0,512,r,99999999999999999999\n";
    let message = refusal(time.as_bytes(), &options("spc"), target(MIB, 512));
    assert!(message.contains("a time in decimal seconds"), "{message}");
}

#[test]
fn a_watcher_can_cancel_the_first_pass() {
    let scratch = Scratch::new("0,0,512,r,0\n".repeat(200_000).as_bytes());
    let mut seen = Vec::new();
    let outcome =
        open_trace_watched(&scratch.path, &options("spc"), target(MIB, 512), &mut |lines| {
            seen.push(lines);
            if seen.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    assert!(matches!(outcome, Err(TraceError::Interrupted { .. })));
    assert_eq!(seen, [65_535, 131_071]);
}

#[test]
fn a_file_that_shrinks_between_the_passes_is_noticed() {
    let scratch = Scratch::new("0,0,512,r,0\n".repeat(100_000).as_bytes());
    let mut reader = open_trace(&scratch.path, &options("spc"), target(MIB, 512)).expect("good");
    std::fs::write(&scratch.path, "0,0,512,r,0\n").expect("writable");
    let last = reader.by_ref().last();
    assert!(matches!(last, Some(Err(TraceError::Changed { .. }))), "{last:?}");
    assert!(reader.next().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the bytes, opening ends, and what it hands out is on the drive and in order.
    #[test]
    fn no_bytes_panic_and_what_comes_out_fits(
        lines in prop::collection::vec(
            prop_oneof![
                "[0-9]{1,3},[0-9]{1,6},[0-9]{1,5},[rRwW],[0-9]{1,3}\\.[0-9]{1,9}",
                "[0-9]{1,9} [0-9] [0-9]{1,6} [0-9]{1,3} [01]",
                "[ -~]{0,40}",
            ],
            0..40,
        ),
        format in 0..FORMATS.len(),
        expand: bool,
        fit in prop_oneof![Just(Fit::Refuse), Just(Fit::Wrap), Just(Fit::Compact)],
    ) {
        let align = if expand { Align::Expand } else { Align::Refuse };
        let how = TraceOptions { align, fit, skip_bad: true, ..options(FORMATS[format].name) };
        let drive = target(16 * MIB + 4096, 4096);
        if let Ok((requests, _)) = read(lines.join("\n").as_bytes(), &how, drive) {
            prop_assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
            for request in requests {
                prop_assert!(request.sectors.0 > 0);
                prop_assert!((request.lba.0 | request.sectors.0).is_multiple_of(8));
                prop_assert!((request.lba + request.sectors).byte_offset().0 <= drive.capacity.0);
            }
        }
    }
}
