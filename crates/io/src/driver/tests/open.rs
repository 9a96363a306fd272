//! Request lists and traces: arrivals, queueing, modes of replay.

use super::helpers::{US, check_against_log};
use crate::driver::{
    Failure, LogKeeper, ReplayMode, ReplayOptions, RequestList, RunError, Unobserved, replay,
    run_list,
};
use crate::mock::MockDevice;
use crate::null::NullDevice;
use crate::request::Op;
use crate::summary::{LatencyFrom, RunSummary, StopReason};
use crate::trace::TimedRequest;
use crate::units::{Lba, Nanos, Sectors};
use std::convert::Infallible;

/// Reads of 4 KiB at these arrivals, in microseconds.
fn reads(arrivals_us: &[u64]) -> Vec<Result<TimedRequest, Infallible>> {
    let request = |(index, arrival_us): (usize, &u64)| {
        Ok(TimedRequest {
            arrival: Nanos(arrival_us * US),
            op: Op::Read,
            lba: Lba(index as u64 * 8),
            sectors: Sectors(8),
            source_line: index as u64 + 1,
        })
    };
    arrivals_us.iter().enumerate().map(request).collect()
}

/// Replays those reads on one server of 10 us; submissions in microseconds and the summary.
fn replayed(arrivals_us: &[u64], options: &ReplayOptions) -> (Vec<u64>, RunSummary) {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut keeper = LogKeeper::default();
    let trace = reads(arrivals_us).into_iter();
    let summary = replay(&mut device, trace, options, &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    (device.seen.iter().map(|(at, _)| at.0 / US).collect(), summary)
}

fn mode(mode: ReplayMode, iodepth: u32) -> ReplayOptions {
    ReplayOptions { mode, iodepth, ..ReplayOptions::default() }
}

#[test]
fn open_replay_submits_at_arrival_and_queues() {
    let (submissions, summary) = replayed(&[7, 9, 12, 40], &mode(ReplayMode::Open, 1));
    assert_eq!(submissions, [0, 2, 5, 33], "counted from the first arrival");
    let latency = summary.read.unwrap().latency_ns;
    // Served 0-10, 10-20, 20-30, 33-43: latencies 10, 18, 25, 10.
    assert_eq!((latency.mean, latency.max), (15.75 * 1e3, 25 * US));
    assert_eq!(summary.latency_from, LatencyFrom::Arrival);
    assert_eq!(summary.stopped_by, StopReason::End);
    assert_eq!(summary.lateness_ns, None, "virtual time is never late");
}

#[test]
fn a_trace_longer_than_the_clock_is_refused_unless_its_times_are_ignored() {
    let second = Nanos(1_000_000_000);
    let mut options = mode(ReplayMode::Open, 1);
    (options.time_scale, options.expected_span) = (1e12, Some(second));
    let mut device = MockDevice::new(1, 10 * US, 0);
    let error = replay(&mut device, reads(&[0, 5]).into_iter(), &options, &mut Unobserved);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("time scale 1000000000000") && text.contains("--mode asap"), "{text}");
    assert!(device.seen.is_empty(), "nothing was done");
    options.mode = ReplayMode::Asap;
    assert_eq!(replayed(&[0, 5], &options).0, [0, 10]);
}

#[test]
fn time_scale_multiplies_arrivals() {
    let options = ReplayOptions { time_scale: 2.5, ..ReplayOptions::default() };
    let (submissions, _) = replayed(&[100, 102, 140], &options);
    assert_eq!(submissions, [0, 5, 100]);
    let all_at_once = ReplayOptions { time_scale: 0.0, ..ReplayOptions::default() };
    let (submissions, summary) = replayed(&[100, 102, 140], &all_at_once);
    assert_eq!(submissions, [0, 0, 0]);
    assert_eq!(summary.read.unwrap().latency_ns.max, 30 * US);
}

#[test]
fn closed_replay_keeps_the_pauses_behind_a_full_queue() {
    // Depth 1, pauses 2, 3, 28: 0-10, 10-20 (8 late), 20-30 (7 more late), then 28 later.
    let (submissions, summary) = replayed(&[7, 9, 12, 40], &mode(ReplayMode::Closed, 1));
    assert_eq!(submissions, [0, 10, 20, 48]);
    assert_eq!(summary.read.unwrap().latency_ns.max, 10 * US);
    assert_eq!(summary.latency_from, LatencyFrom::Submission);
    let (submissions, _) = replayed(&[7, 9, 12, 40], &mode(ReplayMode::Closed, 9));
    assert_eq!(submissions, [0, 2, 5, 33], "a queue that never fills changes nothing");
}

#[test]
fn asap_replay_ignores_arrivals() {
    let (submissions, summary) = replayed(&[7, 9, 12, 4_000], &mode(ReplayMode::Asap, 2));
    assert_eq!(submissions, [0, 0, 10, 20]);
    assert_eq!(summary.elapsed_ns, 40 * US);
}

#[test]
fn arrivals_out_of_order_count_as_their_predecessors() {
    let (submissions, _) = replayed(&[10, 30, 20, 50], &mode(ReplayMode::Open, 1));
    assert_eq!(submissions, [0, 20, 20, 40]);
}

#[test]
fn an_idle_day_costs_nothing_and_nothing_runs_over() {
    let day_us = 86_400_000_000;
    let arrivals = [0, day_us, 200 * day_us];
    let (submissions, summary) = replayed(&arrivals, &ReplayOptions::default());
    assert_eq!(submissions, arrivals);
    assert_eq!(summary.read.unwrap().latency_ns.max, 10 * US);
}

#[test]
fn queueing_follows_pollaczek_and_khinchine() {
    // M/D/1 at 80 % load: mean wait = rho / (2 (1 - rho)) service times = 2, latency 3.
    let mut stream = crate::rng::Stream::new(1, "arrivals");
    let mut now_ns = 0.0;
    #[expect(clippy::cast_sign_loss, reason = "time is not negative")]
    let trace = (0..400_000).map(|_| {
        now_ns += -(1.0 - stream.unit()).ln() * 12_500.0;
        Ok::<_, Infallible>(TimedRequest {
            arrival: Nanos(now_ns as u64),
            op: Op::Write,
            lba: Lba(0),
            sectors: Sectors(8),
            source_line: 0,
        })
    });
    let mut device = MockDevice::new(1, 10 * US, 0);
    let summary = replay(&mut device, trace, &ReplayOptions::default(), &mut Unobserved).unwrap();
    let write = summary.write.unwrap();
    let (mean, low, high) = (
        write.latency_ns.mean,
        write.latency_ns.ci95_low.unwrap(),
        write.latency_ns.ci95_high.unwrap(),
    );
    assert!((mean / 30_000.0 - 1.0).abs() < 0.03, "{mean}");
    assert!(low < 30_000.0 && 30_000.0 < high, "{low}..{high}");
}

#[test]
fn a_broken_trace_keeps_what_was_replayed() {
    #[derive(Debug, thiserror::Error)]
    #[error("line 3 is no request: 'x'")]
    struct Malformed;
    let mut trace: Vec<Result<TimedRequest, Malformed>> =
        reads(&[0, 1]).into_iter().flatten().map(Ok).collect();
    trace.push(Err(Malformed));
    let mut device = MockDevice::new(1, 10 * US, 0);
    let options = ReplayOptions::default();
    let error = replay(&mut device, trace.into_iter(), &options, &mut Unobserved).unwrap_err();
    assert_eq!(error.to_string(), "line 3 is no request: 'x'");
    assert_eq!(error.partial().unwrap().requests, 2, "the two before it were served");
    assert!(matches!(error, RunError::Broken { failure: Failure::Source(_), .. }));
}

#[test]
fn senseless_options_are_refused() {
    for options in [
        mode(ReplayMode::Closed, 0),
        mode(ReplayMode::Asap, u32::MAX),
        ReplayOptions { thinktime: Nanos(US), ..ReplayOptions::default() },
        ReplayOptions { time_scale: -1.0, ..ReplayOptions::default() },
        ReplayOptions { time_scale: f64::NAN, ..ReplayOptions::default() },
    ] {
        let mut device = MockDevice::new(1, US, 0);
        let error = replay(&mut device, reads(&[0]).into_iter(), &options, &mut Unobserved);
        assert!(matches!(error, Err(RunError::Refused(_))), "{options:?}");
    }
}

#[test]
fn the_host_of_a_closed_replay_thinks_after_each_completion() {
    for (how, expected) in [(ReplayMode::Asap, [0, 13, 26]), (ReplayMode::Closed, [0, 13, 113])] {
        let mut device = MockDevice::new(1, 10 * US, 0);
        let options = ReplayOptions { thinktime: Nanos(3 * US), ..mode(how, 1) };
        let trace = reads(&[0, 5, 105]).into_iter();
        replay(&mut device, trace, &options, &mut Unobserved).unwrap();
        let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
        assert_eq!(submissions, expected, "{how:?}");
    }
}

#[test]
fn a_list_runs_in_its_order_at_its_depth() {
    let mut device = MockDevice::new(1, 10 * US, 1);
    let list = RequestList {
        ops: &[1, 0, 2, 3],
        offsets_bytes: &[8192, 0, 0, 4096],
        lengths_bytes: &[512, 4096, 0, 4096],
        arrivals_ns: None,
        pauses_ns: None,
    };
    let mut keeper = LogKeeper::default();
    let summary = run_list(&mut device, &list, 2, Nanos(0), &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    assert_eq!(summary.requests, 3, "flushes are counted apart");
    assert_eq!(keeper.log.op, [1, 0, 2, 3]);
    assert_eq!(keeper.log.index, [0, 1, 2, 3]);
    assert_eq!(keeper.log.offset_bytes, [8192, 0, 0, 4096]);
    let mut thinking = MockDevice::new(1, 10 * US, 0);
    run_list(&mut thinking, &list, 1, Nanos(2 * US), &mut Unobserved).unwrap();
    let submissions: Vec<u64> = thinking.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [0, 12, 24, 36]);
}

#[test]
fn a_list_with_arrivals_is_open_and_its_index_survives_reordering() {
    // Two servers; the first request is long, so that the second overtakes it.
    let mut device = MockDevice::new(2, 10 * US, 1);
    let list = RequestList {
        ops: &[0, 0, 0],
        offsets_bytes: &[0, 0, 512],
        lengths_bytes: &[65_536, 512, 512],
        arrivals_ns: Some(&[5, 1_000, 1_000]),
        pauses_ns: None,
    };
    let mut keeper = LogKeeper::default();
    let summary = run_list(&mut device, &list, 1, Nanos(0), &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    assert_eq!(keeper.log.index, [1, 2, 0]);
    assert_eq!(keeper.log.submit_ns, [1_000, 1_000, 5]);
    let expected = [1_000 + 10_512, 1_000 + 2 * 10_512, 5 + 75_536];
    assert_eq!(keeper.log.complete_ns, expected);
}

#[test]
fn a_pause_waits_until_all_before_it_have_ended() {
    // Bursts of two and of three at depth 2, the pauses before them included.
    let mut device = MockDevice::new(1, 10 * US, 0);
    let list = RequestList {
        ops: &[0; 5],
        offsets_bytes: &[0; 5],
        lengths_bytes: &[512; 5],
        arrivals_ns: None,
        pauses_ns: Some(&[5 * US, 0, 1_000 * US, 0, 0]),
    };
    let mut keeper = LogKeeper::default();
    let summary = run_list(&mut device, &list, 2, Nanos(0), &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [5, 5, 25 + 1_000, 25 + 1_000, 25 + 1_000 + 10]);
    assert_eq!(keeper.log.index, [0, 1, 2, 3, 4]);
}

#[test]
fn a_pause_passes_on_a_wall_clock() {
    let mut device = NullDevice::new(1 << 20);
    let list = RequestList {
        ops: &[0; 4],
        offsets_bytes: &[0; 4],
        lengths_bytes: &[512; 4],
        arrivals_ns: None,
        pauses_ns: Some(&[0, 2_000 * US, 0, 2_000 * US]),
    };
    let mut keeper = LogKeeper::default();
    run_list(&mut device, &list, 1, Nanos(0), &mut keeper).unwrap();
    let (submitted, completed) = (&keeper.log.submit_ns, &keeper.log.complete_ns);
    assert!(submitted[1] >= completed[0] + 2_000 * US);
    assert!(submitted[3] >= completed[2] + 2_000 * US);
}

#[test]
fn a_list_can_force_its_writes_through() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let list = RequestList {
        ops: &[1, 4, 2],
        offsets_bytes: &[0, 4096, 0],
        lengths_bytes: &[4096, 4096, 0],
        arrivals_ns: None,
        pauses_ns: None,
    };
    let mut keeper = LogKeeper::default();
    run_list(&mut device, &list, 1, Nanos(0), &mut keeper).unwrap();
    let forced: Vec<bool> = device.seen.iter().map(|(_, request)| request.fua).collect();
    assert_eq!(forced, [false, true, false]);
    assert_eq!(keeper.log.op, [1, 1, 2], "it is a write like others");
}

#[test]
fn a_list_that_cannot_be_served_is_refused_with_the_request() {
    let good = RequestList {
        ops: &[0],
        offsets_bytes: &[0],
        lengths_bytes: &[512],
        arrivals_ns: None,
        pauses_ns: None,
    };
    let cases = [
        (RequestList { ops: &[7], ..good }, "request 0 (op 7"),
        (RequestList { offsets_bytes: &[100], ..good }, "whole 512-byte sectors"),
        (RequestList { offsets_bytes: &[1 << 30], ..good }, "past the end"),
        (RequestList { lengths_bytes: &[0], ..good }, "request 0:"),
        (RequestList { ops: &[0, 0], ..good }, "of one length"),
        (RequestList { arrivals_ns: Some(&[]), ..good }, "of one length"),
        (RequestList { arrivals_ns: Some(&[u64::MAX]), ..good }, "later than"),
        (RequestList { pauses_ns: Some(&[]), ..good }, "of one length"),
        (RequestList { pauses_ns: Some(&[u64::MAX]), ..good }, "longer than"),
        (RequestList { arrivals_ns: Some(&[0]), pauses_ns: Some(&[0]), ..good }, "not both"),
    ];
    for (list, expected) in cases {
        let mut device = MockDevice::new(1, US, 0);
        let error = run_list(&mut device, &list, 1, Nanos(0), &mut Unobserved).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(device.seen.is_empty());
    }
}

#[test]
fn on_a_wall_clock_lateness_is_recorded_and_latency_counts_from_arrival() {
    let mut device = NullDevice::new(1 << 20);
    let mut keeper = LogKeeper::default();
    let trace = reads(&[0, 500, 1_000, 1_500]).into_iter();
    let summary = replay(&mut device, trace, &ReplayOptions::default(), &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    let lateness = summary.lateness_ns.unwrap();
    let read = summary.read.unwrap();
    assert!(lateness.max <= read.latency_ns.max);
    assert!(summary.elapsed_ns >= 1_500 * US);
    let arrivals: Vec<u64> =
        keeper.log.submit_ns.iter().map(|at| at - keeper.log.submit_ns[0]).collect();
    assert_eq!(arrivals, [0, 500 * US, 1_000 * US, 1_500 * US]);
}
