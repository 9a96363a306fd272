//! The event queue: a heap ordered by (time, priority, sequence).
//!
//! The sequence number makes ties deterministic: of two events of one instant and
//! one priority, the one scheduled first happens first, on every machine.

/// What happens, and to which die or channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The array of a unit (die, or chip) has finished its command.
    ArrayDone(u32),
    /// The data of a unit's read have crossed the channel.
    DataOut(u32),
    /// A channel on which somebody waits is free.
    ChannelFree(u32),
    /// The host has been quiet since the request with this number.
    Idle(u32),
}

impl Event {
    /// Lower first: what frees a resource before what takes it.
    const fn priority(self) -> u64 {
        match self {
            Self::ArrayDone(_) => 0,
            Self::DataOut(_) => 1,
            Self::ChannelFree(_) => 2,
            Self::Idle(_) => 3,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time_ns: u64,
    order: u64,
    event: Event,
}

impl Entry {
    #[inline]
    const fn before(&self, other: &Self) -> bool {
        self.time_ns < other.time_ns || (self.time_ns == other.time_ns && self.order < other.order)
    }
}

/// Children per heap node: four keep the tree shallow and a node in a cache line or two.
const ARITY: usize = 4;
/// Bits of the order word left for the sequence number.
const SEQUENCE_BITS: u32 = 60;

/// Pending events.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    sequence: u64,
}

impl EventQueue {
    /// When the next event happens; `u64::MAX` if none is pending.
    #[inline]
    #[must_use]
    pub fn next_time_ns(&self) -> u64 {
        self.heap.first().map_or(u64::MAX, |entry| entry.time_ns)
    }

    /// Adds an event.
    #[inline]
    pub fn schedule(&mut self, time_ns: u64, event: Event) {
        let order = event.priority() << SEQUENCE_BITS | self.sequence;
        self.sequence += 1;
        let entry = Entry { time_ns, order, event };
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = entry;
    }

    /// Removes and returns the next event with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else {
            return Some((last.time_ns, last.event));
        };
        self.sink(last);
        Some((first.time_ns, first.event))
    }

    /// Moves `entry` from the root to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        loop {
            let first_child = hole * ARITY + 1;
            if first_child >= heap.len() {
                break;
            }
            let end = (first_child + ARITY).min(heap.len());
            let mut least = first_child;
            for child in first_child + 1..end {
                if heap[child].before(&heap[least]) {
                    least = child;
                }
            }
            if !heap[least].before(&entry) {
                break;
            }
            heap[hole] = heap[least];
            hole = least;
        }
        heap[hole] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn events_come_in_order_of_time_priority_sequence() {
        let mut queue = EventQueue::default();
        queue.schedule(5, Event::ChannelFree(1));
        queue.schedule(5, Event::ArrayDone(2));
        queue.schedule(5, Event::ArrayDone(3));
        queue.schedule(4, Event::Idle(4));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(
            order,
            [
                (4, Event::Idle(4)),
                (5, Event::ArrayDone(2)),
                (5, Event::ArrayDone(3)),
                (5, Event::ChannelFree(1)),
            ]
        );
    }

    #[test]
    fn random_schedules_come_out_sorted() {
        let mut random = Stream::new(3, "events");
        let mut queue = EventQueue::default();
        let mut last = 0;
        for round in 0..5000_u32 {
            queue.schedule(last + random.below(50), Event::DataOut(round));
            if random.below(2) == 0 {
                let (time_ns, _) = queue.pop().unwrap();
                assert!(time_ns >= last);
                last = time_ns;
            }
        }
    }
}
