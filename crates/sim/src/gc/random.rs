//! Random: any block that frees a page. The policy that others are measured against.

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;
use ssdscope_io::rng::Stream;

/// A block of `plane` drawn from all that free at least a page.
pub fn any(plane: &Plane, pages_per_block: u32, random: &mut Stream) -> Option<BlockId> {
    let count = super::candidates(plane, pages_per_block).count();
    if count == 0 {
        return None;
    }
    let drawn = random.below(count as u64) as usize;
    super::candidates(plane, pages_per_block).nth(drawn).map(|candidate| candidate.block)
}
