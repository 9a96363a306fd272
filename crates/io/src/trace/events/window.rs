//! The events that are held to be sorted.
//!
//! Most come in order and only pass a queue. Late ones wait in a heap beside it, so that the
//! next is the earlier of two heads.

use super::Event;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How many events are held.
const WINDOW_EVENTS: usize = 1 << 14;

#[derive(Default)]
pub struct Window {
    in_order: VecDeque<Event>,
    late: BinaryHeap<Reverse<Event>>,
}

impl Window {
    #[inline]
    pub fn push(&mut self, event: Event) {
        match self.in_order.back() {
            Some(last) if event < *last => self.late.push(Reverse(event)),
            _ => self.in_order.push_back(event),
        }
    }

    /// The earliest event, once enough came after it.
    #[inline]
    pub fn pop(&mut self, at_end: bool) -> Option<Event> {
        if !at_end && self.in_order.len() + self.late.len() <= WINDOW_EVENTS {
            return None;
        }
        match (self.in_order.front(), self.late.peek()) {
            (Some(next), Some(Reverse(late))) if late < next => {}
            (None, Some(_)) => {}
            _ => return self.in_order.pop_front(),
        }
        self.late.pop().map(|Reverse(event)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_leave_by_time_and_line(times in prop::collection::vec(0_u64..50, 0..200)) {
            let mut window = Window::default();
            let mut expected: Vec<_> = times.iter().copied().zip(1_u64..).collect();
            for &(time, line) in &expected {
                let (kind, op) = (Kind::Queue, Op::Read);
                let (volume, sector, sectors) = (0, 0, 1);
                window.push(Event { time: Nanos(time), line, kind, op, volume, sector, sectors });
                prop_assert_eq!(window.pop(false), None);
            }
            expected.sort_unstable();
            let sorted: Vec<_> = std::iter::from_fn(|| window.pop(true)).collect();
            let sorted: Vec<_> = sorted.iter().map(|event| (event.time.0, event.line)).collect();
            prop_assert_eq!(sorted, expected);
        }
    }
}
