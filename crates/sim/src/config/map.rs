//! Which part of the mapping table is in RAM: table `[map]`.

use super::get::Getter;

/// Where the mapping table is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// All of it in RAM.
    Ram,
    /// A few zones in RAM, each loaded as a whole.
    Zones(ZoneMap),
    /// Entries loaded as they are needed (page-mapped drives only).
    Demand(DemandMap),
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

/// A mapping table in flash, paged in on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct DemandMap {
    pub cache_bytes: u64,
    pub cached_entry_bytes: u32,
    pub entry_bytes: u32,
    pub load_bytes: u64,
    pub program_map: bool,
}

impl DemandMap {
    /// Entries on a mapping page of `page_bytes`.
    #[must_use]
    pub fn entries_per_page(&self, page_bytes: u64) -> u32 {
        (page_bytes / u64::from(self.entry_bytes)) as u32
    }
}

impl Mapping {
    /// The pages of `page_bytes` that the table itself takes in flash, for `exported_pages`.
    #[must_use]
    pub fn pages_in_flash(&self, exported_pages: u32, page_bytes: u32) -> u32 {
        match self {
            Self::Demand(demand) => {
                exported_pages.div_ceil(demand.entries_per_page(page_bytes.into()))
            }
            Self::Ram | Self::Zones(_) => 0,
        }
    }
}

pub(super) fn mapping(get: &Getter) -> Mapping {
    match get.word("map.kind") {
        "zones" => Mapping::Zones(ZoneMap {
            zone_bytes: get.long("map.zone_bytes"),
            resident_zones: get.int("map.resident_zones"),
            load_ns: get.long("map.load_ns"),
            write_back_ns: get.long("map.write_back_ns"),
        }),
        // A drive without log blocks: others are refused, and have no such keys.
        "demand" if get.has("map.cache_bytes") => Mapping::Demand(DemandMap {
            cache_bytes: get.long("map.cache_bytes"),
            cached_entry_bytes: get.int("map.cached_entry_bytes"),
            entry_bytes: get.int("map.entry_bytes"),
            load_bytes: get.long("map.load_bytes"),
            program_map: get.flag("map.program_map"),
        }),
        _ => Mapping::Ram,
    }
}
