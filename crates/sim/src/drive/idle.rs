//! When the host has been quiet for so long that a drive does what was left for later.

/// Whether it is idle time, and how that is found out.
#[derive(Clone, Debug, Default)]
pub struct Idle {
    /// How long the host must have been quiet; none: idle time is not used.
    after_ns: Option<u64>,
    /// Counts arrivals, so that a timer knows whether it is stale.
    arrivals: u32,
    begun: bool,
}

impl Idle {
    /// If it is used, idle time begins when the host has been quiet for `idle_ns`.
    pub fn new(used: bool, idle_ns: u64) -> Self {
        Self { after_ns: used.then_some(idle_ns), ..Self::default() }
    }

    /// Whether it is idle time.
    pub const fn has_begun(&self) -> bool {
        self.begun
    }

    /// The host asks for something.
    pub fn wake(&mut self) {
        self.arrivals = self.arrivals.wrapping_add(1);
        self.begun = false;
    }

    /// The host has no more requests: when a timer is to run out, if one is to be set, and the
    /// number to be handed to [`Idle::begin`] then.
    pub fn timer(&self, now_ns: u64) -> Option<(u64, u32)> {
        self.after_ns.map(|idle_ns| (now_ns + idle_ns, self.arrivals))
    }

    /// A timer has run out: says whether idle time begins.
    pub fn begin(&mut self, set_at_arrival: u32) -> bool {
        self.begun |= set_at_arrival == self.arrivals;
        set_at_arrival == self.arrivals
    }
}
