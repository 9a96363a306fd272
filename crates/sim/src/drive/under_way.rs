//! How much of what a write buffer holds may be on its way to flash at once: so many runs
//! (`write_buffer.concurrent_drains`), or what the array takes.

use crate::geometry::Geometry;

/// Pages for each plane where the drive file leaves it open. Of writes that find their planes by
/// chance, `n` for each of many planes keep the share `n / (n + 1)` of these busy.
const PAGES_FOR_EACH_PLANE: u64 = 16;

/// The most that may be on its way.
#[derive(Clone, Copy, Debug)]
pub enum MostUnderWay {
    /// So many runs, whatever they hold.
    Runs(u32),
    /// So many sectors, and the rest of the run that reaches them.
    Sectors(u64),
}

impl MostUnderWay {
    /// Of `write_buffer.concurrent_drains`, 0 being what the array takes.
    pub fn new(concurrent_drains: u32, array: &Geometry) -> Self {
        if concurrent_drains > 0 {
            return Self::Runs(concurrent_drains);
        }
        let pages = u64::from(array.plane_count) * PAGES_FOR_EACH_PLANE;
        Self::Sectors(pages * u64::from(array.sectors_per_page))
    }

    /// Whether so many runs and sectors are enough.
    pub const fn is_met(self, runs: u32, sectors: u64) -> bool {
        match self {
            Self::Runs(most) => runs >= most,
            Self::Sectors(most) => sectors >= most,
        }
    }
}
