//! Sectors that can be checked: each says where it belongs and which write it is of.
//!
//! A stamped sector begins like every sector of ours (see [`crate::payload`]), so that it is
//! known as ours. Then come, hidden by words that look random, so that a drive can neither
//! compress nor share it:
//!
//! | word | what |
//! | --- | --- |
//! | 2 | a mark, so that our sectors without a stamp are told from damaged ones |
//! | 3 | first byte of the sector on the target |
//! | 4 | number of the write |
//! | 5 | the opening of the device, a random number |
//! | 6 to 62 | random words |
//! | 63 | CRC-32C of all before it |
//!
//! Opening, number and place decide every byte, so what should be there can be made again.

use super::crc32c::crc32c;
use crate::payload::{self, GOLDEN, WORD, mix};
use ssdscope_io::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;
const WORDS: usize = SECTOR / WORD;
/// Which word is the mark, and which is the first of what is said.
const MARK: usize = 2;
const SAID: usize = 3;
const MARK_KEY: u64 = 0x7374_616d_7065_6431;

/// A write, as its sectors say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) offset_bytes: u64,
    pub(crate) serial: u64,
    pub(crate) salt: u64,
}

/// What a sector turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sector {
    /// Whole; it says this.
    Stamped(Stamp),
    /// Stamped once, and damaged since: the checksum it carries, and that of its bytes.
    Damaged {
        /// The checksum that it carries.
        carried: u32,
        /// The checksum of what is there.
        computed: u32,
    },
    /// Nothing that was stamped.
    Unstamped,
}

/// What hides a word of a sector that begins with `first`.
fn veil(first: u64, word: usize) -> u64 {
    mix(first.wrapping_add(GOLDEN.wrapping_mul(word as u64)))
}

/// Fills whole sectors for the write that `stamp` names, which begins there.
pub(crate) fn fill(data: &mut [u8], stamp: Stamp) {
    for (index, sector) in data.chunks_exact_mut(SECTOR).enumerate() {
        let offset_bytes = stamp.offset_bytes + index as u64 * SECTOR_BYTES;
        fill_sector(sector, Stamp { offset_bytes, ..stamp });
    }
}

fn fill_sector(sector: &mut [u8], stamp: Stamp) {
    let key = mix(stamp.salt ^ mix(stamp.serial.wrapping_mul(GOLDEN)));
    let first = mix(key.wrapping_add((stamp.offset_bytes / SECTOR_BYTES).wrapping_mul(GOLDEN)));
    let (words, _) = sector.as_chunks_mut::<WORD>();
    words[0] = first.to_le_bytes();
    words[1] = payload::signature(first).to_le_bytes();
    words[MARK] = mix(first ^ MARK_KEY).to_le_bytes();
    let said = [stamp.offset_bytes, stamp.serial, stamp.salt];
    for (index, place) in words[SAID..WORDS - 1].iter_mut().enumerate() {
        let plain = said.get(index).copied().unwrap_or(0);
        *place = (plain ^ veil(first, SAID + index)).to_le_bytes();
    }
    seal(sector);
}

fn seal(sector: &mut [u8]) {
    let (body, last) = sector.split_at_mut(SECTOR - WORD);
    last.copy_from_slice(&sealed(crc32c(body)).to_le_bytes());
}

/// The last word: the checksum, under a half that looks as random.
fn sealed(checksum: u32) -> u64 {
    (mix(u64::from(checksum)) & !u64::from(u32::MAX)) | u64::from(checksum)
}

/// Reads a sector.
pub(crate) fn read(sector: &[u8]) -> Sector {
    let (words, _) = sector.as_chunks::<WORD>();
    let word = |index: usize| u64::from_le_bytes(words[index]);
    let first = word(0);
    if word(MARK) != mix(first ^ MARK_KEY) {
        return Sector::Unstamped;
    }
    let computed = crc32c(&sector[..SECTOR - WORD]);
    let last = word(WORDS - 1);
    if word(1) != payload::signature(first) || last != sealed(computed) {
        return Sector::Damaged { carried: last as u32, computed };
    }
    let said = |index: usize| word(SAID + index) ^ veil(first, SAID + index);
    Sector::Stamped(Stamp { offset_bytes: said(0), serial: said(1), salt: said(2) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { offset_bytes: 8192, serial: 17, salt: 99 };

    fn sectors(count: usize) -> Vec<u8> {
        let mut data = vec![0; count * SECTOR];
        fill(&mut data, STAMP);
        data
    }

    #[test]
    fn every_sector_says_where_it_belongs_and_is_known_as_ours() {
        for (index, sector) in sectors(16).chunks(SECTOR).enumerate() {
            let offset_bytes = STAMP.offset_bytes + (index * SECTOR) as u64;
            assert_eq!(read(sector), Sector::Stamped(Stamp { offset_bytes, ..STAMP }));
            assert!(crate::contents::is_ours(sector));
        }
    }

    /// Also that no bit is left out of the check.
    #[test]
    fn any_flipped_bit_is_seen() {
        let whole = sectors(1);
        for byte in 0..SECTOR {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[byte] ^= 1 << bit;
                let found = read(&damaged);
                assert!(!matches!(found, Sector::Stamped(_)), "byte {byte}: {found:?}");
            }
        }
    }

    #[test]
    fn what_was_never_stamped_is_not_damaged() {
        let mut plain = vec![0; SECTOR];
        assert_eq!(read(&plain), Sector::Unstamped);
        plain.fill(0x77);
        assert_eq!(read(&plain), Sector::Unstamped);
        payload::fill(&mut plain, 1, 2);
        assert_eq!(read(&plain), Sector::Unstamped);
    }
}
