//! The tables of one element: where each logical page lies, what each block holds.
//!
//! Every logical page is mapped from the start. The big tables store 0 for "as it
//! was at first", so that opening a drive touches no page of them.

use super::geometry::{BlockId, Geometry, Lpn, Ppn};
use super::params::{Costs, MsrParams, Policy};
use super::plane::{Candidate, Plane};
use super::stuck::{Stuck, Why};
use crate::cow::CowArray;
use ssdscope_io::rng::Stream;

/// Whether a block can be written or cleaned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockState {
    #[default]
    Free,
    /// Being written. The last block that holds data at first stays so for good,
    /// as in the original, and is never cleaned.
    Open,
    Full,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Sequence number of its opening, 0 while free.
    pub bsn: u32,
    /// How often it was erased.
    pub erases: u32,
    /// The element's count of erasures when it was last erased, 0 = never.
    pub erased_at: u32,
    /// Pages with current data.
    pub valid: u16,
    pub state: BlockState,
}

/// What an element did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub pages_read: u64,
    pub pages_programmed: u64,
    pub erases: u64,
    pub cleans: u64,
    pub pages_moved: u64,
    pub pages_migrated: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub shape: Geometry,
    pub costs: Costs,
    pub policy: Policy,
    pub low_water: u32,
    pub endurance: u32,
    pub planes: Vec<Plane>,
    pub blocks: CowArray<Block>,
    /// Physical page + 1 by logical page.
    map: CowArray<u32>,
    /// Logical page + 1 by physical page; meaningful where the page is valid.
    owners: CowArray<u32>,
    /// One bit per page that was overwritten elsewhere.
    invalid: CowArray<u64>,
    words_per_block: u32,
    next_bsn: u32,
    erasures: u32,
    /// How many planes are at or below low water.
    pub low_planes: u32,
    pub plane_to_write: u32,
    /// Per parallel unit.
    pub plane_to_clean: Vec<u32>,
    /// Whether erasing costs no life, as while a state is prepared.
    pub ageless: bool,
    pub work: Work,
    /// How many blocks were erased how often.
    pub histogram: Vec<u64>,
    pub chance: Stream,
}

impl Element {
    pub fn new(params: &MsrParams, number: u32, seed: u64) -> Self {
        let shape = params.geometry();
        let pages = (shape.blocks() * shape.pages_per_block) as usize;
        let words_per_block = shape.pages_per_block.div_ceil(64);
        let mut element = Self {
            shape,
            costs: params.costs(),
            policy: params.policy,
            low_water: params.low_water_blocks,
            endurance: params.endurance_erases,
            planes: Vec::new(),
            blocks: CowArray::new(shape.blocks() as usize),
            map: CowArray::new(shape.logical_pages() as usize),
            owners: CowArray::new(pages),
            invalid: CowArray::new((shape.blocks() * words_per_block) as usize),
            words_per_block,
            next_bsn: 1,
            erasures: 0,
            low_planes: 0,
            plane_to_write: 0,
            plane_to_clean: (0..params.parallel_units)
                .map(|unit| unit * shape.planes / params.parallel_units)
                .collect(),
            ageless: false,
            work: Work::default(),
            histogram: vec![u64::from(shape.blocks())],
            chance: Stream::new(seed, &format!("msr.wear.element{number}")),
        };
        element.fill();
        element
    }

    /// The state at time 0: data in all blocks but the reserve, one open block per plane.
    fn fill(&mut self) {
        let shape = self.shape;
        for plane in 0..shape.planes {
            let bsn = shape.data_blocks() * shape.planes + 1 + plane;
            self.planes.push(Plane::new(shape.blocks_per_plane, shape.data_blocks(), bsn));
            let open = shape.block(plane, shape.data_blocks());
            *self.blocks.entry(open.at()) =
                Block { bsn, state: BlockState::Open, ..Block::default() };
        }
        let last = shape.data_blocks() * shape.planes - 1;
        for number in 0..=last {
            let (plane, index) = (number % shape.planes, number / shape.planes);
            let state = if number == last { BlockState::Open } else { BlockState::Full };
            let valid = shape.data_pages() as u16;
            *self.blocks.entry(shape.block(plane, index).at()) =
                Block { bsn: number + 1, valid, state, ..Block::default() };
            if state == BlockState::Full {
                self.planes[plane as usize].offer(Candidate { index, valid: valid.into() });
            }
        }
        self.next_bsn = last + 2 + shape.planes;
        self.low_planes =
            self.planes.iter().filter(|plane| plane.free_blocks <= self.low_water).count() as u32;
    }

    /// Where the current copy of a logical page lies.
    #[inline]
    pub fn locate(&self, lpn: Lpn) -> Ppn {
        match self.map.get(lpn.0 as usize) {
            0 => self.shape.first_home(lpn),
            stored => Ppn(stored - 1),
        }
    }

    /// The logical page whose current copy lies at `ppn`, if that is valid.
    #[inline]
    pub fn owner(&self, ppn: Ppn) -> Lpn {
        match self.owners.get(ppn.0 as usize) {
            0 => self.shape.first_owner(ppn),
            stored => Lpn(stored - 1),
        }
    }

    /// Says that the current copy of `lpn` lies at `ppn` from now on.
    #[inline]
    fn map_to(&mut self, lpn: Lpn, ppn: Ppn) {
        self.map.set(lpn.0 as usize, ppn.0 + 1);
        self.owners.set(ppn.0 as usize, lpn.0 + 1);
    }

    /// Writes a new version of `lpn` to the next page of `plane`. Whether that filled the
    /// block and its summary page was written too.
    pub fn overwrite(&mut self, lpn: Lpn, plane: u32) -> Result<bool, Stuck> {
        let old = self.locate(lpn);
        let full = self.append(lpn, plane)?;
        self.invalidate(old);
        Ok(full)
    }

    /// Writes `lpn` to the next page of `plane`; its former copy must be invalidated, or
    /// its whole block erased, by the caller. Whether that filled the block.
    pub fn append(&mut self, lpn: Lpn, plane: u32) -> Result<bool, Stuck> {
        if self.planes[plane as usize].next_page == self.shape.data_pages() {
            self.open_block(plane)?;
        }
        let at = &mut self.planes[plane as usize];
        let (index, page) = (at.active_index, at.next_page);
        at.next_page += 1;
        let full = at.next_page == self.shape.data_pages();
        let id = self.shape.block(plane, index);
        self.map_to(lpn, self.shape.page(id, page));
        let block = self.blocks.entry(id.at());
        block.valid += 1;
        if full {
            block.state = BlockState::Full;
            let valid = block.valid.into();
            if block.erases < self.endurance {
                self.planes[plane as usize].offer(Candidate { index, valid });
            }
        }
        self.work.pages_programmed += 1 + u64::from(full);
        Ok(full)
    }

    fn invalidate(&mut self, ppn: Ppn) {
        let (id, page) = self.shape.split(ppn);
        *self.invalid.entry((id.0 * self.words_per_block + page / 64) as usize) |= 1 << (page % 64);
        let block = self.blocks.entry(id.at());
        block.valid -= 1;
        if block.state == BlockState::Full && block.erases < self.endurance {
            let (plane, index) = (self.shape.plane_of(id), self.shape.index_of(id));
            let valid = block.valid.into();
            self.planes[plane as usize].offer(Candidate { index, valid });
        }
    }

    fn open_block(&mut self, plane: u32) -> Result<(), Stuck> {
        let at = &mut self.planes[plane as usize];
        let Some(index) = at.take_next(self.shape.blocks_per_plane) else {
            return Err(Stuck { plane, why: Why::NoFreeBlock });
        };
        at.active_index = index;
        at.active_bsn = self.next_bsn;
        at.next_page = 0;
        self.low_planes += u32::from(at.free_blocks == self.low_water);
        let block = self.blocks.entry(self.shape.block(plane, index).at());
        block.bsn = self.next_bsn;
        block.state = BlockState::Open;
        self.next_bsn += 1;
        Ok(())
    }

    /// Erases a full block whose valid pages were written elsewhere.
    pub fn erase(&mut self, id: BlockId) {
        let (plane, index) = (self.shape.plane_of(id), self.shape.index_of(id));
        self.erasures += 1;
        let block = self.blocks.entry(id.at());
        debug_assert_eq!(block.state, BlockState::Full);
        let erases = block.erases + u32::from(!self.ageless);
        *block = Block { erases, erased_at: self.erasures, ..Block::default() };
        if !self.ageless {
            self.count_erase(plane, erases);
        }
        for word in 0..self.words_per_block {
            self.invalid.set((id.0 * self.words_per_block + word) as usize, 0);
        }
        let at = &mut self.planes[plane as usize];
        self.low_planes -= u32::from(at.free_blocks == self.low_water);
        at.give(index);
        let (blocks, shape, endurance) = (&self.blocks, self.shape, self.endurance);
        at.regroup(
            index,
            |index| {
                let block = blocks.get(shape.block(plane, index).at());
                let cleanable = block.state == BlockState::Full && block.erases < endurance;
                cleanable.then(|| block.valid.into())
            },
            shape.blocks_per_plane,
        );
    }

    fn count_erase(&mut self, plane: u32, erases: u32) {
        self.work.erases += 1;
        self.planes[plane as usize].erasures += 1;
        let now = erases as usize;
        if self.histogram.len() == now {
            self.histogram.push(0);
        }
        self.histogram[now - 1] -= 1;
        self.histogram[now] += 1;
    }

    /// The pages of a full block that hold current data, as bits; `word` counts 64 pages.
    pub fn valid_bits(&self, id: BlockId, word: u32) -> u64 {
        let data_pages = self.shape.data_pages();
        let in_word = data_pages.saturating_sub(word * 64).min(64);
        let written = u64::MAX.checked_shr(64 - in_word).unwrap_or(0);
        written & !self.invalid.get((id.0 * self.words_per_block + word) as usize)
    }

    /// The current pages of a full block, in order, taken from a copy of its bits:
    /// pages may be moved while walking.
    pub fn for_each_valid<E>(
        &mut self,
        id: BlockId,
        mut visit: impl FnMut(&mut Self, u32, Lpn) -> Result<(), E>,
    ) -> Result<(), E> {
        for word in 0..self.words_per_block {
            let mut bits = self.valid_bits(id, word);
            while bits != 0 {
                let page = word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let owner = self.owner(self.shape.page(id, page));
                visit(self, page, owner)?;
            }
        }
        Ok(())
    }

    /// Moves what full block `from` holds into the free block `to` of the same plane,
    /// page by page to the same place; `from` is left without valid pages.
    pub fn transplant(&mut self, from: BlockId, to: BlockId) {
        let (plane, index) = (self.shape.plane_of(to), self.shape.index_of(to));
        let Ok(()) = self.for_each_valid::<std::convert::Infallible>(from, |element, page, lpn| {
            element.map_to(lpn, element.shape.page(to, page));
            Ok(())
        });
        for word in 0..self.words_per_block {
            let at = |id: BlockId| (id.0 * self.words_per_block + word) as usize;
            let bits = self.invalid.get(at(from));
            self.invalid.set(at(to), bits);
            self.invalid.set(at(from), u64::MAX);
        }
        let source = self.blocks.entry(from.at());
        let (bsn, valid) = (source.bsn, source.valid);
        source.valid = 0;
        let target = self.blocks.entry(to.at());
        *target = Block { bsn, valid, state: BlockState::Full, ..*target };
        let at = &mut self.planes[plane as usize];
        at.take(index);
        self.low_planes += u32::from(at.free_blocks == self.low_water);
        if target.erases < self.endurance {
            at.offer(Candidate { index, valid: valid.into() });
        }
    }
}
