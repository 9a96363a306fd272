//! The files of all processors as one stream of events by time.
//!
//! A file that ends within an event, or goes on with something else, is read to there; the others
//! to their end. The stream then ends with an error that says which file broke off where, and why.

use super::super::records::damage;
use super::super::source::{Compression, Source};
use super::layout::{EVENT_BYTES, HEAD_BYTES_MAX, Layout};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;
use std::io::{self, Read};

/// More than the longest event, which has 64 KiB after its head.
const BUFFER_BYTES: usize = 1 << 18;

/// Why a file could not be read to its end.
#[derive(Clone, Debug)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// A file of one processor, or of all of them.
struct Cpu {
    label: String,
    compression: Compression,
    stream: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    /// What was read and not yet used: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Where in the file `buffer[start]` is.
    at: u64,
    events: u64,
    /// Of the event at `start`, with its whole length.
    layout: Option<(Layout, usize)>,
}

impl Cpu {
    fn open(source: &Source) -> Result<Self, super::TraceError> {
        Ok(Self {
            label: source.label.clone(),
            compression: source.compression,
            stream: source.stream()?,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            at: 0,
            events: 0,
            layout: None,
        })
    }

    /// Goes to the next event and gives its time; `None` at the end of the file.
    #[inline]
    fn next(&mut self) -> io::Result<Option<u64>> {
        if let Some((_, bytes)) = self.layout.take() {
            self.start += bytes;
            self.at += bytes as u64;
            self.events += 1;
        }
        if self.has(HEAD_BYTES_MAX)? == 0 {
            return Ok(None);
        }
        let head = &self.buffer[self.start..self.end];
        let Some(layout) = Layout::of(head) else {
            return Err(if head.len() < 4 { self.cut() } else { self.stranger() });
        };
        let Some(head_bytes) = layout.head_bytes() else {
            return Err(self.unknown(layout.version()));
        };
        if head.len() < head_bytes {
            return Err(self.cut());
        }
        let (time, bytes) = (layout.time(head), head_bytes + layout.tail_bytes(head));
        if self.has(bytes)? < bytes {
            return Err(self.cut());
        }
        self.layout = Some((layout, bytes));
        Ok(Some(time))
    }

    /// Reads until so many bytes are there, or no more come; how many there are.
    #[inline]
    fn has(&mut self, bytes: usize) -> io::Result<usize> {
        while self.end - self.start < bytes {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(got) => self.end += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.damaged(error)),
            }
        }
        Ok(self.end - self.start)
    }

    /// The present event in the one shape.
    #[inline]
    fn write(&self, out: &mut [u8; EVENT_BYTES]) {
        if let Some((layout, _)) = self.layout {
            layout.normalise(&self.buffer[self.start..self.end], out);
        }
    }

    fn broken(&self, what: &str) -> io::Error {
        let &Self { at, events, ref label, .. } = self;
        io::Error::other(Broken(format!("{label} {what} at byte {at}, after {events} events")))
    }

    fn cut(&self) -> io::Error {
        let left = self.end - self.start;
        self.broken(&format!("ends within an event ({left} bytes of it are there)"))
    }

    fn stranger(&self) -> io::Error {
        let head = &self.buffer[self.start..self.end.min(self.start + 8)];
        self.broken(&format!("has no event of blktrace but `{}`", head.escape_ascii()))
    }

    fn unknown(&self, version: u8) -> io::Error {
        self.broken(&format!("has an event of version {version}, and 7 and 8 are read,"))
    }

    fn damaged(&self, error: io::Error) -> io::Error {
        match damage(self.compression, &error) {
            Some(reason) => self.broken(&format!("cannot be unpacked ({reason})")),
            None => error,
        }
    }
}

/// All files of a recording.
pub struct Cpus {
    files: Vec<Cpu>,
    /// The time of the next event of each file that has one.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// An event that did not go into the reader's buffer as a whole, and how much of it did.
    event: [u8; EVENT_BYTES],
    used: usize,
    broken: Option<io::Error>,
    begun: bool,
}

impl Cpus {
    /// The events of `sources` by time.
    pub fn open(sources: &[&Source]) -> Result<Self, super::TraceError> {
        let files = sources.iter().map(|source| Cpu::open(source)).collect::<Result<_, _>>()?;
        let (next, event, used) = (BinaryHeap::new(), [0; EVENT_BYTES], EVENT_BYTES);
        Ok(Self { files, next, event, used, broken: None, begun: false })
    }

    fn begin(&mut self) -> io::Result<()> {
        for (number, file) in self.files.iter_mut().enumerate() {
            match file.next() {
                Ok(Some(time)) => self.next.push(Reverse((time, number))),
                Ok(None) => {}
                Err(error) => keep(&mut self.broken, error)?,
            }
        }
        Ok(())
    }

    /// Puts the next event by; false after the last.
    #[inline]
    fn advance(&mut self) -> io::Result<bool> {
        let Some(mut next) = self.next.peek_mut() else { return Ok(false) };
        let file = &mut self.files[next.0.1];
        file.write(&mut self.event);
        match file.next() {
            Ok(Some(time)) => next.0.0 = time,
            Ok(None) => drop(PeekMut::pop(next)),
            Err(error) => {
                PeekMut::pop(next);
                keep(&mut self.broken, error)?;
            }
        }
        self.used = 0;
        Ok(true)
    }
}

/// Remembers the first reason why a file broke off; anything else is an error at once.
fn keep(broken: &mut Option<io::Error>, error: io::Error) -> io::Result<()> {
    if !error.get_ref().is_some_and(|inner| inner.is::<Broken>()) {
        return Err(error);
    }
    broken.get_or_insert(error);
    Ok(())
}

impl Read for Cpus {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin()?;
        }
        let mut filled = 0;
        while filled < out.len() {
            if self.used == EVENT_BYTES && !self.advance()? {
                break;
            }
            let share = (EVENT_BYTES - self.used).min(out.len() - filled);
            out[filled..filled + share].copy_from_slice(&self.event[self.used..self.used + share]);
            self.used += share;
            filled += share;
        }
        match self.broken.take() {
            Some(error) if filled == 0 && !out.is_empty() => Err(error),
            broken => {
                self.broken = broken;
                Ok(filled)
            }
        }
    }
}
