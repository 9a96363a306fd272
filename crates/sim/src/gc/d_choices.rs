//! d choices: of `d` blocks drawn at random the one with the fewest valid pages.
//! Close to greedy with a few draws, and needs no search (Van Houdt, SIGMETRICS 2013;
//! Li, Lee and Lui, SIGMETRICS 2013, call it the randomised greedy algorithm).

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;
use ssdscope_io::rng::Stream;

/// The best of `draws` blocks drawn with replacement from those that free a page.
pub fn best_of(
    plane: &Plane,
    pages_per_block: u32,
    draws: u32,
    random: &mut Stream,
) -> Option<BlockId> {
    let all: Vec<_> = super::candidates(plane, pages_per_block).collect();
    if all.is_empty() {
        return None;
    }
    (0..draws)
        .map(|_| all[random.below(all.len() as u64) as usize])
        .min_by_key(|candidate| candidate.valid)
        .map(|candidate| candidate.block)
}
