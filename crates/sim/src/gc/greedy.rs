//! Greedy: the block with the fewest valid pages, since it costs the fewest moves
//! and frees the most. Of equals the lowest numbered.

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;

/// The block of `plane` with the fewest valid pages, if that frees any page at all.
#[must_use]
pub fn fewest_valid(plane: &Plane, pages_per_block: u32) -> Option<BlockId> {
    let (block, valid) = plane.victim_keys.fewest()?;
    (valid < pages_per_block).then_some(BlockId(block as u32))
}
