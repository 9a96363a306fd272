//! One direction of a link: what it carries, first in, first out.
//!
//! Messages of a direction arrive in the order in which they were sent, so it keeps its
//! own queue of what is under way and needs no place in the heap.

use crate::ring::Ring;

/// A message under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    pub arrives_ns: u64,
    pub request: u32,
    /// Data that a write still has to fetch, or a message brings.
    pub data_bytes: u64,
    pub content: Content,
}

impl Message {
    /// A message that has yet to be sent.
    pub const fn new(request: u32, data_bytes: u64, content: Content) -> Self {
        Self { arrives_ns: 0, request, data_bytes, content }
    }
}

/// What a message is, to both ends of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)] // so that a message has no gaps, and is copied as words
pub(super) enum Content {
    /// The host announces a command.
    #[default]
    Doorbell,
    /// The drive asks for the command.
    AskCommand,
    /// The command.
    Command,
    /// The drive asks for a write's data.
    AskData,
    /// The last of what the drive needs to start.
    Complete,
    /// The answer, behind the data of a read.
    Answer,
}

/// One direction of a link, or both where they share a wire.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    free_at_ns: u64,
    /// When the next message arrives; `u64::MAX` if none is under way.
    pub next_ns: u64,
    /// That message: mostly the only one, which then needs no place in the queue.
    next: Message,
    /// Those behind it.
    behind: Ring<Message>,
}

impl Default for Direction {
    fn default() -> Self {
        let (next, behind) = Default::default();
        Self { free_at_ns: 0, next_ns: u64::MAX, next, behind }
    }
}

impl Direction {
    /// Books `span_ns` from `now_ns` on; returns when that begins and ends.
    #[inline]
    pub fn book(&mut self, now_ns: u64, span_ns: u64) -> (u64, u64) {
        let start = now_ns.max(self.free_at_ns);
        self.free_at_ns = start + span_ns;
        (start, self.free_at_ns)
    }

    /// Sends a message that takes `span_ns`; returns when it begins.
    #[inline]
    pub fn send(&mut self, now_ns: u64, span_ns: u64, message: Message) -> u64 {
        let (start, end) = self.book(now_ns, span_ns);
        self.carry(Message { arrives_ns: end, ..message });
        start
    }

    /// Keeps a message that has been booked until it arrives.
    #[inline]
    pub fn carry(&mut self, message: Message) {
        if self.next_ns == u64::MAX {
            (self.next_ns, self.next) = (message.arrives_ns, message);
        } else {
            self.behind.push_back(message);
        }
    }

    /// Takes the message that arrives next, if there is one.
    #[inline]
    pub fn receive(&mut self) -> Option<Message> {
        if self.next_ns == u64::MAX {
            return None;
        }
        let message = self.next;
        match self.behind.pop_front() {
            Some(next) => (self.next_ns, self.next) = (next.arrives_ns, next),
            None => self.next_ns = u64::MAX,
        }
        Some(message)
    }
}
