//! Volumes (ASUs, devices) are address spaces of their own; here they are laid end to end.
//!
//! A trace does not say how large a volume is. Its extent is taken as the highest
//! byte that it touches, rounded up to a region (1 MiB), so that the volumes stay
//! aligned and never share a region. They follow each other in the order of their ids.

use super::options::VolumeStats;
use crate::units::Bytes;
use std::collections::BTreeMap;

/// The grain of extents and of packing.
pub const REGION_BYTES: u64 = 1 << 20;

/// More is a sign of a misread trace (the largest public one has some thousands).
pub const MAX_VOLUMES: usize = 1 << 16;

/// The grain on a drive of this unit: 1 MiB, or the next multiple of a unit that does not divide it.
pub const fn region_bytes(unit: Bytes) -> u64 {
    REGION_BYTES.next_multiple_of(unit.0)
}

/// What the first pass saw of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeUse {
    pub requests: u64,
    pub end_bytes: u64,
}

/// Where each volume starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeMap {
    volumes: Vec<VolumeStats>,
    /// The byte after the last one touched.
    reach_bytes: u64,
}

impl VolumeMap {
    /// Lays `used` end to end in id order; `None` if that is more than can be addressed.
    pub fn end_to_end(used: &BTreeMap<u64, VolumeUse>, region_bytes: u64) -> Option<Self> {
        let (mut base_bytes, mut reach_bytes) = (0_u64, 0);
        let mut volumes = Vec::with_capacity(used.len());
        for (&id, volume) in used {
            let extent_bytes = volume.end_bytes.checked_next_multiple_of(region_bytes)?;
            let requests = volume.requests;
            volumes.push(VolumeStats { id, base_bytes, extent_bytes, requests });
            reach_bytes = base_bytes.checked_add(volume.end_bytes)?;
            base_bytes = base_bytes.checked_add(extent_bytes)?;
        }
        Some(Self { volumes, reach_bytes })
    }

    /// Where volume `id` starts; `None` if the first pass did not see it, or not `end_bytes` of it.
    #[inline]
    pub fn base_bytes(&self, id: u64, end_bytes: u64) -> Option<u64> {
        let volume = match &self.volumes[..] {
            [only] => Some(only).filter(|volume| volume.id == id),
            all => all.binary_search_by_key(&id, |volume| volume.id).ok().map(|at| &all[at]),
        };
        volume.filter(|volume| end_bytes <= volume.extent_bytes).map(|volume| volume.base_bytes)
    }

    /// The byte after the last one touched.
    pub const fn reach_bytes(&self) -> u64 {
        self.reach_bytes
    }

    /// For the report.
    pub fn stats(&self) -> &[VolumeStats] {
        &self.volumes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(ends: &[(u64, u64)]) -> BTreeMap<u64, VolumeUse> {
        ends.iter().map(|&(id, end_bytes)| (id, VolumeUse { requests: 1, end_bytes })).collect()
    }

    #[test]
    fn volumes_follow_each_other_in_id_order_on_whole_regions() {
        let map = VolumeMap::end_to_end(&used(&[(7, 10), (2, REGION_BYTES + 1)]), REGION_BYTES)
            .expect("fits");
        assert_eq!(map.base_bytes(2, 512), Some(0));
        assert_eq!(map.base_bytes(7, 512), Some(2 * REGION_BYTES));
        assert_eq!(map.base_bytes(3, 512), None);
        assert_eq!(map.base_bytes(7, REGION_BYTES + 1), None, "not seen in the first pass");
        assert_eq!(map.reach_bytes(), 2 * REGION_BYTES + 10);
    }

    #[test]
    fn more_than_can_be_addressed_is_noticed() {
        let ends: Vec<_> = (0..5).map(|id| (id, 1_u64 << 62)).collect();
        assert_eq!(VolumeMap::end_to_end(&used(&ends), REGION_BYTES), None);
    }

    #[test]
    fn regions_are_whole_units() {
        assert_eq!(region_bytes(Bytes(512)), REGION_BYTES);
        assert_eq!(region_bytes(Bytes(4096)), REGION_BYTES);
        assert_eq!(region_bytes(Bytes(4 << 20)), 4 << 20);
        assert_eq!(region_bytes(Bytes(3 << 18)), 6 << 18);
    }
}
