//! What a unit has worked so far, by what for: how commands that wait for it know what
//! they waited for, from two readings.

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing.
    Rest,
    /// Work for the host.
    Host,
    /// Work for collection.
    Gc,
}

/// Time worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// In total.
    pub all_ns: u64,
    /// For collection.
    pub gc_ns: u64,
    /// Suspending and resuming.
    pub suspend_ns: u64,
}

/// Adds up a unit's work.
#[derive(Clone, Copy, Debug)]
pub struct BusyClock {
    /// Until the present began.
    before: Worked,
    since_ns: u64,
    doing: Doing,
    /// A span of the present, perhaps still to come, that goes to suspending or resuming;
    /// it ends at 0 if there is none.
    held_from_ns: u64,
    held_until_ns: u64,
}

impl Default for BusyClock {
    fn default() -> Self {
        Self {
            before: Worked::default(),
            since_ns: 0,
            doing: Doing::Rest,
            held_from_ns: 0,
            held_until_ns: 0,
        }
    }
}

impl BusyClock {
    /// Work done until `now_ns`.
    #[inline]
    #[must_use]
    pub fn so_far(&self, now_ns: u64) -> Worked {
        let mut worked = self.before;
        if self.doing == Doing::Rest {
            return worked;
        }
        let present_ns = now_ns - self.since_ns;
        worked.all_ns += present_ns;
        let mut held_ns = 0;
        if self.held_until_ns > 0 {
            held_ns = now_ns.clamp(self.held_from_ns, self.held_until_ns) - self.held_from_ns;
            worked.suspend_ns += held_ns;
        }
        if self.doing == Doing::Gc {
            worked.gc_ns += present_ns - held_ns;
        }
        worked
    }

    /// Whether it works for collection.
    #[must_use]
    pub fn is_for_gc(&self) -> bool {
        self.doing == Doing::Gc
    }

    /// It turns to something else.
    #[inline]
    pub fn turn(&mut self, now_ns: u64, doing: Doing) {
        if self.doing != Doing::Rest {
            self.before = self.so_far(now_ns);
        }
        if self.held_until_ns > now_ns {
            self.held_from_ns = self.held_from_ns.max(now_ns);
        } else {
            self.held_until_ns = 0;
        }
        self.since_ns = now_ns;
        self.doing = doing;
    }

    /// The span from `from_ns` to `until_ns`, which is still to come, goes to suspending or
    /// resuming; with it what is left of a span that was held before and borders on it.
    pub fn hold(&mut self, now_ns: u64, from_ns: u64, until_ns: u64) {
        self.turn(now_ns, self.doing);
        if self.held_until_ns <= now_ns {
            self.held_from_ns = from_ns;
        }
        self.held_until_ns = until_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_what_is_done_and_what_is_held_to_suspension() {
        let mut clock = BusyClock::default();
        clock.turn(10, Doing::Gc);
        // Suspended from 30 to 35, resumed from 50 to 58 and suspended again at once to 63.
        clock.hold(20, 30, 35);
        assert_eq!(clock.so_far(28), Worked { all_ns: 18, gc_ns: 18, suspend_ns: 0 });
        assert_eq!(clock.so_far(32), Worked { all_ns: 22, gc_ns: 20, suspend_ns: 2 });
        clock.turn(35, Doing::Rest);
        assert_eq!(clock.so_far(40), Worked { all_ns: 25, gc_ns: 20, suspend_ns: 5 });
        clock.turn(42, Doing::Host);
        clock.turn(50, Doing::Gc);
        clock.hold(50, 50, 58);
        clock.hold(54, 58, 63);
        assert_eq!(clock.so_far(60), Worked { all_ns: 43, gc_ns: 20, suspend_ns: 15 });
        clock.turn(63, Doing::Gc);
        assert_eq!(clock.so_far(70), Worked { all_ns: 53, gc_ns: 27, suspend_ns: 18 });
    }
}
