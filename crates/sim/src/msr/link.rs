//! The bus to the host: one request holds it at a time.
//!
//! A write holds it while its data comes in, a read while its data goes out. Whoever
//! is done inside the drive goes before whoever has just arrived; each kind in order.
//! A read that arrives takes no time on the bus, but waits while it is held.

use std::collections::VecDeque;

/// Who holds the bus, and who waits for it. Requests are named by their place in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub holder: Option<u32>,
    /// Done inside the drive, with the result to go out.
    pub leaving: VecDeque<u32>,
    /// Not begun yet.
    pub arriving: VecDeque<u32>,
}

/// What a free bus does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Leave(u32),
    Arrive(u32),
}

impl Link {
    /// Whose turn it is, if the bus is free and somebody waits.
    pub fn next_turn(&mut self) -> Option<Turn> {
        if self.holder.is_some() {
            return None;
        }
        let leaving = self.leaving.pop_front().map(Turn::Leave);
        leaving.or_else(|| self.arriving.pop_front().map(Turn::Arrive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_goes_before_new_and_nothing_while_held() {
        let mut link = Link::default();
        link.arriving.extend([4, 5]);
        link.leaving.push_back(3);
        assert_eq!(link.next_turn(), Some(Turn::Leave(3)));
        link.holder = Some(3);
        assert_eq!(link.next_turn(), None);
        link.holder = None;
        assert_eq!(link.next_turn(), Some(Turn::Arrive(4)));
    }
}
