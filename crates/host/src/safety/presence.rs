//! Whether an open target is still what it was: the same medium, of the same size.
//!
//! A drive that is pulled and replaced keeps its name but not its sequence number
//! (`diskseq`), and a file may be truncated by somebody else.

use crate::sys;
use ssdscope_io::{DeviceError, Nanos};
use std::fs::File;
use std::io;

/// How long an answer holds: while writing goes on it is asked for again that often.
const HOLDS: Nanos = Nanos(100_000_000);

/// What must stay.
pub(crate) struct Presence {
    is_block: bool,
    size_bytes: u64,
    /// `None` where the kernel has none (before Linux 5.15).
    sequence: Option<u64>,
    asked: Nanos,
}

impl Presence {
    pub(crate) fn of(file: &File, is_block: bool, size_bytes: u64) -> Self {
        let sequence = if is_block { sys::disk_sequence(file).ok() } else { None };
        Self { is_block, size_bytes, sequence, asked: Nanos::ZERO }
    }

    /// Asks, unless that was done a moment ago.
    ///
    /// # Errors
    /// What has changed.
    pub(crate) fn check(&mut self, file: &File, now: Nanos) -> Result<(), DeviceError> {
        if now.0 < self.asked.0 + HOLDS.0 {
            return Ok(());
        }
        self.asked = now;
        self.check_now(file)
    }

    /// Asks.
    ///
    /// # Errors
    /// What has changed.
    pub(crate) fn check_now(&self, file: &File) -> Result<(), DeviceError> {
        let (sequence, size_bytes) = if self.is_block {
            (sys::disk_sequence(file).ok(), sys::block_size_bytes(file))
        } else {
            (None, file.metadata().map(|stat| stat.len()))
        };
        self.compare(sequence, size_bytes)
    }

    fn compare(
        &self,
        sequence: Option<u64>,
        size_bytes: io::Result<u64>,
    ) -> Result<(), DeviceError> {
        if self.sequence != sequence {
            return Err(changed("another medium is in its place (its diskseq is another)"));
        }
        match size_bytes {
            Err(error) => Err(changed(&format!("its size cannot be read any more ({error})"))),
            // A file may grow: what is measured is still there. A drive may not.
            Ok(now) if now < self.size_bytes || (self.is_block && now != self.size_bytes) => {
                let before = self.size_bytes;
                Err(changed(&format!("its size was {before} bytes, and is {now} now")))
            }
            Ok(_) => Ok(()),
        }
    }
}

fn changed(reason: &str) -> DeviceError {
    let context = "the target changed while it was measured".to_owned();
    DeviceError::Os { context, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_medium_or_size_is_noticed() {
        let drive = |is_block| Presence {
            is_block,
            size_bytes: 4096,
            sequence: is_block.then_some(7),
            asked: Nanos::ZERO,
        };
        assert_eq!(drive(true).compare(Some(7), Ok(4096)), Ok(()));
        assert_eq!(drive(false).compare(None, Ok(8192)), Ok(()), "a file may grow");
        let gone = Err(io::Error::from_raw_os_error(libc::ENODEV));
        let changes = [
            (true, Some(8), Ok(4096), "diskseq"),
            (true, None, Ok(4096), "diskseq"),
            (true, Some(7), Ok(8192), "its size was 4096 bytes, and is 8192 now"),
            (true, Some(7), Ok(0), "and is 0 now"),
            (true, Some(7), gone, "cannot be read any more"),
            (false, None, Ok(4095), "and is 4095 now"),
        ];
        for (is_block, sequence, size_bytes, says) in changes {
            let refused = drive(is_block).compare(sequence, size_bytes).expect_err(says);
            assert!(refused.to_string().contains(says), "{refused}");
        }
    }
}
