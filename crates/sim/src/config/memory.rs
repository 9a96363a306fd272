//! How much memory a drive takes, told from its file alone.

use super::{Firmware, Nand, State};

/// Two entries of four bytes for a page that holds data, each way, and an eighth for the allocator.
const BYTES_OF_A_WRITTEN_PAGE: u64 = 9;

impl Firmware {
    /// Bytes of the tables of a drive that is opened in a state. An unwritten page takes none;
    /// overwriting at random is worked out in flat tables of the same size again. Drives mapped
    /// by blocks, and hard disks, take little.
    #[must_use]
    pub fn tables_bytes(&self, state: State) -> u64 {
        let tables = match state {
            State::Fresh => 0,
            State::Sequential => 1,
            State::Random | State::Steady { .. } => 2,
        };
        let pages = match self {
            Self::Page(page) => pages_of(&page.nand),
            Self::Msr(_) | Self::LogBlock(_) | Self::Disk(_) => 0,
        };
        pages * tables * BYTES_OF_A_WRITTEN_PAGE
    }
}

fn pages_of(nand: &Nand) -> u64 {
    [nand.channels, nand.ways, nand.dies, nand.planes, nand.blocks_per_plane, nand.pages_per_block]
        .map(u64::from)
        .iter()
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DriveConfig;

    #[test]
    fn a_fresh_drive_takes_none_and_a_settled_one_a_few_bytes_a_page() {
        let file = include_str!("../../../../python/ssdscope/drives/mqsim-8g.toml");
        let drive = DriveConfig::parse(file, "mqsim-8g", &[]).unwrap().firmware;
        assert_eq!(drive.tables_bytes(State::Fresh), 0);
        let settled = drive.tables_bytes(State::Steady { window_bytes: None });
        assert_eq!(settled, 2 * drive.tables_bytes(State::Sequential));
        let pages = drive.capacity_bytes() / 8192;
        assert!(settled > 16 * pages && settled < 30 * pages, "{settled} for {pages}");
    }
}
