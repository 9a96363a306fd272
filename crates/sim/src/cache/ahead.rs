//! Which reads follow each other, and what to read ahead of them.

use std::ops::Range;

/// Runs of reads that are told apart at once.
const STREAMS: usize = 8;

/// Reads that follow each other.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Where the last one ended.
    next: u64,
    /// Where what was read ahead ends.
    ahead: u64,
    used: u64,
}

/// The reads of late.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    /// How far ahead of a read.
    sectors: u64,
    page_sectors: u64,
    /// The end of the drive.
    end: u64,
    streams: Vec<Stream>,
    uses: u64,
}

impl ReadAhead {
    /// Reads ahead so many sectors, in whole pages, on a drive of `end` sectors.
    #[must_use]
    pub const fn new(sectors: u64, page_sectors: u64, end: u64) -> Self {
        Self { sectors, page_sectors, end, streams: Vec::new(), uses: 0 }
    }

    /// A read of `span`; what to read ahead now, if it begins where an earlier one ended.
    pub fn follow(&mut self, span: &Range<u64>) -> Option<Range<u64>> {
        if self.sectors == 0 {
            return None;
        }
        self.uses += 1;
        let used = self.uses;
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.next == span.start) else {
            self.begin(Stream { next: span.end, ahead: span.end, used });
            return None;
        };
        let from = stream.ahead.max(span.end);
        let wanted = span.end + self.sectors;
        *stream = Stream { next: span.end, ahead: from, used };
        if from >= wanted.min(self.end) {
            return None;
        }
        stream.ahead = wanted.next_multiple_of(self.page_sectors).min(self.end);
        Some(from..stream.ahead)
    }

    fn begin(&mut self, stream: Stream) {
        if self.streams.len() < STREAMS {
            self.streams.push(stream);
        } else if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            *oldest = stream;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_read_in_a_row_reads_ahead_in_whole_pages() {
        let mut ahead = ReadAhead::new(20, 8, 100);
        assert_eq!(ahead.follow(&(0..4)), None);
        assert_eq!(ahead.follow(&(4..6)), Some(6..32));
        assert_eq!(ahead.follow(&(50..54)), None, "another one begins");
        assert_eq!(ahead.follow(&(6..12)), None, "far enough");
        assert_eq!(ahead.follow(&(12..13)), Some(32..40));
        assert_eq!(ahead.follow(&(54..90)), Some(90..100), "to the end of the drive");
        assert_eq!(ahead.follow(&(90..100)), None);
    }

    #[test]
    fn of_many_streams_the_one_of_longest_ago_is_forgotten() {
        let mut ahead = ReadAhead::new(8, 8, 100_000);
        for stream in 0..9 {
            assert_eq!(ahead.follow(&(1000 * stream..1000 * stream + 8)), None);
        }
        assert_eq!(
            ahead.follow(&(8..16)),
            None,
            "the first is forgotten, and takes the second's place"
        );
        assert_eq!(ahead.follow(&(2008..2016)), Some(2016..2024));
        assert_eq!(ahead.follow(&(1008..1016)), None);
    }
}
