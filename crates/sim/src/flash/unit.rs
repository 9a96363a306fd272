//! A unit: a queue per kind of work, an array that does one thing at a time, and, on the way
//! to it and from it, a register.

use super::busy::BusyClock;
use super::command::{NONE, QUEUES};
use super::suspend::Suspension;

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

/// What a unit could take up next by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it works.
    Nothing,
    /// Anything: it rests.
    Anything,
    /// The data of a program, while the array programs.
    Programs,
    /// A read of the host, for which a program or erase is suspended.
    HostReads,
}

/// A die, or a chip whose dies do not overlap, or the chips of a channel that do not.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its channel.
    pub channel: u32,
    /// Its place among the units of that.
    pub turn: u32,
    /// What waits, by kind of work.
    pub queues: [Queue; QUEUES],
    /// Bit per queue: something waits in it.
    pub occupied: u8,
    /// How many wait.
    pub queued: u32,
    /// What it could take up now.
    pub takes: Takes,
    /// Its planes in which collection must not yield to the host.
    pub urgent_planes: u32,
    /// What the array works on (linked), or [`NONE`].
    pub active: u32,
    /// When the array begins and ends with it.
    pub array_from_ns: u64,
    /// See `array_from_ns`.
    pub array_until_ns: u64,
    /// Whether `active` is read and waits for what was read before it to go out.
    pub sensed: bool,
    /// What is read, and goes out over the channel or waits for it (linked), or [`NONE`].
    pub outgoing: u32,
    /// What is programmed next (linked), its data in the cache register; or [`NONE`].
    pub loaded: u32,
    /// A program or erase suspended.
    pub suspension: Suspension,
    /// What it has worked so far.
    pub clock: BusyClock,
}

impl Unit {
    /// One at rest, at this place of a channel.
    #[must_use]
    pub fn new(channel: u32, turn: u32) -> Self {
        Self {
            channel,
            turn,
            queues: [Queue::default(); QUEUES],
            occupied: 0,
            queued: 0,
            takes: Takes::Anything,
            urgent_planes: 0,
            active: NONE,
            array_from_ns: 0,
            array_until_ns: 0,
            sensed: false,
            outgoing: NONE,
            loaded: NONE,
            suspension: Suspension::default(),
            clock: BusyClock::default(),
        }
    }

    /// Its bit among those of its channel.
    #[inline]
    #[must_use]
    pub const fn bit(&self) -> u64 {
        1 << self.turn
    }

    /// Whether it rests, and nothing waits for it.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.queued == 0 && self.takes == Takes::Anything
    }

    /// What its array has read goes out, or waits to.
    #[inline]
    pub fn sent_out(&mut self) {
        self.outgoing = std::mem::replace(&mut self.active, NONE);
        self.sensed = false;
    }

    /// Puts a command at the end of a queue; the caller links it to the former tail, which is
    /// returned.
    #[inline]
    pub fn append(&mut self, queue: usize, slot: u32) -> u32 {
        self.occupied |= 1 << queue;
        self.queued += 1;
        let queue = &mut self.queues[queue];
        if queue.tail == NONE {
            queue.head = slot;
        }
        std::mem::replace(&mut queue.tail, slot)
    }

    /// Takes a command out of a queue, between `before` and `next`, each of which may be
    /// [`NONE`]; the caller links those.
    #[inline]
    pub fn take_out(&mut self, queue: usize, before: u32, slot: u32, next: u32) {
        self.queued -= 1;
        let list = &mut self.queues[queue];
        if before == NONE {
            list.head = next;
        }
        if list.tail == slot {
            list.tail = before;
        }
        if list.head == NONE {
            self.occupied &= !(1 << queue);
        }
    }
}
