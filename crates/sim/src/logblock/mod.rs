//! The log-block translation layer: logical blocks are mapped as a whole, each to a data
//! block with every page at its own place; what is written again goes to log blocks, which
//! are merged back when another one is needed. It knows no time; `drive` adds that.
//!
//! [`units`] are the blocks, [`pools`] say which of them a logical block may use, [`logs`]
//! says which log block a page goes to, and which one is merged, [`merge`] how, [`copies`] what
//! moves then, `outline` prepares states in no time.
//!
//! A page goes straight into its data block as long as that is erased from there on, so
//! that filling a drive in order needs no log. A log block that takes the pages of one
//! logical block only is merged as soon as it is full, any other when its room is needed.

pub mod copies;
pub mod logs;
pub mod map;
pub mod merge;
mod outline;
pub mod pools;
pub mod units;

pub use copies::{Copied, Copies, Stray};
pub use merge::{Merge, MergeKind};
pub use outline::Outline;

use crate::config::LogBlockConfig;
use crate::ftl::{Placement, SectorMap, Translation};
use crate::geometry::{Geometry, Lpn, Ppn};
use crate::layout::Layout;
use logs::Room;
use map::BlockMap;
use pools::Pools;
use std::ops::Range;
use units::{Role, UnitId, Units};

/// The translation layer.
#[derive(Clone, Debug)]
pub struct LogBlockFtl {
    layout: Layout,
    map: BlockMap,
    units: Units,
    logs: Pools,
    /// Writes placed so far.
    written: u64,
    /// The log block that must be merged before the next write.
    due: Option<UnitId>,
    /// Units are retired, and those left cannot take another write.
    exhausted: bool,
}

impl LogBlockFtl {
    /// An empty drive.
    #[must_use]
    pub fn new(config: &LogBlockConfig, seed: u64) -> Self {
        let layout = Layout::new(&config.nand, &config.ftl.layout, seed);
        let blocks = config.exported_units();
        let units = Units::new(
            &layout,
            config.blocks_per_unit(),
            (blocks, config.units_per_pool()),
            config.nand.endurance_erases,
        );
        Self {
            map: BlockMap::new(layout.units(), &units, blocks),
            logs: Pools::new(&config.ftl, units.division().clone()),
            units,
            written: 0,
            due: None,
            exhausted: false,
            layout,
        }
    }

    /// The blocks.
    #[must_use]
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// Data blocks in use.
    #[must_use]
    pub fn data_blocks(&self) -> usize {
        (0..self.map.blocks()).filter(|&block| self.map.data_of(block).is_some()).count()
    }

    /// Log blocks in use.
    #[must_use]
    pub fn logs_in_use(&self) -> usize {
        self.logs.open().count()
    }

    /// Puts `count` sectors from `first` of a logical page somewhere, or nothing if a
    /// merge must come first, which is then due.
    pub fn place(&mut self, page: Lpn, first: u32, count: u32) -> Option<Placement> {
        if self.due.is_some() || self.exhausted {
            return None;
        }
        let (unit, slot) = self.slot_for(page)?;
        let new = self.units.page(unit, slot);
        let old = self.lookup(page);
        let kept_sectors = self.map.sectors.write(page, first, count);
        if let Some(old) = old {
            self.units.lose(old);
        }
        self.units.gain(new);
        if self.units.role(unit) == Role::Data {
            self.map.put_in_data(page);
        } else {
            self.map.note_given(new, page);
            self.map.put(page, new);
        }
        let filled_block = self.placed(unit, slot);
        Some(Placement { page: new, old, kept_sectors, filled_block })
    }

    /// A page was put in a slot: says whether that was the last one of its unit.
    fn placed(&mut self, unit: UnitId, slot: u32) -> bool {
        self.units.advance(unit, slot + 1);
        self.written += 1;
        let filled_block = slot + 1 == self.units.pages();
        if self.units.role(unit) == Role::Log {
            let owned = self.logs.touch(unit, self.written);
            self.due = (filled_block && owned).then_some(unit);
        }
        filled_block
    }

    /// Takes a free unit of a pool, of which one must be left to merge into. Unless units are retired
    /// there always are two; then logs are merged to free some, as long as there are any.
    fn take_spare(&mut self, pool: usize, role: Role) -> Option<UnitId> {
        if self.units.free_count(pool) > 1 {
            return Some(self.units.take_free(pool, role));
        }
        self.due = self.logs.next_victim(pool);
        self.exhausted = self.due.is_none();
        None
    }

    /// Whether units are retired and those left cannot take another write.
    #[must_use]
    pub const fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Where a write of `page` goes; nowhere if a merge must come first.
    fn slot_for(&mut self, page: Lpn) -> Option<(UnitId, u32)> {
        let (block, offset) = (page.0 / self.units.pages(), page.0 % self.units.pages());
        let pool = self.units.division().of_block(block);
        let data = match self.map.data_of(block) {
            Some(data) => data,
            None => {
                let data = self.take_spare(pool, Role::Data)?;
                self.map.assign(data, block);
                data
            }
        };
        if offset >= self.units.next(data) {
            return Some((data, offset));
        }
        let next = |unit| self.units.next(unit);
        let unit = match self.logs.room(block, offset, self.units.pages(), next) {
            Room::In(unit) => unit,
            Room::New(owner) => {
                let unit = self.take_spare(pool, Role::Log)?;
                self.logs.add(unit, owner, self.written);
                unit
            }
            Room::After(unit) => {
                self.due = Some(unit);
                return None;
            }
        };
        Some((unit, self.units.next(unit)))
    }
}

impl Translation for LogBlockFtl {
    #[inline]
    fn geometry(&self) -> &Geometry {
        self.units.geometry()
    }

    #[inline]
    fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    fn lookup(&self, page: Lpn) -> Option<Ppn> {
        self.map.lookup(page, &self.units)
    }

    #[inline]
    fn was_given(&self, page: Ppn) -> Option<Lpn> {
        self.map.was_given(page, &self.units)
    }

    fn sectors(&self) -> &SectorMap {
        &self.map.sectors
    }

    #[inline]
    fn exported_pages(&self) -> u32 {
        self.map.logical_pages()
    }

    fn logical_pages(&self) -> u32 {
        self.map.logical_pages()
    }

    /// A merge unit: written as a whole it needs no copy.
    fn run_pages(&self) -> u32 {
        self.units.pages()
    }

    fn discard(&mut self, pages: Range<u32>, mut freed: impl FnMut(Lpn)) {
        let (mut page, end) = (Lpn(pages.start), Lpn(pages.end));
        while page < end {
            if let Some(old) = self.lookup(page) {
                self.units.lose(old);
                self.map.forget(page);
                freed(page);
            }
            page = self.map.next_maybe_mapped(page + 1, end);
        }
    }

    fn pieces_made(&self) -> u64 {
        self.map.pieces_made()
    }

    fn erase_histogram(&self) -> Vec<u64> {
        self.units.erase_histogram()
    }

    fn retired_blocks(&self) -> u64 {
        let units = u64::from(self.units.retired_count());
        units * u64::from(self.units.blocks() * self.layout.shape().planes())
    }

    /// Slots that were passed over count as written: they cannot be any more.
    fn is_written(&self, page: Ppn) -> bool {
        let (unit, slot) = self.units.place_of(page);
        !matches!(self.units.role(unit), Role::Free | Role::Retired) && slot < self.units.next(unit)
    }
}
