//! Cost-benefit: the block with the most space gained per page moved, weighted by how
//! long it has rested, `age * (1 - u) / 2u` with `u` the share of valid pages
//! (Rosenblum and Ousterhout, "The design and implementation of a log-structured file
//! system", ACM TOCS 1992, section 3.5). Old blocks are collected while still fairly
//! full, since what they hold will stay; young ones are left to empty themselves.

use crate::ftl::plane::Plane;
use crate::geometry::BlockId;

/// The block of `plane` with the highest benefit per cost. `sealed` counts the blocks
/// that the drive has filled so far, the clock that ages are read from.
#[must_use]
pub fn most_beneficial(plane: &Plane, pages_per_block: u32, sealed: u64) -> Option<BlockId> {
    let score = |candidate: &super::Candidate| {
        let age = (sealed - plane.sealed_at[candidate.index()]) as f64;
        let used = f64::from(candidate.valid) / f64::from(pages_per_block);
        // A block without valid pages costs nothing but its erase: nothing beats it.
        if candidate.valid == 0 { f64::INFINITY } else { age * (1.0 - used) / (2.0 * used) }
    };
    super::candidates(plane, pages_per_block)
        .max_by(|left, right| {
            // Of equals the lowest numbered, as in the other policies.
            score(left).total_cmp(&score(right)).then(right.block.cmp(&left.block))
        })
        .map(|candidate| candidate.block)
}
