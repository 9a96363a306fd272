//! Cuts a stream into lines, or records, without ever holding more than a buffer of it.

use super::format::Framing;
use memchr::memchr;
use std::io::{self, Read};

/// Longer lines are no requests of any format.
pub const MAX_LINE_BYTES: usize = 4096;

/// A "line" that goes on like this says that the file is no text at all.
pub const HOPELESS_LINE_BYTES: u64 = 64 << 20;

const BUFFER_BYTES: usize = 1 << 17;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a stream, or its binary records, one at a time, numbered from 1.
pub struct Lines {
    framing: Framing,
    stream: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    /// What was read and not yet cut: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The present line, as a range of the buffer.
    line: (usize, usize),
    /// Its length where that is more than [`MAX_LINE_BYTES`].
    too_long_bytes: Option<u64>,
    number: u64,
}

impl Lines {
    /// The lines or records of `stream`.
    pub fn new(stream: Box<dyn Read + Send>, framing: Framing) -> Self {
        Self {
            framing,
            stream,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            line: (0, 0),
            too_long_bytes: None,
            number: 0,
        }
    }

    /// The number of the present line; zero before the first.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The present line without its end and without blanks around it; of a line that is
    /// too long, its beginning.
    #[inline]
    pub fn text(&self) -> &[u8] {
        let text = &self.buffer[self.line.0..self.line.1];
        if self.framing != Framing::Lines {
            return text;
        }
        let text = if self.number == 1 {
            text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
        } else {
            text
        };
        text.trim_ascii()
    }

    /// How long the present line is, where it is too long to be one.
    pub const fn too_long_bytes(&self) -> Option<u64> {
        self.too_long_bytes
    }

    /// Goes to the next line or record; false at the end of the stream.
    #[inline]
    pub fn advance(&mut self) -> io::Result<bool> {
        match self.framing.record_bytes() {
            None => self.advance_line(),
            Some(bytes) => self.advance_record(bytes),
        }
    }

    /// The last record may be shorter than the others.
    fn advance_record(&mut self, bytes: usize) -> io::Result<bool> {
        while self.end - self.start < bytes && self.refill()? {}
        let next = self.end.min(self.start + bytes);
        let more = next > self.start;
        if more {
            self.cut(next, next);
        }
        Ok(more)
    }

    #[inline]
    fn advance_line(&mut self) -> io::Result<bool> {
        self.too_long_bytes = None;
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                self.cut(searched + at, searched + at + 1);
                return Ok(true);
            }
            if self.end - self.start > MAX_LINE_BYTES {
                self.skip_long_line()?;
                return Ok(true);
            }
            searched = self.end - self.start;
            if !self.refill()? {
                let rest = self.start < self.end;
                if rest {
                    self.cut(self.end, self.end);
                }
                return Ok(rest);
            }
        }
    }

    /// Makes `start..line_end` the present line and `next` the start of what follows.
    #[inline]
    fn cut(&mut self, line_end: usize, next: usize) {
        let len = line_end - self.start;
        if len > MAX_LINE_BYTES {
            self.too_long_bytes = Some(len as u64);
        }
        self.line = (self.start, self.start + len.min(MAX_LINE_BYTES));
        self.start = next;
        self.number += 1;
    }

    /// Keeps the beginning of a line whose end is not in the buffer and passes over the rest.
    fn skip_long_line(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.start + MAX_LINE_BYTES, 0);
        let mut len_bytes = (self.end - self.start) as u64;
        loop {
            let got = self.read_into(MAX_LINE_BYTES)?;
            let fresh = &self.buffer[MAX_LINE_BYTES..MAX_LINE_BYTES + got];
            let newline = memchr(b'\n', fresh);
            let taken = newline.unwrap_or(got);
            len_bytes += taken as u64;
            if newline.is_some() || got == 0 || len_bytes > HOPELESS_LINE_BYTES {
                self.start = MAX_LINE_BYTES + taken + usize::from(newline.is_some());
                self.end = MAX_LINE_BYTES + got;
                self.line = (0, MAX_LINE_BYTES);
                self.too_long_bytes = Some(len_bytes);
                self.number += 1;
                return Ok(());
            }
        }
    }

    /// Moves what is left to the front and reads more; false at the end of the stream.
    fn refill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let got = self.read_into(self.end)?;
        self.end += got;
        Ok(got > 0)
    }

    fn read_into(&mut self, from: usize) -> io::Result<usize> {
        loop {
            match self.stream.read(&mut self.buffer[from..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives its bytes a few at a time, as a slow decompressor would.
    struct Trickle(Vec<u8>, usize, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.2.min(buffer.len()).min(self.0.len() - self.1);
            buffer[..len].copy_from_slice(&self.0[self.1..self.1 + len]);
            self.1 += len;
            Ok(len)
        }
    }

    fn lines(bytes: &[u8], step: usize) -> Vec<(u64, Vec<u8>, Option<u64>)> {
        let mut lines = Lines::new(Box::new(Trickle(bytes.to_vec(), 0, step)), Framing::Lines);
        let mut all = Vec::new();
        while lines.advance().expect("reads") {
            all.push((lines.number(), lines.text().to_vec(), lines.too_long_bytes()));
        }
        all
    }

    #[test]
    fn line_ends_blanks_and_a_byte_order_mark_are_cut() {
        let expected: Vec<_> = [&b"one"[..], b"", b"two\t2", b"three"]
            .iter()
            .zip(1..)
            .map(|(text, number)| (number, text.to_vec(), None))
            .collect();
        for step in [1, 2, 7, 1000] {
            assert_eq!(lines(b"\xef\xbb\xbfone\r\n\n  two\t2 \t\r\nthree", step), expected);
        }
        assert_eq!(lines(b"", 1), []);
    }

    #[test]
    fn a_long_line_is_passed_over_and_the_next_one_read() {
        for len in [MAX_LINE_BYTES + 1, BUFFER_BYTES - 1, BUFFER_BYTES, 5 * BUFFER_BYTES + 17] {
            let bytes = [&vec![b'x'; len][..], b"\nnext\n"].concat();
            for step in [1009, BUFFER_BYTES] {
                let all = lines(&bytes, step);
                assert_eq!(all.len(), 2, "{len} by {step}");
                assert_eq!(all[0].2, Some(len as u64));
                assert_eq!(all[0].1, vec![b'x'; MAX_LINE_BYTES]);
                assert_eq!(all[1], (2, b"next".to_vec(), None));
            }
        }
    }

    #[test]
    fn records_have_their_length_whatever_they_hold_and_the_last_may_be_short() {
        let bytes: Vec<u8> = (0..=255).chain(*b"\n \n").collect();
        for step in [1, 3, 100] {
            let stream = Box::new(Trickle(bytes.clone(), 0, step));
            let mut lines = Lines::new(stream, Framing::Records(32));
            let mut all = Vec::new();
            while lines.advance().expect("reads") {
                assert_eq!(lines.text(), &bytes[all.len()..bytes.len().min(all.len() + 32)]);
                all.extend_from_slice(lines.text());
            }
            assert_eq!((all.len(), lines.number()), (bytes.len(), 9));
        }
    }

    #[test]
    fn a_longest_line_is_still_a_line() {
        let bytes = [&vec![b'x'; MAX_LINE_BYTES][..], b"\n"].concat();
        assert_eq!(lines(&bytes, 4096), [(1, vec![b'x'; MAX_LINE_BYTES], None)]);
    }

    proptest! {
        #[test]
        fn cuts_as_split_does(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(b' ')], 0..300),
            step in 1_usize..40,
        ) {
            let parts = bytes.split(|&byte| byte == b'\n');
            let mut expected: Vec<_> = parts.map(|line| line.trim_ascii().to_vec()).collect();
            if bytes.is_empty() || bytes.ends_with(b"\n") {
                expected.pop();
            }
            let got: Vec<_> = lines(&bytes, step).into_iter().map(|(_, text, _)| text).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
