//! One page's worth of flash work, and where its time went.

use super::busy::Worked;
use crate::geometry::{Lpn, Ppn};
use ssdscope_io::{Attribution, Cause};

/// No slot: the end of a list, or "nobody".
pub const NONE: u32 = u32::MAX;

/// What a command does, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Read for the host.
    HostRead,
    /// Read ahead of the host.
    AheadRead,
    /// Read what a small write of the host does not replace.
    RmwRead,
    /// Program for the host.
    HostProgram,
    /// Read a page being collected.
    GcRead,
    /// Program a page being collected.
    GcProgram,
    /// Move a page being collected within its plane, without the channel.
    GcCopy,
    /// Erase a collected block.
    Erase,
    /// Read a page of the mapping table.
    MapRead,
    /// Program a page of the mapping table.
    MapProgram,
}

/// Queues of a unit.
pub const QUEUES: usize = 5;
/// Those of the host, reads first.
pub const HOST: &[usize] = &[0, 2];
/// Those of pages that collection moves, reads first.
pub const MOVES: &[usize] = &[1, 3];
/// That of erases.
pub const ERASES: usize = 4;

impl Work {
    /// The queue it waits in; lower ones go first.
    #[inline]
    #[must_use]
    pub const fn queue(self) -> usize {
        match self {
            Self::HostRead | Self::RmwRead | Self::MapRead => 0,
            // Nobody waits for either yet.
            Self::AheadRead | Self::GcRead => 1,
            Self::HostProgram | Self::MapProgram => 2,
            Self::GcProgram | Self::GcCopy => 3,
            Self::Erase => 4,
        }
    }

    /// Whether data come out of the array.
    #[inline]
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(
            self,
            Self::HostRead | Self::AheadRead | Self::RmwRead | Self::GcRead | Self::MapRead
        )
    }

    /// Whether data come in over the channel, into the array.
    #[inline]
    #[must_use]
    pub const fn programs(self) -> bool {
        matches!(self, Self::HostProgram | Self::GcProgram | Self::MapProgram)
    }

    /// Whether collection asked for it.
    #[inline]
    #[must_use]
    pub const fn is_gc(self) -> bool {
        matches!(self, Self::GcRead | Self::GcProgram | Self::GcCopy | Self::Erase)
    }
}

/// Where a command's time went: the part of an [`Attribution`] behind the firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are causes")]
pub struct Ledger {
    pub channel_wait_ns: u64,
    pub transfer_ns: u64,
    pub die_wait_ns: u64,
    pub nand_ns: u64,
    pub rmw_ns: u64,
    pub gc_ns: u64,
    pub map_ns: u64,
    pub suspend_ns: u64,
}

impl Ledger {
    /// The whole time.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        let waits_ns = self.channel_wait_ns + self.die_wait_ns + self.suspend_ns + self.map_ns;
        waits_ns + self.transfer_ns + self.nand_ns + self.rmw_ns + self.gc_ns
    }

    /// Adds this to the attribution of a request, on a drive that frees space by `upkeep`.
    pub fn add_to(&self, attribution: &mut Attribution, upkeep: Cause) {
        attribution[Cause::ChannelWait] += self.channel_wait_ns;
        attribution[Cause::Transfer] += self.transfer_ns;
        attribution[Cause::DieWait] += self.die_wait_ns;
        attribution[Cause::Nand] += self.nand_ns;
        attribution[Cause::Rmw] += self.rmw_ns;
        attribution[upkeep] += self.gc_ns;
        attribution[Cause::Map] += self.map_ns;
        attribution[Cause::Suspend] += self.suspend_ns;
    }
}

/// A command to the flash array. Collection's are many at a time, and nobody asks where the time
/// of one went: what they need lies together, in one line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Command {
    /// When its present phase began.
    pub since_ns: u64,
    /// Order of arrival at the array.
    pub order: u64,
    /// Next command in the same list.
    pub next: u32,
    /// Where it waits for others to go with, see [`super::spots`]; or [`NONE`].
    pub spot: u32,
    /// What it does.
    pub work: Work,
    /// Whether its page is in a block with one bit per cell.
    pub one_bit: bool,
    /// Whether it is a read of the host that goes with collection's.
    pub with_collection: bool,
    /// Sectors that cross the channel.
    pub sectors: u32,
    /// The physical page (of an erase: the block's first).
    pub page: Ppn,
    /// Of a drive whose units are not simply its pages: the unit it is on.
    pub unit: Ppn,
    /// Of a read before a program: the page to program then; of that program, the page read.
    /// Of a copy: the page it goes to.
    pub program_to: Ppn,
    /// The logical page of a host command.
    pub logical: Lpn,
    /// The collection it is a part of, or [`NONE`].
    pub job: u32,
    /// The command of the unit that it does a part of, or [`NONE`].
    pub member_of: u32,
    /// Of a command on a unit: its members that have not ended.
    pub members: u32,
    /// The host request it is a part of, or [`NONE`].
    pub request: u32,
    /// First sector within the page and number of sectors of a host write.
    pub span: (u32, u32),
    /// What its unit had worked when it arrived. Like the ledger, not kept for collection.
    pub worked_before: Worked,
    /// Where its time went so far.
    pub ledger: Ledger,
}

impl Command {
    /// A command that waits nowhere yet.
    #[must_use]
    pub fn new(work: Work, page: Ppn, now_ns: u64) -> Self {
        Self {
            work,
            page,
            unit: page,
            program_to: page,
            logical: Lpn(0),
            request: NONE,
            one_bit: false,
            with_collection: false,
            job: NONE,
            sectors: 0,
            span: (0, 0),
            order: 0,
            spot: NONE,
            member_of: NONE,
            members: 0,
            next: NONE,
            since_ns: now_ns,
            worked_before: Worked::default(),
            ledger: Ledger::default(),
        }
    }

    /// The queue it waits in.
    #[inline]
    #[must_use]
    pub const fn queue(&self) -> usize {
        // Only reads of the host go with collection: from their queue to the next one.
        self.work.queue() | self.with_collection as usize
    }

    /// Its unit takes it up, having `worked` so much by now; command and data occupy the
    /// channel until `sent_ns`.
    #[inline]
    pub fn issued(&mut self, now_ns: u64, worked: Worked, sent_ns: u64) {
        if self.work.is_gc() {
            self.since_ns = sent_ns;
            return;
        }
        let busy_ns = worked.all_ns - self.worked_before.all_ns;
        let gc_ns = worked.gc_ns - self.worked_before.gc_ns;
        let suspend_ns = worked.suspend_ns - self.worked_before.suspend_ns;
        self.ledger.gc_ns += gc_ns;
        self.ledger.suspend_ns += suspend_ns;
        self.ledger.die_wait_ns += busy_ns - gc_ns - suspend_ns;
        self.ledger.channel_wait_ns += now_ns - self.since_ns - busy_ns;
        self.spend_transfer(sent_ns - now_ns);
        self.since_ns = sent_ns;
    }

    /// Its data are in the register; the array is at something else, of collection or of the
    /// host, until `until_ns`.
    pub fn waited_for_array(&mut self, until_ns: u64, for_gc: bool) {
        let waited_ns = until_ns.saturating_sub(self.since_ns);
        if for_gc {
            self.ledger.gc_ns += waited_ns;
        } else {
            self.ledger.die_wait_ns += waited_ns;
        }
        self.since_ns += waited_ns;
    }

    /// It was suspended, or what it waits for in the register, and goes on at `until_ns`.
    pub fn suspended(&mut self, until_ns: u64) {
        self.ledger.suspend_ns += until_ns - self.since_ns;
        self.since_ns = until_ns;
    }

    /// The array has finished with it, or stops.
    #[inline]
    pub fn array_done(&mut self, now_ns: u64) {
        let worked = now_ns - self.since_ns;
        if self.work == Work::RmwRead {
            self.ledger.rmw_ns += worked;
        } else if !self.work.is_gc() {
            self.ledger.nand_ns += worked;
        }
        self.since_ns = now_ns;
    }

    /// The channel begins to carry its data out.
    #[inline]
    pub fn channel_granted(&mut self, now_ns: u64) {
        if !self.work.is_gc() {
            self.ledger.channel_wait_ns += now_ns - self.since_ns;
        }
        self.since_ns = now_ns;
    }

    /// Its data are out.
    #[inline]
    pub fn transferred(&mut self, now_ns: u64) {
        self.spend_transfer(now_ns - self.since_ns);
        self.since_ns = now_ns;
    }

    #[inline]
    fn spend_transfer(&mut self, span_ns: u64) {
        if self.work == Work::RmwRead {
            self.ledger.rmw_ns += span_ns;
        } else if !self.work.is_gc() {
            self.ledger.transfer_ns += span_ns;
        }
    }
}
