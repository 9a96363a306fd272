//! Drawn workloads on drawn drives: what must hold whatever is asked.

use super::helpers::{run, workload};
use crate::log::LogChunk;
use crate::mock::MockDevice;
use crate::rng::Stream;
use crate::workload::{Pattern, Workload};
use crate::{Device, Op};

const PATTERNS: [Pattern; 6] = [
    Pattern::Read,
    Pattern::Write,
    Pattern::RandRead,
    Pattern::RandWrite,
    Pattern::Rw,
    Pattern::RandRw,
];

pub fn drawn_workload(draw: &mut Stream) -> Workload {
    let mut plan = workload(PATTERNS[draw.below(6) as usize], 1 + draw.below(400));
    let mut sometimes = |value: u64| if draw.below(2) == 0 { 0 } else { value };
    plan.thinktime_ns = sometimes(7_000);
    plan.thinktime_every = if plan.thinktime_ns > 0 { 1 + sometimes(4) } else { 1 };
    plan.fsync_every = sometimes(3);
    plan.ramp_requests = sometimes(20);
    plan.stride_bytes = sometimes(8_192) as i64 * (1 - sometimes(2) as i64);
    plan.rate_iops = Some(sometimes(40_000)).filter(|&rate| rate > 0);
    plan.io_bytes = Some(sometimes(1 << 20)).filter(|&bytes| bytes > 0);
    plan.runtime_ns = Some(sometimes(3_000_000)).filter(|&runtime| runtime > 0);
    plan.iodepth = 1 + draw.below(20);
    plan.numjobs = 1 + draw.below(4);
    plan.read_percent = draw.below(101);
    plan.write_block_bytes = Some(512 * (1 + draw.below(40)));
    plan.offset_bytes = 512 * draw.below(100);
    plan.size_bytes = Some((1 << 20) + 512 * draw.below(1000));
    plan.percentage_random = Some(draw.below(101));
    plan.write_percentage_random = Some(draw.below(101)).filter(|share| share % 2 == 0);
    plan.write_stride_bytes =
        Some(512 * (draw.below(60) as i64 - 30)).filter(|stride| stride % 1024 == 0);
    plan.random_start = draw.below(2) == 0;
    plan.seed = draw.next_u64();
    plan
}

fn most_in_flight(log: &LogChunk) -> i64 {
    // A slot is free at the instant of its completion: ends sort before starts.
    let ends = log.complete_ns.iter().map(|&at| (at, -1));
    let starts = log.submit_ns.iter().map(|&at| (at, 1));
    let mut events: Vec<(u64, i64)> = ends.chain(starts).collect();
    events.sort_unstable();
    let mut in_flight = 0;
    events.into_iter().fold(0, |most, (_, step)| {
        in_flight += step;
        most.max(in_flight)
    })
}

#[test]
fn every_drawn_run_is_served_bounded_within_its_region_and_repeatable() {
    for seed in 0..300 {
        let mut draw = Stream::new(seed, "swarm");
        let plan = drawn_workload(&mut draw);
        let device = MockDevice::new(1 + draw.below(8) as usize, draw.below(50_000), draw.below(3));
        let mut first = device.clone();
        let (summary, log) = run(&mut first, &plan);

        assert_eq!(first.in_flight(), 0, "seed {seed}: everything issued was served");
        let jobs = plan.numjobs;
        assert!(summary.requests <= jobs * plan.requests.unwrap(), "seed {seed}");
        let ramp = plan.ramp_requests * jobs;
        let flushes = first.seen.iter().filter(|(_, request)| request.op == Op::Flush).count();
        assert!(first.seen.len() as u64 - flushes as u64 <= summary.requests + ramp, "seed {seed}");
        assert!(most_in_flight(&log) <= (plan.iodepth * jobs) as i64, "seed {seed}");
        let end = plan.offset_bytes + plan.size_bytes.unwrap();
        for row in (0..log.len()).filter(|&row| log.op[row] != Op::Flush as u8) {
            let start = log.offset_bytes[row];
            assert!(plan.offset_bytes <= start && start + log.bytes[row] <= end, "seed {seed}");
        }
        if let Some(rate_iops) = plan.rate_iops {
            let most =
                jobs * (1 + log.submit_ns.iter().max().unwrap_or(&0) * rate_iops / 1_000_000_000);
            assert!(first.seen.len() as u64 <= most + flushes as u64, "seed {seed}");
        }

        let (again, log_again) = run(&mut device.clone(), &plan);
        assert_eq!((again, log_again), (summary, log), "seed {seed}");
    }
}
