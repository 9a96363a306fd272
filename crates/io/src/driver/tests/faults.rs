//! Drives that fail, stall or lie: an error with what was measured, never a hang.

use super::helpers::{US, run, workload};
use crate::driver::{
    Failure, LogKeeper, RequestList, RunError, Unobserved, run_list, run_workload,
};
use crate::mock::{Fault, MockDevice};
use crate::request::Request;
use crate::summary::StopReason;
use crate::units::{Lba, Nanos, Sectors};
use crate::workload::Pattern;
use crate::{ClockKind, Device, DeviceError, RunSummary};

fn faulty(fault: Fault) -> MockDevice {
    let mut device = MockDevice::new(2, 10 * US, 0);
    device.fault = fault;
    device
}

fn broken(device: &mut dyn Device, depth: u64) -> (Failure, RunSummary, LogKeeper) {
    let mut plan = workload(Pattern::RandRead, 1_000);
    plan.iodepth = depth;
    let mut keeper = LogKeeper::default();
    match run_workload(device, &plan, &mut keeper) {
        Err(RunError::Broken { failure, partial }) => (failure, *partial, keeper),
        other => panic!("expected a broken run, not {other:?}"),
    }
}

#[test]
fn failed_requests_are_counted_and_left_out_of_latencies() {
    let mut device = faulty(Fault::FailEvery(5));
    let (summary, log) = run(&mut device, &workload(Pattern::RandRead, 100));
    assert_eq!((summary.requests, summary.failed_requests), (80, 20));
    assert_eq!(log.error.iter().filter(|&&errno| errno == 5).count(), 20);
}

#[test]
fn a_dead_drive_ends_the_run_after_a_bounded_number_of_failures() {
    let mut device = faulty(Fault::FailEvery(1));
    let (failure, partial, keeper) = broken(&mut device, 4);
    assert!(matches!(failure, Failure::TooManyFailures { in_a_row: 101, errno: 5 }), "{failure}");
    assert_eq!(partial.stopped_by, StopReason::Error);
    assert_eq!(partial.failed_requests, device.seen.len() as u64, "drained all the same");
    assert_eq!(keeper.log.len(), device.seen.len());
    assert_eq!(device.in_flight(), 0);
}

#[test]
fn a_list_has_a_row_for_every_request_that_fails() {
    let mut device = faulty(Fault::FailEvery(1));
    let count = 250;
    let list = RequestList {
        ops: &vec![0; count],
        offsets_bytes: &vec![0; count],
        lengths_bytes: &vec![512; count],
        arrivals_ns: None,
        pauses_ns: None,
    };
    let mut keeper = LogKeeper::default();
    let summary = run_list(&mut device, &list, 4, Nanos(0), &mut keeper).unwrap();
    assert_eq!((summary.requests, summary.failed_requests), (0, count as u64));
    assert_eq!(keeper.log.error, vec![5; count]);
}

#[test]
fn a_drive_that_swallows_requests_is_an_error_that_counts_them() {
    let mut device = faulty(Fault::SwallowFrom(50));
    let (failure, partial, keeper) = broken(&mut device, 8);
    assert!(matches!(failure, Failure::Stalled { in_flight: 8, .. }), "{failure}");
    assert!(failure.to_string().contains("8 requests in flight"), "{failure}");
    assert_eq!((partial.requests, keeper.log.len()), (49, 49), "what came before is kept");
}

#[test]
fn a_device_error_is_handed_on_with_its_words() {
    let (failure, partial, _) = broken(&mut faulty(Fault::BreakAt(7)), 1);
    assert_eq!(failure.to_string(), "plane 3 is full");
    assert_eq!(partial.requests, 6);
    assert_eq!(partial.workload.unwrap().requests, Some(1_000));
}

#[test]
fn a_device_that_invents_completions_is_caught() {
    let (failure, ..) = broken(&mut faulty(Fault::Invent), 1);
    assert!(matches!(failure, Failure::UnknownCompletion(1_000)), "{failure}");
}

#[test]
fn a_busy_device_is_refused() {
    let mut device = MockDevice::new(1, US, 0);
    device.submit(Nanos(0), Request::read(0, Lba(0), Sectors(8))).unwrap();
    let plan = workload(Pattern::Read, 1);
    let error = run_workload(&mut device, &plan, &mut Unobserved).unwrap_err();
    assert_eq!(error.to_string(), "1 requests are still in flight");
}

#[test]
fn an_impossible_workload_is_refused_before_anything_is_issued() {
    let mut device = MockDevice::new(1, US, 0);
    device.info.writable = false;
    let plan = workload(Pattern::RandWrite, 1);
    let error = run_workload(&mut device, &plan, &mut Unobserved).unwrap_err();
    assert!(matches!(&error, RunError::Workload(_)), "{error}");
    assert!(device.seen.is_empty());
    assert!(error.partial().is_none());
}

/// A wall-clock device whose clock stands still.
struct Frozen(MockDevice);

impl Device for Frozen {
    fn info(&self) -> crate::DeviceInfo {
        crate::DeviceInfo { clock: ClockKind::Wall, ..self.0.info() }
    }
    fn now(&self) -> Nanos {
        Nanos(5)
    }
    fn submit(&mut self, _: Nanos, _: Request) -> Result<(), DeviceError> {
        Ok(())
    }
    fn next_event(&self) -> Option<Nanos> {
        None
    }
    fn advance(&mut self, _: Nanos, _: &mut Vec<crate::Completion>) -> Result<(), DeviceError> {
        Ok(())
    }
    fn in_flight(&self) -> usize {
        0
    }
}

#[test]
fn a_wall_clock_that_stands_still_is_no_hang() {
    let (failure, ..) = broken(&mut Frozen(MockDevice::new(1, 1, 1)), 3);
    assert!(matches!(failure, Failure::Stalled { in_flight: 3, .. }), "{failure}");
}

#[test]
fn a_run_ends_where_its_times_no_longer_fit_a_log() {
    let mut device = MockDevice::new(2, 10 * US, 0);
    let mut plan = workload(Pattern::RandRead, 30);
    plan.thinktime_ns = 999_999_999_000_000_000;
    let mut keeper = LogKeeper::default();
    let Err(RunError::Broken { failure, partial }) = run_workload(&mut device, &plan, &mut keeper)
    else {
        panic!("a run of a thousand years");
    };
    assert!(matches!(failure, Failure::TooLate { now_ns } if now_ns > 1 << 63), "{failure}");
    assert_eq!((partial.requests, keeper.log.len()), (10, 10), "what fits is kept");
}
