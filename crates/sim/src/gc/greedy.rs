//! Greedy: the block with the fewest valid pages, since it costs the fewest moves
//! and frees the most. Of equals the lowest numbered.

use crate::ftl::plane::{NOT_A_VICTIM, Plane};
use crate::geometry::BlockId;

/// The block of `plane` with the fewest valid pages, if that frees any page at all.
#[must_use]
pub fn fewest_valid(plane: &Plane, pages_per_block: u32) -> Option<BlockId> {
    // A fold rather than `min`, which the compiler does not make vector code of.
    let least = plane.victim_keys.iter().copied().fold(NOT_A_VICTIM, u32::min);
    if least >= pages_per_block {
        return None;
    }
    let index = plane.victim_keys.iter().position(|&key| key == least)?;
    Some(BlockId(index as u32))
}
