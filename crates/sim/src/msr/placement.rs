//! Which plane a write goes to: the one with the most free pages, counted from
//! a pointer that moves on, so in effect round robin.

use super::element::Element;
use super::geometry::Ppn;

impl Element {
    /// The plane that takes the new version of the page at `old`. A plane qualifies
    /// where a later scan would see the new version as the later one: by the sequence
    /// number of its block, or by its place in the same block. `promised` says how
    /// many writes were already given to a plane and not yet carried out.
    #[inline]
    pub fn choose_plane(&mut self, old: Ppn, promised: impl Fn(u32) -> u32) -> u32 {
        let shape = self.shape;
        let (old_block, old_page) = shape.split(old);
        let old_bsn = self.blocks.get(old_block.at()).bsn;
        let mut best = (0, None);
        for step in 0..shape.planes {
            let number = (self.plane_to_write + step) % shape.planes;
            let plane = &self.planes[number as usize];
            let later = plane.active_bsn > old_bsn
                || (plane.active_bsn == old_bsn && plane.next_page > old_page);
            if !later {
                continue;
            }
            let left = i64::from(shape.pages_per_block)
                - i64::from(plane.next_page)
                - i64::from(promised(number));
            let free = i64::from(plane.free_blocks) * i64::from(shape.pages_per_block) + left;
            if best.1.is_none_or(|most| free > most) {
                best = (number, Some(free));
            }
        }
        // The plane of the old copy always qualifies: its open block is later, or
        // holds the old copy before the next page.
        debug_assert!(best.1.is_some());
        self.plane_to_write = (best.0 + 1) % shape.planes;
        best.0
    }
}
