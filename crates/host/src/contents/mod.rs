//! What lies behind a device whose door carries times only: data that can be checked.
//!
//! * `stamp`: sectors that say where they belong and which write they are of;
//! * `crc32c`: their checksum;
//! * `written`: what was written where;
//! * [`Contents`]: the handle that a device shares with whoever opened it. Until
//!   [`Contents::verify`] is called it does nothing, and costs a look at a flag per request.

mod crc32c;
mod stamp;
mod written;

use serde::Serialize;
use ssdscope_io::{DeviceError, SECTOR_BYTES};
use stamp::{Sector, Stamp};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use written::Written;

const SECTOR: usize = SECTOR_BYTES as usize;

/// The data of one open device, seen from the device and from whoever checks it.
#[derive(Clone)]
pub struct Contents(Arc<Shared>);

struct Shared {
    /// Whether writes are stamped and remembered.
    stamps: AtomicBool,
    /// Whether reads are compared.
    compares: AtomicBool,
    checked: Mutex<Checked>,
    /// Where the device's first byte lies on the target, whose places stamps name.
    base_bytes: u64,
    salt: u64,
}

/// Whether a sector was written by ssdscope, stamped or not, and is as it was then.
#[must_use]
pub(crate) fn is_ours(sector: &[u8]) -> bool {
    crate::payload::is_ours(sector) || matches!(stamp::read(sector), Sector::Stamped(_))
}

#[derive(Default)]
struct Checked {
    written: Written,
    verdict: Verdict,
}

/// What came of comparing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How much was read and compared.
    pub checked_bytes: u64,
    /// How much of it, in whole sectors, is not what it must be.
    pub mismatched_bytes: u64,
    /// The one that lies first on the target.
    pub first: Option<Mismatch>,
}

/// A sector that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The first byte that differs, on the target; the first of the sector where only the sector
    /// itself says what it should be.
    pub offset_bytes: u64,
    /// What must be there.
    pub expected: String,
    /// What is.
    pub found: String,
}

impl Contents {
    pub(crate) fn new(base_bytes: u64, salt: u64) -> Self {
        Self(Arc::new(Shared {
            stamps: AtomicBool::new(false),
            compares: AtomicBool::new(false),
            checked: Mutex::default(),
            base_bytes,
            salt,
        }))
    }

    fn hold(&self) -> MutexGuard<'_, Checked> {
        self.0.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on writes are stamped and remembered.
    pub fn verify(&self) {
        self.0.stamps.store(true, Ordering::Relaxed);
    }

    /// From now on reads are compared, or no longer: with what was written if that is known,
    /// else with what their stamps say.
    pub fn compare(&self, on: bool) {
        self.0.compares.store(on, Ordering::Relaxed);
    }

    /// What was written since [`Contents::verify`]: first byte on the device and length of each
    /// span, at most so long, in order.
    #[must_use]
    pub fn spans(&self, bytes_max: u64) -> Vec<(u64, u64)> {
        let base = self.0.base_bytes / SECTOR_BYTES;
        let spans = self.hold().written.spans((bytes_max / SECTOR_BYTES).max(1));
        let on_device = |span: Range<u64>| {
            ((span.start - base) * SECTOR_BYTES, (span.end - span.start) * SECTOR_BYTES)
        };
        spans.into_iter().map(on_device).collect()
    }

    /// What came of comparing since it was asked last.
    #[must_use]
    pub fn take_verdict(&self) -> Verdict {
        std::mem::take(&mut self.hold().verdict)
    }

    pub(crate) fn stamps(&self) -> bool {
        self.0.stamps.load(Ordering::Relaxed)
    }

    pub(crate) fn compares(&self) -> bool {
        self.0.compares.load(Ordering::Relaxed)
    }

    fn on_target(&self, offset_bytes: u64, len_bytes: u64) -> Range<u64> {
        let start = (self.0.base_bytes + offset_bytes) / SECTOR_BYTES;
        start..start + len_bytes / SECTOR_BYTES
    }

    /// Stamps the data of a write, which is sent next.
    ///
    /// # Errors
    /// If too many places were written to remember.
    pub(crate) fn stamp(
        &self,
        data: &mut [u8],
        offset_bytes: u64,
        serial: u64,
    ) -> Result<(), DeviceError> {
        let mut checked = self.hold();
        if checked.written.is_full() {
            return Err(DeviceError::Os {
                context: "--verify".to_owned(),
                reason: format!(
                    "{} places were written, more than are remembered; larger requests, or a \
                     smaller region, need fewer",
                    written::ENTRIES_MAX
                ),
            });
        }
        let sectors = self.on_target(offset_bytes, data.len() as u64);
        checked.written.sent(sectors, serial);
        drop(checked);
        let offset_bytes = self.0.base_bytes + offset_bytes;
        stamp::fill(data, Stamp { offset_bytes, serial, salt: self.0.salt });
        Ok(())
    }

    /// A write has ended.
    pub(crate) fn ended(&self, serial: u64, done: bool) {
        self.hold().written.ended(serial, done);
    }

    /// Nobody knows any more what is there.
    pub(crate) fn forget(&self, offset_bytes: u64, len_bytes: u64) {
        if self.stamps() {
            self.hold().written.forget(&self.on_target(offset_bytes, len_bytes));
        }
    }

    /// Compares what was read.
    pub(crate) fn check(&self, data: &[u8], offset_bytes: u64) {
        let sectors = self.on_target(offset_bytes, data.len() as u64);
        let mut checked = self.hold();
        for (sector, bytes) in sectors.zip(data.chunks_exact(SECTOR)) {
            let place = sector * SECTOR_BYTES;
            let mismatch = match checked.written.at(sector) {
                Some((serial, slack)) => {
                    let expected = Stamp { offset_bytes: place, serial, salt: self.0.salt };
                    compare_known(bytes, expected, slack)
                }
                None => compare_unknown(bytes, place),
            };
            checked.verdict.add(mismatch);
        }
    }
}

impl Verdict {
    fn add(&mut self, mismatch: Option<Mismatch>) {
        self.checked_bytes += SECTOR_BYTES;
        let Some(mismatch) = mismatch else { return };
        self.mismatched_bytes += SECTOR_BYTES;
        if self.first.as_ref().is_none_or(|first| mismatch.offset_bytes < first.offset_bytes) {
            self.first = Some(mismatch);
        }
    }
}

/// Compares a sector with what was written there, by one of `slack` + 1 writes.
fn compare_known(bytes: &[u8], expected: Stamp, slack: u64) -> Option<Mismatch> {
    let found = stamp::read(bytes);
    if let Sector::Stamped(stamp) = found
        && stamp.salt == expected.salt
        && stamp.offset_bytes == expected.offset_bytes
        && (expected.serial - slack..=expected.serial).contains(&stamp.serial)
    {
        return None;
    }
    // Of the writes that may have come last, the one that explains most of what is there: where
    // two were under way at once, a damaged byte must not be looked for in the other one.
    let (serial, right, differs) = (expected.serial - slack..=expected.serial)
        .rev()
        .map(|serial| {
            let mut right = [0; SECTOR];
            stamp::fill(&mut right, Stamp { serial, ..expected });
            let differs = right.iter().zip(bytes).position(|(right, found)| right != found);
            (serial, right, differs.unwrap_or(0))
        })
        .reduce(|nearest, other| if other.2 > nearest.2 { other } else { nearest })?;
    Some(Mismatch {
        offset_bytes: expected.offset_bytes + differs as u64,
        expected: format!("write {serial} of this run: {}", some(&right[differs..])),
        found: format!("{}: {}", in_words(found, bytes, &expected), some(&bytes[differs..])),
    })
}

/// Compares a sector with what it says of itself.
fn compare_unknown(bytes: &[u8], place: u64) -> Option<Mismatch> {
    let found = stamp::read(bytes);
    let expected = match found {
        Sector::Stamped(stamp) if stamp.offset_bytes == place => return None,
        Sector::Stamped(_) => "data written for this place".to_owned(),
        Sector::Damaged { carried, .. } => format!("bytes of checksum {carried:08x}"),
        Sector::Unstamped => "data of a run with --verify".to_owned(),
    };
    let nobody = Stamp { offset_bytes: place, serial: 0, salt: 0 };
    let found = format!("{}: {}", in_words(found, bytes, &nobody), some(bytes));
    Some(Mismatch { offset_bytes: place, expected, found })
}

fn in_words(found: Sector, bytes: &[u8], expected: &Stamp) -> String {
    match found {
        Sector::Stamped(stamp) if stamp.offset_bytes != expected.offset_bytes => {
            format!("data written for byte {}", stamp.offset_bytes)
        }
        Sector::Stamped(stamp) if stamp.salt != expected.salt => "data of another run".to_owned(),
        Sector::Stamped(stamp) => format!("write {}, an older one", stamp.serial),
        Sector::Damaged { computed, .. } => format!("bytes of checksum {computed:08x}"),
        Sector::Unstamped if bytes.iter().all(|&byte| byte == 0) => "zeros".to_owned(),
        Sector::Unstamped => "bytes without a stamp".to_owned(),
    }
}

/// The first few bytes, in hexadecimal.
fn some(bytes: &[u8]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    format!("{}{}", shown.join(" "), if bytes.len() > SHOWN { " ..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 1 << 20;

    /// A device of eight blocks of 4 KiB, each written once, read back whole.
    fn verdict_after(spoil: impl FnOnce(&mut [u8])) -> Verdict {
        let contents = Contents::new(BASE, 7);
        contents.verify();
        let mut disk = vec![0; 8 * 4096];
        for (serial, block) in disk.chunks_mut(4096).enumerate() {
            contents.stamp(block, serial as u64 * 4096, serial as u64).expect("there is room");
            contents.ended(serial as u64, true);
        }
        spoil(&mut disk);
        contents.check(&disk, 0);
        contents.take_verdict()
    }

    fn first(verdict: &Verdict) -> (u64, &str) {
        let first = verdict.first.as_ref().expect("something is wrong");
        (first.offset_bytes - BASE, &first.found)
    }

    #[test]
    fn what_was_written_is_right() {
        let verdict = verdict_after(|_| {});
        assert_eq!((verdict.checked_bytes, verdict.mismatched_bytes), (8 * 4096, 0));
        assert_eq!(verdict.first, None);
    }

    #[test]
    fn a_flipped_bit_is_found_at_its_byte() {
        let verdict = verdict_after(|disk| disk[9_001] ^= 4);
        assert_eq!(verdict.mismatched_bytes, 512);
        assert!(matches!(first(&verdict), (9_001, found) if found.contains("checksum")));
    }

    #[test]
    fn lost_misplaced_and_foreign_data_are_told_apart() {
        let zeroed = verdict_after(|disk| disk[4096..8192].fill(0));
        assert_eq!(zeroed.mismatched_bytes, 4096);
        assert!(matches!(first(&zeroed), (4096, found) if found.starts_with("zeros")));
        let misplaced = verdict_after(|disk| disk.copy_within(0..4096, 8192));
        let says = format!("data written for byte {BASE}");
        assert!(matches!(first(&misplaced), (8192, found) if found.starts_with(&says)));
        let foreign = verdict_after(|disk| {
            let other = Stamp { offset_bytes: BASE, serial: 0, salt: 8 };
            stamp::fill(&mut disk[..512], other);
        });
        assert!(matches!(first(&foreign), (0, found) if found.starts_with("data of another run")));
    }

    #[test]
    fn a_lost_overwrite_is_found() {
        let contents = Contents::new(0, 7);
        contents.verify();
        let (mut before, mut after) = (vec![0; 4096], vec![0; 4096]);
        for (serial, data) in [(3, &mut before), (9, &mut after)] {
            contents.stamp(data, 0, serial).expect("there is room");
            contents.ended(serial, true);
        }
        contents.check(&after, 0);
        assert_eq!(contents.take_verdict().mismatched_bytes, 0);
        contents.check(&before, 0);
        let verdict = contents.take_verdict();
        assert_eq!(verdict.mismatched_bytes, 4096);
        let first = verdict.first.expect("told");
        assert!(first.found.starts_with("write 3, an older one"), "{first:?}");
        assert!(first.expected.starts_with("write 9 of this run"), "{first:?}");
    }

    /// Two writes of one place are under way at once, so either may be what stays there.
    #[test]
    fn damage_is_found_at_its_byte_whichever_of_two_writes_came_last() {
        for last in [0, 1] {
            let contents = Contents::new(0, 7);
            contents.verify();
            let mut written = [vec![0; 4096], vec![0; 4096]];
            for (serial, data) in written.iter_mut().enumerate() {
                contents.stamp(data, 0, serial as u64).expect("there is room");
            }
            (0..2).for_each(|serial| contents.ended(serial, true));
            let disk = &mut written[last];
            contents.check(disk, 0);
            assert_eq!(contents.take_verdict().mismatched_bytes, 0);
            disk[1_001] ^= 1;
            contents.check(disk, 0);
            let first = contents.take_verdict().first.expect("told");
            assert_eq!(first.offset_bytes, 1_001, "write {last} came last");
            let says = format!("write {last} of this run");
            assert!(first.expected.starts_with(&says), "{first:?}");
        }
    }

    /// A later run, which knows nothing of what was written, sees what stamps can tell.
    #[test]
    fn stamps_alone_find_damage_and_misplaced_data() {
        let mut disk = vec![0; 8192];
        stamp::fill(&mut disk, Stamp { offset_bytes: 0, serial: 5, salt: 1 });
        let later = |disk: &[u8]| {
            let contents = Contents::new(0, 2);
            contents.check(disk, 0);
            contents.take_verdict()
        };
        assert_eq!(later(&disk).mismatched_bytes, 0);
        disk.copy_within(0..512, 4096);
        disk[700] ^= 1;
        let verdict = later(&disk);
        assert_eq!(verdict.mismatched_bytes, 1024);
        assert_eq!(verdict.first.map(|first| first.offset_bytes), Some(512));
    }
}
