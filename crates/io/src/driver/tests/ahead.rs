//! A device that wants to know hears of every write before it comes, and of little else.

use super::helpers::workload;
use super::swarm::drawn_workload;
use crate::driver::{
    Progress, ReplayOptions, RequestList, RunObserver, Unobserved, expect_writes, of_requests,
    replay, run_flows, run_list, run_workload,
};
use crate::flow::{Flow, Flows};
use crate::mock::MockDevice;
use crate::rng::Stream;
use crate::summary::StopReason;
use crate::trace::TimedRequest;
use crate::units::{Lba, Nanos, Sectors};
use crate::workload::Pattern;
use crate::{Device, Op, Raid0};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// A drive that panics at a write that nobody announced.
fn listening() -> MockDevice {
    let mut device = MockDevice::new(4, 1_000, 1);
    device.expected = Some(Vec::new());
    device
}

fn announced_bytes(device: &MockDevice) -> u64 {
    device.expected.iter().flatten().map(|span| span.end - span.start).sum()
}

#[test]
fn every_write_of_a_drawn_run_was_announced() {
    for seed in 0..300 {
        let plan = drawn_workload(&mut Stream::new(seed, "announced"));
        run_workload(&mut listening(), &plan, &mut Unobserved).unwrap();
        let flow = |name: &str| {
            let (name, workload) = (name.to_owned(), plan.clone());
            Flow { name, priority: None, turn: None, workload }
        };
        let flows = Flows { flows: vec![flow("one"), flow("other")], exit_all: false };
        run_flows(&mut listening(), &flows, &mut Unobserved).unwrap();
    }
}

#[test]
fn few_writes_are_announced_one_by_one_and_timed_ones_by_their_region() {
    let mut few = workload(Pattern::RandWrite, 100);
    few.size_bytes = Some(1 << 26);
    let mut device = listening();
    run_workload(&mut device, &few, &mut Unobserved).unwrap();
    assert!(announced_bytes(&device) <= 100 * few.block_bytes, "{:?}", device.expected);
    few.requests = None;
    few.runtime_ns = Some(1_000_000);
    let mut device = listening();
    run_workload(&mut device, &few, &mut Unobserved).unwrap();
    assert_eq!(announced_bytes(&device), 1 << 26);
    let mut device = listening();
    run_workload(&mut device, &workload(Pattern::RandRead, 100), &mut Unobserved).unwrap();
    assert_eq!(announced_bytes(&device), 0);
}

#[test]
fn lists_and_traces_announce_what_they_lose() {
    let list = RequestList {
        ops: &[0, 1, 2, 3, 4, 5],
        offsets_bytes: &[0, 4096, 0, 8192, 65_536, 1 << 20],
        lengths_bytes: &[512, 512, 0, 4096, 512, 1024],
        arrivals_ns: None,
        pauses_ns: None,
    };
    let mut device = listening();
    run_list(&mut device, &list, 2, Nanos::ZERO, &mut Unobserved).unwrap();
    assert_eq!(announced_bytes(&device), 512 + 4096 + 512 + 1024);

    let mut device = listening();
    let trace: Vec<_> = (0..20)
        .map(|index| TimedRequest {
            arrival: Nanos(index),
            op: if index % 2 == 0 { Op::Read } else { Op::Write },
            lba: Lba(index * 64),
            sectors: Sectors(8),
            source_line: index,
        })
        .collect();
    let requests = trace.iter().map(|each| (each.op, each.lba, each.sectors));
    let spans = || of_requests(requests).collect();
    assert!(expect_writes(&mut device, spans, &mut Unobserved).unwrap());
    assert_eq!(announced_bytes(&device), 10 * 8 * 512);
    let trace = trace.into_iter().map(Ok::<_, Infallible>);
    replay(&mut device, trace, &ReplayOptions::default(), &mut Unobserved).unwrap();
}

#[test]
fn members_of_an_array_hear_of_their_parts() {
    for seed in 0..100 {
        let plan = drawn_workload(&mut Stream::new(seed, "striped"));
        let members = (0..3).map(|_| Box::new(listening()) as Box<dyn Device>).collect();
        let mut array = Raid0::new(members, 65_536).unwrap();
        assert!(array.vets_writes());
        run_workload(&mut array, &plan, &mut Unobserved).unwrap();
    }
}

#[test]
fn whoever_watches_hears_when_the_time_begins_that_counts() {
    #[derive(Default)]
    struct Hears(Vec<&'static str>);
    impl RunObserver for Hears {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            self.0.push(if progress.looking { "looks" } else { "runs" });
            ControlFlow::Continue(())
        }
        fn begins(&mut self) {
            self.0.push("begins");
        }
    }
    let mut heard = Hears::default();
    run_workload(&mut listening(), &workload(Pattern::RandWrite, 200), &mut heard).unwrap();
    assert_eq!(heard.0[..3], ["looks", "begins", "runs"]);
}

#[test]
fn who_calls_off_the_looking_gets_an_empty_result() {
    struct CallsOff;
    impl RunObserver for CallsOff {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            assert!(progress.looking);
            ControlFlow::Break(())
        }
    }
    let mut device = listening();
    let summary =
        run_workload(&mut device, &workload(Pattern::RandWrite, 9), &mut CallsOff).unwrap();
    assert_eq!((summary.requests, summary.stopped_by), (0, StopReason::Interrupted));
    assert!(summary.interrupted && device.seen.is_empty());
}
