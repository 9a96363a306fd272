//! Where a request of a trace lands on the drive: aligned, mapped, fitted.

use super::format::Record;
use super::options::{Align, Target};
use super::regions::Packed;
use super::volumes::VolumeMap;
use crate::request::Op;
use crate::units::{Bytes, Lba, SECTOR_BYTES, Sectors};

/// The bytes of a request within its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    /// As the trace has it.
    pub const fn of(record: &Record) -> Self {
        Self { start: record.offset_bytes, end: record.end_bytes() }
    }

    /// Whether it is whole units.
    #[inline]
    pub const fn is_aligned(self, unit: Bytes) -> bool {
        self.start.is_multiple_of(unit.0) && self.end.is_multiple_of(unit.0)
    }

    /// As `align` has it.
    #[inline]
    pub const fn aligned(self, align: Align, unit: Bytes) -> Self {
        match align {
            Align::Refuse => self,
            Align::Expand => Self {
                start: self.start - self.start % unit.0,
                end: self.end.next_multiple_of(unit.0),
            },
        }
    }

    pub const fn len(self) -> u64 {
        self.end - self.start
    }
}

/// How the laid-out volumes are brought onto the drive.
#[derive(Debug)]
pub enum Mapping {
    /// They are there as they are.
    Straight,
    /// Modulo the capacity.
    Wrapped,
    /// Only the touched regions.
    Packed(Packed),
}

/// Everything that decides where a request lands.
#[derive(Debug)]
pub struct Placement {
    pub target: Target,
    pub align: Align,
    pub volumes: VolumeMap,
    pub mapping: Mapping,
}

/// The capacity in whole units.
pub const fn usable_bytes(target: &Target) -> u64 {
    target.capacity.0 - target.capacity.0 % target.unit.0
}

impl Placement {
    /// The drive's sectors for a request; `None` if the first pass did not see it.
    #[inline]
    pub fn place(&self, record: &Record) -> Option<(Lba, Sectors)> {
        if record.op == Op::Flush {
            return Some((Lba(self.target.offset.0 / SECTOR_BYTES), Sectors(0)));
        }
        let span = Span::of(record).aligned(self.align, self.target.unit);
        let start = match &self.mapping {
            Mapping::Packed(packed) => packed.place(record.volume, span.start, span.end)?,
            Mapping::Straight => self.laid_out(record.volume, span)?,
            Mapping::Wrapped => self.wrapped(self.laid_out(record.volume, span)?, span.len())?,
        };
        let end = start.checked_add(span.len())?;
        if end > usable_bytes(&self.target) || !span.is_aligned(self.target.unit) {
            return None;
        }
        let lba = Lba((self.target.offset.0 + start) / SECTOR_BYTES);
        Some((lba, Sectors(span.len() / SECTOR_BYTES)))
    }

    fn laid_out(&self, volume: u64, span: Span) -> Option<u64> {
        self.volumes.base_bytes(volume, span.end).map(|base| base + span.start)
    }

    /// Modulo the capacity, moved back from the end where the request would cross it.
    fn wrapped(&self, start: u64, len: u64) -> Option<u64> {
        let usable = usable_bytes(&self.target);
        let last_start = usable.checked_sub(len)?;
        Some((start % usable).min(last_start))
    }
}

/// What helps if volumes end to end are more than there is.
pub const OVERLAY: &str =
    "--overlay-volumes lays all volumes over one another at their own addresses, as MQSim does";

/// What keeps a trace from running, counted to the end before anything ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    pub requests: u64,
    /// Volumes that lie end to end.
    pub volumes: u64,
    /// Not whole units, and not to be widened.
    pub misaligned: u64,
    /// Past the end, and not to be brought back.
    pub out_of_range: u64,
    /// Larger than the whole drive, so that no wrapping helps.
    pub oversized: u64,
    /// Space that packing would need at least, where the drive has less.
    pub packed_bytes: Option<u64>,
}

impl Problems {
    pub const fn any(&self) -> bool {
        self.misaligned + self.out_of_range + self.oversized > 0 || self.packed_bytes.is_some()
    }

    /// The counts in words, and the options that help.
    pub fn explain(&self, target: &Target, reach_bytes: u64) -> (String, String) {
        let (Bytes(unit), Bytes(capacity)) = (target.unit, target.capacity);
        let of = |count: u64| format!("{count} of {} requests", self.requests);
        let (mut problems, mut remedies) = (Vec::new(), Vec::new());
        if self.misaligned > 0 {
            problems.push(format!("{} are not whole {unit}-byte units", of(self.misaligned)));
            remedies.push("--align expand widens requests to whole units".to_owned());
        }
        if self.out_of_range > 0 {
            let past = of(self.out_of_range);
            problems.push(format!(
                "{past} reach past its end (the trace spans {reach_bytes} bytes, there are {capacity})"
            ));
            remedies.push(
                "--fit compact packs the regions that the trace touches, --fit wrap takes offsets \
                 modulo the capacity"
                    .to_owned(),
            );
        }
        if self.oversized > 0 {
            problems.push(format!("{} are larger than its {capacity} bytes", of(self.oversized)));
            remedies.push("take a larger drive".to_owned());
        }
        if let Some(packed) = self.packed_bytes {
            problems.push(format!(
                "the regions that the trace touches take at least {packed} bytes, there are {capacity}"
            ));
            remedies.push(
                "--fit wrap takes offsets modulo the capacity, --limit uses fewer requests"
                    .to_owned(),
            );
        }
        if self.volumes > 1 && (self.out_of_range > 0 || self.packed_bytes.is_some()) {
            remedies.push(OVERLAY.to_owned());
        }
        (problems.join("; "), remedies.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::volumes::{REGION_BYTES, VolumeUse};
    use super::*;
    use crate::request::Op;
    use crate::units::Nanos;
    use std::collections::BTreeMap;

    const MIB: u64 = REGION_BYTES;

    fn placement(align: Align, mapping: Mapping) -> Placement {
        let volume = |end_bytes| VolumeUse { requests: 1, end_bytes };
        let used = BTreeMap::from([(0, volume(MIB)), (1, volume(9 * MIB))]);
        let volumes = VolumeMap::end_to_end(&used, MIB).expect("small");
        let target =
            Target { offset: Bytes(64 * MIB), capacity: Bytes(4 * MIB + 99), unit: Bytes(4096) };
        Placement { target, align, volumes, mapping }
    }

    fn at(volume: u64, offset_bytes: u64, len_bytes: u64) -> Record {
        Record::at_byte(Nanos(0), volume, Op::Read, offset_bytes, len_bytes).expect("in range")
    }

    fn bytes(placed: Option<(Lba, Sectors)>) -> Option<(u64, u64)> {
        placed.map(|(lba, sectors)| (lba.byte_offset().0 - 64 * MIB, sectors.bytes().0))
    }

    #[test]
    fn expanding_covers_every_unit_touched_and_no_other() {
        let placement = placement(Align::Expand, Mapping::Straight);
        let place = |offset, len| bytes(placement.place(&at(0, offset, len)));
        assert_eq!(place(0, 4096), Some((0, 4096)));
        assert_eq!(place(512, 512), Some((0, 4096)));
        assert_eq!(place(4095, 2), Some((0, 8192)));
        assert_eq!(place(4096, 4097), Some((4096, 8192)));
    }

    #[test]
    fn straight_requests_keep_their_address_behind_the_volumes_before() {
        let placement = placement(Align::Refuse, Mapping::Straight);
        assert_eq!(bytes(placement.place(&at(1, 4096, 4096))), Some((MIB + 4096, 4096)));
        assert_eq!(placement.place(&at(1, 3 * MIB, 4096)), None, "past the end");
        assert_eq!(placement.place(&at(0, 0, 512)), None, "off the grid");
        assert_eq!(placement.place(&at(2, 0, 4096)), None, "no such volume");
    }

    #[test]
    fn wrapping_is_modulo_and_keeps_requests_whole() {
        let placement = placement(Align::Refuse, Mapping::Wrapped);
        let place = |offset, len| bytes(placement.place(&at(1, offset, len)));
        assert_eq!(place(2 * MIB, MIB), Some((3 * MIB, MIB)));
        assert_eq!(place(3 * MIB, MIB), Some((0, MIB)));
        assert_eq!(place(5 * MIB + 4096, 4096), Some((2 * MIB + 4096, 4096)));
        assert_eq!(place(3 * MIB - 4096, 8192), Some((4 * MIB - 8192, 8192)), "moved back");
        assert_eq!(place(0, 5 * MIB), None, "larger than the drive");
    }

    #[test]
    fn the_words_name_every_count_and_every_option() {
        let problems =
            Problems { requests: 10, misaligned: 3, out_of_range: 2, ..Problems::default() };
        let target = placement(Align::Refuse, Mapping::Straight).target;
        let (words, hint) = problems.explain(&target, 77);
        for part in
            ["3 of 10 requests are not whole 4096-byte", "2 of 10 requests reach past", "77"]
        {
            assert!(words.contains(part), "{words}");
        }
        for option in ["--align expand", "--fit compact", "--fit wrap"] {
            assert!(hint.contains(option), "{hint}");
        }
        assert!(!hint.contains("--overlay-volumes"), "{hint}");
        let (_, hint) = Problems { volumes: 2, ..problems }.explain(&target, 77);
        assert!(hint.contains("--overlay-volumes"), "{hint}");
    }
}
