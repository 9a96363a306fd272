//! Packing: the regions that a trace touches, moved together in address order.
//!
//! A set bit is a touched region, 64 of them to a chunk. Chunks are kept sorted by
//! (volume, address); the place of a region is the number of set bits before it. More
//! chunks than the drive has regions cannot fit, which bounds the memory.

use std::collections::BTreeMap;

const REGIONS_PER_CHUNK: u64 = 64;

/// The touched regions, while the first pass collects them.
#[derive(Debug)]
pub struct Regions {
    chunks: BTreeMap<(u64, u64), u64>,
    region_bytes: u64,
    /// As many regions as the drive has.
    capacity: u64,
    overflowed: bool,
}

impl Regions {
    /// For a drive of `capacity` regions.
    pub const fn new(region_bytes: u64, capacity: u64) -> Self {
        Self { chunks: BTreeMap::new(), region_bytes, capacity, overflowed: false }
    }

    /// Marks the bytes `start..end` of a volume; `end` lies after `start`.
    pub fn touch(&mut self, volume: u64, start: u64, end: u64) {
        let (mut region, last) = (start / self.region_bytes, (end - 1) / self.region_bytes);
        while region <= last && !self.overflowed {
            let chunk = region / REGIONS_PER_CHUNK;
            let first_bit = region % REGIONS_PER_CHUNK;
            let last_bit = (last - chunk * REGIONS_PER_CHUNK).min(REGIONS_PER_CHUNK - 1);
            let bits = (u64::MAX >> (63 - last_bit)) & (u64::MAX << first_bit);
            *self.chunks.entry((volume, chunk)).or_default() |= bits;
            self.overflowed = self.chunks.len() as u64 > self.capacity;
            region = (chunk + 1) * REGIONS_PER_CHUNK;
        }
    }

    /// Packs them, or says how many bytes they take at least if that is more than there are.
    pub fn pack(self) -> Result<Packed, u64> {
        let mut before = 0;
        let mut chunks = Vec::with_capacity(self.chunks.len());
        for (key, bits) in self.chunks {
            chunks.push(Chunk { key, bits, before });
            before += u64::from(bits.count_ones());
        }
        if self.overflowed || before > self.capacity {
            return Err(before.saturating_mul(self.region_bytes));
        }
        Ok(Packed { chunks, region_bytes: self.region_bytes, regions: before })
    }
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    key: (u64, u64),
    bits: u64,
    before: u64,
}

/// Where each touched region went.
#[derive(Debug)]
pub struct Packed {
    chunks: Vec<Chunk>,
    region_bytes: u64,
    regions: u64,
}

impl Packed {
    /// The space that all of them take.
    pub const fn bytes(&self) -> u64 {
        self.regions * self.region_bytes
    }

    /// Where the bytes `start..end` of a volume went; `None` if not all of them were marked.
    /// Neighbours stay neighbours, so a request that was one span is one span.
    pub fn place(&self, volume: u64, start: u64, end: u64) -> Option<u64> {
        let (first, last) = (start / self.region_bytes, (end - 1) / self.region_bytes);
        let place = self.region(volume, first)?;
        if last != first && self.region(volume, last)? != place + (last - first) {
            return None;
        }
        Some(place * self.region_bytes + start % self.region_bytes)
    }

    fn region(&self, volume: u64, region: u64) -> Option<u64> {
        let key = (volume, region / REGIONS_PER_CHUNK);
        let at = self.chunks.binary_search_by_key(&key, |chunk| chunk.key).ok()?;
        let chunk = &self.chunks[at];
        let bit = 1_u64 << (region % REGIONS_PER_CHUNK);
        let place = chunk.before + u64::from((chunk.bits & (bit - 1)).count_ones());
        (chunk.bits & bit != 0).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbours_stay_neighbours_and_gaps_go() {
        let mut regions = Regions::new(100, 1000);
        regions.touch(0, 650, 651);
        regions.touch(0, 6390, 6510);
        regions.touch(3, 0, 1);
        let packed = regions.pack().expect("fits");
        assert_eq!(
            packed.bytes(),
            500,
            "regions 6, 63, 64 and 65 of volume 0, region 0 of volume 3"
        );
        assert_eq!(packed.place(0, 650, 651), Some(50));
        assert_eq!(packed.place(0, 6390, 6510), Some(190));
        assert_eq!(packed.place(3, 0, 100), Some(400));
        assert_eq!(packed.place(0, 0, 1), None);
        assert_eq!(packed.place(0, 650, 701), None);
        assert_eq!(packed.place(1, 650, 651), None);
    }

    #[test]
    fn a_monstrous_request_costs_no_more_than_the_drive_is_large() {
        let mut regions = Regions::new(1 << 20, 10);
        regions.touch(0, 0, 1 << 62);
        assert_eq!(regions.chunks.len(), 11);
        assert_eq!(regions.pack().map(|_| ()), Err((11 * 64) << 20));
    }

    proptest! {
        #[test]
        fn places_are_ranks(spans in prop::collection::vec((0_u64..3, 0_u64..20_000, 1_u64..500), 1..60)) {
            let mut regions = Regions::new(10, u64::MAX);
            let mut touched = BTreeSet::new();
            for &(volume, start, len) in &spans {
                regions.touch(volume, start, start + len);
                touched.extend((start / 10..=(start + len - 1) / 10).map(|region| (volume, region)));
            }
            let packed = regions.pack().expect("fits");
            prop_assert_eq!(packed.bytes(), touched.len() as u64 * 10);
            for &(volume, start, len) in &spans {
                let rank = touched.range(..(volume, start / 10)).count() as u64;
                prop_assert_eq!(packed.place(volume, start, start + len), Some(rank * 10 + start % 10));
            }
        }
    }
}
