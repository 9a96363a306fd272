//! A channel: carries one command or one page at a time.

use crate::ring::Ring;

/// The wires that the units of a channel share.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// When what it carries is over.
    pub free_at_ns: u64,
    /// A `ChannelFree` will come when it is free: never a second one, as each would be followed by
    /// another as long as anybody waits.
    pub will_wake: bool,
    /// Data of a read cross it, at whose end a `DataOut` comes.
    pub sends_out: bool,
    /// Units whose read data wait, first come first.
    pub ready: Ring<u32>,
    /// Bit per unit: idle, with commands waiting.
    pub waiting: u64,
    /// The unit whose turn it is.
    turn: u32,
    busy_ns: u64,
}

impl Channel {
    /// Whether anybody waits for it.
    #[inline]
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.waiting != 0 || !self.ready.is_empty()
    }

    /// Whether no event will come when it is free.
    #[inline]
    #[must_use]
    pub const fn is_unattended(&self) -> bool {
        !self.will_wake && !self.sends_out
    }

    /// Whether it carries nothing, and nothing will come.
    #[must_use]
    pub fn is_quiet(&self, now_ns: u64) -> bool {
        self.free_at_ns <= now_ns && self.is_unattended() && !self.has_work()
    }

    /// The first of the waiting units, from the one whose turn it is, that `may` go.
    #[inline]
    pub fn first_in_turn(&self, may: impl Fn(u32) -> bool) -> Option<u32> {
        let mut left = self.waiting;
        while left != 0 {
            let from_turn = left & (u64::MAX << self.turn);
            let unit = if from_turn == 0 { left } else { from_turn }.trailing_zeros();
            if may(unit) {
                return Some(unit);
            }
            left &= !(1 << unit);
        }
        None
    }

    /// A unit stops waiting, and the turn passes to the one behind it, of `units`.
    #[inline]
    pub fn take_turn(&mut self, unit: u32, units: u32) {
        self.waiting &= !(1 << unit);
        self.turn = if unit + 1 == units { 0 } else { unit + 1 };
    }

    /// The unit whose turn was last, of `units`.
    #[must_use]
    pub const fn last_served(&self, units: u32) -> u32 {
        if self.turn == 0 { units - 1 } else { self.turn - 1 }
    }

    /// How many of its `units` have their turn before one.
    #[must_use]
    pub const fn turns_until(&self, unit: u32, units: u32) -> u32 {
        if unit < self.turn { unit + units - self.turn } else { unit - self.turn }
    }

    /// Carries something from now on.
    #[inline]
    pub fn occupy(&mut self, now_ns: u64, until_ns: u64) {
        self.busy_ns += until_ns - now_ns;
        self.free_at_ns = until_ns;
    }

    /// Has carried things for so long, the last of them up to a time.
    pub const fn carried(&mut self, busy_ns: u64, until_ns: u64) {
        self.busy_ns += busy_ns;
        self.free_at_ns = until_ns;
    }

    /// Writes down how it stands, as seen from `now_ns`: what is equal goes on alike.
    pub fn picture(&self, now_ns: u64, into: &mut Vec<u64>) {
        let free_in_ns = self.free_at_ns.saturating_sub(now_ns);
        let events = u64::from(self.will_wake) << 1 | u64::from(self.sends_out);
        let turn = u64::from(self.turn) << 2 | events;
        into.extend([free_in_ns, turn, self.waiting, self.ready.len() as u64]);
        into.extend(self.ready.iter().map(|&unit| u64::from(unit)));
    }

    /// Time passes in which it was busy for so long, and after which it is as it was.
    pub fn skip(&mut self, now_ns: u64, by_ns: u64, busy_ns: u64) {
        self.busy_ns += busy_ns;
        if self.free_at_ns > now_ns {
            self.free_at_ns += by_ns;
        }
    }

    /// How long it has been busy, what it carries included.
    #[must_use]
    pub const fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// How long it was busy until `now_ns`.
    #[must_use]
    pub const fn busy_so_far(&self, now_ns: u64) -> u64 {
        self.busy_ns - self.free_at_ns.saturating_sub(now_ns)
    }
}
