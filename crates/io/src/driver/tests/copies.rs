//! Many runs on copies: as one by one, in order, whatever fails and however many threads there are.

use super::helpers::{US, run, workload};
use crate::device::Device;
use crate::driver::RunError;
use crate::driver::copies::{Copies, Course, NextOutcome, Outcome};
use crate::mock::{Fault, MockDevice};
use crate::workload::{Pattern, Workload};
use std::num::NonZero;
use std::time::Duration;

fn drive(latency_us: u64) -> MockDevice {
    MockDevice::new(2, latency_us * US, 0)
}

fn start(drives: &[MockDevice], courses: Vec<Course>, threads: usize) -> Copies {
    let drives = drives.iter().map(|drive| drive.fork().unwrap()).collect();
    Copies::start(drives, courses, NonZero::new(threads)).unwrap()
}

fn all(mut copies: Copies) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    loop {
        match copies.next_within(Duration::from_millis(1)) {
            NextOutcome::Ready(outcome) => outcomes.push(*outcome),
            NextOutcome::NotYet => {}
            NextOutcome::End => return outcomes,
        }
    }
}

/// Random reads of a number of their own, on one of two drives.
fn course(number: u64) -> Course {
    let reads = Workload { seed: number, ..workload(Pattern::RandRead, 20 + 37 * (number % 5)) };
    let writes = workload(Pattern::Write, 3);
    let logged = number.is_multiple_of(3);
    Course { drive: (number % 2) as usize, workloads: vec![writes, reads], logged }
}

#[test]
fn outcomes_are_those_of_one_by_one_in_order() {
    let drives = [drive(10), drive(25)];
    for threads in [1, 2, 7] {
        let courses: Vec<Course> = (0..40).map(course).collect();
        let outcomes = all(start(&drives, courses.clone(), threads));
        assert_eq!(outcomes.len(), courses.len());
        for (course, outcome) in courses.iter().zip(outcomes) {
            let mut copy = drives[course.drive].clone();
            let expected: Vec<_> =
                course.workloads.iter().map(|each| run(&mut copy, each)).collect();
            let (summaries, mut logs): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
            assert_eq!(outcome.summaries, summaries);
            assert_eq!(outcome.log, course.logged.then(|| logs.remove(1)));
            assert!(outcome.failure.is_none());
        }
    }
}

#[test]
fn a_course_that_fails_leaves_the_others_alone() {
    let mut broken = drive(10);
    broken.fault = Fault::BreakAt(2);
    let courses = (0..6).map(course).collect();
    for (number, outcome) in all(start(&[drive(10), broken], courses, 2)).iter().enumerate() {
        let fails = number % 2 == 1;
        assert_eq!(matches!(outcome.failure, Some(RunError::Broken { .. })), fails);
        assert_eq!(outcome.summaries.len(), if fails { 0 } else { 2 });
    }
}

#[test]
fn a_drive_that_there_is_not_is_refused() {
    let refused = Copies::start(vec![drive(1).fork().unwrap()], vec![course(1)], None);
    assert!(
        matches!(refused, Err(RunError::Refused(why)) if why == "there are 1 drives, and no 1")
    );
}

#[test]
fn what_is_dropped_ends() {
    let endless =
        Course { drive: 0, workloads: vec![workload(Pattern::Read, 1 << 40)], logged: false };
    let mut copies = start(&[drive(1)], vec![endless.clone(), endless], 2);
    assert!(matches!(copies.next_within(Duration::from_millis(1)), NextOutcome::NotYet));
    drop(copies);
}

#[test]
fn nothing_to_run_comes_to_nothing() {
    assert!(all(start(&[drive(1)], Vec::new(), 2)).is_empty());
    let idle = Course { drive: 0, workloads: Vec::new(), logged: true };
    let outcomes = all(start(&[drive(1)], vec![idle], 2));
    assert!(outcomes[0].summaries.is_empty() && outcomes[0].log.is_none());
}
