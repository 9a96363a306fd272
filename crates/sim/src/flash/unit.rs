//! A unit: one command at a time, a queue per kind of work.

use super::command::{NONE, QUEUES};

/// A list of commands, linked through them.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// First in, or [`NONE`].
    pub head: u32,
    /// Last in, or [`NONE`].
    pub tail: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

/// A die, or a chip whose dies do not overlap, or the chips of a channel that do not.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What waits, by kind of work.
    pub queues: [Queue; QUEUES],
    /// How many wait.
    pub queued: u32,
    /// What is being worked on (linked), or [`NONE`].
    pub active: u32,
    /// Work done before the present command, in total and for collection.
    busy_ns: u64,
    gc_ns: u64,
    /// When the present command was taken up.
    since_ns: u64,
    for_gc: bool,
    idle: bool,
}

impl Default for Unit {
    fn default() -> Self {
        Self {
            queues: [Queue::default(); QUEUES],
            queued: 0,
            active: NONE,
            busy_ns: 0,
            gc_ns: 0,
            since_ns: 0,
            for_gc: false,
            idle: true,
        }
    }
}

impl Unit {
    /// Whether it could take a command.
    #[inline]
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.idle
    }

    /// Work done until `now_ns`: in total, and for collection.
    #[inline]
    #[must_use]
    pub const fn busy_so_far(&self, now_ns: u64) -> (u64, u64) {
        if self.idle {
            return (self.busy_ns, self.gc_ns);
        }
        let present = now_ns - self.since_ns;
        (self.busy_ns + present, self.gc_ns + if self.for_gc { present } else { 0 })
    }

    /// Puts a command at the end of a queue; the caller links it to the former tail.
    #[inline]
    pub fn append(&mut self, queue: usize, slot: u32) {
        let queue = &mut self.queues[queue];
        if queue.tail == NONE {
            queue.head = slot;
        }
        queue.tail = slot;
        self.queued += 1;
    }

    /// Takes up the commands linked from `first`.
    #[inline]
    pub fn work_on(&mut self, first: u32, now_ns: u64, for_gc: bool) {
        self.active = first;
        self.since_ns = now_ns;
        self.for_gc = for_gc;
        self.idle = false;
    }

    /// Has nothing more to do for its command.
    #[inline]
    pub fn rest(&mut self, now_ns: u64) {
        (self.busy_ns, self.gc_ns) = self.busy_so_far(now_ns);
        self.idle = true;
    }
}
