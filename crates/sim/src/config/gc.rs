//! Freeing space: table `[gc]`.

use super::get::Getter;
use crate::rounding::share_of;

/// Which blocks are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcPolicy {
    /// The one with the fewest valid pages.
    Greedy,
    /// Greedy, sparing worn blocks and giving them cold data.
    WearAware,
    /// The one with the most space gained per page moved, weighted by its age.
    CostBenefit,
    /// The one filled longest ago.
    Fifo,
    /// Any.
    Random,
    /// The best of a few drawn at random.
    DChoices,
}

/// Garbage collection of a page-mapped drive.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Gc {
    pub policy: GcPolicy,
    pub choices: u32,
    pub low_water_ratio: f64,
    pub high_water_ratio: f64,
    pub min_free_blocks: u32,
    pub stop_writes_blocks: u32,
    pub max_victims: u32,
    pub background: bool,
    pub idle_ns: u64,
    pub copyback: bool,
    pub preemptible: bool,
    pub urgent_blocks: u32,
    pub exclusive: bool,
    pub skip_every: u32,
}

impl Gc {
    /// The low-water mark of a plane of `blocks` blocks.
    #[must_use]
    pub fn low_water_blocks(&self, blocks: u32) -> u32 {
        share_of(blocks, self.low_water_ratio).max(self.min_free_blocks)
    }
}

/// Merging in idle time, on a log-block drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct IdleMerging {
    pub background: bool,
    pub idle_ns: u64,
}

pub(super) fn idle_merging(get: &Getter) -> IdleMerging {
    IdleMerging { background: get.flag("gc.background"), idle_ns: get.long("gc.idle_ns") }
}

pub(super) fn gc_policy(get: &Getter) -> GcPolicy {
    match get.word("gc.policy") {
        "wear-aware" => GcPolicy::WearAware,
        "cost-benefit" => GcPolicy::CostBenefit,
        "fifo" => GcPolicy::Fifo,
        "random" => GcPolicy::Random,
        "d-choices" => GcPolicy::DChoices,
        _ => GcPolicy::Greedy,
    }
}

pub(super) fn gc(get: &Getter) -> Gc {
    Gc {
        policy: gc_policy(get),
        choices: get.int("gc.choices"),
        low_water_ratio: get.float("gc.low_water_ratio"),
        high_water_ratio: get.float("gc.high_water_ratio"),
        min_free_blocks: get.int("gc.min_free_blocks"),
        stop_writes_blocks: get.int("gc.stop_writes_blocks"),
        max_victims: get.int("gc.max_victims"),
        background: get.flag("gc.background"),
        idle_ns: get.long("gc.idle_ns"),
        preemptible: get.flag("gc.preemptible"),
        urgent_blocks: get.int("gc.urgent_blocks"),
        exclusive: get.flag("gc.exclusive"),
        skip_every: get.int("gc.skip_every"),
        copyback: get.flag("gc.copyback"),
    }
}
