//! Blocks whose loss is none: they were read and are zero or ours, or there is nothing on them.
//!
//! A block is read before it is first written in an opening. What will be written is known before
//! the time of a run counts ([`ssdscope_io::Device::expect_writes`]), so reading costs no
//! measurement anything. A block that is known is not read again.

use crate::buffer::BufferPool;
use crate::{contents, sys};
use ssdscope_io::SECTOR_BYTES;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What is known of in one piece, if a logical block is not larger.
const GRAIN_BYTES: u64 = 4096;
const WORD_BITS: u64 = 64;
/// Bits that are allocated together: 128 MiB of a target.
const CHUNK_WORDS: usize = 512;
const CHUNK_BITS: u64 = CHUNK_WORDS as u64 * WORD_BITS;
/// How much is read at once, by each of so many threads.
const READ_BYTES: u64 = 1 << 20;
const READERS: usize = 8;
/// How often whoever waits is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(20);

/// A bit for each block of a window.
#[derive(Clone)]
pub(crate) struct Vetted {
    window: Range<u64>,
    grain_bytes: u64,
    chunks: Vec<Option<Box<[u64; CHUNK_WORDS]>>>,
    is_block: bool,
}

/// What came of looking.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// Nothing would be lost. So many bytes were read.
    Clean(u64),
    /// Data that are not ours, in the sector at this byte of the target.
    Foreign(u64),
    /// Whoever waits did not want to go on.
    Stopped,
}

impl Vetted {
    /// Knows nothing yet of a window, in bytes of the target.
    pub(crate) fn new(window: Range<u64>, logical_block_bytes: u64, is_block: bool) -> Self {
        let grain_bytes = GRAIN_BYTES.max(logical_block_bytes);
        let chunks = window.end.div_ceil(grain_bytes).div_ceil(CHUNK_BITS) as usize;
        Self { window, grain_bytes, chunks: vec![None; chunks], is_block }
    }

    /// Knows nothing any more.
    pub(crate) fn forget(&mut self) {
        self.chunks.fill(None);
    }

    fn grains(&self, span: &Range<u64>) -> Range<u64> {
        span.start / self.grain_bytes..span.end.div_ceil(self.grain_bytes)
    }

    fn has(&self, grain: u64) -> bool {
        let chunk = self.chunks[(grain / CHUNK_BITS) as usize].as_ref();
        let bit = grain % CHUNK_BITS;
        chunk.is_some_and(|words| words[(bit / WORD_BITS) as usize] >> (bit % WORD_BITS) & 1 == 1)
    }

    /// Whether all of a span is known.
    pub(crate) fn covers(&self, span: &Range<u64>) -> bool {
        self.grains(span).all(|grain| self.has(grain))
    }

    fn add(&mut self, span: &Range<u64>) {
        for grain in self.grains(span) {
            let chunk = &mut self.chunks[(grain / CHUNK_BITS) as usize];
            let bit = grain % CHUNK_BITS;
            let words = chunk.get_or_insert_with(|| Box::new([0; CHUNK_WORDS]));
            words[(bit / WORD_BITS) as usize] |= 1 << (bit % WORD_BITS);
        }
    }

    /// What of some spans is not known, in whole grains, in order, each place once.
    fn missing(&self, spans: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut wanted: Vec<_> = spans.iter().map(|span| self.grains(span)).collect();
        wanted.sort_by_key(|grains| grains.start);
        let mut runs: Vec<Range<u64>> = Vec::new();
        let mut done = 0;
        for grains in wanted {
            for grain in grains.start.max(done)..grains.end {
                if self.has(grain) {
                    continue;
                }
                match runs.last_mut() {
                    Some(run) if run.end == grain => run.end = grain + 1,
                    _ => runs.push(grain..grain + 1),
                }
            }
            done = done.max(grains.end);
        }
        let clipped = |run: Range<u64>| {
            (run.start * self.grain_bytes).max(self.window.start)
                ..(run.end * self.grain_bytes).min(self.window.end)
        };
        runs.into_iter().map(clipped).collect()
    }

    /// Reads what of some spans is not known. `go_on` hears how much of it is done.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn look(
        &mut self,
        file: &File,
        spans: &[Range<u64>],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> io::Result<Looked> {
        let runs = self.missing(spans);
        let stored = if self.is_block { runs.clone() } else { without_holes(file, &runs)? };
        let pieces: Vec<_> = stored.iter().flat_map(pieces).collect();
        let looked = read_all(file, &pieces, go_on)?;
        if matches!(looked, Looked::Clean(_)) {
            runs.iter().for_each(|run| self.add(run));
        }
        Ok(looked)
    }
}

/// What of some runs of a file is stored.
fn without_holes(file: &File, runs: &[Range<u64>]) -> io::Result<Vec<Range<u64>>> {
    let mut stored = Vec::new();
    let mut data = 0..0;
    for run in runs {
        let mut position = run.start;
        while position < run.end {
            if data.end <= position {
                let Some((start, end)) = sys::next_data(file, position)? else { return Ok(stored) };
                data = start..end;
            }
            let part = data.start.max(position)..data.end.min(run.end);
            position = data.end.max(position);
            if part.start < part.end {
                stored.push(part);
            } else {
                break; // the next data lie behind this run
            }
        }
    }
    Ok(stored)
}

fn pieces(run: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = run.end;
    run.clone().step_by(READ_BYTES as usize).map(move |from| from..(from + READ_BYTES).min(end))
}

/// Reads pieces on several threads and looks for data in them.
fn read_all(
    file: &File,
    pieces: &[Range<u64>],
    go_on: &mut dyn FnMut(f64) -> bool,
) -> io::Result<Looked> {
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..READERS.min(pieces.len()) {
            let (tell, next, over) = (tell.clone(), &next, &over);
            scope.spawn(move || {
                let mut buffer = BufferPool::default().take(READ_BYTES as usize, |_| {});
                while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let data = &mut buffer.as_mut_slice()[..(piece.end - piece.start) as usize];
                    let read = file.read_exact_at(data, piece.start);
                    let foreign = read.map(|()| first_foreign_sector(data));
                    let place = |sector| piece.start + sector * SECTOR_BYTES;
                    if over.load(Ordering::Relaxed)
                        || tell.send(foreign.map(|it| it.map(place))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(tell);
        let mut read = 0;
        let looked = loop {
            match told.recv_timeout(PATIENCE) {
                Ok(Ok(None)) => read += 1,
                Ok(Ok(Some(place))) => break Ok(Looked::Foreign(place)),
                Ok(Err(error)) => break Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    break Ok(Looked::Clean(
                        pieces.iter().map(|piece| piece.end - piece.start).sum(),
                    ));
                }
            }
            if !go_on(f64::from(read) / pieces.len() as f64) {
                break Ok(Looked::Stopped);
            }
        };
        over.store(true, Ordering::Relaxed);
        looked
    })
}

/// The first sector that is neither zero nor ours.
pub(crate) fn first_foreign_sector(data: &[u8]) -> Option<u64> {
    const ZEROS: [u8; SECTOR_BYTES as usize] = [0; SECTOR_BYTES as usize];
    let foreign = |sector: &[u8]| *sector != ZEROS && !contents::is_ours(sector);
    data.chunks_exact(ZEROS.len()).position(foreign).map(|index| index as u64)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "spans are ranges, and there may be one")]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    const WINDOW: Range<u64> = 5 * 512..3 << 30;

    #[test]
    fn what_is_known_is_what_an_array_of_blocks_knows() {
        let mut vetted = Vetted::new(WINDOW, 512, true);
        let mut truth = vec![false; (WINDOW.end / GRAIN_BYTES) as usize];
        let mut stream = Stream::new(3, "vetted");
        for _ in 0..2000 {
            let start = WINDOW.start + stream.below((WINDOW.end - WINDOW.start) / 512) * 512;
            let span = start..(start + (1 + stream.below(4096)) * 512).min(WINDOW.end);
            let grains =
                (span.start / GRAIN_BYTES) as usize..span.end.div_ceil(GRAIN_BYTES) as usize;
            assert_eq!(vetted.covers(&span), truth[grains.clone()].iter().all(|&known| known));
            let missing = vetted.missing(std::slice::from_ref(&span));
            let bytes: u64 = missing
                .iter()
                .map(|run| run.end.div_ceil(GRAIN_BYTES) - run.start / GRAIN_BYTES)
                .sum();
            assert_eq!(bytes, truth[grains.clone()].iter().filter(|&&known| !known).count() as u64);
            vetted.add(&span);
            truth[grains].fill(true);
        }
        assert!(vetted.missing(&[WINDOW]).iter().all(|run| run.start >= WINDOW.start));
    }

    #[test]
    fn spans_that_meet_are_read_once() {
        let vetted = Vetted::new(0..1 << 20, 512, true);
        let spans = [8192..16_384, 0..4096, 4096..9000, 12_288..20_480];
        assert_eq!(vetted.missing(&spans), [0..20_480]);
    }

    #[test]
    fn data_are_found_wherever_they_lie_and_holes_are_not_read() {
        let path = std::env::temp_dir().join(format!("ssdscope-vetted-{}", std::process::id()));
        let file =
            File::options().create(true).read(true).write(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.set_len(1 << 40).unwrap();
        let whole = [0..1 << 40];
        let look = |spans: &[Range<u64>]| {
            Vetted::new(0..1 << 40, 512, false).look(&file, spans, &mut |_| true).unwrap()
        };
        assert_eq!(look(&whole), Looked::Clean(0));
        file.write_all_at(b"precious", 777 << 30).unwrap();
        assert_eq!(look(&whole), Looked::Foreign(777 << 30));
        let beside = [0..777 << 30, (777 << 30) + 4096..1 << 40];
        assert!(matches!(look(&beside), Looked::Clean(bytes) if bytes < 1 << 20));
        let mut again = Vetted::new(0..1 << 40, 512, false);
        again.look(&file, &beside, &mut |_| true).unwrap();
        assert_eq!(again.look(&file, &beside, &mut |_| true).unwrap(), Looked::Clean(0));
        assert!(!again.covers(&(777 << 30..(777 << 30) + 512)));
    }

    #[test]
    fn looking_can_be_stopped() {
        let path = std::env::temp_dir().join(format!("ssdscope-stopped-{}", std::process::id()));
        std::fs::write(&path, vec![0; 64 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        let looked =
            Vetted::new(0..64 << 20, 512, true).look(&file, &[0..64 << 20], &mut |_| false);
        assert_eq!(looked.unwrap(), Looked::Stopped);
    }
}
