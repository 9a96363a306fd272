//! Which part of the mapping table is in RAM: table `[map]`.

use super::get::Getter;

/// Where the mapping table is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// All of it in RAM.
    Ram,
    /// A few zones in RAM, each loaded as a whole.
    Zones(ZoneMap),
}

/// A mapping table in zones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct ZoneMap {
    pub zone_bytes: u64,
    pub resident_zones: u32,
    pub load_ns: u64,
    pub write_back_ns: u64,
}

pub(super) fn mapping(get: &Getter) -> Mapping {
    match get.word("map.kind") {
        "zones" => Mapping::Zones(ZoneMap {
            zone_bytes: get.long("map.zone_bytes"),
            resident_zones: get.int("map.resident_zones"),
            load_ns: get.long("map.load_ns"),
            write_back_ns: get.long("map.write_back_ns"),
        }),
        _ => Mapping::Ram,
    }
}
