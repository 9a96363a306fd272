//! Pools: which units a logical block may use. The drive has one, or each zone of the mapping
//! table has its own log blocks and free units, as the zones of kuo2009 (3.4) have tables of
//! their own for everything.

use super::logs::{Log, Logs, Room};
use super::units::UnitId;
use crate::config::LogBlockFtl as Settings;
use std::sync::Arc;

/// How units and logical blocks are divided among pools.
#[derive(Clone, Debug)]
pub struct Division {
    blocks_per_pool: u32,
    /// The first unit of each pool.
    first_units: Arc<[u32]>,
}

impl Division {
    /// Of `units` units and `blocks` logical blocks, so many of these to a pool: each has a
    /// unit for each of its blocks, and an equal share of the others.
    #[must_use]
    pub fn new(units: u32, blocks: u32, blocks_per_pool: u32) -> Self {
        let pools = blocks.div_ceil(blocks_per_pool);
        let spare = units.saturating_sub(blocks);
        let first = |pool: u32| {
            let before = u64::from(spare) * u64::from(pool) / u64::from(pools);
            pool * blocks_per_pool + before as u32
        };
        Self { blocks_per_pool, first_units: (0..pools).map(first).collect() }
    }

    /// How many pools there are.
    #[must_use]
    pub fn pools(&self) -> usize {
        self.first_units.len()
    }

    /// The pool of a logical block.
    #[inline]
    #[must_use]
    pub const fn of_block(&self, block: u32) -> usize {
        (block / self.blocks_per_pool) as usize
    }

    /// The pool of a unit.
    #[inline]
    #[must_use]
    pub fn of_unit(&self, unit: UnitId) -> usize {
        if self.pools() == 1 {
            return 0;
        }
        self.first_units.partition_point(|&first| first <= unit.0) - 1
    }
}

/// The log blocks in use of every pool.
#[derive(Clone, Debug)]
pub struct Pools {
    division: Division,
    logs: Vec<Logs>,
}

impl Pools {
    /// None in use.
    #[must_use]
    pub fn new(settings: &Settings, division: Division) -> Self {
        Self { logs: vec![Logs::new(settings); division.pools()], division }
    }

    fn of(&self, unit: UnitId) -> &Logs {
        &self.logs[self.division.of_unit(unit)]
    }

    fn of_mut(&mut self, unit: UnitId) -> &mut Logs {
        &mut self.logs[self.division.of_unit(unit)]
    }

    /// Those in use.
    pub fn open(&self) -> impl Iterator<Item = &Log> {
        self.logs.iter().flat_map(Logs::open)
    }

    /// The log block in `unit`.
    #[must_use]
    pub fn find(&self, unit: UnitId) -> Option<&Log> {
        self.of(unit).find(unit)
    }

    /// See [`Logs::room`].
    #[must_use]
    pub fn room(&self, block: u32, offset: u32, pages: u32, next: impl Fn(UnitId) -> u32) -> Room {
        self.logs[self.division.of_block(block)].room(block, offset, pages, next)
    }

    /// The one of a pool to merge first, whichever it is.
    #[must_use]
    pub fn next_victim(&self, pool: usize) -> Option<UnitId> {
        self.logs[pool].next_victim()
    }

    /// See [`Logs::add`].
    pub fn add(&mut self, unit: UnitId, owner: Option<u32>, written: u64) {
        self.of_mut(unit).add(unit, owner, written);
    }

    /// See [`Logs::touch`].
    pub fn touch(&mut self, unit: UnitId, written: u64) -> bool {
        self.of_mut(unit).touch(unit, written)
    }

    /// See [`Logs::skip_to`].
    pub fn skip_to(&mut self, unit: UnitId, slot: u32) {
        self.of_mut(unit).skip_to(unit, slot);
    }

    /// Forgets a log block.
    pub fn remove(&mut self, unit: UnitId) {
        self.of_mut(unit).remove(unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pool_has_its_blocks_and_its_share_of_the_rest() {
        for (units, blocks, per_pool) in [(100, 70, 10), (100, 71, 10), (33, 20, 7), (9, 5, 100)] {
            let division = Division::new(units, blocks, per_pool);
            let mut sizes = vec![0; division.pools()];
            (0..units).for_each(|unit| sizes[division.of_unit(UnitId(unit))] += 1);
            let spare = (units - blocks) / division.pools() as u32;
            for (pool, size) in sizes.into_iter().enumerate() {
                let own = (0..blocks).filter(|&block| division.of_block(block) == pool).count();
                let left = size - own as u32;
                assert!(left == spare || left == spare + 1, "{units}, {blocks}: {left} of {spare}");
            }
        }
    }
}
