//! Check 5: the first and the last mebibyte and a random sample are zero, or ours.
//!
//! It is the early refusal, before anything is measured. What it misses is met before it is
//! overwritten ([`crate::vetted`]).

use super::refusal::Refusal;
use crate::buffer::BufferPool;
use crate::open::Opened;
use crate::vetted::first_foreign_sector;
use ssdscope_io::SECTOR_BYTES;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::os::unix::fs::FileExt;

const EDGE_BYTES: u64 = 1 << 20;
const SAMPLE_BYTES: u64 = 4096;
/// On the whole target, and as many in the window, which is what would be lost.
const SAMPLES: u64 = 64;
/// `window`: what would be written.
pub(super) fn check(opened: &Opened, window: &Range<u64>) -> Result<(), Refusal> {
    let end = opened.capacity_bytes();
    let mut spans = vec![(0, EDGE_BYTES.min(end)), (end.saturating_sub(EDGE_BYTES), end)];
    for span in [&(0..end), window] {
        spans.extend(samples(span));
    }
    let mut buffer = BufferPool::default().take(EDGE_BYTES as usize, |_| {});
    for (from, to) in spans {
        let data = &mut buffer.as_mut_slice()[..(to - from) as usize];
        opened
            .file
            .read_exact_at(data, from)
            .map_err(|error| Refusal::Unreadable(error.to_string()))?;
        if let Some(sector) = first_foreign_sector(data) {
            return Err(Refusal::HoldsData(from + sector * SECTOR_BYTES));
        }
    }
    Ok(())
}

fn samples(span: &Range<u64>) -> Vec<(u64, u64)> {
    let random = RandomState::new();
    let first = span.start.div_ceil(SAMPLE_BYTES);
    let count = (span.end / SAMPLE_BYTES).saturating_sub(first);
    let at = |number: u64| (first + random.hash_one(number) % count) * SAMPLE_BYTES;
    let numbers = if count == 0 { 0 } else { SAMPLES };
    (0..numbers).map(at).map(|start| (start, start + SAMPLE_BYTES)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_inside() {
        for span in [0..100, 4096..8192, 5000..1 << 20] {
            let taken = samples(&span);
            assert!(taken.iter().all(|&(from, to)| span.start <= from && to <= span.end));
            assert_eq!(taken.is_empty(), span.end < 4096);
        }
    }
}
