//! The log blocks in use, and which of them a page goes to.
//!
//! One-to-one (BAST): a log block belongs to one data block. Many-to-one (FAST): one log
//! block follows a sequential write, the others take whatever comes, one after the other.
//!
//! There may be thousands, so none of them is searched for: they are found by unit and by owner,
//! and lie in the order in which they are merged, but for the one written last.

use super::units::UnitId;
use crate::cache::groups::Groups;
use crate::config::{LogAssociation, LogBlockFtl as Settings, LogVictim};
use std::collections::BTreeMap;

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
    /// How many were taken before it.
    taken: u64,
}

/// The lower, the sooner a log block is merged.
type Age = (u64, u64);

impl Log {
    /// Of shared log blocks, which are filled one after the other, both rules say the same.
    const fn age(&self, rule: LogVictim) -> Age {
        match rule {
            LogVictim::Lru => (self.written, self.taken),
            LogVictim::Fifo => (self.opened, self.taken),
        }
    }
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
    open: Groups<Log>,
    by_owner: Groups<UnitId>,
    /// All but the recent one: those with an owner, and those that are shared.
    owned: BTreeMap<Age, UnitId>,
    shared: BTreeMap<Age, UnitId>,
    /// The one written last. The next page often goes there too, and leaves its age as it is.
    recent: Option<Log>,
    /// The shared one taken last: no other has room.
    filling: Option<UnitId>,
    taken: u64,
}

impl Logs {
    /// None in use.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self {
            association: settings.log_association,
            victim: settings.log_victim,
            most: settings.log_blocks as usize,
            open: Groups::default(),
            by_owner: Groups::default(),
            owned: BTreeMap::new(),
            shared: BTreeMap::new(),
            recent: None,
            filling: None,
            taken: 0,
        }
    }

    /// Those in use, in no order.
    pub fn open(&self) -> impl Iterator<Item = &Log> {
        self.open.all().chain(&self.recent)
    }

    fn count(&self) -> usize {
        self.owned.len() + self.shared.len() + usize::from(self.recent.is_some())
    }

    /// The log block in `unit`.
    #[must_use]
    pub fn find(&self, unit: UnitId) -> Option<&Log> {
        let recent = self.recent.as_ref().filter(|log| log.unit == unit);
        recent.or_else(|| self.open.get(unit.0.into()))
    }

    /// The log block of a logical block.
    fn own(&self, block: u32) -> Option<UnitId> {
        match &self.recent {
            Some(log) if log.owner == Some(block) => Some(log.unit),
            _ => self.by_owner.get(block.into()).copied(),
        }
    }

    /// Where the page at `offset` of a logical block goes; `next` tells how far a log
    /// block is written, `pages` is what one holds.
    #[must_use]
    pub fn room(&self, block: u32, offset: u32, pages: u32, next: impl Fn(UnitId) -> u32) -> Room {
        let own = self.own(block);
        match self.association {
            LogAssociation::OneToOne => match own {
                Some(unit) => Room::In(unit),
                None if self.count() < self.most => Room::New(Some(block)),
                None => self.first_to_merge(true).map_or(Room::New(Some(block)), Room::After),
            },
            LogAssociation::ManyToOne => {
                if let Some(unit) = own
                    && offset == next(unit)
                {
                    return Room::In(unit);
                }
                if offset == 0 {
                    let sequential = self.first_to_merge(true);
                    return sequential.map_or(Room::New(Some(block)), Room::After);
                }
                self.shared_room(pages, next)
            }
        }
    }

    /// The one to merge first, of those with an owner or of those without.
    fn first_to_merge(&self, owned: bool) -> Option<UnitId> {
        let resting = if owned { &self.owned } else { &self.shared };
        let first = resting.iter().next().map(|(&age, &unit)| (age, unit));
        let recent = self.recent.filter(|log| log.owner.is_some() == owned);
        let recent = recent.map(|log| (log.age(self.victim), log.unit));
        first.into_iter().chain(recent).min().map(|(_, unit)| unit)
    }

    /// The one to merge first, whichever it is.
    #[must_use]
    pub fn next_victim(&self) -> Option<UnitId> {
        let firsts = [true, false].into_iter().filter_map(|owned| self.first_to_merge(owned));
        let aged = firsts.filter_map(|unit| Some((self.find(unit)?.age(self.victim), unit)));
        aged.min().map(|(_, unit)| unit)
    }

    /// Where a page goes that does not continue a sequential write.
    fn shared_room(&self, pages: u32, next: impl Fn(UnitId) -> u32) -> Room {
        debug_assert!(self.open().all(|log| log.owner.is_some()
            || self.filling == Some(log.unit)
            || next(log.unit) == pages));
        let recent = self.recent.filter(|log| log.owner.is_none());
        match self.filling.filter(|&unit| next(unit) < pages) {
            Some(unit) => Room::In(unit),
            // One is kept for the sequential write.
            None if self.shared.len() + usize::from(recent.is_some()) + 1 < self.most => {
                Room::New(None)
            }
            None => self.first_to_merge(false).map_or(Room::New(None), Room::After),
        }
    }

    /// Takes a unit as a log block at the `written`th write.
    pub fn add(&mut self, unit: UnitId, owner: Option<u32>, written: u64) {
        self.rest();
        match owner {
            Some(block) => self.by_owner.insert(block.into(), unit),
            None => self.filling = Some(unit),
        }
        self.recent =
            Some(Log { unit, owner, opened: written, written, first: 0, taken: self.taken });
        self.taken += 1;
    }

    /// Puts the recent one among the others.
    fn rest(&mut self) {
        if let Some(log) = self.recent.take() {
            let age = log.age(self.victim);
            self.among(&log).insert(age, log.unit);
            self.open.insert(log.unit.0.into(), log);
        }
    }

    fn among(&mut self, log: &Log) -> &mut BTreeMap<Age, UnitId> {
        if log.owner.is_some() { &mut self.owned } else { &mut self.shared }
    }

    /// Takes one that is not the recent one out of the others.
    fn take(&mut self, unit: UnitId) -> Option<Log> {
        let log = self.open.remove(unit.0.into())?;
        let age = log.age(self.victim);
        self.among(&log).remove(&age);
        Some(log)
    }

    /// Notes the `written`th write, which went to `unit`; says whether that belongs to one
    /// data block.
    pub fn touch(&mut self, unit: UnitId, written: u64) -> bool {
        if self.recent.is_none_or(|log| log.unit != unit) {
            let Some(log) = self.take(unit) else { return false };
            self.rest();
            self.recent = Some(log);
        }
        let Some(log) = &mut self.recent else { return false };
        log.written = written;
        log.owner.is_some()
    }

    /// Notes that the slots of a log block before `slot` hold nothing valid any more.
    pub fn skip_to(&mut self, unit: UnitId, slot: u32) {
        let recent = self.recent.as_mut().filter(|log| log.unit == unit);
        if let Some(log) = recent.or_else(|| self.open.get_mut(unit.0.into())) {
            log.first = slot;
        }
    }

    /// Forgets a log block.
    pub fn remove(&mut self, unit: UnitId) {
        let recent = self.recent.take_if(|log| log.unit == unit);
        let Some(log) = recent.or_else(|| self.take(unit)) else { return };
        if let Some(block) = log.owner {
            self.by_owner.remove(block.into());
        }
        self.filling.take_if(|filling| *filling == unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DriveConfig, Firmware};

    fn logs(association: &str, victim: &str) -> Logs {
        let text = format!(
            "over_provisioning_ratio = 0.5\n[nand]\nchannels = 1\nblocks_per_plane = 30\n\
             pages_per_block = 4\npage_bytes = 4096\nread_ns = 1\nprogram_ns = 2\nerase_ns = 3\n[channel]\n\
             ns_per_byte = 1\n[ftl]\nkind = \"log-block\"\nmerge_unit_bytes = 16384\n\
             log_blocks = 3\nlog_association = \"{association}\"\nlog_victim = \"{victim}\"\n"
        );
        match DriveConfig::parse(&text, "test", &[]).unwrap_or_else(|why| panic!("{why}")).firmware
        {
            Firmware::LogBlock(config) => Logs::new(&config.ftl),
            _ => panic!("it has log blocks"),
        }
    }

    #[test]
    fn the_longest_unwritten_or_the_longest_open_is_merged() {
        for (rule, victim) in [("lru", 2), ("fifo", 1)] {
            let mut logs = logs("one-to-one", rule);
            for unit in 1..=3 {
                assert_eq!(logs.room(10 + unit, 1, 4, |_| 0), Room::New(Some(10 + unit)));
                logs.add(UnitId(unit), Some(10 + unit), unit.into());
            }
            assert!(logs.touch(UnitId(1), 9) && logs.touch(UnitId(3), 10));
            assert_eq!(logs.room(12, 1, 4, |_| 0), Room::In(UnitId(2)));
            assert_eq!(logs.room(14, 1, 4, |_| 0), Room::After(UnitId(victim)));
            assert_eq!(logs.next_victim(), Some(UnitId(victim)));
            logs.remove(UnitId(victim));
            assert_eq!((logs.find(UnitId(victim)).is_none(), logs.open().count()), (true, 2));
            assert_eq!(logs.room(10 + victim, 1, 4, |_| 0), Room::New(Some(10 + victim)));
        }
    }

    #[test]
    fn shared_ones_are_filled_in_turn_and_one_follows_a_sequential_write() {
        let mut logs = logs("many-to-one", "lru");
        logs.add(UnitId(1), None, 0);
        assert_eq!(logs.room(7, 2, 4, |_| 3), Room::In(UnitId(1)));
        assert_eq!(logs.room(7, 2, 4, |_| 4), Room::New(None));
        logs.add(UnitId(2), None, 4);
        logs.add(UnitId(3), Some(7), 5);
        assert!(logs.touch(UnitId(3), 6) && !logs.touch(UnitId(2), 7));
        assert_eq!(logs.room(7, 1, 4, |_| 1), Room::In(UnitId(3)));
        assert_eq!(logs.room(8, 0, 4, |_| 1), Room::After(UnitId(3)));
        assert_eq!(logs.room(8, 2, 4, |_| 4), Room::After(UnitId(1)));
    }
}
