//! When the host has been quiet for so long that a drive does what was left for later.

use crate::events::{Event, EventQueue};

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
    /// What happens when the timer has run out.
    run_out: Event,
}

impl Idle {
    /// If it is used, idle time begins when the host has been quiet for `idle_ns`; the event comes
    /// when that may be.
    pub fn new(used: bool, idle_ns: u64, run_out: Event) -> Self {
        Self { after_ns: used.then_some(idle_ns), run_out, ..Self::default() }
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

    /// The host has no more requests.
    pub fn fall_quiet(&mut self, now_ns: u64, events: &mut EventQueue) {
        let Some(idle_ns) = self.after_ns else { return };
        self.due_ns = Some(now_ns + idle_ns);
        if !std::mem::replace(&mut self.has_timer, true) {
            events.schedule(now_ns + idle_ns, self.run_out);
        }
    }

    /// The timer has run out: says whether idle time begins.
    pub fn begins(&mut self, now_ns: u64, events: &mut EventQueue) -> bool {
        self.has_timer = false;
        match self.due_ns {
            None => false,
            Some(due_ns) if due_ns > now_ns => {
                self.has_timer = true;
                events.schedule(due_ns, self.run_out);
                false
            }
            Some(_) => {
                self.begun = true;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timer_runs_until_the_host_has_been_quiet_long_enough() {
        let (mut idle, mut events) = (Idle::new(true, 100, Event::Idle), EventQueue::default());
        idle.fall_quiet(0, &mut events);
        idle.wake();
        idle.fall_quiet(30, &mut events);
        assert_eq!(events.pop_at(100), Some(Event::Idle));
        assert_eq!(events.next_time_ns(), u64::MAX, "a second timer runs");
        assert!(!idle.begins(100, &mut events));
        assert!(!idle.has_begun());
        assert_eq!(events.pop_at(130), Some(Event::Idle));
        assert!(idle.begins(130, &mut events));
        assert!(idle.has_begun());
        idle.wake();
        assert!(!idle.has_begun());
        idle.fall_quiet(200, &mut events);
        idle.wake();
        assert_eq!(events.pop_at(300), Some(Event::Idle));
        assert!(!idle.begins(300, &mut events));
        assert_eq!(events.next_time_ns(), u64::MAX);
        idle.fall_quiet(310, &mut events);
        assert_eq!(events.next_time_ns(), 410);
        let mut unused = EventQueue::default();
        Idle::new(false, 100, Event::Idle).fall_quiet(0, &mut unused);
        assert_eq!(unused.next_time_ns(), u64::MAX);
    }
}
