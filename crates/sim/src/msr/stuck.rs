//! What is said of a plane that can make no progress.

use super::element::Element;

/// Why an element can never serve a page again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Nothing is invalid, so cleaning a block fills one.
    NothingInvalid,
    /// No full block has life left.
    NothingToClean,
    /// No free block is left to write to.
    NoFreeBlock,
}

/// A plane that can make no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    pub plane: u32,
    pub why: Why,
}

impl Stuck {
    /// Where, why, and what would help.
    pub fn tell(self, number: u32, element: &Element) -> String {
        let plane = self.plane;
        let shape = element.shape;
        let free = element.planes[plane as usize].free_blocks;
        let low = element.low_water;
        let mark = format!("is at its low-water mark ({free} blocks free, cleaned at {low})");
        let (blocks, life) = (shape.blocks_per_plane, element.endurance);
        let worn = (0..blocks)
            .filter(|&index| element.blocks.get(shape.block(plane, index).at()).erases >= life)
            .count();
        let (reason, hint) = match self.why {
            Why::NothingInvalid | Why::NothingToClean if worn > 0 => (
                format!(
                    "{mark} and has nothing to clean: {worn} of its {blocks} blocks are worn out \
                     (erased {life} times)"
                ),
                "the drive is at the end of its life: give its blocks more erasures, or write \
                 less to it",
            ),
            Why::NothingInvalid => (
                format!(
                    "{mark} and holds no invalid page: cleaning frees one block and uses one, \
                     for ever"
                ),
                "raise msr.reserve_ratio or lower gc.low_water_ratio, so that more free blocks \
                 lie between them",
            ),
            Why::NothingToClean => (
                format!("{mark} and has no full block to clean"),
                "raise nand.blocks_per_plane or lower gc.low_water_ratio",
            ),
            Why::NoFreeBlock => (
                "has no free block left to write to".to_owned(),
                "raise gc.low_water_ratio, so that cleaning starts earlier",
            ),
        };
        format!("plane {plane} of element {number} {reason}\n\nhint: {hint}")
    }
}
