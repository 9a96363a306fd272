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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Event {
    /// The array of a unit has read.
    ReadDone(u32),
    /// The array of a unit has programmed or erased.
    WriteDone(u32),
    /// The data of a unit's read have crossed the channel.
    DataOut(u32),
    /// A channel on which somebody waits is free.
    ChannelFree(u32),
    /// The host may have been quiet for so long that idle time begins.
    Idle,
    /// A part of the mapping table is in RAM.
    #[default]
    MapLoaded,
    /// The same, for the write buffer.
    BufferIdle,
    /// What was foreseen has come to pass.
    Foreseen,
    /// The data of a request have been copied between link and memory.
    Copied(u32),
}

const LANES: usize = 6;
/// The first of them are the array's.
const LANES_OF_ARRAY: usize = 4;

impl Event {
    #[inline]
    const fn lane(self) -> usize {
        match self {
            Self::ReadDone(_) => 0,
            Self::WriteDone(_) | Self::Foreseen => 1,
            Self::DataOut(_) => 2,
            Self::ChannelFree(_) => 3,
            Self::Idle | Self::BufferIdle | Self::Copied(_) => 4,
            Self::MapLoaded => 5,
        }
    }

    /// Whom it concerns, of those that its lane concerns.
    const fn of(self) -> u32 {
        match self {
            Self::ReadDone(one) | Self::WriteDone(one) | Self::DataOut(one) => one,
            Self::ChannelFree(one) | Self::Copied(one) => one,
            Self::Idle | Self::BufferIdle | Self::MapLoaded | Self::Foreseen => 0,
        }
    }
}

/// The priorities of the lanes, ascending: what frees a resource before what takes it.
const PRIORITIES: [u8; LANES] = [0, 0, 1, 2, 3, 4];

/// A pending event.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    time_ns: u64,
    sequence: u64,
    event: Event,
}

/// The time of nothing.
const NEVER: u64 = u64::MAX;

/// Pending events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    lanes: [Ring<Entry>; LANES],
    /// When the first event of each lane happens, or [`NEVER`].
    heads_ns: [u64; LANES],
    /// When the next event of all happens, and its lane.
    next_ns: u64,
    next_lane: usize,
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            lanes: Default::default(),
            heads_ns: [NEVER; LANES],
            next_ns: NEVER,
            next_lane: 0,
            sequence: 0,
        }
    }
}

impl EventQueue {
    /// When the next event happens; `u64::MAX` if none is pending.
    #[inline]
    #[must_use]
    pub const fn next_time_ns(&self) -> u64 {
        self.next_ns
    }

    /// Adds an event.
    #[expect(clippy::inline_always, reason = "each caller knows the lane")]
    #[inline(always)]
    pub fn schedule(&mut self, time_ns: u64, event: Event) {
        let lane = event.lane();
        let queue = &mut self.lanes[lane];
        match queue.back() {
            Some(last) if last.time_ns > time_ns => self.pass_later(time_ns, event),
            _ => queue.push_back(Entry { time_ns, sequence: self.sequence, event }),
        }
        self.sequence += 1;
        self.heads_ns[lane] = self.heads_ns[lane].min(time_ns);
        let first = (time_ns, PRIORITIES[lane]) < (self.next_ns, PRIORITIES[self.next_lane]);
        if first {
            (self.next_ns, self.next_lane) = (time_ns, lane);
        }
    }

    /// Puts an event before those of its lane that are later. Apart, so that no entry has to be in
    /// memory for the call where there are none.
    #[inline(never)]
    fn pass_later(&mut self, time_ns: u64, event: Event) {
        let entry = Entry { time_ns, sequence: self.sequence, event };
        self.lanes[event.lane()].insert(entry, |other| other.time_ns > time_ns);
    }

    /// Removes and returns the next event, if it happens at `now_ns`.
    #[inline]
    pub fn pop_at(&mut self, now_ns: u64) -> Option<Event> {
        if self.next_ns != now_ns {
            return None;
        }
        let lane = &mut self.lanes[self.next_lane];
        let Entry { event, .. } = lane.pop_front()?;
        self.heads_ns[self.next_lane] = lane.front().map_or(NEVER, |first| first.time_ns);
        self.find_next();
        Some(event)
    }

    /// Removes and returns the next event with its time, if it is the array's and happens by
    /// `until_ns`.
    pub fn pop_of_array(&mut self, until_ns: u64) -> Option<(u64, Event)> {
        let time_ns = self.next_ns;
        let is_due = time_ns <= until_ns && self.next_lane < LANES_OF_ARRAY;
        is_due.then(|| self.pop_at(time_ns)).flatten().map(|event| (time_ns, event))
    }

    /// Removes an event that is pending once, if it is.
    pub fn cancel(&mut self, event: Event) {
        let lane = event.lane();
        self.lanes[lane].remove(|entry| entry.event == event);
        self.heads_ns[lane] = self.lanes[lane].front().map_or(NEVER, |first| first.time_ns);
        self.find_next();
    }

    /// Writes down what is pending, as seen from `now_ns`: what is equal goes on alike.
    pub fn picture(&self, now_ns: u64, into: &mut Vec<u64>) {
        for lane in &self.lanes {
            into.push(lane.len() as u64);
            for entry in lane.iter() {
                let age = self.sequence - entry.sequence;
                into.extend([entry.time_ns - now_ns, age << 32 | u64::from(entry.event.of())]);
            }
        }
    }

    /// Puts off all that is pending.
    pub fn delay(&mut self, by_ns: u64) {
        for (lane, head_ns) in self.lanes.iter_mut().zip(&mut self.heads_ns) {
            lane.for_each(|entry| entry.time_ns += by_ns);
            *head_ns = lane.front().map_or(NEVER, |first| first.time_ns);
        }
        self.find_next();
    }

    /// Finds the lane of the next event: of equal times the one with the lowest priority
    /// number, and of the two that share a priority the one scheduled first.
    #[inline]
    fn find_next(&mut self) {
        (self.next_ns, self.next_lane) = (self.heads_ns[0], 0);
        for lane in 1..LANES {
            if self.heads_ns[lane] < self.next_ns {
                (self.next_ns, self.next_lane) = (self.heads_ns[lane], lane);
            }
        }
        if self.heads_ns[0] == self.heads_ns[1] && self.next_lane == 0 {
            let sequence = |lane: usize| self.lanes[lane].front().map(|first| first.sequence);
            self.next_lane = usize::from(sequence(1) < sequence(0));
        }
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
        queue.schedule(4, Event::Idle);
        assert_eq!(queue.pop_at(3), None);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue)).collect();
        assert_eq!(
            order,
            [
                (4, Event::Idle),
                (5, Event::WriteDone(2)),
                (5, Event::ReadDone(3)),
                (5, Event::ChannelFree(1)),
            ]
        );
    }

    #[test]
    fn a_cancelled_event_does_not_happen() {
        let mut queue = EventQueue::default();
        queue.schedule(5, Event::WriteDone(1));
        queue.schedule(7, Event::WriteDone(2));
        queue.schedule(6, Event::ReadDone(1));
        queue.cancel(Event::WriteDone(1));
        queue.cancel(Event::WriteDone(3));
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue)).collect();
        assert_eq!(order, [(6, Event::ReadDone(1)), (7, Event::WriteDone(2))]);
        assert_eq!(queue.next_time_ns(), u64::MAX);
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
