//! The log blocks in use, and which of them a page goes to.
//!
//! One-to-one (BAST): a log block belongs to one data block. Many-to-one (FAST): one log
//! block follows a sequential write, the others take whatever comes.

use super::units::UnitId;
use super::victim;
use crate::config::{LogAssociation, LogBlockFtl as Settings, LogVictim};

/// A log block.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// The unit.
    pub unit: UnitId,
    /// The one logical block whose pages it takes, if it is not shared.
    pub owner: Option<u32>,
    /// The drive's count of writes when it was taken.
    pub opened: u64,
    /// The same at the last write to it.
    pub written: u64,
    /// Slots before this one hold nothing valid.
    pub first: u32,
}

/// Where a page that must go to a log block can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// To the end of this one.
    In(UnitId),
    /// To a new one, for the logical block or shared.
    New(Option<u32>),
    /// Nowhere until this one is merged.
    After(UnitId),
}

/// The log blocks in use.
#[derive(Clone, Debug)]
pub struct Logs {
    association: LogAssociation,
    victim: LogVictim,
    most: usize,
    /// In the order in which they were taken.
    open: Vec<Log>,
    /// Where the one written last was: the next page often goes there too.
    recent: usize,
}

impl Logs {
    /// None in use.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            association: settings.log_association,
            victim: settings.log_victim,
            most: settings.log_blocks as usize,
            open: Vec::new(),
            recent: 0,
        }
    }

    /// Those in use.
    #[must_use]
    pub const fn open(&self) -> &[Log] {
        self.open.as_slice()
    }

    /// The log block in `unit`.
    #[must_use]
    pub fn find(&self, unit: UnitId) -> Option<&Log> {
        self.open.iter().find(|log| log.unit == unit)
    }

    /// Where the page at `offset` of a logical block goes; `next` tells how far a log
    /// block is written, `pages` is what one holds.
    #[must_use]
    pub fn room(&self, block: u32, offset: u32, pages: u32, next: impl Fn(UnitId) -> u32) -> Room {
        // No two have the same owner.
        let is_own = |log: &&Log| log.owner == Some(block);
        let recent = self.open.get(self.recent).filter(is_own);
        let own = recent.or_else(|| self.open.iter().find(is_own));
        match self.association {
            LogAssociation::OneToOne => match own {
                Some(log) => Room::In(log.unit),
                None if self.open.len() < self.most => Room::New(Some(block)),
                None => Room::After(victim::choose(self.victim, self.open.iter())),
            },
            LogAssociation::ManyToOne => {
                if let Some(log) = own
                    && offset == next(log.unit)
                {
                    return Room::In(log.unit);
                }
                if offset == 0 {
                    let sequential = self.open.iter().find(|log| log.owner.is_some());
                    return sequential.map_or(Room::New(Some(block)), |log| Room::After(log.unit));
                }
                self.shared_room(pages, next)
            }
        }
    }

    /// The one to merge first, whichever it is.
    #[must_use]
    pub fn next_victim(&self) -> Option<UnitId> {
        (!self.open.is_empty()).then(|| victim::choose(self.victim, self.open.iter()))
    }

    /// Where a page goes that does not continue a sequential write.
    fn shared_room(&self, pages: u32, next: impl Fn(UnitId) -> u32) -> Room {
        let shared = || self.open.iter().filter(|log| log.owner.is_none());
        match shared().find(|log| next(log.unit) < pages) {
            Some(log) => Room::In(log.unit),
            // One is kept for the sequential write.
            None if shared().count() + 1 < self.most => Room::New(None),
            None => Room::After(victim::choose(self.victim, shared())),
        }
    }

    /// Takes a unit as a log block at the `written`th write.
    pub fn add(&mut self, unit: UnitId, owner: Option<u32>, written: u64) {
        self.open.push(Log { unit, owner, opened: written, written, first: 0 });
    }

    /// Notes the `written`th write, which went to `unit`; says whether that belongs to one
    /// data block.
    pub fn touch(&mut self, unit: UnitId, written: u64) -> bool {
        if self.open.get(self.recent).is_none_or(|log| log.unit != unit) {
            let Some(place) = self.open.iter().position(|log| log.unit == unit) else {
                return false;
            };
            self.recent = place;
        }
        let log = &mut self.open[self.recent];
        log.written = written;
        log.owner.is_some()
    }

    /// Notes that the slots of a log block before `slot` hold nothing valid any more.
    pub fn skip_to(&mut self, unit: UnitId, slot: u32) {
        if let Some(log) = self.open.iter_mut().find(|log| log.unit == unit) {
            log.first = slot;
        }
    }

    /// Forgets a log block.
    pub fn remove(&mut self, unit: UnitId) {
        self.open.retain(|log| log.unit != unit);
    }
}
