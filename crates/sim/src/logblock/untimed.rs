//! Writes without time, for preparing a drive's state: the same placement and the same
//! merges as timed writes, done at once.

use super::LogBlockFtl;
use crate::error::SimError;
use crate::ftl::Translation;
use crate::geometry::Lpn;
use crate::prepare::Prepare;

impl Prepare for LogBlockFtl {
    fn pages(&self) -> u32 {
        self.map.exported_pages()
    }

    fn spare_pages(&self) -> u32 {
        self.geometry().page_count - self.map.exported_pages()
    }

    fn page_bytes(&self) -> u32 {
        self.geometry().page_bytes
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let sectors = self.geometry().sectors_per_page;
        let mut moved = 0;
        while self.place(Lpn(page), 0, sectors).is_none() {
            moved += self.merge_untimed();
        }
        Ok(moved + self.merge_untimed())
    }
}

impl LogBlockFtl {
    /// Does the merge that is due, if one is; returns the pages copied.
    fn merge_untimed(&mut self) -> u32 {
        let Some(merge) = self.begin_merge() else { return 0 };
        for &(from, to) in &merge.copies {
            self.relocate(from, to);
        }
        self.end_merge(&merge);
        merge.copies.len() as u32
    }
}
