//! Sets of sectors, kept as runs.

use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// A set of sectors: runs in order, never touching each other; most often one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    runs: SmallVec<[Range<u64>; 1]>,
    sectors: u64,
}

impl Spans {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many sectors are in it.
    #[must_use]
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The runs, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.runs.iter()
    }

    /// From its first sector to its last.
    #[must_use]
    pub fn hull(&self) -> Range<u64> {
        let start = self.runs.first().map_or(0, |run| run.start);
        start..self.runs.last().map_or(start, |run| run.end)
    }

    /// The places of the runs that share a sector with `span`.
    fn sharing(&self, span: &Range<u64>) -> Range<usize> {
        let from = self.runs.partition_point(|run| run.end <= span.start);
        let count = self.runs[from..].partition_point(|run| run.start < span.end);
        from..from + count
    }

    /// Whether any sector of `span` is in it.
    #[must_use]
    pub fn overlaps(&self, span: &Range<u64>) -> bool {
        !self.sharing(span).is_empty()
    }

    /// The part of it that lies in `span`.
    pub fn within(&self, span: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let place = self.sharing(&span);
        self.runs[place].iter().map(move |run| run.start.max(span.start)..run.end.min(span.end))
    }

    /// How many sectors of `span` are in it.
    #[must_use]
    pub fn sectors_within(&self, span: Range<u64>) -> u64 {
        self.within(span).map(|run| run.end - run.start).sum()
    }

    /// How many units of so many sectors a span, which is to be added, needs beyond those that
    /// have a part of this: at most `room`. Returns them, and where what they have room for ends.
    #[must_use]
    pub fn units_for(&self, span: &Range<u64>, unit_sectors: u64, room: u64) -> (u64, u64) {
        let mut units = 0;
        let mut at = span.start;
        let mut unit_end = (at / unit_sectors + 1) * unit_sectors;
        while at < span.end {
            let has_part = !self.is_empty() && self.overlaps(&(unit_end - unit_sectors..unit_end));
            if !has_part && units == room {
                break;
            }
            units += u64::from(!has_part);
            at = unit_end.min(span.end);
            unit_end += unit_sectors;
        }
        (units, at)
    }

    /// Its parts in each step of so many sectors, counted from the beginning of the drive.
    #[must_use]
    pub fn in_steps(&self, step_sectors: u64) -> SmallVec<[Self; 1]> {
        let hull = self.hull();
        if hull.end <= (hull.start / step_sectors + 1) * step_sectors && !self.is_empty() {
            return smallvec![self.clone()];
        }
        let mut parts: SmallVec<[Self; 1]> = SmallVec::new();
        let mut last_step = None;
        for run in &self.runs {
            let mut at = run.start;
            while at < run.end {
                let step = at / step_sectors;
                let end = ((step + 1) * step_sectors).min(run.end);
                match parts.last_mut() {
                    Some(part) if last_step == Some(step) => part.insert(at..end),
                    _ => parts.push(Self::from(at..end)),
                }
                last_step = Some(step);
                at = end;
            }
        }
        parts
    }

    /// Adds `span`.
    pub fn insert(&mut self, span: Range<u64>) {
        if span.is_empty() {
            return;
        }
        if self.runs.last().is_none_or(|last| last.end < span.start) {
            self.sectors += span.end - span.start;
            self.runs.push(span);
            return;
        }
        // Runs that only touch are joined too.
        let from = self.runs.partition_point(|run| run.end < span.start);
        let count = self.runs[from..].partition_point(|run| run.start <= span.end);
        let place = from..from + count;
        let joined = &self.runs[place.clone()];
        let start = joined.first().map_or(span.start, |run| run.start.min(span.start));
        let end = joined.last().map_or(span.end, |run| run.end.max(span.end));
        let before: u64 = joined.iter().map(|run| run.end - run.start).sum();
        if count == 0 {
            self.runs.insert(from, span);
        } else {
            self.runs[from] = start..end;
            self.runs.drain(from + 1..from + count);
        }
        self.sectors += end - start - before;
    }

    /// Takes `span` out.
    pub fn cut(&mut self, span: &Range<u64>) {
        let hull = self.hull();
        if span.start <= hull.start && hull.end <= span.end {
            self.runs.clear();
            self.sectors = 0;
            return;
        }
        let place = if span.is_empty() { 0..0 } else { self.sharing(span) };
        let Some((first, last)) =
            self.runs[place.clone()].first().zip(self.runs[place.clone()].last())
        else {
            return;
        };
        let rests = [first.start..span.start, span.end..last.end];
        let before: u64 = self.runs[place.clone()].iter().map(|run| run.end - run.start).sum();
        let rests = rests.into_iter().filter(|rest| !rest.is_empty());
        let after: u64 = rests.clone().map(|rest| rest.end - rest.start).sum();
        let from = place.start;
        self.runs.drain(place);
        self.runs.insert_many(from, rests);
        self.sectors -= before - after;
    }

    /// Takes everything out that is in `other`.
    pub fn cut_all(&mut self, other: &Self) {
        for run in &other.runs {
            self.cut(run);
        }
    }
}

impl From<Range<u64>> for Spans {
    fn from(span: Range<u64>) -> Self {
        let mut spans = Self::default();
        spans.insert(span);
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn it_agrees_with_a_plain_list_of_flags() {
        let mut random = Stream::new(1, "spans");
        let (mut spans, mut plain) = (Spans::default(), vec![false; 200]);
        for _ in 0..5000 {
            let start = random.below(200) as usize;
            let end = (start + random.below(30) as usize).min(200);
            let range = start as u64..end as u64;
            let insert = random.below(2) == 0;
            if insert {
                spans.insert(range.clone());
            } else {
                spans.cut(&range);
            }
            plain[start..end].fill(insert);
            let listed = (0..200_u64).map(|at| spans.overlaps(&(at..at + 1)));
            assert!(listed.eq(plain.iter().copied()), "{range:?}");
            assert_eq!(spans.sectors(), plain.iter().filter(|&&flag| flag).count() as u64);
            assert!(spans.runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            let inside = plain[50..120].iter().filter(|&&flag| flag).count() as u64;
            assert_eq!(spans.sectors_within(50..120), inside);
        }
        let parts = spans.in_steps(7);
        assert_eq!(parts.iter().map(Spans::sectors).sum::<u64>(), spans.sectors());
        assert!(parts.iter().all(|part| part.hull().start / 7 == (part.hull().end - 1) / 7));
        assert!(parts.windows(2).all(|two| two[0].hull().start / 7 < two[1].hull().start / 7));
        let mut rest = Spans::from(0..200);
        rest.cut_all(&spans);
        assert_eq!(rest.sectors() + spans.sectors(), 200);
    }
}
