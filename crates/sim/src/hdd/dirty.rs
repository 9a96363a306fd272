//! The write-back cache: runs of sectors that were acknowledged and are not yet on the
//! medium. Neighbours become one run; what is overwritten is written once.

use std::collections::BTreeMap;
use std::ops::Range;

/// Runs looked at on each side of the arm when the next one to write is chosen.
const LOOK_AROUND: usize = 8;

/// What is to be written.
#[derive(Clone, Debug)]
pub(super) struct Dirty {
    /// Start to end; never touching each other.
    runs: BTreeMap<u64, u64>,
    /// Sectors in the runs.
    sectors: u64,
    /// Sectors on their way to the medium: they still take room, and can be read.
    moving: Range<u64>,
    /// Sectors that there is room for; 0 where there is no such cache.
    pub room: u64,
}

impl Dirty {
    pub const fn new(room: u64) -> Self {
        Self { runs: BTreeMap::new(), sectors: 0, moving: 0..0, room }
    }

    /// Nothing is waiting, nothing on its way.
    pub fn is_clean(&self) -> bool {
        self.runs.is_empty() && self.moving.is_empty()
    }

    /// Whether there is something to write.
    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether so many more sectors find room.
    pub const fn fits(&self, sectors: u64) -> bool {
        self.sectors + (self.moving.end - self.moving.start) + sectors <= self.room
    }

    /// Whether all of `span` is here.
    pub fn holds(&self, span: &Range<u64>) -> bool {
        let before = self.runs.range(..=span.start).next_back();
        let moving = self.moving.start <= span.start && span.end <= self.moving.end;
        moving || before.is_some_and(|(_, &end)| span.end <= end)
    }

    /// Takes `span` in.
    pub fn put(&mut self, span: Range<u64>) {
        let (mut start, mut end) = (span.start, span.end);
        // From the last run that starts before the end, as long as they touch.
        while let Some((&low, &high)) = self.runs.range(..=end).next_back()
            && high >= start
        {
            self.runs.remove(&low);
            self.sectors -= high - low;
            (start, end) = (start.min(low), end.max(high));
        }
        self.runs.insert(start, end);
        self.sectors += end - start;
    }

    /// Takes `span` out: it is on its way to the medium, or another write has replaced it.
    pub fn cut(&mut self, span: &Range<u64>) {
        while let Some((&low, &high)) = self.runs.range(..span.end).next_back()
            && high > span.start
        {
            self.runs.remove(&low);
            self.sectors -= high - low;
            for rest in [low..span.start, span.end..high] {
                if rest.start < rest.end {
                    self.runs.insert(rest.start, rest.end);
                    self.sectors += rest.end - rest.start;
                }
            }
        }
    }

    /// Sends `span`, a part of a run, to the medium.
    pub fn send(&mut self, span: &Range<u64>) {
        self.cut(span);
        self.moving = span.clone();
    }

    /// What was sent has arrived.
    pub const fn sent(&mut self) {
        self.moving = 0..0;
    }

    /// Runs around `sector`, the nearest by address.
    pub fn around(&self, sector: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let above = self.runs.range(sector..).take(LOOK_AROUND);
        let below = self.runs.range(..sector).rev().take(LOOK_AROUND);
        above.chain(below).map(|(&start, &end)| start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(dirty: &Dirty) -> Vec<(u64, u64)> {
        dirty.runs.iter().map(|(&start, &end)| (start, end)).collect()
    }

    #[test]
    fn neighbours_become_one_and_overlaps_count_once() {
        let mut dirty = Dirty::new(100);
        for span in [10..20, 30..40, 20..30, 15..35] {
            dirty.put(span);
        }
        assert_eq!((runs(&dirty), dirty.sectors), (vec![(10, 40)], 30));
        assert!(dirty.holds(&(10..40)) && dirty.holds(&(39..40)) && !dirty.holds(&(39..41)));
        assert!(dirty.fits(70) && !dirty.fits(71));
    }

    #[test]
    fn what_is_on_its_way_takes_room_until_it_arrives() {
        let mut dirty = Dirty::new(30);
        dirty.put(0..30);
        dirty.send(&(10..20));
        assert_eq!(runs(&dirty), [(0, 10), (20, 30)]);
        assert!(!dirty.fits(1));
        dirty.sent();
        assert!(dirty.fits(10) && !dirty.is_clean());
        dirty.cut(&(0..100));
        assert!(dirty.is_clean());
    }

    #[test]
    fn the_nearest_runs_are_offered() {
        let mut dirty = Dirty::new(10_000);
        (0..200_u64).for_each(|number| dirty.put(number * 10..number * 10 + 1));
        let offered: Vec<_> = dirty.around(1000).map(|run| run.start).collect();
        assert_eq!(offered.len(), 2 * LOOK_AROUND);
        assert!(offered.iter().all(|start| (920..=1070).contains(start)));
    }
}
