//! Which sectors of a striped device lie where.

use super::{Raid0Error, caches};
use crate::device::{DeviceInfo, DeviceKind};
use crate::units::{Bytes, Lba, SECTOR_BYTES, Sectors};
use std::ops::Range;

/// Chunks that go to the members in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    members: u64,
    chunk: Sectors,
    chunks_per_member: u64,
}

/// The layout that suits these members.
pub fn check(infos: &[DeviceInfo], chunk_bytes: u64) -> Result<Layout, Raid0Error> {
    let first = infos.first().ok_or(Raid0Error::NoMembers)?;
    for (member, info) in infos.iter().enumerate() {
        let &DeviceInfo { clock, capacity_bytes, logical_block_bytes, .. } = info;
        if clock != first.clock {
            return Err(Raid0Error::MixedClocks { member, clock, first: first.clock });
        }
        if chunk_bytes == 0 || !chunk_bytes.is_multiple_of(logical_block_bytes) {
            let unit_bytes = logical_block_bytes;
            return Err(Raid0Error::Chunk { chunk_bytes, member, unit_bytes });
        }
        if capacity_bytes < chunk_bytes {
            return Err(Raid0Error::TooSmall { member, capacity_bytes, chunk_bytes });
        }
    }
    let smallest_bytes = infos.iter().map(|info| info.capacity_bytes).min().unwrap_or(0);
    // A multiple of a logical block is a whole number of sectors.
    let chunk = Bytes(chunk_bytes).whole_sectors().ok_or(Raid0Error::Chunk {
        chunk_bytes,
        member: 0,
        unit_bytes: first.logical_block_bytes,
    })?;
    Ok(Layout {
        members: infos.len() as u64,
        chunk,
        chunks_per_member: smallest_bytes / chunk_bytes,
    })
}

impl Layout {
    /// What the host sees.
    pub fn info(&self, infos: &[DeviceInfo]) -> DeviceInfo {
        let all = |has: fn(&DeviceInfo) -> bool| infos.iter().all(has);
        let units = infos.iter().map(|info| info.logical_block_bytes);
        DeviceInfo {
            kind: DeviceKind::Raid0,
            capacity_bytes: self.members * self.chunks_per_member * self.chunk.bytes().0,
            logical_block_bytes: units.fold(1, least_common_multiple),
            clock: infos[0].clock,
            writable: all(|info| info.writable),
            discard: all(|info| info.discard),
            attribution: all(|info| info.attribution),
            snapshot: all(|info| info.snapshot),
            caches: caches::of_all(infos),
        }
    }

    /// The part of a span that lies on member `member`: one span there, maybe empty.
    pub fn part(&self, member: usize, lba: Lba, sectors: Sectors) -> (Lba, Sectors) {
        let start = self.before(member as u64, lba);
        let end = self.before(member as u64, lba + sectors);
        (start, end - start)
    }

    /// The same of a span in bytes, of whole sectors.
    pub fn part_bytes(&self, member: usize, span: &Range<u64>) -> Range<u64> {
        let (start, end) = (Lba(span.start / SECTOR_BYTES), Lba(span.end / SECTOR_BYTES));
        let (lba, sectors) = self.part(member, start, end - start);
        let first = lba.byte_offset().0;
        first..first + sectors.bytes().0
    }

    /// How many sectors before `lba` lie on this member, which is where the next one does.
    fn before(&self, member: u64, lba: Lba) -> Lba {
        let stripe = self.chunk.0 * self.members;
        let (full_stripes, rest) = (lba.0 / stripe, lba.0 % stripe);
        let in_last = rest.saturating_sub(member * self.chunk.0).min(self.chunk.0);
        Lba(full_stripes * self.chunk.0 + in_last)
    }
}

fn least_common_multiple(one: u64, other: u64) -> u64 {
    let (mut divisor, mut rest) = (one, other);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    one / divisor * other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_sectors_one_by_one() {
        let layout = Layout { members: 3, chunk: Sectors(4), chunks_per_member: 5 };
        for start in 0..60 {
            for end in start + 1..60 {
                for member in 0..3 {
                    // Sector s is chunk s / 4, on member chunk mod 3, in its row chunk / 3.
                    let here: Vec<u64> = (start..end)
                        .filter(|sector| (sector / 4) % 3 == member)
                        .map(|sector| sector / 12 * 4 + sector % 4)
                        .collect();
                    let (lba, sectors) =
                        layout.part(member as usize, Lba(start), Sectors(end - start));
                    let expected: Vec<u64> = (lba.0..lba.0 + sectors.0).collect();
                    assert_eq!(here, expected, "{start}..{end} on {member}");
                }
            }
        }
    }

    #[test]
    fn units_combine() {
        assert_eq!(least_common_multiple(512, 4096), 4096);
        assert_eq!(least_common_multiple(1536, 4096), 12_288);
    }
}
