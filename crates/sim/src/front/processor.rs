//! The controller's processor: it reads one command after the other, each for as long.

use crate::ring::Ring;

/// The processor, and the commands that it reads or has yet to read.
#[derive(Clone, Debug)]
pub struct Processor {
    command_ns: u64,
    free_ns: u64,
    /// When it has read the next one; `u64::MAX` if it has none.
    pub next_ns: u64,
    /// When it has read each request.
    reading: Ring<(u64, u32)>,
}

impl Processor {
    /// One that takes so long for a command.
    #[must_use]
    pub fn new(command_ns: u64) -> Self {
        Self { command_ns, free_ns: 0, next_ns: u64::MAX, reading: Ring::default() }
    }

    /// Whether it takes no time.
    #[inline]
    #[must_use]
    pub const fn is_instant(&self) -> bool {
        self.command_ns == 0
    }

    /// A command waits for it.
    #[inline]
    pub fn enter(&mut self, now_ns: u64, request: u32) {
        self.free_ns = now_ns.max(self.free_ns) + self.command_ns;
        self.next_ns = self.next_ns.min(self.free_ns);
        self.reading.push_back((self.free_ns, request));
    }

    /// Gives out a command that it has read at this instant.
    #[inline]
    pub fn leave_at(&mut self, now_ns: u64) -> Option<u32> {
        if self.next_ns != now_ns {
            return None;
        }
        let (_, request) = self.reading.pop_front()?;
        self.next_ns = self.reading.front().map_or(u64::MAX, |&(at_ns, _)| at_ns);
        Some(request)
    }
}
