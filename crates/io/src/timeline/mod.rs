//! The rate of a run over time: windows of equal length, in bounded memory.
//!
//! A request counts in the window in which it completed. Each window has a histogram of its
//! latencies, so that windows can be joined and percentiles still hold: a run whose length nobody
//! knows begins with short windows, and ten of them become one whenever there are too many. If
//! the length of a window is given, windows are never joined, and give up their histograms as
//! time goes on.
//!
//! * [`Timeline`]: what is added up on the way;
//! * [`percentile`]: percentiles of windows, or of several where one has too few requests;
//! * [`columns`]: what comes out.

pub mod columns;
mod percentile;
mod window;

pub use columns::TimelineSummary;

use crate::attribution::Attribution;
use crate::device::ClockKind;
use crate::request::Op;
use crate::units::Nanos;
use crate::upkeep::Upkeep;
use percentile::Percentiles;
use window::Window;

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// As long as it takes for some 50 to 120 of them, in steps of 1, 2 and 5; for fewer if there
    /// were not ten requests for each.
    Fitting,
    /// So long.
    Every(Nanos),
}

/// What the machine of a real drive did, since some moment of the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineReading {
    /// How long our threads were ready and had no core, all together.
    pub waited_ns: u64,
    /// What the host of a virtual machine gave to others, of all cores together.
    pub steal_ns: u64,
    /// How long the whole machine stood still.
    pub stalled_ns: u64,
}

impl MachineReading {
    const fn since(&self, earlier: &Self) -> Self {
        Self {
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            stalled_ns: self.stalled_ns.saturating_sub(earlier.stalled_ns),
        }
    }

    const fn extend(&mut self, later: &Self) {
        self.waited_ns += later.waited_ns;
        self.steal_ns += later.steal_ns;
        self.stalled_ns += later.stalled_ns;
    }
}

/// What surrounds the requests of a window, read when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Of a drive that tells.
    pub upkeep: Option<Upkeep>,
    /// Bytes that others moved on the drive, where somebody counts.
    pub others_bytes: Option<u64>,
    /// Of a drive on the wall clock.
    pub machine: Option<MachineReading>,
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    /// What it did.
    pub op: Op,
    /// The place of its flow, in a run of several.
    pub flow: u16,
    /// Length in bytes.
    pub bytes: u64,
    /// How long it took.
    pub latency_ns: u64,
    /// Where the time went.
    pub attribution: &'a Attribution,
}

/// Windows at most before ten become one; a fifth of them are left when the run ends.
const MOST_FITTING: usize = 600;
/// Windows at most that a fitting interval leaves.
const MOST_SHOWN: usize = 120;
/// Requests that a window of a fitting interval has on average at least, if there are so many.
const LEAST_SERVED: u64 = 10;
/// Windows at most where their length is given; later requests are in none.
const MOST_GIVEN: usize = 200_000;
/// The first windows of a fitting interval, by what a clock can tell and a reading costs.
const FIRST_VIRTUAL_NS: u64 = 1_000;
const FIRST_WALL_NS: u64 = 10_000_000;

/// A run over time, as far as it has come.
#[derive(Debug)]
pub struct Timeline {
    attributes: bool,
    several: bool,
    joins: bool,
    width_ns: u64,
    start: Nanos,
    windows: Vec<Window>,
    /// Windows whose histograms are gone.
    closed: usize,
    /// Where the last window ends; no window is open before the start.
    open_until: Nanos,
    percentiles: Percentiles,
    last: Reading,
    cut_off: bool,
}

impl Timeline {
    /// Before the first request.
    #[must_use]
    pub fn new(interval: Interval, clock: ClockKind, attributes: bool) -> Self {
        let (joins, width_ns) = match (interval, clock) {
            (Interval::Every(width), _) => (false, width.0.max(1)),
            (Interval::Fitting, ClockKind::Virtual) => (true, FIRST_VIRTUAL_NS),
            (Interval::Fitting, ClockKind::Wall) => (true, FIRST_WALL_NS),
        };
        Self {
            attributes,
            several: false,
            joins,
            width_ns,
            start: Nanos::ZERO,
            windows: Vec::new(),
            closed: 0,
            open_until: Nanos::ZERO,
            percentiles: Percentiles::default(),
            last: Reading::default(),
            cut_off: false,
        }
    }

    /// Keeps the requests of each flow apart, too.
    pub const fn tell_flows(&mut self) {
        self.several = true;
    }

    /// The time that counts begins.
    pub fn begin(&mut self, start: Nanos, reading: Reading) {
        (self.start, self.open_until, self.last) = (start, start, reading);
    }

    /// Whether a request that completes at `at` begins a window, so that a reading is due.
    #[inline]
    #[must_use]
    pub fn begins_window(&self, at: Nanos) -> bool {
        at >= self.open_until
    }

    /// Opens the windows up to the one that holds `at`; what was read belongs to those before.
    pub fn open(&mut self, at: Nanos, reading: Reading) {
        if let Some(last) = self.windows.last_mut() {
            last.surround(&reading, &self.last);
            self.last = reading;
        }
        let mut index = self.index_of(at);
        while self.joins && index >= MOST_FITTING {
            self.join(10);
            index = self.index_of(at);
        }
        let most = if self.joins { MOST_FITTING } else { MOST_GIVEN };
        self.windows.resize_with(index.min(most - 1) + 1, Window::default);
        self.cut_off |= index >= most;
        let end = self.start.0.saturating_add(self.width_ns.saturating_mul(index as u64 + 1));
        self.open_until = Nanos(end);
        if !self.joins {
            // Completions of one wait may be a little out of order: the last two stay open.
            self.close(self.windows.len().saturating_sub(2));
        }
    }

    /// Adds a request that completed at `at`; its window must be open.
    pub fn add(&mut self, at: Nanos, served: &Served<'_>) {
        let (several, attributes) = (self.several, self.attributes);
        if let Some(window) = self.window_of(at) {
            window.add(served, None, attributes);
            if several {
                window.add(served, Some(served.flow), attributes);
            }
        }
    }

    /// Counts a request that failed at `at`; its window must be open.
    pub fn add_failed(&mut self, at: Nanos) {
        if let Some(window) = self.window_of(at) {
            window.failed += 1;
        }
    }

    /// The window that holds `at`, or the first that is still open; none behind the last.
    fn window_of(&mut self, at: Nanos) -> Option<&mut Window> {
        let index = self.index_of(at).max(self.closed);
        self.windows.get_mut(index)
    }

    const fn index_of(&self, at: Nanos) -> usize {
        (at.0.saturating_sub(self.start.0) / self.width_ns) as usize
    }

    /// Makes one window of so many.
    fn join(&mut self, count: usize) {
        if count == 1 {
            return;
        }
        let joined = std::mem::take(&mut self.windows);
        let mut rest = joined.into_iter().peekable();
        while let Some(mut first) = rest.next() {
            rest.by_ref().take(count - 1).for_each(|each| first.extend(&each));
            self.windows.push(first);
        }
        self.width_ns = self.width_ns.saturating_mul(count as u64);
    }

    /// Takes the percentiles of the windows before `end`, which then need no histograms.
    fn close(&mut self, end: usize) {
        for place in self.closed..end.max(self.closed) {
            self.percentiles.take(&mut self.windows[place], place);
        }
        self.closed = self.closed.max(end);
    }

    /// Sums up a run that ended at `end`; `names` are of its flows.
    #[must_use]
    pub fn finish(mut self, end: Nanos, reading: Reading, names: &[&str]) -> TimelineSummary {
        if let Some(last) = self.windows.last_mut() {
            last.surround(&reading, &self.last);
        }
        if self.joins {
            self.join_to_fit();
        }
        let mut end_ns = end.0.saturating_sub(self.start.0);
        if self.cut_off {
            end_ns = self.width_ns.saturating_mul(self.windows.len() as u64);
        }
        self.join_sliver(end_ns);
        self.close(self.windows.len());
        let percentiles = self.percentiles.finish();
        columns::Columns {
            windows: &self.windows,
            percentiles: &percentiles,
            width_ns: self.width_ns,
            end_ns,
            attributes: self.attributes,
        }
        .summary(self.start, self.cut_off, names)
    }

    /// Joins windows, in steps of 1, 2 and 5, until they are few and have requests enough.
    fn join_to_fit(&mut self) {
        let served: u64 = self.windows.iter().map(Window::served).sum();
        let most = MOST_SHOWN.min((served / LEAST_SERVED).max(1) as usize);
        let windows = self.windows.len();
        let steps = (0..).flat_map(|power| [1, 2, 5].map(|each| each * 10_usize.pow(power)));
        let fits = |count: &usize| windows.div_ceil(*count) <= most;
        self.join(steps.into_iter().find(fits).unwrap_or(1));
    }

    /// Lets the window before take in a last one of less than half the length, whose rate would
    /// hang on a few requests.
    fn join_sliver(&mut self, end_ns: u64) {
        let Some(before) = self.windows.len().checked_sub(2) else { return };
        let last_ns = end_ns.saturating_sub(self.width_ns * (before as u64 + 1));
        if last_ns.saturating_mul(2) < self.width_ns && before >= self.closed {
            let last = self.windows.pop().unwrap_or_default();
            self.windows[before].extend(&last);
        }
    }
}

#[cfg(test)]
mod tests;
