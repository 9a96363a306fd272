//! Which part of the mapping table is in the controller's RAM.
//!
//! Where pages are is always known to `ftl` and `logblock`; what is kept here is only what
//! of it the controller could look up without loading it first:
//!
//! * [`Table::Ram`]: all of it;
//! * [`zones`]: the tables of a few spans of the address space, each loaded as a whole;
//! * [`demand`]: the entries used last, the others on pages in flash;
//! * [`lru`]: what was used last, for all that has to give way to something;
//! * [`waiting`]: the commands that wait for a part.
//!
//! None of it knows time; `drive` adds that, and [`untimed`] prepares states.

pub mod demand;
pub mod lru;
pub mod untimed;
pub mod waiting;
pub mod zones;

pub use demand::Demand;
pub use zones::Zones;

use crate::config::Mapping;
use crate::geometry::Lpn;

/// The mapping table, as far as it is in RAM.
#[derive(Clone, Debug)]
pub enum Table {
    /// All of it.
    Ram,
    /// By zones.
    Zones(Box<Zones>),
    /// By entries.
    Demand(Box<Demand>),
}

impl Table {
    /// With nothing of it loaded, for `pages` logical pages of `page_bytes`.
    #[must_use]
    pub fn new(mapping: &Mapping, pages: u32, page_bytes: u64) -> Self {
        match mapping {
            Mapping::Ram => Self::Ram,
            Mapping::Zones(zones) => Self::Zones(Box::new(Zones::new(zones, pages, page_bytes))),
            Mapping::Demand(demand) => {
                Self::Demand(Box::new(Demand::new(demand, pages, page_bytes)))
            }
        }
    }

    /// A page is discarded: what of the table is in RAM changes with it.
    pub fn unmapped(&mut self, page: Lpn) {
        match self {
            Self::Ram => {}
            Self::Zones(zones) => zones.note_change(zones.zone_of(page)),
            Self::Demand(demand) => demand.note_change(page),
        }
    }
}
