//! The write buffer: which sectors wait in memory for their way to flash, how much room
//! they take, and which go next.
//!
//! Room is given in whole management *units*. What goes to flash together is a *run*:
//! the waiting sectors of one *group* of units. With `order = "sequential-runs"` a group
//! spans what the flash is written in best (a merge unit; a page on every plane), and the
//! fullest group goes first, so that a run that fills it comes before any other; else it
//! is as little as whole units and whole pages allow, and the order is that of time. A run
//! is sent in *pieces* of whole units and pages, each of which gives back its room by
//! itself.
//!
//! Most often a group is one piece, and a write takes it in as a whole: it is in one state then,
//! and only what else comes to it makes it a matter of spans.
//!
//! What is written again while it is on its way takes room again, and goes only after it.

use super::Spans;
use super::groups::Groups;
use super::order::InOrder;
use super::unstored::Unstored;
use crate::config::{Drain, DrainOrder, WriteBufferConfig};
use crate::rounding::share_of;
use smallvec::{SmallVec, smallvec};
use std::collections::hash_map::Entry;
use std::ops::{Range, RangeInclusive};

/// What waits, and what is on its way, of a group that is sent in one piece or in several.
#[derive(Clone, Debug)]
enum Group {
    /// All of it, in one piece: a write took it in as a whole, and nothing came to it since.
    Whole {
        /// The number of that write.
        since: u64,
        /// Whether it is on its way; else it waits.
        moving: bool,
    },
    /// Anything else.
    Parts(Box<Parts>),
}

#[derive(Clone, Debug, Default)]
struct Parts {
    waiting: Spans,
    /// Units that what waits takes.
    waiting_units: u64,
    /// Number of the first write since anything waits, and of the last.
    since: u64,
    last: u64,
    moving: Spans,
    /// Number of the first write of what is on its way.
    moving_since: u64,
}

/// A run that is to be sent.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its pieces, in order: what to write of each.
    pub pieces: SmallVec<[Spans; 1]>,
}

/// The write buffer. Sectors and units are numbered from the beginning of the drive.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    unit_sectors: u64,
    piece_sectors: u64,
    group_sectors: u64,
    units: u64,
    high_water_units: u64,
    drain: Drain,
    order: DrainOrder,
    groups: Groups<Group>,
    /// Groups of which something waits and nothing is on its way: (rank, group).
    next: InOrder<((u64, u64), u64)>,
    /// Of what writes groups wait or are on their way since.
    unstored: Unstored,
    waiting_units: u64,
    moving_units: u64,
    /// Writes taken in so far.
    writes: u64,
    coalesced_sectors: u64,
    units_taken: u64,
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

const fn least_common_multiple(a: u64, b: u64) -> u64 {
    a / greatest_common_divisor(a, b) * b
}

impl WriteBuffer {
    /// An empty buffer before flash that is written in pages, best so many in a row.
    #[must_use]
    pub fn new(config: &WriteBufferConfig, page_sectors: u64, run_pages: u64) -> Self {
        let unit_sectors = config.unit_bytes / 512;
        let piece_sectors = least_common_multiple(unit_sectors, page_sectors);
        let group_sectors = match config.order {
            DrainOrder::SequentialRuns => {
                least_common_multiple(piece_sectors, page_sectors * run_pages)
            }
            DrainOrder::Fifo | DrainOrder::Lru => piece_sectors,
        };
        let units = config.bytes / config.unit_bytes;
        Self {
            unit_sectors,
            piece_sectors,
            group_sectors,
            units,
            high_water_units: share_of(units as u32, config.high_water_ratio).into(),
            drain: config.drain,
            order: config.order,
            groups: Groups::default(),
            next: InOrder::default(),
            unstored: Unstored::default(),
            waiting_units: 0,
            moving_units: 0,
            writes: 0,
            coalesced_sectors: 0,
            units_taken: 0,
        }
    }

    /// Whether nothing waits and nothing is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Sectors that were overwritten here, and so never written to flash.
    #[must_use]
    pub const fn coalesced_sectors(&self) -> u64 {
        self.coalesced_sectors
    }

    /// Units that were ever taken in.
    #[must_use]
    pub const fn units_taken(&self) -> u64 {
        self.units_taken
    }

    const fn free_units(&self) -> u64 {
        self.units - self.waiting_units - self.moving_units
    }

    /// Sectors of units on their way to flash.
    #[must_use]
    pub const fn moving_sectors(&self) -> u64 {
        self.moving_units * self.unit_sectors
    }

    /// The number of the last write taken in.
    #[must_use]
    pub const fn last_write(&self) -> u64 {
        self.writes
    }

    /// Takes in as much of `span` from its beginning as there is room for; returns where
    /// that ends.
    pub fn put(&mut self, span: Range<u64>) -> u64 {
        self.writes += 1;
        self.unstored.begin(self.writes, self.groups_of(&span));
        let mut at = span.start;
        while at < span.end {
            let number = at / self.group_sectors;
            let end = ((number + 1) * self.group_sectors).min(span.end);
            let taken = self.put_in_group(number, at..end);
            at = taken;
            if taken < end {
                break;
            }
        }
        self.unstored.forget_stored();
        at
    }

    fn put_in_group(&mut self, number: u64, span: Range<u64>) -> u64 {
        let room = self.free_units();
        let all = self.sectors_of(number);
        let units_in_all = self.group_sectors / self.unit_sectors;
        let comes_whole = span == all && room >= units_in_all;
        let group = match self.groups.entry(number) {
            Entry::Vacant(_) if room == 0 => return span.start,
            Entry::Vacant(place) if comes_whole && self.group_sectors == self.piece_sectors => {
                let group = Group::Whole { since: self.writes, moving: false };
                let rank = group.rank(self.order, self.group_sectors);
                place.insert(group);
                self.unstored.add(self.writes);
                self.take_in(units_in_all);
                self.list(number, None, rank);
                return span.end;
            }
            place => place.or_insert_with(|| Group::Parts(Box::default())),
        };
        let before = group.rank(self.order, self.group_sectors);
        let group = group.as_parts(all, units_in_all);
        let (units, end) = group.waiting.units_for(&span, self.unit_sectors, room);
        let taken = span.start..end;
        if taken.is_empty() {
            if group.is_empty() {
                self.groups.remove(number);
            }
            return end;
        }
        if group.waiting.is_empty() {
            group.since = self.writes;
            self.unstored.add(self.writes);
        }
        group.last = self.writes;
        group.waiting_units += units;
        self.coalesced_sectors += group.waiting.sectors_within(taken.clone());
        group.waiting.insert(taken);
        let after = group.rank(self.order, self.group_sectors);
        self.take_in(units);
        self.list(number, before, after);
        end
    }

    const fn take_in(&mut self, units: u64) {
        self.waiting_units += units;
        self.units_taken += units;
    }

    /// A group goes to flash at another time than before.
    fn list(&mut self, number: u64, before: Option<(u64, u64)>, after: Option<(u64, u64)>) {
        if before == after {
            return;
        }
        if let Some(rank) = before {
            self.next.remove(&(rank, number));
        }
        if let Some(rank) = after {
            self.next.insert((rank, number));
        }
    }

    /// The sectors of a group.
    const fn sectors_of(&self, number: u64) -> Range<u64> {
        let start = number * self.group_sectors;
        start..start + self.group_sectors
    }

    /// The groups that a span, which is not empty, has a part in.
    const fn groups_of(&self, span: &Range<u64>) -> RangeInclusive<u64> {
        span.start / self.group_sectors..=(span.end - 1) / self.group_sectors
    }

    /// What of `span` is not here.
    #[must_use]
    pub fn missing(&self, span: &Range<u64>) -> Spans {
        let groups = self.groups_of(span);
        let mut missing = Spans::from(span.clone());
        for (number, group) in self.groups.within(groups) {
            match group {
                Group::Whole { .. } => missing.cut(&self.sectors_of(number)),
                Group::Parts(parts) => {
                    missing.cut_all(&parts.waiting);
                    missing.cut_all(&parts.moving);
                }
            }
        }
        missing
    }

    /// Whether anything of `span` is on its way.
    #[must_use]
    pub fn is_moving(&self, span: &Range<u64>) -> bool {
        let groups = self.groups_of(span);
        self.groups.within(groups).any(|(_, group)| match group {
            Group::Whole { moving, .. } => *moving,
            Group::Parts(parts) => parts.moving.overlaps(span),
        })
    }

    /// Forgets what waits of `span`, of which nothing may be on its way.
    pub fn forget(&mut self, span: &Range<u64>) {
        let groups = self.groups_of(span);
        let touched: Vec<u64> = self.groups.within(groups).map(|(number, _)| number).collect();
        for number in touched {
            let all = self.sectors_of(number);
            let Some(group) = self.groups.get_mut(number) else { continue };
            let before = group.rank(self.order, self.group_sectors);
            let group = group.as_parts(all, self.group_sectors / self.unit_sectors);
            if group.waiting.is_empty() {
                continue;
            }
            group.waiting.cut(span);
            let left = units_of(group.waiting.iter().cloned(), self.unit_sectors);
            self.waiting_units -= group.waiting_units - left;
            group.waiting_units = left;
            if group.waiting.is_empty() {
                self.unstored.forget(group.since);
            }
            let after = group.rank(self.order, self.group_sectors);
            if group.is_empty() {
                self.groups.remove(number);
            }
            self.list(number, before, after);
        }
    }

    /// Whether something should go to flash though nobody waits for it.
    #[must_use]
    pub fn wants_to_drain(&self, idle: bool) -> bool {
        match self.drain {
            Drain::Eager => true,
            Drain::HighWater => self.waiting_units > self.high_water_units,
            Drain::Full => false,
            Drain::Idle => idle,
        }
    }

    /// Whether what is on its way leaves room for so many more sectors.
    #[must_use]
    pub const fn will_fit(&self, sectors: u64) -> bool {
        self.free_units() + self.moving_units >= sectors.div_ceil(self.unit_sectors)
    }

    /// Whether all that was taken in up to write number `last`, of `span` if given, is in
    /// flash.
    #[must_use]
    pub fn is_stored(&self, last: u64, span: Option<&Range<u64>>) -> bool {
        let Some(span) = span else {
            return self.unstored.oldest().is_none_or(|since| since > last);
        };
        let groups = self.groups_of(span);
        self.groups.within(groups).all(|(_, group)| match group {
            Group::Whole { since, .. } => *since > last,
            Group::Parts(parts) => {
                (parts.waiting.is_empty() || parts.since > last)
                    && (parts.moving.is_empty() || parts.moving_since > last)
            }
        })
    }

    /// Sends the next run by order.
    pub fn send_next(&mut self) -> Option<Run> {
        let (_, number) = self.next.first()?;
        self.send(number)
    }

    /// Sends the oldest run that [`WriteBuffer::is_stored`] still waits for and that can go.
    pub fn send_unstored(&mut self, last: u64, span: Option<&Range<u64>>) -> Option<Run> {
        let number = match span {
            None => self.unstored.waiting(last).find_map(|(write, groups)| {
                let mut begun =
                    self.groups.within(groups).filter(|(_, group)| group.since() == write);
                begun.find(|(_, group)| group.can_go(last)).map(|(number, _)| number)
            })?,
            Some(span) => {
                let groups = self.groups_of(span);
                self.groups.within(groups).find(|(_, group)| group.can_go(last))?.0
            }
        };
        self.send(number)
    }

    fn send(&mut self, number: u64) -> Option<Run> {
        let all = self.sectors_of(number);
        let group = self.groups.get_mut(number)?;
        let before = group.rank(self.order, self.group_sectors);
        let group = match group {
            Group::Whole { since, moving } => {
                *moving = true;
                self.unstored.send(*since);
                let units = self.group_sectors / self.unit_sectors;
                self.waiting_units -= units;
                self.moving_units += units;
                self.list(number, before, None);
                return Some(Run { pieces: smallvec![Spans::from(all)] });
            }
            Group::Parts(parts) => parts,
        };
        group.moving = std::mem::take(&mut group.waiting);
        // It stays as old as it was.
        group.moving_since = group.since;
        self.unstored.send(group.since);
        self.waiting_units -= group.waiting_units;
        self.moving_units += group.waiting_units;
        group.waiting_units = 0;
        let pieces = group.moving.in_steps(self.piece_sectors);
        self.list(number, before, None);
        Some(Run { pieces })
    }

    /// The piece that `sector` lies in is in flash; returns whether its whole run is.
    pub fn stored(&mut self, sector: u64) -> bool {
        let number = sector / self.group_sectors;
        let Entry::Occupied(mut place) = self.groups.entry(number) else { return false };
        let group = match place.get_mut() {
            &mut Group::Whole { since, .. } => {
                place.remove();
                self.moving_units -= self.group_sectors / self.unit_sectors;
                self.unstored.store(since);
                return true;
            }
            Group::Parts(parts) => parts,
        };
        let start = sector / self.piece_sectors * self.piece_sectors;
        let piece = start..start + self.piece_sectors;
        self.moving_units -= units_of(group.moving.within(piece.clone()), self.unit_sectors);
        group.moving.cut(&piece);
        if !group.moving.is_empty() {
            return false;
        }
        self.unstored.store(group.moving_since);
        // With nothing on its way any more, what waits may go.
        let after = group.rank(self.order, self.group_sectors);
        if group.is_empty() {
            self.groups.remove(number);
        }
        self.list(number, None, after);
        true
    }
}

/// How many units runs, in order, have a part in.
fn units_of(runs: impl Iterator<Item = Range<u64>>, unit_sectors: u64) -> u64 {
    let (mut units, mut counted_to) = (0, 0);
    for run in runs {
        let first = (run.start / unit_sectors).max(counted_to);
        let end = run.end.div_ceil(unit_sectors);
        units += end.saturating_sub(first);
        counted_to = end;
    }
    units
}

impl Group {
    /// Its parts, of which there is one if it is whole: `all`, in so many units.
    fn as_parts(&mut self, all: Range<u64>, units: u64) -> &mut Parts {
        if let Self::Whole { since, moving } = *self {
            let mut parts = Parts { since, last: since, ..Parts::default() };
            if moving {
                parts.moving = all.into();
                parts.moving_since = since;
            } else {
                parts.waiting = all.into();
                parts.waiting_units = units;
            }
            *self = Self::Parts(Box::new(parts));
        }
        match self {
            Self::Parts(parts) => parts,
            Self::Whole { .. } => unreachable!("it is spelled out"),
        }
    }

    /// The lower, the sooner it goes to flash; none if it cannot.
    fn rank(&self, order: DrainOrder, group_sectors: u64) -> Option<(u64, u64)> {
        match self {
            Self::Parts(parts) => parts.rank(order, group_sectors),
            Self::Whole { moving: true, .. } => None,
            Self::Whole { since, .. } if order == DrainOrder::SequentialRuns => Some((0, *since)),
            Self::Whole { since, .. } => Some((*since, 0)),
        }
    }

    /// Number of the first write of what waits, if anything does.
    fn since(&self) -> u64 {
        match self {
            Self::Whole { since, .. } => *since,
            Self::Parts(parts) => parts.since,
        }
    }

    /// Whether what waits is no younger than write `last` and nothing is in its way.
    fn can_go(&self, last: u64) -> bool {
        match self {
            Self::Whole { since, moving } => !moving && *since <= last,
            Self::Parts(parts) => parts.can_go(last),
        }
    }
}

impl Parts {
    /// Whether nothing waits and nothing is on its way.
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.moving.is_empty()
    }

    /// The lower, the sooner it goes to flash; none if it cannot.
    fn rank(&self, order: DrainOrder, group_sectors: u64) -> Option<(u64, u64)> {
        if self.waiting.is_empty() || !self.moving.is_empty() {
            return None;
        }
        Some(match order {
            DrainOrder::SequentialRuns => (group_sectors - self.waiting.sectors(), self.since),
            DrainOrder::Fifo => (self.since, 0),
            DrainOrder::Lru => (self.last, 0),
        })
    }

    /// Whether what waits is no younger than write `last` and nothing is in its way.
    fn can_go(&self, last: u64) -> bool {
        !self.waiting.is_empty() && self.since <= last && self.moving.is_empty()
    }
}
