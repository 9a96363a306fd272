//! What is written: incompressible, never twice the same, recognisable as ours.
//!
//! A drive that compresses or deduplicates must not gain anything, so each 512-byte
//! sector is drawn from a generator keyed by (device opened, number of the write,
//! number of the sector). All words of a sector follow from the first, which looks as random
//! as the rest, yet lets [`is_ours`] tell our sectors from anybody else's: see
//! [`crate::consent`].

use ssdscope_io::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;
pub(crate) const WORD: usize = size_of::<u64>();
/// An odd constant, the golden ratio: consecutive counters land far apart.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// What makes a signature ours. Part of the format: files on disk carry it.
const SIGNATURE_KEY: u64 = 0x7373_6473_636f_7065;

/// Finalizer of SplitMix64 (Steele, Lea, Flood 2014): every input bit moves every output bit.
#[inline]
pub(crate) const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The second word of a sector of ours, from its first.
#[inline]
pub(crate) const fn signature(first: u64) -> u64 {
    mix(first ^ SIGNATURE_KEY)
}

/// Fills `data`, whole sectors, for write number `serial` of the opening called `salt`.
pub fn fill(data: &mut [u8], salt: u64, serial: u64) {
    debug_assert!(data.len().is_multiple_of(SECTOR), "{} bytes", data.len());
    let key = mix(salt ^ mix(serial.wrapping_mul(GOLDEN)));
    let mut seed = key;
    for sector in data.chunks_exact_mut(SECTOR) {
        seed = seed.wrapping_add(GOLDEN);
        let first = mix(seed);
        let (words, _) = sector.as_chunks_mut::<WORD>();
        words[0] = first.to_le_bytes();
        words[1] = signature(first).to_le_bytes();
        let mut counter = first;
        for word in &mut words[2..] {
            counter = counter.wrapping_add(GOLDEN);
            *word = mix(counter).to_le_bytes();
        }
    }
}

/// Whether a sector was written by [`fill`], by any run on any machine, and nothing of it since by
/// anybody else: its first word decides all others.
#[must_use]
pub fn is_ours(sector: &[u8]) -> bool {
    let [first, second, rest @ ..] = sector.as_chunks::<WORD>().0 else { return false };
    let first = u64::from_le_bytes(*first);
    let mut counter = first;
    u64::from_le_bytes(*second) == signature(first)
        && rest.iter().all(|word| {
            counter = counter.wrapping_add(GOLDEN);
            u64::from_le_bytes(*word) == mix(counter)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_sector_repeats_and_all_are_recognised() {
        let mut seen = HashSet::new();
        for (salt, serial) in [(1, 0), (1, 1), (2, 0)] {
            let mut data = vec![0; 64 * SECTOR];
            fill(&mut data, salt, serial);
            for sector in data.chunks(SECTOR) {
                assert!(is_ours(sector));
                assert!(seen.insert(sector.to_vec()), "a sector came twice");
            }
        }
    }

    #[test]
    fn zeros_text_and_noise_are_not_ours() {
        assert!(!is_ours(&[0; SECTOR]));
        assert!(!is_ours(&[b'x'; SECTOR]));
        let noise: Vec<u8> = (0..SECTOR as u64).map(|i| mix(i) as u8).collect();
        assert!(!is_ours(&noise));
        assert!(!is_ours(&[]));
        let mut data = vec![0; SECTOR];
        fill(&mut data, 1, 1);
        for place in 0..SECTOR {
            data[place] ^= 1;
            assert!(!is_ours(&data), "byte {place} is somebody's");
            data[place] ^= 1;
        }
        assert!(is_ours(&data));
    }

    #[test]
    fn bytes_are_spread_evenly() {
        let mut data = vec![0; 1 << 20];
        fill(&mut data, 7, 7);
        let mut counts = [0_u32; 256];
        data.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        // 4096 expected each, standard deviation 64.
        assert!(counts.iter().all(|&count| (3700..4500).contains(&count)), "{counts:?}");
    }
}
