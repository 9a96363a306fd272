//! Synthetic workloads in the closed loop, held against closed forms.

use super::helpers::{US, run, workload};
use crate::driver::{RunObserver, Unobserved, run_workload};
use crate::log::LogChunk;
use crate::mock::MockDevice;
use crate::request::Op;
use crate::summary::StopReason;
use crate::units::Nanos;
use crate::workload::Pattern;
use std::ops::ControlFlow;

#[test]
fn depth_one_takes_the_sum_of_all_latencies() {
    let mut device = MockDevice::new(1, 50 * US, 2);
    let (summary, _) = run(&mut device, &workload(Pattern::RandRead, 300));
    let latency_ns = 50 * US + 2 * 4096;
    let read = summary.read.unwrap();
    assert_eq!(summary.elapsed_ns, 300 * latency_ns);
    assert_eq!((read.latency_ns.min, read.latency_ns.max), (latency_ns, latency_ns));
    assert_eq!(read.latency_ns.ci95_low, Some(latency_ns as f64));
    assert_eq!(read.latency_ns.stddev, 0.0);
    assert_eq!(summary.stopped_by, StopReason::Requests);
    assert_eq!(summary.write, None);
    assert_eq!(summary.counters.unwrap().host_bytes_read, 300 * 4096);
}

#[test]
fn depth_scales_until_all_servers_are_busy_and_littles_law_holds() {
    for (depth, busy_servers) in [(1, 1), (2, 2), (4, 4), (8, 4), (32, 4)] {
        let mut device = MockDevice::new(4, 100 * US, 0);
        let mut plan = workload(Pattern::RandRead, 4_000);
        plan.iodepth = depth;
        let (summary, log) = run(&mut device, &plan);
        let read = summary.read.unwrap();
        let expected = busy_servers as f64 / 1e-4;
        assert!((read.iops.unwrap() / expected - 1.0).abs() < 0.01, "depth {depth}");
        // Little: requests in flight = rate x latency, but for ramping up and down.
        let in_flight = read.iops.unwrap() * read.latency_ns.mean / 1e9;
        assert!((in_flight / depth as f64 - 1.0).abs() < 0.01, "depth {depth}: {in_flight}");
        assert_eq!(log.index.iter().max(), Some(&3_999));
    }
}

#[test]
fn think_time_separates_completion_and_next_submission() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 10);
    plan.thinktime_ns = 5 * US;
    let (summary, _) = run(&mut device, &plan);
    assert_eq!(summary.elapsed_ns, 10 * 10 * US + 9 * 5 * US);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0).collect();
    let expected: Vec<u64> = (0..10).map(|k| k * 15 * US).collect();
    assert_eq!(submissions, expected);
}

#[test]
fn a_job_sleeps_when_its_queue_is_empty() {
    // One server, two places: completions at 10 and 20 us, then 25 us of sleep; two were served
    // since it began, so that one request more brings the next.
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 6);
    plan.iodepth = 2;
    plan.thinktime_ns = 25 * US;
    run(&mut device, &plan);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [0, 0, 45, 80, 115, 150]);
}

#[test]
fn each_direction_of_a_mix_has_a_rate_of_its_own() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::RandRw, u64::MAX);
    (plan.read_percent, plan.rate_bytes) = (70, Some(1_000 * 4096));
    plan.runtime_ns = Some(1_000_000 * US);
    let (summary, _) = run(&mut device, &plan);
    let requests = [summary.read, summary.write].map(|each| each.unwrap().requests);
    assert_eq!(requests, [1_000, 1_000], "whatever the mix says");
    plan.write_rate_bytes = Some(100 * 4096);
    (plan.rate_bytes, plan.runtime_ns) = (None, Some(100_000 * US));
    let (summary, _) = run(&mut device, &plan);
    assert_eq!(summary.write.unwrap().requests, 10);
    assert!(summary.read.unwrap().requests > 9_900, "reads never wait for writes");
}

#[test]
fn a_job_begins_after_its_delay() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 3);
    (plan.start_delay_ns, plan.rate_iops) = (500 * US, Some(50_000));
    run(&mut device, &plan);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [500, 520, 540]);
}

#[test]
fn a_burst_ends_in_a_pause() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 7);
    (plan.thinktime_ns, plan.thinktime_every) = (100 * US, 3);
    let (summary, _) = run(&mut device, &plan);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [0, 10, 20, 130, 140, 150, 260]);
    assert_eq!(summary.elapsed_ns, 270 * US);
}

#[test]
fn a_rate_spaces_requests_without_drift_and_catches_up() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 7);
    plan.rate_iops = Some(30_000);
    run(&mut device, &plan);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0).collect();
    assert_eq!(submissions, [0, 33_333, 66_666, 100_000, 133_333, 166_666, 200_000]);

    // A drive of 25,000 per second cannot keep up with 30,000: it is simply saturated.
    let mut slow = MockDevice::new(1, 40 * US, 0);
    let (summary, _) = run(&mut slow, &plan);
    assert_eq!(summary.elapsed_ns, 7 * 40 * US);
}

#[test]
fn jobs_run_side_by_side_with_their_own_depth_and_limits() {
    let mut device = MockDevice::new(100, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 20);
    plan.numjobs = 3;
    plan.iodepth = 2;
    let (summary, _) = run(&mut device, &plan);
    assert_eq!(summary.requests, 60);
    assert_eq!(summary.elapsed_ns, 10 * 10 * US, "six at a time");
    let first: Vec<u64> = device.seen[..6].iter().map(|(_, request)| request.lba.0).collect();
    assert_eq!(first, [0, 0, 0, 8, 8, 8], "every job reads from the start of the region");
}

#[test]
fn flushes_are_counted_apart() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Write, 10);
    plan.fsync_every = 4;
    let (summary, log) = run(&mut device, &plan);
    assert_eq!(summary.requests, 10);
    assert_eq!(summary.flush.unwrap().requests, 2);
    assert_eq!(log.op, [1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1]);
    assert_eq!(summary.elapsed_ns, 12 * 10 * US);
}

#[test]
fn force_unit_access_reaches_the_drive_on_writes_only() {
    let mut device = MockDevice::new(1, US, 0);
    let mut plan = workload(Pattern::Rw, 50);
    plan.fua = true;
    run(&mut device, &plan);
    assert!(device.seen.iter().all(|(_, request)| request.fua == (request.op == Op::Write)));
}

#[test]
fn the_ramp_counts_nowhere() {
    let mut device = MockDevice::new(2, 10 * US, 0);
    let mut plan = workload(Pattern::Write, 10);
    plan.ramp_requests = 5;
    let (summary, log) = run(&mut device, &plan);
    assert_eq!(device.seen.len(), 15);
    assert_eq!((summary.requests, log.len()), (10, 10));
    assert_eq!(log.submit_ns[0], 5 * 10 * US);
    assert_eq!(summary.elapsed_ns, 10 * 10 * US);
    assert_eq!(summary.counters.unwrap().host_bytes_written, 10 * 4096);
}

#[test]
fn the_ramp_lasts_no_longer_than_it_may() {
    let counted = |requests, ns| {
        let mut device = MockDevice::new(2, 10 * US, 0);
        let mut plan = workload(Pattern::Write, 10);
        (plan.ramp_requests, plan.ramp_ns) = (requests, ns);
        let (summary, _) = run(&mut device, &plan);
        (summary.requests, device.seen.len())
    };
    assert_eq!(counted(0, Some(30 * US)), (10, 13));
    assert_eq!(counted(5, Some(30 * US)), (10, 13));
    assert_eq!(counted(5, Some(70 * US)), (10, 15));
    assert_eq!(counted(5, Some(u64::MAX)), (10, 15));
}

#[test]
fn the_runtime_counts_from_the_first_request_after_the_ramp() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 1_000);
    plan.ramp_requests = 3;
    plan.runtime_ns = Some(95 * US);
    let (summary, _) = run(&mut device, &plan);
    assert_eq!((summary.requests, summary.stopped_by), (10, StopReason::Runtime));
    // What would only be due afterwards is not waited for.
    plan.ramp_requests = 0;
    plan.thinktime_ns = 1_000_000 * US;
    let (summary, _) = run(&mut MockDevice::new(1, 10 * US, 0), &plan);
    assert_eq!((summary.requests, summary.stopped_by), (1, StopReason::Runtime));
}

#[test]
fn a_slot_without_time_left_does_not_stop_the_others() {
    // Two jobs think 25 us after 10 and 20 us: due at 35 and, too late, at 45.
    let mut device = MockDevice::new(1, 10 * US, 0);
    let mut plan = workload(Pattern::Read, 1_000);
    plan.numjobs = 2;
    plan.thinktime_ns = 25 * US;
    plan.runtime_ns = Some(40 * US);
    let (summary, _) = run(&mut device, &plan);
    let submissions: Vec<u64> = device.seen.iter().map(|(at, _)| at.0 / US).collect();
    assert_eq!(submissions, [0, 0, 35]);
    assert_eq!(summary.stopped_by, StopReason::Runtime);
}

#[test]
fn bytes_end_a_run_and_the_default_is_one_pass() {
    let mut plan = workload(Pattern::Read, 1);
    plan.requests = None;
    plan.size_bytes = Some(64 * 1024);
    let (summary, log) = run(&mut MockDevice::new(1, US, 0), &plan);
    assert_eq!((summary.requests, summary.stopped_by), (16, StopReason::Bytes));
    assert_eq!(log.offset_bytes, (0..16).map(|block| block * 4096).collect::<Vec<_>>());
    assert_eq!(summary.workload.unwrap().io_bytes, Some(64 * 1024));
}

#[test]
fn until_ci_stops_early_and_its_intervals_cover() {
    // One server at depth 2: every request waits for one other and then for itself.
    let read_ns = (10 * US + 4_096) as f64;
    let write_ns = (10 * US + 65_536) as f64;
    let other_ns = (read_ns + write_ns) / 2.0;
    let runs = 200;
    let mut covered = 0;
    for seed in 0..runs {
        let mut plan = workload(Pattern::RandRw, 1_000_000);
        plan.seed = seed;
        plan.write_block_bytes = Some(65_536);
        plan.until_ci = Some(0.05);
        plan.iodepth = 2;
        let mut device = MockDevice::new(1, 10 * US, 1);
        let summary = run_workload(&mut device, &plan, &mut Unobserved).unwrap();
        assert_eq!(summary.stopped_by, StopReason::UntilCi);
        assert_eq!(summary.until_ci_reached, Some(true));
        assert!((400..5_000).contains(&summary.requests), "{}", summary.requests);
        for (section, own_ns) in [(summary.read, read_ns), (summary.write, write_ns)] {
            let latency = section.unwrap().latency_ns;
            let (low, high) = (latency.ci95_low.unwrap(), latency.ci95_high.unwrap());
            assert!((high - low) / 2.0 <= 0.05 * latency.mean);
            covered += u32::from(low <= own_ns + other_ns && own_ns + other_ns <= high);
        }
    }
    let share = f64::from(covered) / (2 * runs) as f64;
    assert!(share >= 0.92, "95 % intervals covered in {share} of all cases");
}

#[test]
fn an_interval_that_was_reached_is_not_undone_by_draining() {
    for seed in 0..20 {
        let mut plan = workload(Pattern::RandRw, 1_000_000);
        plan.seed = seed;
        plan.write_block_bytes = Some(65_536);
        plan.until_ci = Some(0.05);
        plan.iodepth = 256;
        let summary =
            run_workload(&mut MockDevice::new(3, 10 * US, 1), &plan, &mut Unobserved).unwrap();
        assert_eq!(summary.until_ci_reached, Some(true));
        for section in [summary.read, summary.write] {
            let latency = section.unwrap().latency_ns;
            let width = latency.ci95_high.unwrap() - latency.ci95_low.unwrap();
            assert!(width / 2.0 <= 0.05 * latency.mean, "seed {seed}: {latency:?}");
        }
    }
}

#[test]
fn an_interval_that_is_not_reached_is_said() {
    // Reads wait for writes of 64 KiB or they do not.
    let mut plan = workload(Pattern::RandRw, 300);
    plan.until_ci = Some(0.001);
    plan.iodepth = 2;
    plan.write_block_bytes = Some(65_536);
    let mut device = MockDevice::new(1, 10 * US, 1);
    let (summary, _) = run(&mut device, &plan);
    assert_eq!(summary.stopped_by, StopReason::Requests);
    assert_eq!(summary.until_ci_reached, Some(false));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let mut plan = workload(Pattern::RandRw, 500);
    plan.iodepth = 7;
    plan.thinktime_ns = 3;
    let go = |seed| {
        let plan = crate::Workload { seed, ..plan.clone() };
        let (summary, log) = run(&mut MockDevice::new(3, 10 * US, 1), &plan);
        (serde_json::to_string(&summary).unwrap(), log)
    };
    assert_eq!(go(1), go(1));
    assert_ne!(go(1).1, go(2).1);
}

#[test]
fn a_second_run_goes_on_from_where_the_first_left_the_clock() {
    let mut device = MockDevice::new(1, 10 * US, 0);
    run(&mut device, &workload(Pattern::Read, 5));
    let (summary, log) = run(&mut device, &workload(Pattern::Write, 5));
    assert_eq!((summary.elapsed_ns, log.submit_ns[0]), (50 * US, 50 * US));
    assert_eq!(summary.counters.unwrap().host_bytes_read, 0, "counted since the run began");
}

/// Cancels after so many calls.
struct Canceller {
    calls: u32,
    rows: usize,
}

impl RunObserver for Canceller {
    fn progress(&mut self, progress: &crate::Progress) -> ControlFlow<()> {
        assert_eq!(progress.fraction, Some(progress.requests as f64 / 1e6));
        self.calls -= 1;
        if self.calls == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        self.rows += chunk.len();
        ControlFlow::Continue(())
    }

    fn wants_log(&self) -> bool {
        true
    }
}

#[test]
fn cancelling_drains_and_keeps_the_results() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let mut plan = workload(Pattern::RandRead, 1_000_000);
    plan.iodepth = 8;
    let mut canceller = Canceller { calls: 3, rows: 0 };
    let summary = run_workload(&mut device, &plan, &mut canceller).unwrap();
    assert!(summary.interrupted);
    assert_eq!(summary.stopped_by, StopReason::Interrupted);
    assert_eq!(summary.requests, device.seen.len() as u64, "every issued request was served");
    assert!((150..300).contains(&summary.requests));
    assert_eq!(canceller.rows as u64, summary.requests);
    assert_eq!(crate::Device::in_flight(&device), 0);
}

#[test]
fn the_log_comes_in_bounded_chunks() {
    struct Sizes(Vec<usize>);
    impl RunObserver for Sizes {
        fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
            self.0.push(chunk.len());
            ControlFlow::Continue(())
        }
        fn wants_log(&self) -> bool {
            true
        }
    }
    let mut sizes = Sizes(Vec::new());
    let mut device = MockDevice::new(1, 1, 0);
    run_workload(&mut device, &workload(Pattern::Read, 150_000), &mut sizes).unwrap();
    assert_eq!(sizes.0, [65_536, 65_536, 150_000 - 2 * 65_536]);
}

#[test]
fn the_summary_is_the_json_of_the_contract() {
    let (summary, _) = run(&mut MockDevice::new(1, 10 * US, 0), &workload(Pattern::Write, 4));
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["requests"], 4);
    assert_eq!(json["elapsed_ns"], 40 * US);
    assert!(json["read"].is_null());
    assert_eq!(json["write"]["bytes"], 4 * 4096);
    assert_eq!(json["write"]["iops"], 1e5);
    assert_eq!(json["write"]["bandwidth_bytes_per_s"], 4096.0 * 1e5);
    let latency = json["write"]["latency_ns"].as_object().unwrap();
    let keys: Vec<&str> = latency.keys().map(String::as_str).collect();
    let mut expected = [
        "mean",
        "stddev",
        "ci95_low",
        "ci95_high",
        "min",
        "p50",
        "p90",
        "p95",
        "p99",
        "p99_9",
        "max",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(json["write"]["attribution_ns"]["nand"], 10_000.0);
    assert_eq!(json["counters"]["host_bytes_written"], 4 * 4096);
    assert_eq!(json["stopped_by"], "requests");
    assert_eq!(json["interrupted"], false);
    assert_eq!(json["failed_requests"], 0);
    assert_eq!(json["workload"]["rw"], "write");
    assert_eq!(Nanos(summary.elapsed_ns), Nanos(40 * US));
}
