//! The course of an errand, and that of others which differ from it only in how many laps go by
//! between their bends.
//!
//! A leap takes laps as done that each go as the one before. If there are fewer or more of them,
//! the state after the last is the same, and so is all that follows.

/// How an errand goes, wherever on the array and whenever that is.
#[derive(Debug)]
pub struct Course {
    /// The unit on which the last erase ends: which of those that take part.
    pub(super) last_unit: usize,
    /// By channel that takes part: the last unit whose turn it was.
    pub(super) served: Vec<usize>,
    /// In all; then by unit, and by channel, how long it is busy.
    pub(super) spent_ns: Vec<u64>,
    pub(super) pages: u64,
    pub(super) commands: u64,
    pub(super) multi_plane_commands: u64,
    /// Over reads, in order.
    pub(super) leaps: Vec<Leap>,
}

/// Laps of reads that were taken as done.
#[derive(Clone, Debug)]
pub(super) struct Leap {
    /// The first step of the laps that they are like.
    pub first: u32,
    /// Steps after which all is as before.
    pub steps: u32,
    /// How often these were leapt over, and what they take each time, as [`Course::spent_ns`].
    pub times: u32,
    pub spent_ns: Vec<u64>,
}

impl Course {
    /// The course of an errand whose bends are those of `to`, if this one has the same at those of
    /// `from`, and if that can be told.
    pub fn bent(&self, from: &[u32], to: &[u32]) -> Option<Self> {
        if self.leaps.is_empty() {
            return None;
        }
        let mut spent_ns = self.spent_ns.clone();
        let (mut start, mut moved) = (0, 0);
        let ends = from.iter().zip(to).map(|(&from, &to)| (from, i64::from(to) - i64::from(from)));
        for (end, moves) in ends.chain([(u32::MAX, 0)]) {
            let more_steps = moves - moved;
            if more_steps != 0 {
                let mut leaps = self.leaps.iter();
                let leap = leaps.find(|leap| (start..end).contains(&leap.first))?;
                let more = leap.times_more(more_steps)?;
                for (spent_ns, &once_ns) in spent_ns.iter_mut().zip(&leap.spent_ns) {
                    *spent_ns = spent_ns.checked_add_signed(more * once_ns as i64)?;
                }
            }
            (start, moved) = (end, moves);
        }
        Some(Self { spent_ns, served: self.served.clone(), leaps: Vec::new(), ..*self })
    }
}

impl Leap {
    /// How often more its laps would go by for so many steps more, if that comes out even and they
    /// are not fewer than none.
    fn times_more(&self, steps: i64) -> Option<i64> {
        let more = steps / i64::from(self.steps);
        let is_even = more * i64::from(self.steps) == steps;
        (is_even && i64::from(self.times) + more >= 0).then_some(more)
    }
}
