//! What was moved to and from a drive.

use crate::request::Op;

/// Bytes that somebody read and wrote.
///
/// Apart, as reading takes a drive far less time than writing, and leaves it as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// From the drive.
    pub read_bytes: u64,
    /// To the drive.
    pub written_bytes: u64,
}

impl Moved {
    /// Counts a request that was served; flushes, discards and zeros move nothing.
    pub const fn count(&mut self, op: Op, bytes: u64) {
        match op {
            Op::Read => self.read_bytes += bytes,
            Op::Write => self.written_bytes += bytes,
            Op::Flush | Op::Discard | Op::WriteZeroes => {}
        }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
        }
    }

    /// What is left without another part of it; never below nothing.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(other.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(other.written_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_counted_apart() {
        let mut moved = Moved::default();
        for (op, bytes) in [(Op::Read, 1), (Op::Write, 20), (Op::Discard, 400), (Op::Read, 2)] {
            moved.count(op, bytes);
        }
        assert_eq!(moved, Moved { read_bytes: 3, written_bytes: 20 });
        let all = moved.plus(Moved { read_bytes: 5, written_bytes: 5 });
        assert_eq!(all.without(moved), Moved { read_bytes: 5, written_bytes: 5 });
        assert_eq!(moved.without(all), Moved::default());
    }
}
