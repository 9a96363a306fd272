//! Pending events, in order of (time, priority, sequence).
//!
//! The sequence number makes ties deterministic: of two events of one instant and
//! one priority, the one scheduled first happens first, on every machine.
//!
//! Events of one kind lie about the same time ahead, so that they are scheduled nearly
//! in the order in which they will happen. Each kind therefore has a lane of its own,
//! which a new event enters from behind, passing the few that are later.

use crate::ring::Ring;

/// What happens, and to which unit (die, or chip) or channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The array of a unit has read.
    ReadDone(u32),
    /// The array of a unit has programmed or erased.
    WriteDone(u32),
    /// The data of a unit's read have crossed the channel.
    DataOut(u32),
    /// A channel on which somebody waits is free.
    ChannelFree(u32),
    /// The host has been quiet since the request with this number.
    Idle(u32),
}

const LANES: usize = 5;

impl Event {
    #[inline]
    const fn lane(self) -> usize {
        match self {
            Self::ReadDone(_) => 0,
            Self::WriteDone(_) => 1,
            Self::DataOut(_) => 2,
            Self::ChannelFree(_) => 3,
            Self::Idle(_) => 4,
        }
    }

    /// Lower first: what frees a resource before what takes it.
    #[inline]
    const fn priority(self) -> u64 {
        match self {
            Self::ReadDone(_) | Self::WriteDone(_) => 0,
            Self::DataOut(_) => 1,
            Self::ChannelFree(_) => 2,
            Self::Idle(_) => 3,
        }
    }
}

/// Time, priority and sequence, from the highest bit down: one comparison orders two events.
type Key = u128;

/// Bits of the key left for the sequence number.
const SEQUENCE_BITS: u32 = 60;
/// The key of nothing.
const NEVER: Key = Key::MAX;

/// Pending events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    lanes: [Ring<(Key, Event)>; LANES],
    /// The key of the first event of each lane, or [`NEVER`].
    heads: [Key; LANES],
    /// The lane of the next event, and its key.
    next: (usize, Key),
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { lanes: Default::default(), heads: [NEVER; LANES], next: (0, NEVER), sequence: 0 }
    }
}

impl EventQueue {
    /// When the next event happens; `u64::MAX` if none is pending.
    #[inline]
    #[must_use]
    pub const fn next_time_ns(&self) -> u64 {
        (self.next.1 >> 64) as u64
    }

    /// Adds an event.
    #[inline]
    pub fn schedule(&mut self, time_ns: u64, event: Event) {
        let order = event.priority() << SEQUENCE_BITS | self.sequence;
        self.sequence += 1;
        let key = Key::from(time_ns) << 64 | Key::from(order);
        let lane = event.lane();
        self.lanes[lane].insert((key, event), |other| other.0 > key);
        self.heads[lane] = self.heads[lane].min(key);
        if key < self.next.1 {
            self.next = (lane, key);
        }
    }

    /// Removes and returns the next event, if it happens at `now_ns`.
    #[inline]
    pub fn pop_at(&mut self, now_ns: u64) -> Option<Event> {
        if self.next_time_ns() != now_ns {
            return None;
        }
        let lane = self.next.0;
        let (_, event) = self.lanes[lane].pop_front()?;
        self.heads[lane] = self.lanes[lane].front().map_or(NEVER, |first| first.0);
        self.next = (0, self.heads[0]);
        for lane in 1..LANES {
            if self.heads[lane] < self.next.1 {
                self.next = (lane, self.heads[lane]);
            }
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    /// The next event with its time.
    fn pop(queue: &mut EventQueue) -> Option<(u64, Event)> {
        let time_ns = queue.next_time_ns();
        queue.pop_at(time_ns).map(|event| (time_ns, event))
    }

    #[test]
    fn events_come_in_order_of_time_priority_sequence() {
        let mut queue = EventQueue::default();
        queue.schedule(5, Event::ChannelFree(1));
        queue.schedule(5, Event::WriteDone(2));
        queue.schedule(5, Event::ReadDone(3));
        queue.schedule(4, Event::Idle(4));
        assert_eq!(queue.pop_at(3), None);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue)).collect();
        assert_eq!(
            order,
            [
                (4, Event::Idle(4)),
                (5, Event::WriteDone(2)),
                (5, Event::ReadDone(3)),
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
            let kinds = [Event::ReadDone, Event::WriteDone, Event::DataOut, Event::ChannelFree];
            let kind = kinds[random.below(4) as usize];
            queue.schedule(last + random.below(50), kind(round));
            if random.below(2) == 0 {
                let (time_ns, _) = pop(&mut queue).unwrap();
                assert!(time_ns >= last);
                last = time_ns;
            }
        }
    }
}
