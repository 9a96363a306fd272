//! Pauses of a job between its requests: after each, or after bursts of them.

use crate::units::Nanos;
use crate::workload::Workload;

/// When the places of a job's queue may take their next requests.
///
/// A place pauses after its completion. In a run of bursts the first requests of each burst do so,
/// one for each place, so that the queue runs empty between bursts.
#[derive(Clone, Debug)]
pub struct Pauses {
    span: Nanos,
    /// Requests in a burst.
    every: u64,
    /// Requests in flight.
    places: u64,
    asked: u64,
}

impl Pauses {
    /// Those of each job of a workload; `None` if it makes none.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<Self> {
        (workload.thinktime_ns > 0).then_some(Self {
            span: Nanos(workload.thinktime_ns),
            every: workload.thinktime_every,
            places: workload.iodepth,
            asked: 0,
        })
    }

    /// When a place that is free from `free_at` on takes the next request.
    #[inline]
    pub fn end(&mut self, free_at: Nanos) -> Nanos {
        let index = self.asked;
        self.asked += 1;
        // The first request of a place follows none.
        let pauses = index >= self.places && index % self.every < self.places;
        if pauses { free_at + self.span } else { free_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Pattern;

    /// Which of the first requests a pause comes before.
    fn paused(iodepth: u64, every: u64, count: u64) -> Vec<u64> {
        let mut workload = Workload::new(Pattern::Read);
        (workload.thinktime_ns, workload.thinktime_every) = (7, every);
        workload.iodepth = iodepth;
        let mut pauses = Pauses::of(&workload).unwrap();
        (0..count).filter(|&index| pauses.end(Nanos(100 * index)).0 == 100 * index + 7).collect()
    }

    #[test]
    fn a_pause_comes_after_each_request_or_after_every_burst() {
        assert_eq!(paused(1, 1, 5), [1, 2, 3, 4]);
        assert_eq!(paused(1, 3, 10), [3, 6, 9]);
        assert_eq!(paused(2, 1, 5), [2, 3, 4]);
    }

    #[test]
    fn every_place_of_the_queue_pauses_once_between_bursts() {
        assert_eq!(paused(2, 5, 17), [5, 6, 10, 11, 15, 16]);
        assert_eq!(paused(4, 2, 8), [4, 5, 6, 7], "bursts that never fill the queue");
    }

    #[test]
    fn no_think_time_is_no_pause() {
        assert!(Pauses::of(&Workload::new(Pattern::Read)).is_none());
    }
}
