//! Many runs at a time, each on a copy of a drive of its own, over all cores.
//!
//! What a run comes to depends on the drive and the workloads alone, and outcomes are given in the
//! order of the work: how many threads there are changes nothing but the time.

use super::{Progress, RunError, RunObserver, run_workload};
use crate::device::{Device, DeviceError};
use crate::log::LogChunk;
use crate::summary::RunSummary;
use crate::workload::Workload;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What is to be run on one copy.
#[derive(Clone, Debug)]
pub struct Course {
    /// Which of the drives is copied.
    pub drive: usize,
    /// What is run on the copy, one workload after the other.
    pub workloads: Vec<Workload>,
    /// Whether the log of the last one is kept.
    pub logged: bool,
}

/// What came of a course.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The summaries of the workloads that ended.
    pub summaries: Vec<RunSummary>,
    /// Why the next one did not, if so.
    pub failure: Option<RunError>,
    /// The log of the last one, where it is kept.
    pub log: Option<LogChunk>,
}

/// What is given next.
#[derive(Debug)]
pub enum NextOutcome {
    /// The outcome of the next course.
    Ready(Box<Outcome>),
    /// It is not there yet.
    NotYet,
    /// All were given.
    End,
}

/// Courses that are being run. Dropped, it ends those that still run, and waits for them.
pub struct Copies {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    arriving: Receiver<(usize, Outcome)>,
    /// Those that came before their turn.
    early: Vec<Option<Box<Outcome>>>,
    given: usize,
}

struct Shared {
    /// Only copied; a copy takes no time beside a run.
    drives: Vec<Mutex<Box<dyn Device>>>,
    courses: Vec<Course>,
    begun: AtomicUsize,
    stopped: AtomicBool,
}

impl Copies {
    /// Begins to run courses on copies of drives, on so many threads; on all cores if `None`.
    ///
    /// # Errors
    /// [`RunError::Refused`] if a course names no drive.
    pub fn start(
        drives: Vec<Box<dyn Device>>,
        courses: Vec<Course>,
        threads: Option<NonZero<usize>>,
    ) -> Result<Self, RunError> {
        if let Some(course) = courses.iter().find(|course| course.drive >= drives.len()) {
            let (number, count) = (course.drive, drives.len());
            return Err(RunError::Refused(format!("there are {count} drives, and no {number}")));
        }
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let threads = threads.unwrap_or_else(cores).get().min(courses.len());
        let early = courses.iter().map(|_| None).collect();
        let shared = Arc::new(Shared {
            drives: drives.into_iter().map(Mutex::new).collect(),
            courses,
            begun: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let (sender, arriving) = mpsc::channel();
        // Where the system gives fewer threads, fewer do the work; with none, it is done here.
        let workers = (0..threads).map_while(|_| {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::Builder::new().spawn(move || shared.work(&sender)).ok()
        });
        let workers: Vec<_> = workers.collect();
        if workers.is_empty() {
            shared.work(&sender);
        }
        Ok(Self { shared, workers, arriving, early, given: 0 })
    }

    /// Gives the next outcome, in the order of the courses, if it comes within a time.
    pub fn next_within(&mut self, patience: Duration) -> NextOutcome {
        if self.given == self.early.len() {
            return NextOutcome::End;
        }
        loop {
            if let Some(outcome) = self.early[self.given].take() {
                self.given += 1;
                return NextOutcome::Ready(outcome);
            }
            match self.arriving.recv_timeout(patience) {
                Ok((place, outcome)) => self.early[place] = Some(Box::new(outcome)),
                Err(RecvTimeoutError::Timeout) => return NextOutcome::NotYet,
                Err(RecvTimeoutError::Disconnected) => {
                    self.join();
                    return NextOutcome::End;
                }
            }
        }
    }

    /// Waits for the threads; a panic of one goes on in this one.
    fn join(&mut self) {
        for worker in self.workers.drain(..) {
            if let Err(panic) = worker.join()
                && !thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.join();
    }
}

impl Shared {
    /// Runs what no other thread has begun, until nothing is left.
    fn work(&self, outcomes: &Sender<(usize, Outcome)>) {
        while !self.stopped.load(Ordering::Relaxed) {
            let place = self.begun.fetch_add(1, Ordering::Relaxed);
            let Some(course) = self.courses.get(place) else { return };
            if outcomes.send((place, self.run(course))).is_err() {
                return;
            }
        }
    }

    fn run(&self, course: &Course) -> Outcome {
        // A drive that is copied is left as it is, even by a copy that failed.
        let drive = self.drives[course.drive].lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut copy) = drive.fork() else {
            let error = DeviceError::Unsupported("forks").into();
            return Outcome { failure: Some(error), ..Outcome::default() };
        };
        drop(drive);
        let mut outcome = Outcome::default();
        let mut watching = Watching { stopped: &self.stopped, log: None };
        for (number, workload) in course.workloads.iter().enumerate() {
            if course.logged && number + 1 == course.workloads.len() {
                watching.log = Some(LogChunk::new(copy.info().attribution));
            }
            match run_workload(&mut *copy, workload, &mut watching) {
                Ok(summary) => outcome.summaries.push(summary),
                Err(error) => {
                    outcome.failure = Some(error);
                    break;
                }
            }
        }
        Outcome { log: watching.log, ..outcome }
    }
}

/// Ends a run when all are to end, and keeps the log of one that is logged.
struct Watching<'a> {
    stopped: &'a AtomicBool,
    log: Option<LogChunk>,
}

impl RunObserver for Watching<'_> {
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn chunk(&mut self, chunk: LogChunk) -> ControlFlow<()> {
        if let Some(log) = &mut self.log {
            log.append(chunk);
        }
        ControlFlow::Continue(())
    }

    fn wants_log(&self) -> bool {
        self.log.is_some()
    }
}
