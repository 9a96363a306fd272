//! First in, first out: the block that was filled longest ago, whatever it holds.
//! Wear is even by construction; hot and cold data cost the same.

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;

/// The block of `plane` that was filled longest ago and frees at least a page.
#[must_use]
pub fn oldest(plane: &Plane, pages_per_block: u32) -> Option<BlockId> {
    super::candidates(plane, pages_per_block)
        .min_by_key(|candidate| plane.sealed_at[candidate.index()])
        .map(|candidate| candidate.block)
}
