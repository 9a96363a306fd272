//! When the host has been quiet for so long that a drive does what was left for later.

/// Whether it is idle time, and how that is found out.
///
/// One timer at most runs: it is not set anew by each request, but goes on, when it has run out,
/// until what was asked for meanwhile is as long ago.
#[derive(Clone, Debug, Default)]
pub struct Idle {
    /// How long the host must have been quiet; none: idle time is not used.
    after_ns: Option<u64>,
    /// When it has been, if it is quiet now.
    due_ns: Option<u64>,
    has_timer: bool,
    begun: bool,
}

/// What follows when a timer has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOut {
    /// Idle time begins.
    Begins,
    /// The timer is to run on, up to an instant.
    RunsOn(u64),
    /// Nothing: the host is not quiet.
    Ends,
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
        self.due_ns = None;
        self.begun = false;
    }

    /// The host has no more requests: when a timer is to run out, if one is to be set.
    pub fn timer(&mut self, now_ns: u64) -> Option<u64> {
        self.due_ns = self.after_ns.map(|idle_ns| now_ns + idle_ns);
        if std::mem::replace(&mut self.has_timer, self.due_ns.is_some()) {
            return None;
        }
        self.due_ns
    }

    /// The timer has run out.
    pub fn run_out(&mut self, now_ns: u64) -> RunOut {
        match self.due_ns {
            Some(due_ns) if due_ns > now_ns => return RunOut::RunsOn(due_ns),
            Some(_) => self.begun = true,
            None => {}
        }
        self.has_timer = false;
        if self.begun { RunOut::Begins } else { RunOut::Ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timer_runs_until_the_host_has_been_quiet_long_enough() {
        let mut idle = Idle::new(true, 100);
        assert_eq!(idle.timer(0), Some(100));
        idle.wake();
        assert_eq!(idle.timer(30), None);
        assert_eq!(idle.run_out(100), RunOut::RunsOn(130));
        assert!(!idle.has_begun());
        assert_eq!(idle.run_out(130), RunOut::Begins);
        assert!(idle.has_begun());
        idle.wake();
        assert!(!idle.has_begun());
        assert_eq!(idle.timer(200), Some(300));
        idle.wake();
        assert_eq!(idle.run_out(300), RunOut::Ends);
        assert_eq!(idle.timer(310), Some(410));
        assert_eq!(Idle::new(false, 100).timer(0), None);
    }
}
