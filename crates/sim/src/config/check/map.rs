//! What the mapping table cannot be.

use super::super::parse::Value;
use super::super::{LogBlockConfig, Mapping};
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

    /// A table on pages of `page_bytes` in flash.
    pub(super) fn check_demand(&mut self, mapping: &Mapping, page_bytes: u64) {
        let Mapping::Demand(demand) = mapping else { return };
        if demand.cache_bytes < demand.cached_entry_bytes.into() {
            let message = format!(
                "{} bytes hold no entry of map.cached_entry_bytes = {}",
                demand.cache_bytes, demand.cached_entry_bytes
            );
            self.fault("map.cache_bytes", &message);
        }
        if !demand.load_bytes.is_multiple_of(512) || demand.load_bytes > page_bytes {
            let message = format!(
                "{} is not a whole number of sectors of 512 bytes, or larger than the mapping \
                 page of {page_bytes}",
                demand.load_bytes
            );
            self.fault("map.load_bytes", &message);
        }
    }

    /// Mapping pages lie between the data, which log blocks have no place for.
    pub(super) fn check_no_demand(&mut self) {
        let kind = self.entries.get("map.kind").map(|entry| &entry.value);
        if kind == Some(&Value::Word("demand".into())) {
            let message = "\"demand\" needs ftl.kind = \"page\": a log-block drive has no place \
                           for mapping pages; it has \"ram\" and \"zones\"";
            self.fault("map.kind", message);
        }
    }

    /// Log blocks are merged within a zone, which must therefore be whole merge units.
    pub(super) fn check_zone_units(&mut self, log: &LogBlockConfig) {
        let (mapping, merge_unit_bytes) = (&log.map, log.ftl.merge_unit_bytes);
        if log.private_pools && !matches!(mapping, Mapping::Zones(_)) {
            let message = "true needs map.kind = \"zones\": it gives each zone its own blocks";
            self.fault("map.private_pools", message);
        }
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
