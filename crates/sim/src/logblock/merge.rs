//! Merges: a log block and its data block become one data block again.
//!
//! * *switch*: the log block holds the whole logical block in order and takes its place;
//! * *partial*: it holds the beginning in order; the rest is copied behind;
//! * *full*: the newest version of every page is copied into a free unit, in order.
//!
//! The old data block is erased, and after a full merge the log block, as soon as nothing
//! in it is valid: a shared one takes a full merge for every logical block in it. A log
//! block in which nothing is valid (discarded, or merged with others) is only erased.
//! `drive` gives a merge its time.

use super::LogBlockFtl;
use super::copies::{Copied, Copies};
use super::units::{Role, UnitId};
use crate::ftl::Translation;
use crate::geometry::{Lpn, Ppn};

/// The three kinds of merges, and that of what needs none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the module says what they are")]
pub enum MergeKind {
    Switch,
    Partial,
    Full,
    /// Nothing in the log block is valid.
    EraseOnly,
}

/// What a merge has to do: first copy, then erase.
#[derive(Clone, Debug)]
pub struct Merge {
    /// Its kind.
    pub kind: MergeKind,
    /// The unit that is made the data block.
    pub target: Option<UnitId>,
    /// Pages to copy there, in the order to program them.
    pub copies: Copies,
    /// Units to erase.
    pub erases: Vec<UnitId>,
}

impl LogBlockFtl {
    /// Whether a merge must come before the next write.
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// Makes the merge due that would come next for room, pool by pool; says whether there is
    /// one, and a unit to merge into.
    pub fn make_due(&mut self) -> bool {
        if self.due.is_none() {
            let pools = 0..self.units.division().pools();
            let mut ready = pools.filter(|&pool| self.units.free_count(pool) > 0);
            self.due = ready.find_map(|pool| self.logs.next_victim(pool));
        }
        self.due.is_some()
    }

    /// Starts the merge that is due, if one is, and there is a unit to merge into.
    pub fn begin_merge(&mut self) -> Option<Merge> {
        let log = self.due.take()?;
        if self.units.valid(log) == 0 {
            self.logs.remove(log);
            let (kind, erases) = (MergeKind::EraseOnly, vec![log]);
            return Some(Merge { kind, target: None, copies: Copies::default(), erases });
        }
        let block = self.block_in(log);
        let pool = self.units.division().of_block(block);
        let old = self.map.data_of(block);
        let mut erases: Vec<UnitId> = old.into_iter().collect();
        let (kind, target) = if self.is_prefix(log, block) {
            self.logs.remove(log);
            self.units.convert(log, Role::Data);
            (MergeKind::Partial, log)
        } else if self.units.free_count(pool) == 0 {
            self.exhausted = true;
            return None;
        } else {
            (MergeKind::Full, self.units.take_free(pool, Role::Data))
        };
        self.map.promise(target, block);
        let copies = self.map.copies(block, target, self.units.next(target), &self.units);
        if !copies.is_empty() {
            self.units.advance(target, copies.end());
        }
        if kind == MergeKind::Full {
            let leaving = self.logs_of(&copies).filter(|&unit| unit == log).count();
            if leaving == self.units.valid(log) as usize {
                self.logs.remove(log);
                erases.push(log);
            }
        }
        let kind =
            if kind == MergeKind::Partial && copies.is_empty() { MergeKind::Switch } else { kind };
        Some(Merge { kind, target: Some(target), copies, erases })
    }

    /// The logical block to merge a log block with: its own, or that of its first page.
    fn block_in(&mut self, log: UnitId) -> u32 {
        let open = self.logs.find(log).expect("log blocks due are in use");
        if let Some(block) = open.owner {
            return block;
        }
        let mut slots = open.first..self.units.next(log);
        let held = |slot| Some((slot, self.holds(self.units.page(log, slot))?));
        let (slot, page) = slots.find_map(held).expect("the caller asked whether any is valid");
        self.logs.skip_to(log, slot);
        page.0 / self.units.pages()
    }

    /// Whether a log block holds the beginning of a logical block in order, and nothing
    /// of it has a newer version elsewhere.
    fn is_prefix(&self, log: UnitId, block: u32) -> bool {
        let first = block * self.units.pages();
        (0..self.units.next(log)).all(|slot| {
            let (page, logical) = (self.units.page(log, slot), Lpn(first + slot));
            self.was_given(page) == Some(logical)
                && self.lookup(logical).is_none_or(|newest| newest == page)
        })
    }

    /// A page to copy has been read: says whether it still holds anything, and if so
    /// moves it.
    pub fn relocate(&mut self, copy: Copied) -> bool {
        if self.lookup(copy.page) != Some(copy.from) {
            return false;
        }
        self.units.lose(copy.from);
        self.units.gain(copy.to);
        self.map.put(copy.page, copy.to);
        true
    }

    /// All pages of a merge have been read, and hold what they did: moves them.
    pub fn relocate_all(&mut self, copies: &Copies) {
        if let Some(old) = self.map.data_of(copies.block) {
            self.units.lose_of(old, self.units.valid(old));
        }
        let left: Vec<UnitId> = self.logs_of(copies).collect();
        for unit in left {
            self.units.lose_of(unit, 1);
        }
        self.units.gain_in(copies.to, copies.len());
        self.map.hand_over(copies.to, &self.units);
    }

    /// The unit of each page that is copied from a log block.
    fn logs_of(&self, copies: &Copies) -> impl Iterator<Item = UnitId> {
        copies.in_logs().map(|page| self.units.unit_of(page))
    }

    /// The first page of each block that a merge erases.
    pub fn blocks_to_erase(&self, merge: &Merge) -> impl Iterator<Item = Ppn> {
        merge.erases.iter().flat_map(|&unit| self.units.first_pages(unit))
    }

    /// A merge has ended: what it erased is free.
    pub fn end_merge(&mut self, merge: &Merge) {
        if let Some(target) = merge.target
            && self.map.data_of(self.map.block_of(target)) != Some(target)
        {
            self.map.hand_over(target, &self.units);
        }
        for &unit in &merge.erases {
            self.units.erased(unit);
        }
    }
}
