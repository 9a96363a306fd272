//! Several submission queues in front of one drive: whose command is fetched next.
//!
//! Two ways, as NVMe has them (base specification, "Command Arbitration"), a command at a
//! time. Round robin takes the queues in turn. Weighted round robin takes urgent queues before
//! all others; of the rest, in a round, up to four commands of the class high, two of medium
//! and one of low (the weights are those of `MQSim`), queues of a class in turn. A queue that
//! has as many commands in the drive as may be fetched from it is passed over.

use crate::config::HostQueues;
use ssdscope_io::{Priority, Queue};
use std::collections::VecDeque;

/// Commands of a class in a round; urgent ones are not counted.
const WEIGHTS: [u32; 4] = [u32::MAX, 4, 2, 1];

/// A submission queue.
#[derive(Clone, Debug, Default)]
struct Submission {
    /// What waits, first come first served.
    waiting: VecDeque<u32>,
    /// Its commands in the drive.
    inside: usize,
    /// That of its last command.
    priority: Priority,
}

/// The queues, and whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    queues: Vec<Submission>,
    /// Commands of one queue in the drive at once.
    fetch_size: usize,
    priorities: bool,
    /// The queue whose turn was last, of each class; one for all without classes.
    last: [usize; 4],
    /// What is left of the round.
    left: [u32; 4],
    waiting: usize,
}

impl Arbiter {
    /// The queues that `host` describes.
    pub fn new(host: &HostQueues) -> Self {
        let count = usize::from(host.count);
        Self {
            queues: vec![Submission::default(); count],
            fetch_size: if host.fetch_size == 0 { usize::MAX } else { host.fetch_size as usize },
            priorities: host.priorities,
            last: [count - 1; 4],
            left: WEIGHTS,
            waiting: 0,
        }
    }

    /// How many commands wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// A command comes to its queue while the drive has room or not; whether it is fetched at
    /// once. With room nobody else waits for anything but its own queue.
    pub fn enter(&mut self, request: u32, queue: Queue, room: bool) -> bool {
        let place = self.place(queue.index);
        let submission = &mut self.queues[place];
        submission.priority = queue.priority;
        if room && submission.waiting.is_empty() && submission.inside < self.fetch_size {
            let class = if self.priorities { queue.priority as usize } else { 0 };
            self.take_turn(class, place);
            return true;
        }
        submission.waiting.push_back(request);
        self.waiting += 1;
        false
    }

    /// A command of a queue has left the drive.
    pub fn leave(&mut self, index: u16) {
        let place = self.place(index);
        self.queues[place].inside -= 1;
    }

    /// Fetches the next command, if any may be.
    pub fn fetch(&mut self) -> Option<u32> {
        let (class, place) = self.next_turn()?;
        self.take_turn(class, place);
        self.waiting -= 1;
        self.queues[place].waiting.pop_front()
    }

    fn take_turn(&mut self, class: usize, place: usize) {
        self.last[class] = place;
        if class != Priority::Urgent as usize {
            self.left[class] = self.left[class].saturating_sub(1);
        }
        self.queues[place].inside += 1;
    }

    /// Whose turn it is: the class (0 without classes) and the queue.
    fn next_turn(&mut self) -> Option<(usize, usize)> {
        if !self.priorities {
            return self.ready(0).map(|place| (0, place));
        }
        let turn = |arbiter: &Self| {
            let mut open = (0..WEIGHTS.len()).filter(|&class| arbiter.left[class] > 0);
            open.find_map(|class| Some((class, arbiter.ready(class)?)))
        };
        turn(self).or_else(|| {
            // Nobody who has something left in this round waits: the next one begins.
            self.left = WEIGHTS;
            turn(self)
        })
    }

    /// The next queue of a class, after the last one of it, that has a command to fetch.
    fn ready(&self, class: usize) -> Option<usize> {
        let count = self.queues.len();
        let in_turn = (1..=count).map(|step| (self.last[class] + step) % count);
        in_turn.into_iter().find(|&place| {
            let queue = &self.queues[place];
            let of_class = !self.priorities || queue.priority as usize == class;
            of_class && !queue.waiting.is_empty() && queue.inside < self.fetch_size
        })
    }

    fn place(&self, index: u16) -> usize {
        usize::from(index) % self.queues.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arbiter(count: u16, fetch_size: u32, priorities: bool) -> Arbiter {
        Arbiter::new(&HostQueues { count, fetch_size, priorities })
    }

    fn queue(index: u16, priority: Priority) -> Queue {
        Queue { index, priority }
    }

    /// Ten commands in each queue; a command is named after its queue.
    fn fill(arbiter: &mut Arbiter, classes: &[Priority]) {
        for _ in 0..10 {
            for (index, &priority) in (0..).zip(classes) {
                assert!(!arbiter.enter(u32::from(index), queue(index, priority), false));
            }
        }
    }

    fn fetched(arbiter: &mut Arbiter, count: usize) -> String {
        let names = std::iter::from_fn(|| arbiter.fetch()).take(count);
        names.map(|name| name.to_string()).collect()
    }

    #[test]
    fn round_robin_takes_queues_in_turn_and_leaves_out_the_empty() {
        let mut arbiter = arbiter(3, 0, false);
        fill(&mut arbiter, &[Priority::Low, Priority::Urgent, Priority::High]);
        assert_eq!(fetched(&mut arbiter, 6), "012012", "classes make no difference");
        arbiter.queues[1].waiting.clear();
        assert_eq!(fetched(&mut arbiter, 6), "020202");
    }

    #[test]
    fn classes_share_a_round_four_to_two_to_one() {
        let mut arbiter = arbiter(4, 0, true);
        let classes = [Priority::Low, Priority::Medium, Priority::High, Priority::High];
        fill(&mut arbiter, &classes);
        assert_eq!(fetched(&mut arbiter, 14), "23231102323110", "queues of a class in turn");
    }

    #[test]
    fn urgent_comes_first_and_an_empty_class_gives_its_share_away() {
        let mut arbiter = arbiter(3, 0, true);
        fill(&mut arbiter, &[Priority::Low, Priority::High, Priority::Urgent]);
        assert_eq!(fetched(&mut arbiter, 20), "22222222221111011110");
    }

    #[test]
    fn a_queue_has_no_more_than_its_fetch_size_inside() {
        let mut arbiter = arbiter(2, 2, false);
        assert!(arbiter.enter(0, queue(0, Priority::Medium), true));
        assert!(arbiter.enter(1, queue(0, Priority::Medium), true));
        assert!(!arbiter.enter(2, queue(2, Priority::Medium), true), "queue 2 of 2 is queue 0");
        assert!(arbiter.enter(3, queue(1, Priority::Medium), true), "another may still");
        assert_eq!((arbiter.fetch(), arbiter.waiting()), (None, 1));
        arbiter.leave(0);
        assert_eq!((arbiter.fetch(), arbiter.waiting()), (Some(2), 0));
    }
}
