//! What a host will see of a drive, told from its file alone.

use super::{Firmware, LogBlockConfig, PageConfig};
use crate::layout::Shape;

impl PageConfig {
    /// Exported bytes.
    fn capacity_bytes(&self) -> u64 {
        let unit_pages = Shape::new(&self.nand, &self.ftl.layout).pages;
        let unit_bytes = u64::from(unit_pages) * u64::from(self.nand.page_bytes);
        u64::from(self.exported_pages()) * unit_bytes - self.ftl.layout.phase_bytes
    }
}

impl LogBlockConfig {
    /// Exported bytes.
    fn capacity_bytes(&self) -> u64 {
        u64::from(self.exported_units()) * self.ftl.merge_unit_bytes - self.ftl.layout.phase_bytes
    }
}

impl Firmware {
    /// Exported bytes of a drive that works.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Self::Page(page) => page.capacity_bytes(),
            Self::LogBlock(log) => log.capacity_bytes(),
            Self::Msr(msr) => msr.params().capacity_bytes(),
            Self::Disk(disk) => disk.capacity_bytes(),
        }
    }

    /// Smallest request and its alignment.
    #[must_use]
    pub fn logical_block_bytes(&self) -> u64 {
        match self {
            Self::Page(page) => page.host.logical_block_bytes.into(),
            Self::LogBlock(log) => log.host.logical_block_bytes.into(),
            Self::Msr(msr) => msr.nand.page_bytes.into(),
            Self::Disk(disk) => disk.host.logical_block_bytes.into(),
        }
    }
}
