//! Greedy: the block with the fewest valid pages, since it costs the fewest moves
//! and frees the most. Of equals the lowest numbered.

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;

/// The block of `plane` with the fewest valid pages, if that frees any page at all.
#[must_use]
pub fn fewest_valid(plane: &Plane, pages_per_block: u32) -> Option<BlockId> {
    let least = *plane.victim_keys.iter().min()?;
    if u32::from(least) >= pages_per_block {
        return None;
    }
    let index = plane.victim_keys.iter().position(|&key| key == least)?;
    Some(BlockId(index as u32))
}
