//! Windows, percentiles and readings, against the requests themselves.

use super::*;
use crate::attribution::Cause;
use crate::rng::Stream;

const MS: u64 = 1_000_000;

/// Served requests as (completed, latency), in order.
type Run = Vec<(u64, u64)>;

fn timeline_of(interval: Interval, run: &Run, op: Op) -> TimelineSummary {
    let mut timeline = Timeline::new(interval, ClockKind::Virtual, true);
    timeline.begin(Nanos::ZERO, Reading::default());
    for &(at, latency_ns) in run {
        let mut attribution = Attribution::ZERO;
        attribution[Cause::Nand] = latency_ns;
        if timeline.begins_window(Nanos(at)) {
            timeline.open(Nanos(at), Reading::default());
        }
        let served = Served { op, flow: 0, bytes: 4096, latency_ns, attribution: &attribution };
        timeline.add(Nanos(at), &served);
    }
    let end = run.last().map_or(0, |last| last.0);
    timeline.finish(Nanos(end), Reading::default(), &[])
}

/// Requests at random instants, slower from the middle on.
fn drawn(count: u64, span_ns: u64) -> Run {
    let mut stream = Stream::new(7, "timeline");
    let mut instants: Vec<u64> = (0..count).map(|_| stream.below(span_ns)).collect();
    instants.sort_unstable();
    let latency = |at| 50_000 + stream.below(if at > span_ns / 2 { 400_000 } else { 40_000 });
    let latencies: Vec<u64> = instants.iter().copied().map(latency).collect();
    instants.into_iter().zip(latencies).collect()
}

/// The nearest-rank percentile of what completed in windows, from the requests themselves.
fn exact(run: &Run, begin_ns: u64, end_ns: u64, thousandths: u64) -> u64 {
    let inside = |&&(at, _): &&(u64, u64)| (begin_ns..end_ns).contains(&at);
    let mut latencies: Vec<u64> = run.iter().filter(inside).map(|each| each.1).collect();
    latencies.sort_unstable();
    latencies[(latencies.len() as u64 * thousandths).div_ceil(1000).max(1) as usize - 1]
}

fn check(summary: &TimelineSummary, run: &Run) {
    let reads = &summary.by_op["read"];
    let end_of = |place: usize| match place + 1 == summary.begin_ns.len() {
        true => u64::MAX,
        false => summary.begin_ns[place + 1],
    };
    assert_eq!(reads.requests.iter().sum::<u64>(), run.len() as u64);
    for (place, &begin_ns) in summary.begin_ns.iter().enumerate() {
        let inside: Vec<_> =
            run.iter().filter(|each| (begin_ns..end_of(place)).contains(&each.0)).collect();
        assert_eq!(reads.requests[place], inside.len() as u64, "window {place}");
        assert_eq!(reads.bytes[place], 4096 * inside.len() as u64);
        assert_eq!(reads.max_ns[place], inside.iter().map(|each| each.1).max());
        let iops = inside.len() as f64 * 1e9 / summary.duration_ns[place] as f64;
        assert_eq!(reads.iops[place], Some(iops));
        let nand = &reads.attribution_ns.as_ref().unwrap().0[0];
        assert_eq!((nand.0, nand.1[place]), (Cause::Nand, reads.mean_ns[place]));
    }
    for (values, windows, thousandths) in
        [(&reads.p50_ns, &reads.p50_windows, 500), (&reads.p99_ns, &reads.p99_windows, 990)]
    {
        let mut place = 0;
        while place < values.len() {
            let count = windows[place].max(1) as usize;
            if let Some(value) = values[place] {
                let last = place + count - 1;
                let exact = exact(run, summary.begin_ns[place], end_of(last), thousandths);
                assert!(value.abs_diff(exact) as f64 <= exact as f64 / 512.0, "{value} {exact}");
            }
            place += count;
        }
    }
}

#[test]
fn a_run_of_any_length_has_a_readable_number_of_windows() {
    for span_ns in [3_000, 700_000, 200 * MS, 60_000 * MS, 36_000_000 * MS] {
        let run = drawn(20_000, span_ns);
        let summary = timeline_of(Interval::Fitting, &run, Op::Read);
        let windows = summary.begin_ns.len();
        let fewest = if span_ns > 50_000 { 48 } else { 3 };
        assert!((fewest..=120).contains(&windows), "{windows} windows of {span_ns} ns");
        let mantissa = summary.interval_ns / 10_u64.pow(summary.interval_ns.ilog10());
        assert!([1, 2, 5].contains(&mantissa), "{}", summary.interval_ns);
        check(&summary, &run);
    }
}

#[test]
fn few_requests_make_few_windows() {
    for (count, most) in [(0, 0), (1, 1), (15, 1), (200, 20), (900, 90)] {
        let run = drawn(count, 300 * MS);
        let summary = timeline_of(Interval::Fitting, &run, Op::Read);
        let windows = summary.begin_ns.len();
        assert!(windows <= most && windows * 5 >= most, "{windows} windows of {count}");
        if count > 0 {
            check(&summary, &run);
        }
    }
}

#[test]
fn windows_of_a_given_length_are_those() {
    let run = drawn(50_000, 1_003 * MS);
    for width_ms in [1, 7, 100, 5_000] {
        let summary = timeline_of(Interval::Every(Nanos(width_ms * MS)), &run, Op::Read);
        assert_eq!(summary.interval_ns, width_ms * MS);
        assert!(!summary.cut_off);
        check(&summary, &run);
    }
}

#[test]
fn a_percentile_is_of_as_many_windows_as_it_takes() {
    // 30 requests in each of 100 windows: enough for the median, 34 windows for the 99th.
    let run: Run = (0..3_000).map(|n| ((n / 30) * MS + (n % 30) * 1_000 + 1, 1_000 + n)).collect();
    let reads = &timeline_of(Interval::Every(Nanos(MS)), &run, Op::Read).by_op["read"];
    assert!(reads.p50_windows.iter().all(|&windows| windows == 1));
    let mut groups = reads.p99_windows.clone();
    groups.dedup();
    // 34 and 34 windows; the last 31 are too few for a third and join the second.
    assert_eq!(groups, [34, 65]);
    let (found, exact) = (reads.p99_ns[0].unwrap(), exact(&run, 0, 34 * MS, 990));
    assert!(found.abs_diff(exact) <= exact / 512, "{found} for {exact}");
}

#[test]
fn too_few_requests_have_no_percentile() {
    let run: Run = (0..19).map(|n| (n * MS, 1_000)).collect();
    let reads = &timeline_of(Interval::Every(Nanos(MS)), &run, Op::Read).by_op["read"];
    assert!(reads.p50_ns.iter().all(Option::is_none) && reads.p50_windows.iter().all(|&w| w == 0));
    assert_eq!(reads.max_ns[0], Some(1_000));
}

#[test]
fn windows_without_requests_have_a_rate_of_zero() {
    let run: Run = (0..200).map(|n| (n * 1_000 + if n < 100 { 0 } else { 50 * MS }, 500)).collect();
    let reads = &timeline_of(Interval::Every(Nanos(MS)), &run, Op::Read).by_op["read"];
    assert_eq!((reads.requests[0], reads.requests[25], reads.requests[49]), (100, 0, 100));
    assert_eq!((reads.iops[25], reads.p50_ns[25], reads.mean_ns[25]), (Some(0.0), None, None));
}

#[test]
fn a_last_window_of_less_than_half_the_length_joins_the_one_before() {
    let run: Run = (0..=1_040).map(|n| (n * 10_000, 500)).collect();
    let summary = timeline_of(Interval::Every(Nanos(MS)), &run, Op::Read);
    assert_eq!(summary.begin_ns.len(), 10, "10.4 ms are ten windows");
    assert_eq!(summary.duration_ns[9], 1_400_000);
    let iops = summary.by_op["read"].iops[9].unwrap();
    assert!((iops - 141.0 * 1e9 / 1_400_000.0).abs() < 1e-6, "{iops}");
}

#[test]
fn readings_belong_to_the_window_that_they_end() {
    let mut timeline = Timeline::new(Interval::Every(Nanos(MS)), ClockKind::Wall, false);
    let reading = |moved, waited_ns| Reading {
        upkeep: Some(Upkeep {
            gc_pages_moved: moved,
            pslc_parts_full: moved / 10,
            pslc_parts: 8,
            ..Upkeep::default()
        }),
        others_bytes: Some(7 * moved),
        machine: Some(MachineReading { waited_ns, ..MachineReading::default() }),
    };
    timeline.begin(Nanos(5), reading(100, 1_000));
    for (at, moved, waited_ns) in
        [(10, 100, 1_000), (MS + 10, 120, 1_000), (2 * MS + 10, 150, 9_000)]
    {
        timeline.open(Nanos(at), reading(moved, waited_ns));
        timeline.add_failed(Nanos(at));
    }
    let summary = timeline.finish(Nanos(3 * MS), reading(151, 9_500), &[]);
    let upkeep = summary.upkeep.unwrap();
    assert_eq!(upkeep.gc_pages_moved, [20, 30, 1]);
    assert_eq!((upkeep.pslc_parts_full, upkeep.pslc_parts), (vec![12, 15, 15], vec![8, 8, 8]));
    assert_eq!(summary.machine.unwrap().waited_ns, [0, 8_000, 500]);
    assert_eq!(summary.others_bytes.unwrap(), [140, 210, 7]);
    assert_eq!(summary.failed_requests, [1, 1, 1]);
    assert!(summary.by_op.is_empty());
}

#[test]
fn flows_are_kept_apart_and_together() {
    let mut timeline = Timeline::new(Interval::Fitting, ClockKind::Virtual, false);
    timeline.tell_flows();
    timeline.begin(Nanos::ZERO, Reading::default());
    for n in 0..30_000 {
        let at = Nanos(n * 1_000);
        if timeline.begins_window(at) {
            timeline.open(at, Reading::default());
        }
        let flow = u16::from(n % 3 == 0);
        let op = if flow == 0 { Op::Read } else { Op::Write };
        let latency_ns = 1_000 * (1 + u64::from(flow));
        timeline
            .add(at, &Served { op, flow, bytes: 512, latency_ns, attribution: &Attribution::ZERO });
    }
    let summary = timeline.finish(Nanos(29_999_000), Reading::default(), &["reader", "writer"]);
    let flows = summary.flows.unwrap();
    assert_eq!((flows[0].name.as_str(), flows[1].name.as_str()), ("reader", "writer"));
    assert_eq!(flows[0].by_op["read"], summary.by_op["read"]);
    assert_eq!(flows[1].by_op["write"], summary.by_op["write"]);
    assert!(
        !flows[0].by_op.contains_key("write") && summary.by_op["read"].attribution_ns.is_none()
    );
}

#[test]
fn a_run_that_outgrows_its_windows_says_so() {
    let run: Run = (0..3).map(|n| (n * MOST_GIVEN as u64 * 1_000, 10)).collect();
    let summary = timeline_of(Interval::Every(Nanos(1_000)), &run, Op::Read);
    assert!(summary.cut_off);
    assert_eq!(summary.begin_ns.len(), MOST_GIVEN);
    assert_eq!(summary.by_op["read"].requests.iter().sum::<u64>(), 1);
}
