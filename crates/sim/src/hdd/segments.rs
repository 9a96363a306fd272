//! The read cache: a few segments, each a run of sectors; the one used longest ago goes.

use std::ops::Range;

/// A run of sectors that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    span: Range<u64>,
    used: u64,
}

/// The segments.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    segments: Vec<Segment>,
    count: usize,
    /// Sectors of a segment; 0 where there is no read cache.
    sectors: u64,
    uses: u64,
}

impl Segments {
    pub const fn new(count: u32, sectors: u64) -> Self {
        Self { segments: Vec::new(), count: count as usize, sectors, uses: 0 }
    }

    /// Whether there is a cache at all.
    pub const fn is_on(&self) -> bool {
        self.sectors > 0
    }

    /// The end of a segment that holds `span`, which counts as used; `None` if none does.
    pub fn hit(&mut self, span: &Range<u64>) -> Option<u64> {
        self.uses += 1;
        let held = |at: &&mut Segment| at.span.start <= span.start && span.end <= at.span.end;
        let segment = self.segments.iter_mut().find(held)?;
        segment.used = self.uses;
        Some(segment.span.end)
    }

    /// Whether a segment holds all from `start` to `end`, where it ends.
    pub fn ends_at(&self, start: u64, end: u64) -> bool {
        self.segments.iter().any(|at| at.span.end == end && at.span.start <= start && start <= end)
    }

    /// Puts what was read behind what lies before it, or into a segment of its own.
    pub fn fill(&mut self, span: Range<u64>) {
        if self.sectors == 0 || span.is_empty() {
            return;
        }
        self.uses += 1;
        let joins = |at: &Segment| at.span.start <= span.start && span.start <= at.span.end;
        let at = if let Some(at) = self.segments.iter().position(joins) {
            let old = &mut self.segments[at].span;
            old.end = old.end.max(span.end);
            at
        } else {
            self.place(span)
        };
        let segment = &mut self.segments[at];
        segment.used = self.uses;
        let span = &mut segment.span;
        span.start = span.start.max(span.end.saturating_sub(self.sectors));
    }

    /// A new segment, in the place of the one used longest ago if there is no other.
    fn place(&mut self, span: Range<u64>) -> usize {
        let segment = Segment { span, used: self.uses };
        if self.segments.len() < self.count {
            self.segments.push(segment);
            return self.segments.len() - 1;
        }
        let ages = self.segments.iter().enumerate();
        let oldest = ages.min_by_key(|(_, at)| at.used).map_or(0, |(index, _)| index);
        self.segments[oldest] = segment;
        oldest
    }

    /// Forgets the segments that hold something of `span`, which is overwritten.
    pub fn forget(&mut self, span: &Range<u64>) {
        self.segments.retain(|at| at.span.end <= span.start || span.end <= at.span.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_stays_in_one_segment_and_keeps_its_end() {
        let mut cache = Segments::new(2, 100);
        cache.fill(500..540);
        cache.fill(540..640);
        assert_eq!(cache.hit(&(540..550)), Some(640));
        assert_eq!(cache.hit(&(539..550)), None, "fell out at the front");
        assert_eq!(cache.segments.len(), 1);
        assert!(cache.ends_at(600, 640) && cache.ends_at(640, 640) && !cache.ends_at(600, 630));
    }

    #[test]
    fn the_segment_used_longest_ago_goes() {
        let mut cache = Segments::new(2, 100);
        cache.fill(0..10);
        cache.fill(1000..1010);
        assert_eq!(cache.hit(&(0..10)), Some(10));
        cache.fill(2000..2010);
        assert_eq!(cache.hit(&(1000..1010)), None);
        assert_eq!(cache.hit(&(0..10)), Some(10));
    }

    #[test]
    fn what_is_overwritten_is_forgotten() {
        let mut cache = Segments::new(2, 100);
        cache.fill(0..10);
        cache.forget(&(10..20));
        assert_eq!(cache.hit(&(0..10)), Some(10));
        cache.forget(&(9..20));
        assert_eq!(cache.hit(&(0..1)), None);
    }
}
