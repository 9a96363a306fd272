//! Percentiles of windows. Where a window has too few requests for one, it is of as many windows
//! in a row as it takes for ten requests to lie beyond it.

use super::window::{Latencies, Series, Window};
use std::collections::BTreeMap;

/// A percentile in thousandths, and the fewest requests of which ten lie beyond it.
pub const MEDIAN: (u64, u64) = (500, 20);
/// The 99th.
pub const P99: (u64, u64) = (990, 1_000);

/// A percentile of some windows in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first of the windows.
    pub first: usize,
    /// How many there are.
    pub windows: usize,
    pub value_ns: u64,
}

/// One percentile of one series, window by window.
#[derive(Debug)]
struct Percentile {
    thousandths: u64,
    least: u64,
    /// The first window that is in no group yet.
    first: usize,
    pending: Latencies,
    /// The latencies of the last group.
    last: Latencies,
    groups: Vec<Group>,
}

impl Percentile {
    fn new((thousandths, least): (u64, u64)) -> Self {
        let (pending, last) = (Latencies::new(), Latencies::new());
        Self { thousandths, least, first: 0, pending, last, groups: Vec::new() }
    }

    fn take(&mut self, latencies: &Latencies, place: usize) {
        if self.pending.is_empty() {
            self.first = place;
        }
        self.pending.merge(latencies);
        if self.pending.count() >= self.least {
            self.last = std::mem::take(&mut self.pending);
            let windows = place + 1 - self.first;
            self.groups.push(Group { first: self.first, windows, value_ns: self.value_of_last() });
        }
    }

    fn value_of_last(&self) -> u64 {
        let rank = (self.last.count() * self.thousandths).div_ceil(1000).max(1);
        let [value] = self.last.at_ranks([rank]);
        value
    }

    /// Lets the last group take in what is too little for one.
    fn finish(mut self, end: usize) -> Vec<Group> {
        if !self.pending.is_empty()
            && let Some(mut group) = self.groups.pop()
        {
            self.last.merge(&self.pending);
            group.windows = end - group.first;
            group.value_ns = self.value_of_last();
            self.groups.push(group);
        }
        self.groups
    }
}

/// Median and 99th percentile of every series.
#[derive(Debug, Default)]
pub struct Percentiles {
    series: BTreeMap<Series, [Percentile; 2]>,
    windows: usize,
}

impl Percentiles {
    /// Takes the next window, and its histograms with it.
    pub fn take(&mut self, window: &mut Window, place: usize) {
        for (series, section) in &mut window.sections {
            let latencies = std::mem::take(&mut section.latencies);
            let new = || [Percentile::new(MEDIAN), Percentile::new(P99)];
            let both = self.series.entry(*series).or_insert_with(new);
            both.iter_mut().for_each(|each| each.take(&latencies, place));
        }
        self.windows = place + 1;
    }

    /// The groups of medians and 99th percentiles, by series.
    pub fn finish(self) -> BTreeMap<Series, [Vec<Group>; 2]> {
        let windows = self.windows;
        let finish = |both: [Percentile; 2]| both.map(|each| each.finish(windows));
        self.series.into_iter().map(|(series, both)| (series, finish(both))).collect()
    }
}
