//! What the mapping table cannot be.

use super::super::Mapping;
use super::Checker;

impl Checker<'_> {
    /// The mapping table of a drive that exports `capacity_bytes`.
    pub(super) fn check_map(&mut self, mapping: &Mapping, capacity_bytes: u64) {
        if let Mapping::Zones(zones) = mapping
            && zones.zone_bytes > capacity_bytes
        {
            let message = format!(
                "a zone of {} bytes is larger than the drive, which exports {capacity_bytes}",
                zones.zone_bytes
            );
            self.fault("map.zone_bytes", &message);
        }
    }

    /// Log blocks are merged within a zone, which must therefore be whole merge units.
    pub(super) fn check_zone_units(&mut self, mapping: &Mapping, merge_unit_bytes: u64) {
        if let Mapping::Zones(zones) = mapping
            && !zones.zone_bytes.is_multiple_of(merge_unit_bytes)
        {
            let message = format!(
                "{} is not a whole number of merge units of ftl.merge_unit_bytes = \
                 {merge_unit_bytes}",
                zones.zone_bytes
            );
            self.fault("map.zone_bytes", &message);
        }
    }
}
