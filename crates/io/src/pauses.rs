//! Pauses of a job between its requests: after each, or after bursts of them.

use crate::units::Nanos;
use crate::workload::Workload;

/// When a job may ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// From this instant on.
    At(Nanos),
    /// When all of its requests were served.
    Drained,
}

/// The pauses of one job, as fio 3.33 makes them.
///
/// As soon as so many requests were served since the last pause, the job makes no more until its
/// queue is empty, and then sleeps. At least one request lies between two pauses.
#[derive(Clone, Debug)]
pub struct Pauses {
    span: Nanos,
    /// Requests in a burst.
    every: u64,
    /// Requests in flight at most.
    places: u64,
    /// Places that have asked for the first time.
    begun: u64,
    /// Places that wait until the queue is empty.
    held: u64,
    served: u64,
    /// Flushes in flight, which do not count as served.
    flushes: u64,
    served_at_last: u64,
    asked_since: bool,
    is_draining: bool,
}

impl Pauses {
    /// Those of each job of a workload; `None` if it makes none.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        (workload.thinktime_ns > 0).then_some(Self {
            span: Nanos(workload.thinktime_ns),
            every: workload.thinktime_every,
            places: workload.iodepth,
            begun: 0,
            held: 0,
            served: 0,
            flushes: 0,
            served_at_last: 0,
            asked_since: false,
            is_draining: false,
        })
    }

    /// A place of the queue is free from `free_at` on: its first time, or since it was served.
    pub fn free(&mut self, free_at: Nanos) -> Turn {
        if self.begun < self.places {
            self.begun += 1;
        } else if self.flushes > 0 {
            self.flushes -= 1;
        } else {
            self.served += 1;
        }
        self.turn(free_at)
    }

    /// A place that was held may ask again.
    pub fn release(&mut self, free_at: Nanos) -> Turn {
        self.held -= 1;
        self.turn(free_at)
    }

    fn turn(&mut self, free_at: Nanos) -> Turn {
        if !self.is_draining {
            if !self.asked_since || self.served < self.served_at_last.saturating_add(self.every) {
                return Turn::At(free_at);
            }
            self.served_at_last = self.served;
            self.is_draining = true;
        }
        if self.held + 1 < self.places {
            self.held += 1;
            return Turn::Drained;
        }
        (self.is_draining, self.asked_since) = (false, false);
        Turn::At(free_at + self.span)
    }

    /// The job has asked for a request, or for a flush.
    pub fn asked(&mut self, is_flush: bool) {
        self.flushes += u64::from(is_flush);
        self.asked_since |= !is_flush;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Pattern;

    fn pauses(iodepth: u64, every: u64) -> Pauses {
        let mut workload = Workload::new(Pattern::Read);
        (workload.thinktime_ns, workload.thinktime_every) = (7, every);
        workload.iodepth = iodepth;
        Pauses::of(&workload).unwrap()
    }

    /// Which of the first requests of a job of depth 1 a pause comes before.
    fn paused(every: u64, count: u64) -> Vec<u64> {
        let mut pauses = pauses(1, every);
        let is_late = |&index: &u64| {
            let turn = pauses.free(Nanos(100 * index));
            pauses.asked(false);
            turn == Turn::At(Nanos(100 * index + 7))
        };
        (0..count).filter(is_late).collect()
    }

    #[test]
    fn a_pause_comes_after_each_request_or_after_every_burst() {
        assert_eq!(paused(1, 5), [1, 2, 3, 4]);
        assert_eq!(paused(3, 10), [3, 6, 9]);
    }

    #[test]
    fn the_whole_queue_is_served_before_a_pause() {
        let mut job = pauses(3, 2);
        for _ in 0..3 {
            assert_eq!(job.free(Nanos(0)), Turn::At(Nanos(0)));
            job.asked(false);
        }
        assert_eq!(job.free(Nanos(10)), Turn::At(Nanos(10)), "one is less than two");
        job.asked(false);
        assert_eq!(job.free(Nanos(20)), Turn::Drained);
        assert_eq!(job.free(Nanos(30)), Turn::Drained);
        assert_eq!(job.free(Nanos(40)), Turn::At(Nanos(47)), "the last of the queue");
        job.asked(false);
        // Four were served, two of them since the pause began: after one more request the next.
        assert_eq!(job.release(Nanos(47)), Turn::Drained);
        assert_eq!(job.release(Nanos(47)), Turn::Drained);
        assert_eq!(job.free(Nanos(60)), Turn::At(Nanos(67)));
    }

    #[test]
    fn flushes_are_no_requests() {
        let mut job = pauses(1, 1);
        job.free(Nanos(0));
        job.asked(false);
        assert_eq!(job.free(Nanos(5)), Turn::At(Nanos(12)), "a pause before the flush");
        job.asked(true);
        assert_eq!(job.free(Nanos(20)), Turn::At(Nanos(20)));
    }

    #[test]
    fn no_think_time_is_no_pause() {
        assert!(Pauses::of(&Workload::new(Pattern::Read)).is_none());
    }
}
