//! A plane's blocks: which are free, which is being written, how much each still holds.

use super::pslc::Share;
use super::victims::{NOT_A_VICTIM, VictimKeys};
use crate::geometry::{BlockId, PageId};
use std::collections::VecDeque;

/// A block being written and the next page to write in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frontier {
    /// The block.
    pub block: BlockId,
    /// Its next free page.
    pub next: PageId,
}

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, in the free list or kept for cold data.
    Free,
    /// Being written.
    Open,
    /// Fully written.
    Sealed,
    /// Being collected.
    Collecting,
    /// Fully written with one bit per cell.
    FilledOneBit,
    /// Erased as often as it is made for, and used no more.
    Retired,
}

/// The bookkeeping of one plane. Arrays are indexed by block.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Erased blocks, in the order in which they will be used.
    pub free: VecDeque<BlockId>,
    /// Erased worn blocks that the next cold data go to.
    pub kept_for_cold: VecDeque<BlockId>,
    /// Where the host's pages go.
    pub host: Option<Frontier>,
    /// Where collected pages go.
    pub gc: Option<Frontier>,
    /// [`NOT_A_VICTIM`], or the valid pages of a block that may be collected.
    pub victim_keys: VictimKeys,
    /// Valid pages.
    pub valid: Vec<u32>,
    /// Pages given out whose programming has not ended.
    pub programming: Vec<u32>,
    /// What each block is doing.
    pub state: Vec<BlockState>,
    /// Erases so far.
    pub erases: Vec<u32>,
    /// The drive's count of sealed blocks when this one was sealed: its age.
    pub sealed_at: Vec<u64>,
    /// Which blocks are of the region with one bit per cell; empty where there is none.
    pub one_bit: Vec<bool>,
    /// Its part of that region.
    pub region: Share,
    /// Blocks being collected, other than of that region.
    pub collecting: u32,
    /// Collections that fell due since the last one that was left out.
    pub due: u32,
    /// Valid pages of those that have no new place yet.
    pub moves_left: u32,
}

impl Plane {
    /// `blocks` erased blocks.
    #[must_use]
    pub fn new(blocks: u32) -> Self {
        let count = blocks as usize;
        Self {
            free: (0..blocks).map(BlockId).collect(),
            kept_for_cold: VecDeque::new(),
            host: None,
            gc: None,
            victim_keys: VictimKeys::new(count),
            valid: vec![0; count],
            programming: vec![0; count],
            state: vec![BlockState::Free; count],
            erases: vec![0; count],
            sealed_at: vec![0; count],
            one_bit: Vec::new(),
            region: Share::default(),
            collecting: 0,
            due: 0,
            moves_left: 0,
        }
    }

    /// The last page of a block is given out: it is the drive's `sealed`th.
    #[inline]
    pub fn seal(&mut self, block: BlockId, sealed: &mut u64) {
        self.state[block.0 as usize] = BlockState::Sealed;
        self.sealed_at[block.0 as usize] = *sealed;
        *sealed += 1;
    }

    /// A page of a block holds nothing of worth any more.
    #[inline]
    pub fn invalidate(&mut self, block: BlockId) {
        let index = block.0 as usize;
        self.valid[index] -= 1;
        if self.victim_keys[index] != NOT_A_VICTIM {
            self.victim_keys.set(index, self.valid[index]);
        }
    }

    /// Brings a block's key in line with what it is doing.
    #[inline]
    pub fn refresh_key(&mut self, block: BlockId) {
        let index = block.0 as usize;
        let candidate = self.state[index] == BlockState::Sealed && self.programming[index] == 0;
        let key = if candidate { self.valid[index] } else { NOT_A_VICTIM };
        self.victim_keys.set(index, key);
    }

    /// Gives back the blocks kept for cold data once nothing more is on its way to them:
    /// that data found room elsewhere, or changed before it was moved.
    pub fn release_kept(&mut self) {
        if self.collecting == 0 {
            self.free.append(&mut self.kept_for_cold);
        }
    }

    /// Pages that collection can still write: the rest of its block and all free ones.
    #[must_use]
    pub fn gc_room(&self, pages_per_block: u32) -> u32 {
        let rest = self.gc.map_or(0, |frontier| pages_per_block - frontier.next.0);
        (self.free.len() + self.kept_for_cold.len()) as u32 * pages_per_block + rest
    }
}
