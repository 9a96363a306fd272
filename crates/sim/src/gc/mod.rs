//! Which block to collect: one policy, one file.
//!
//! To add a policy: its file with a `choose`, a line in [`Policy`], a word for
//! `gc.policy` in `config`.

pub mod greedy;
pub mod wear_aware;

use crate::config::GcPolicy;
use crate::ftl::plane::Plane;
use crate::geometry::BlockId;
use ssdscope_io::rng::Stream;

/// What a policy decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The block to collect.
    pub victim: BlockId,
    /// A block of cold data to move into the victim once that is erased.
    pub cold: Option<BlockId>,
}

/// The policies, as one type that can be cloned with the drive.
#[derive(Clone, Debug)]
pub enum Policy {
    /// See [`greedy`].
    Greedy,
    /// See [`wear_aware`].
    WearAware(wear_aware::WearAware),
}

impl Policy {
    /// The policy that the drive file names.
    #[must_use]
    pub fn new(policy: GcPolicy, endurance_erases: u32, seed: u64) -> Self {
        match policy {
            GcPolicy::Greedy => Self::Greedy,
            GcPolicy::WearAware => Self::WearAware(wear_aware::WearAware::new(
                endurance_erases,
                Stream::new(seed, "gc.wear-aware"),
            )),
        }
    }

    /// The block of `plane` to collect; none if none would free a page.
    pub fn choose(&mut self, plane: &Plane, pages_per_block: u32) -> Option<Choice> {
        match self {
            Self::Greedy => greedy::fewest_valid(plane, pages_per_block)
                .map(|victim| Choice { victim, cold: None }),
            Self::WearAware(policy) => policy.choose(plane, pages_per_block),
        }
    }
}
