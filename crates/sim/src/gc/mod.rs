//! Which block to collect: one policy, one file.
//!
//! To add a policy: its file, a line in [`Policy`] and its two functions here, a word
//! for `gc.policy` in `config`.

pub mod cost_benefit;
pub mod d_choices;
pub mod fifo;
pub mod greedy;
pub mod random;
pub mod wear_aware;

use crate::config::{Gc, GcPolicy};
use crate::ftl::plane::Plane;
use crate::ftl::victims::NOT_A_VICTIM;
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

/// A block that may be collected and would free at least a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The block.
    pub block: BlockId,
    /// Pages that would have to be moved.
    pub valid: u32,
}

impl Candidate {
    const fn index(self) -> usize {
        self.block.0 as usize
    }
}

/// All candidates of a plane, by number.
pub fn candidates(plane: &Plane, pages_per_block: u32) -> impl Iterator<Item = Candidate> {
    let keys = plane.victim_keys.iter().copied().enumerate();
    keys.filter(move |&(_, key)| key != NOT_A_VICTIM && key < pages_per_block)
        .map(|(index, valid)| Candidate { block: BlockId(index as u32), valid })
}

/// The policies, as one type that can be cloned with the drive.
#[derive(Clone, Debug)]
pub enum Policy {
    /// See [`greedy`].
    Greedy,
    /// See [`wear_aware`].
    WearAware(wear_aware::WearAware),
    /// See [`cost_benefit`].
    CostBenefit,
    /// See [`fifo`].
    Fifo,
    /// See [`random`].
    Random(Stream),
    /// See [`d_choices`].
    DChoices(u32, Stream),
}

impl Policy {
    /// The policy that the drive file names.
    #[must_use]
    pub fn new(config: &Gc, endurance_erases: u32, seed: u64) -> Self {
        match config.policy {
            GcPolicy::Greedy => Self::Greedy,
            GcPolicy::WearAware => Self::WearAware(wear_aware::WearAware::new(
                endurance_erases,
                Stream::new(seed, "gc.wear-aware"),
            )),
            GcPolicy::CostBenefit => Self::CostBenefit,
            GcPolicy::Fifo => Self::Fifo,
            GcPolicy::Random => Self::Random(Stream::new(seed, "gc.random")),
            GcPolicy::DChoices => Self::DChoices(config.choices, Stream::new(seed, "gc.d-choices")),
        }
    }

    /// The block of `plane` to collect; none if none would free a page. `sealed` counts
    /// the blocks that the drive has filled so far.
    pub fn choose(&mut self, plane: &Plane, pages_per_block: u32, sealed: u64) -> Option<Choice> {
        let victim = match self {
            Self::WearAware(policy) => return policy.choose(plane, pages_per_block),
            Self::Greedy => greedy::fewest_valid(plane, pages_per_block),
            Self::CostBenefit => cost_benefit::most_beneficial(plane, pages_per_block, sealed),
            Self::Fifo => fifo::oldest(plane, pages_per_block),
            Self::Random(random) => random::any(plane, pages_per_block, random),
            Self::DChoices(draws, random) => {
                d_choices::best_of(plane, pages_per_block, *draws, random)
            }
        };
        victim.map(|victim| Choice { victim, cold: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::plane::BlockState;

    /// Sealed blocks of ten pages with so many valid, filled in the order given.
    fn plane(valid: &[u32], filled: &[u64]) -> Plane {
        let mut plane = Plane::new(valid.len() as u32);
        plane.free.clear();
        plane.valid = valid.to_vec();
        plane.sealed_at = filled.to_vec();
        for index in 0..valid.len() {
            plane.state[index] = BlockState::Sealed;
            plane.refresh_key(BlockId(index as u32));
        }
        plane
    }

    #[test]
    fn each_policy_has_its_own_favourite() {
        let plane = plane(&[10, 8, 3, 6, 3], &[0, 1, 90, 50, 95]);
        assert_eq!(greedy::fewest_valid(&plane, 10), Some(BlockId(2)));
        assert_eq!(fifo::oldest(&plane, 10), Some(BlockId(1)), "the full block frees nothing");
        // 99 * 0.2 / 1.6 = 12.4; 10 * 0.7 / 0.6 = 11.7; 50 * 0.4 / 1.2 = 16.7; 5 * 0.7 / 0.6.
        assert_eq!(cost_benefit::most_beneficial(&plane, 10, 100), Some(BlockId(3)));
    }

    #[test]
    fn random_draws_every_candidate_alike_and_no_other() {
        let plane = plane(&[10, 8, 3, 6, 3], &[0, 1, 2, 3, 4]);
        let mut stream = Stream::new(1, "test");
        let mut drawn = [0_u32; 5];
        for _ in 0..4000 {
            drawn[random::any(&plane, 10, &mut stream).unwrap().0 as usize] += 1;
        }
        assert_eq!(drawn[0], 0);
        assert!(drawn[1..].iter().all(|&count| (900..1100).contains(&count)), "{drawn:?}");
    }

    #[test]
    fn more_choices_come_closer_to_greedy() {
        let valid: Vec<u32> = (1..=99).collect();
        let plane = plane(&valid, &[0; 99]);
        let mut stream = Stream::new(1, "test");
        let mut mean = |draws| {
            let one = |_| {
                let block = d_choices::best_of(&plane, 100, draws, &mut stream).unwrap();
                f64::from(plane.valid[block.0 as usize])
            };
            (0..2000).map(one).sum::<f64>() / 2000.0
        };
        for draws in [1, 3, 9] {
            let found = mean(draws);
            // The least of d draws is at least v with probability ((100 - v) / 99)^d.
            let at_least = |valid: i32| (f64::from(100 - valid) / 99.0).powi(draws as i32);
            let expected: f64 = (1..=99).map(at_least).sum();
            assert!((found / expected - 1.0).abs() < 0.1, "{draws}: {found}");
        }
    }

    #[test]
    fn nothing_is_collected_where_nothing_is_freed() {
        let plane = plane(&[10, 10], &[0, 1]);
        let mut stream = Stream::new(1, "test");
        assert_eq!(greedy::fewest_valid(&plane, 10), None);
        assert_eq!(fifo::oldest(&plane, 10), None);
        assert_eq!(cost_benefit::most_beneficial(&plane, 10, 2), None);
        assert_eq!(random::any(&plane, 10, &mut stream), None);
        assert_eq!(d_choices::best_of(&plane, 10, 3, &mut stream), None);
    }
}
