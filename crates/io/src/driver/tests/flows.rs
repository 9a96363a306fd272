//! Several workloads at the same time, and requests that arrive by themselves.

use super::helpers::{US, check_against_log, of_flow, run_together, workload};
use crate::arrivals::Arrival;
use crate::driver::{LogKeeper, run_flows, run_workload};
use crate::flow::{Flow, Flows};
use crate::mock::MockDevice;
use crate::request::{Op, Priority};
use crate::rng::Stream;
use crate::summary::{LatencyFrom, StopReason};
use crate::workload::{Pattern, Workload};
use crate::{Device, NullDevice, Unobserved};

fn flow(name: &str, workload: Workload) -> Flow {
    Flow { name: name.to_owned(), priority: None, turn: None, workload }
}

fn flows(flows: Vec<Flow>) -> Flows {
    Flows { flows, exit_all: false }
}

fn open(rw: Pattern, arrival: Arrival, rate_iops: u64, requests: u64) -> Workload {
    Workload { arrival, rate_iops: Some(rate_iops), ..workload(rw, requests) }
}

#[test]
fn flows_run_side_by_side_each_with_its_own_statistics() {
    // Two servers: each flow of depth 1 has one to itself.
    let mut device = MockDevice::new(2, 10 * US, 0);
    let slow = Workload { thinktime_ns: 10 * US, ..workload(Pattern::Write, 50) };
    let both = flows(vec![flow("reads", workload(Pattern::RandRead, 100)), flow("slow", slow)]);
    let (summary, log) = run_together(&mut device, &both);
    let [reads, slow] = summary.flows.as_deref().unwrap() else { panic!("two flows") };
    assert_eq!((reads.name.as_str(), reads.requests, reads.elapsed_ns), ("reads", 100, 1_000_000));
    assert_eq!((slow.name.as_str(), slow.requests, slow.elapsed_ns), ("slow", 50, 990_000));
    assert_eq!(reads.read.as_ref().unwrap().iops, Some(100_000.0));
    assert!(reads.write.is_none() && slow.read.is_none());
    assert_eq!((summary.requests, summary.elapsed_ns), (150, 1_000_000));
    assert_eq!(summary.stopped_by, StopReason::Requests);
    assert_eq!((of_flow(&log, 0).len(), of_flow(&log, 1).len()), (100, 50));
    assert!(summary.workload.is_none(), "each flow has its own");
}

#[test]
fn flows_in_turn_alternate_with_one_request_in_flight() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let mut reads = flow("reads", workload(Pattern::Read, 7));
    reads.turn = Some(3);
    let pausing = Workload { thinktime_ns: 5 * US, ..workload(Pattern::Write, 100) };
    let (summary, log) = run_together(&mut device, &flows(vec![reads, flow("w", pausing)]));
    let order: String =
        log.op.iter().map(|&op| if op == Op::Read as u8 { 'r' } else { 'w' }).collect();
    assert_eq!(order, "rrrwrrrwr", "the first to end ends the run");
    assert_eq!(summary.elapsed_ns, 9 * 10 * US + 5 * US, "only the second write had one before");
    assert_eq!(log.offset_bytes[..4], [0, 4096, 8192, 0], "each goes on where it was");
    let [reads, writes] = summary.flows.as_deref().unwrap() else { panic!("two flows") };
    assert_eq!((reads.requests, writes.requests), (7, 2));
    assert_eq!(summary.stopped_by, StopReason::Requests);
}

#[test]
fn a_time_limit_ends_flows_in_turn_and_deeper_queues_are_refused() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let limited = Workload { runtime_ns: Some(55 * US), ..workload(Pattern::Read, 100) };
    let mut first = flow("first", limited);
    first.turn = Some(1);
    let mut set = flows(vec![first, flow("second", workload(Pattern::Write, 100))]);
    let (summary, _) = run_together(&mut device, &set);
    assert_eq!((summary.requests, summary.stopped_by), (6, StopReason::Runtime));
    set.flows[1].workload.iodepth = 2;
    set.flows[0].turn = Some(0);
    let told = run_flows(&mut device, &set, &mut Unobserved).unwrap_err().to_string();
    assert!(told.contains("flow first: turn: must be more than 0"), "{told}");
    assert!(told.contains("flow second: iodepth: flows that take turns"), "{told}");
}

#[test]
fn one_flow_is_the_workload_it_holds() {
    let mut plan = workload(Pattern::RandRw, 300);
    (plan.iodepth, plan.numjobs, plan.ramp_requests) = (4, 2, 7);
    (plan.thinktime_ns, plan.fsync_every, plan.rate_iops) = (3_000, 5, Some(90_000));
    plan.runtime_ns = Some(4_000_000);
    let device = MockDevice::new(3, 10 * US, 1);
    let (mut alone, mut within) = (LogKeeper::default(), LogKeeper::default());
    let one = run_workload(&mut device.clone(), &plan, &mut alone).unwrap();
    let set = flows(vec![flow("only", plan)]);
    let summary = run_flows(&mut device.clone(), &set, &mut within).unwrap();
    assert_eq!(alone.log, within.log, "without a column of flows, too");
    assert_eq!(
        (&summary.read, &summary.write, &summary.flush),
        (&one.read, &one.write, &one.flush)
    );
    let only = &summary.flows.unwrap()[0];
    assert_eq!((&only.read, &only.write), (&one.read, &one.write));
    assert_eq!((only.stopped_by, summary.stopped_by), (one.stopped_by, one.stopped_by));
}

#[test]
fn even_arrivals_come_whatever_has_been_served() {
    // A request takes 100 us, one arrives every 25: they queue for ever longer.
    let mut device = MockDevice::new(1, 100 * US, 0);
    let plan = open(Pattern::RandRead, Arrival::Fixed, 40_000, 20);
    let mut keeper = LogKeeper::default();
    let summary = run_workload(&mut device, &plan, &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    assert_eq!(summary.latency_from, LatencyFrom::Arrival);
    let mut submitted = keeper.log.submit_ns.clone();
    submitted.sort_unstable();
    assert_eq!(submitted, (0..20).map(|k| k * 25 * US).collect::<Vec<_>>());
    let latency = summary.read.unwrap().latency_ns;
    assert_eq!((latency.min, latency.max), (100 * US, 20 * 100 * US - 19 * 25 * US));
}

#[test]
fn poisson_arrivals_wait_as_the_formula_says() {
    // One server, constant service, load 0.6: Pollaczek and Khinchine's mean wait is
    // load / (2 (1 - load)) services, 0.75.
    let mut device = MockDevice::new(1, 10 * US, 0);
    let plan = open(Pattern::RandRead, Arrival::Poisson, 60_000, 200_000);
    let summary = run_workload(&mut device, &plan, &mut Unobserved).unwrap();
    let read = summary.read.unwrap();
    let wait = (read.latency_ns.mean - 10_000.0) / 10_000.0;
    assert!((wait - 0.75).abs() < 0.03, "{wait}");
    assert!((read.iops.unwrap() / 60_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn open_flows_stop_at_their_runtime_and_exit_all_stops_the_others() {
    let mut device = MockDevice::new(4, 10 * US, 0);
    let mut timed = open(Pattern::RandRead, Arrival::Fixed, 100_000, 1_000_000);
    timed.runtime_ns = Some(1_000_000);
    let long = workload(Pattern::Write, 5_000);
    let mut set = flows(vec![flow("timed", timed), flow("long", long)]);
    let (summary, _) = run_together(&mut device.clone(), &set);
    let [timed, long] = summary.flows.as_deref().unwrap() else { panic!("two flows") };
    assert_eq!((timed.requests, timed.stopped_by), (100, StopReason::Runtime));
    assert_eq!((long.requests, long.stopped_by), (5_000, StopReason::Requests));
    assert_eq!(summary.stopped_by, StopReason::End, "each for its own reason");
    set.exit_all = true;
    let (summary, _) = run_together(&mut device, &set);
    let [timed, long] = summary.flows.as_deref().unwrap() else { panic!("two flows") };
    assert_eq!((timed.requests, timed.stopped_by), (100, StopReason::Runtime));
    assert!(long.requests <= 101 && long.stopped_by == StopReason::Runtime, "{long:?}");
}

#[test]
fn every_device_takes_flows_and_each_has_its_queue() {
    let set = flows(vec![
        flow("a", workload(Pattern::RandRead, 10)),
        flow("b", workload(Pattern::Write, 10)),
        flow("c", workload(Pattern::Read, 10)),
    ]);
    let mut null = NullDevice::new(1 << 20);
    let summary = run_flows(&mut null, &set, &mut Unobserved).unwrap();
    let queues: Vec<u16> = summary.flows.unwrap().iter().map(|flow| flow.queue).collect();
    assert_eq!((summary.requests, queues), (30, vec![0, 0, 0]), "there is one queue");
    let mut device = MockDevice::new(1, US, 0);
    device.queues.count = 2;
    let (summary, _) = run_together(&mut device, &set);
    let queues: Vec<u16> = summary.flows.unwrap().iter().map(|flow| flow.queue).collect();
    assert_eq!(queues, [0, 1, 0]);
    let writes = device.seen.iter().filter(|(_, request)| request.op == Op::Write);
    assert!(writes.clone().all(|(_, request)| request.queue.index == 1) && writes.count() == 10);
}

#[test]
fn every_fault_of_every_flow_is_named() {
    let mut deep = workload(Pattern::Read, 5);
    (deep.iodepth, deep.until_ci) = (0, Some(0.05));
    let mut unpaced = workload(Pattern::Read, 5);
    (unpaced.arrival, unpaced.iodepth) = (Arrival::Poisson, 4);
    let mut urgent = flow("urgent", workload(Pattern::Read, 5));
    urgent.priority = Some(Priority::Urgent);
    let set = flows(vec![flow("x", deep), flow("x", unpaced), urgent.clone()]);
    let mut device = MockDevice::new(1, US, 0);
    let error = run_flows(&mut device, &set, &mut Unobserved).unwrap_err().to_string();
    assert_eq!(
        error.lines().collect::<Vec<_>>(),
        [
            "flow x: until_ci: the flows of a run have no interval in common to stop at",
            "flow x: iodepth: 0 is not between 1 and 65536",
            "flow x: there are two of this name",
            "flow x: arrival: requests that arrive by themselves need rate_iops, how many a second",
            "flow x: iodepth: means nothing where requests arrive by themselves (arrival)",
            "flow urgent: priority: the queues of this device have no classes",
        ]
    );
    assert!(device.seen.is_empty(), "nothing was done");
    (device.queues.count, device.queues.priorities) = (1, true);
    let set = flows(vec![urgent, flow("other", workload(Pattern::Read, 5))]);
    let error = run_flows(&mut device, &set, &mut Unobserved).unwrap_err().to_string();
    assert!(error.contains("flow other: priority: another than that of flow urgent"), "{error}");
    let none = run_flows(&mut device, &flows(vec![]), &mut Unobserved).unwrap_err();
    assert_eq!(none.to_string(), "0 flows: expected 1 to 256");
}

#[test]
fn flows_are_read_from_json_with_nulls_for_defaults() {
    let text = r#"{"flows": [{"name": "a", "priority": "high",
        "workload": {"rw": "read", "size_bytes": null, "arrival": "poisson", "rate_iops": 5}}]}"#;
    let read = Flows::from_json(text).unwrap();
    assert_eq!((read.flows[0].priority, read.exit_all), (Some(Priority::High), false));
    assert_eq!(read.flows[0].workload.arrival, Arrival::Poisson);
    for (text, expected) in [
        ("[]", "flows: invalid"),
        (r#"{"flows": [{"workload": {"rw": "read"}}]}"#, "missing field `name`"),
        (r#"{"flows": [{"name": "a", "workload": {"rw": "up"}}]}"#, "unknown variant `up`"),
        (r#"{"flows": [], "exitall": true}"#, "unknown field `exitall`"),
    ] {
        let error = Flows::from_json(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

fn drawn_flow(draw: &mut Stream, number: u64) -> Flow {
    let patterns = [Pattern::Read, Pattern::RandWrite, Pattern::RandRw, Pattern::Write];
    let mut plan = workload(patterns[draw.below(4) as usize], 1 + draw.below(300));
    let mut sometimes = |value: u64| if draw.below(2) == 0 { 0 } else { value };
    plan.fsync_every = sometimes(3);
    plan.ramp_requests = sometimes(20);
    plan.rate_iops = Some(sometimes(40_000)).filter(|&rate| rate > 0);
    plan.runtime_ns = Some(sometimes(3_000_000)).filter(|&runtime| runtime > 0);
    plan.thinktime_ns = sometimes(7_000);
    plan.numjobs = 1 + draw.below(3);
    plan.iodepth = 1 + draw.below(10);
    plan.size_bytes = Some(1 << 20);
    plan.seed = draw.next_u64();
    if draw.below(2) == 0 {
        (plan.iodepth, plan.thinktime_ns) = (1, 0);
        plan.rate_iops = Some(20_000);
        plan.arrival = [Arrival::Fixed, Arrival::Poisson][draw.below(2) as usize];
    }
    flow(&format!("flow {number}"), plan)
}

#[test]
fn every_drawn_set_of_flows_is_served_and_repeats_itself() {
    for seed in 0..200 {
        let mut draw = Stream::new(seed, "flows");
        let count = 1 + draw.below(5);
        let mut set = flows((0..count).map(|number| drawn_flow(&mut draw, number)).collect());
        set.exit_all = draw.below(4) == 0;
        let device = MockDevice::new(1 + draw.below(8) as usize, draw.below(50_000), draw.below(3));
        let mut first = device.clone();
        let (summary, log) = run_together(&mut first, &set);
        assert_eq!(first.in_flight(), 0, "seed {seed}: everything issued was served");
        let parts = summary.flows.as_ref().unwrap();
        assert_eq!(parts.iter().map(|flow| flow.requests).sum::<u64>(), summary.requests);
        for (flow, asked) in parts.iter().zip(&set.flows) {
            let most = asked.workload.requests.unwrap() * asked.workload.numjobs;
            assert!(flow.requests <= most, "seed {seed}");
            let whole = flow.stopped_by == StopReason::Requests && !set.exit_all;
            assert!(!whole || flow.requests == most, "seed {seed}: {} of {most}", flow.requests);
        }
        let (again, log_again) = run_together(&mut device.clone(), &set);
        assert_eq!((again, log_again), (summary, log), "seed {seed}");
    }
}
