//! The read cache: sectors that were read, in whole management units; the unit used longest
//! ago goes.

use super::Spans;
use crate::config::ReadCacheConfig;
use std::collections::BTreeMap;
use std::ops::Range;

/// What is held of a unit.
#[derive(Clone, Debug, Default)]
struct Unit {
    sectors: Spans,
    used: u64,
}

/// The cache. Sectors and units are numbered from the beginning of the drive.
#[derive(Clone, Debug)]
pub struct ReadCache {
    unit_sectors: u64,
    capacity_units: usize,
    units: BTreeMap<u64, Unit>,
    /// Units by their last use.
    by_use: BTreeMap<u64, u64>,
    uses: u64,
}

impl ReadCache {
    /// An empty cache.
    #[must_use]
    pub const fn new(config: &ReadCacheConfig) -> Self {
        Self {
            unit_sectors: config.unit_bytes / 512,
            capacity_units: (config.bytes / config.unit_bytes) as usize,
            units: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Numbers of the units that `span` has a part in.
    const fn units_of(&self, span: &Range<u64>) -> Range<u64> {
        span.start / self.unit_sectors..span.end.div_ceil(self.unit_sectors)
    }

    /// Takes out of `wanted` what is here.
    pub fn cut_held(&self, wanted: &mut Spans) {
        for span in wanted.clone().iter() {
            for (_, unit) in self.units.range(self.units_of(span)) {
                wanted.cut_all(&unit.sectors);
            }
        }
    }

    /// As [`ReadCache::cut_held`], which counts as a use.
    pub fn use_held(&mut self, wanted: &mut Spans) {
        for span in wanted.clone().iter() {
            let numbers = self.units_of(span);
            for (&number, unit) in self.units.range_mut(numbers) {
                if unit.sectors.overlaps(span) {
                    wanted.cut_all(&unit.sectors);
                    self.by_use.remove(&unit.used);
                    self.uses += 1;
                    unit.used = self.uses;
                    self.by_use.insert(unit.used, number);
                }
            }
        }
    }

    /// Holds what was read.
    pub fn fill(&mut self, read: &Spans) {
        for span in read.iter() {
            for number in self.units_of(span) {
                let start = number * self.unit_sectors;
                let end = span.end.min(start + self.unit_sectors);
                self.fill_unit(number, span.start.max(start)..end);
            }
        }
    }

    fn fill_unit(&mut self, number: u64, span: Range<u64>) {
        let unit = self.units.entry(number).or_default();
        self.by_use.remove(&unit.used);
        self.uses += 1;
        unit.used = self.uses;
        unit.sectors.insert(span);
        self.by_use.insert(self.uses, number);
        if self.units.len() > self.capacity_units
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.units.remove(&oldest);
        }
    }

    /// Forgets what `span` replaces.
    pub fn forget(&mut self, span: &Range<u64>) {
        let numbers: Vec<u64> =
            self.units.range(self.units_of(span)).map(|(&number, _)| number).collect();
        for number in numbers {
            if let Some(unit) = self.units.get_mut(&number) {
                unit.sectors.cut(span);
                if unit.sectors.is_empty() {
                    self.by_use.remove(&unit.used);
                    self.units.remove(&number);
                }
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.units.clear();
        self.by_use.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(cache: &ReadCache, span: Range<u64>) -> u64 {
        let mut wanted = Spans::from(span);
        cache.cut_held(&mut wanted);
        wanted.sectors()
    }

    #[test]
    fn the_unit_used_longest_ago_goes_and_what_is_overwritten() {
        let config = ReadCacheConfig {
            bytes: 8192,
            unit_bytes: 4096,
            read_ahead_bytes: 0,
            ns_per_byte: 0.0,
            switchable: true,
        };
        let mut cache = ReadCache::new(&config);
        cache.fill(&Spans::from(2..5));
        cache.fill(&Spans::from(14..17));
        assert_eq!(
            (missing(&cache, 0..8), missing(&cache, 8..24)),
            (8, 13),
            "two units, not three"
        );
        cache.use_held(&mut Spans::from(14..15));
        cache.fill(&Spans::from(40..41));
        assert_eq!((missing(&cache, 14..16), missing(&cache, 16..17)), (0, 1));
        cache.forget(&(15..48));
        assert_eq!((missing(&cache, 14..16), cache.units.len(), cache.by_use.len()), (1, 1, 1));
    }
}
