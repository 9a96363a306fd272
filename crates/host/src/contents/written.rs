//! What was written where, by which write: what a reader must find.
//!
//! A stretch of writes of one length, one behind the other, is one entry, so a sequential pass
//! over a drive costs nothing; random writes cost an entry per place, and an overwrite replaces.

use std::collections::BTreeMap;
use std::ops::Range;

/// Entries at most, about 64 bytes each.
pub(crate) const ENTRIES_MAX: usize = 16 << 20;

/// Writes one behind the other. Sectors throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    end: u64,
    /// Where the first of these writes began, though its head may have been overwritten.
    origin: u64,
    first_serial: u64,
    /// The length of each.
    piece: u64,
    /// Earlier writes that were under way in the same place when this one was sent: whether
    /// the drive did them before it or after, nobody knows.
    slack: u64,
}

impl Stretch {
    fn serial_at(&self, sector: u64) -> u64 {
        self.first_serial + (sector - self.origin) / self.piece
    }

    /// Whether the write is the next of this stretch.
    fn goes_on(&self, write: &Range<u64>, serial: u64) -> bool {
        self.end == write.start
            && self.slack == 0
            && self.piece == write.end - write.start
            && (write.start - self.origin).is_multiple_of(self.piece)
            && self.serial_at(write.start) == serial
    }
}

/// The last write of every place, and what is under way.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By the first sector.
    stretches: BTreeMap<u64, Stretch>,
    under_way: Vec<(u64, Range<u64>)>,
}

impl Written {
    /// A write was sent.
    pub(crate) fn sent(&mut self, sectors: Range<u64>, serial: u64) {
        let meets =
            |other: &&(u64, Range<u64>)| other.1.start < sectors.end && sectors.start < other.1.end;
        let oldest = self.under_way.iter().filter(meets).map(|other| other.0).min();
        let slack = serial - oldest.unwrap_or(serial);
        self.under_way.push((serial, sectors.clone()));
        self.forget(&sectors);
        if slack == 0
            && let Some((_, before)) = self.stretches.range_mut(..sectors.start).next_back()
            && before.goes_on(&sectors, serial)
        {
            before.end = sectors.end;
            return;
        }
        let (start, piece) = (sectors.start, sectors.end - sectors.start);
        let stretch =
            Stretch { end: sectors.end, origin: start, first_serial: serial, piece, slack };
        self.stretches.insert(start, stretch);
    }

    /// A write has ended. One that failed may have left anything in its place.
    pub(crate) fn ended(&mut self, serial: u64, done: bool) {
        let Some(place) = self.under_way.iter().position(|write| write.0 == serial) else { return };
        let (_, sectors) = self.under_way.swap_remove(place);
        if !done {
            self.forget(&sectors);
        }
    }

    /// Nothing is known of these sectors any more.
    pub(crate) fn forget(&mut self, sectors: &Range<u64>) {
        if let Some((&start, &before)) = self.stretches.range(..sectors.start).next_back()
            && before.end > sectors.start
        {
            self.stretches.insert(start, Stretch { end: sectors.start, ..before });
            if before.end > sectors.end {
                self.stretches.insert(sectors.end, before);
            }
        }
        while let Some((&start, &inside)) = self.stretches.range(sectors.clone()).next() {
            self.stretches.remove(&start);
            if inside.end > sectors.end {
                self.stretches.insert(sectors.end, inside);
            }
        }
    }

    /// The write that a sector must be of, and how many earlier ones it may be of instead.
    pub(crate) fn at(&self, sector: u64) -> Option<(u64, u64)> {
        let (_, stretch) = self.stretches.range(..=sector).next_back()?;
        (sector < stretch.end).then(|| (stretch.serial_at(sector), stretch.slack))
    }

    /// Everything that is known, in order, in pieces of so many sectors at most.
    pub(crate) fn spans(&self, sectors_max: u64) -> Vec<Range<u64>> {
        let mut spans: Vec<Range<u64>> = Vec::new();
        for (&start, stretch) in &self.stretches {
            let mut at = start;
            if let Some(last) = spans.last_mut().filter(|last| last.end == start) {
                last.end = stretch.end.min(last.start + sectors_max);
                at = last.end;
            }
            while at < stretch.end {
                let end = stretch.end.min(at + sectors_max);
                spans.push(at..end);
                at = end;
            }
        }
        spans
    }

    pub(crate) fn is_full(&self) -> bool {
        self.stretches.len() >= ENTRIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    /// Against an array with an entry per sector, whatever is written where.
    #[test]
    fn it_knows_what_an_array_knows() {
        const SECTORS: u64 = 300;
        let mut stream = Stream::new(3, "written");
        let mut written = Written::default();
        let mut truth = vec![None; SECTORS as usize];
        for serial in 0..4_000_u64 {
            let start = stream.below(SECTORS);
            let end = (start + 1 + stream.below(20)).min(SECTORS);
            let known = match serial % 7 {
                0 => {
                    written.forget(&(start..end));
                    None
                }
                1 => {
                    written.sent(start..end, serial);
                    written.ended(serial, false);
                    None
                }
                _ => {
                    written.sent(start..end, serial);
                    written.ended(serial, true);
                    Some((serial, 0))
                }
            };
            truth[start as usize..end as usize].fill(known);
            let found: Vec<_> = (0..SECTORS).map(|sector| written.at(sector)).collect();
            assert_eq!(found, truth);
            let spans = written.spans(16);
            assert!(spans.iter().all(|span| span.end - span.start <= 16));
            let covered: Vec<u64> = spans.into_iter().flatten().collect();
            let known: Vec<u64> =
                (0..SECTORS).filter(|&sector| truth[sector as usize].is_some()).collect();
            assert_eq!(covered, known);
        }
    }

    #[test]
    fn a_pass_in_order_is_one_entry() {
        let mut written = Written::default();
        for serial in 0..1_000 {
            written.sent(serial * 8..serial * 8 + 8, serial);
            written.ended(serial, true);
        }
        assert_eq!(written.stretches.len(), 1);
        assert_eq!(written.at(4_003), Some((500, 0)));
        written.sent(4_000..4_002, 1_000);
        assert_eq!(written.at(4_003), Some((500, 0)), "the rest of write 500 stays");
    }

    /// Two writes to one place at a time: either may be the last.
    #[test]
    fn writes_that_overlap_under_way_may_end_in_either_order() {
        let mut written = Written::default();
        written.sent(0..8, 5);
        written.sent(4..12, 6);
        assert_eq!((written.at(3), written.at(4)), (Some((5, 0)), Some((6, 1))));
        written.ended(5, true);
        written.sent(4..8, 7);
        assert_eq!(written.at(4), Some((7, 1)), "6 is still under way, 5 is not");
    }
}
