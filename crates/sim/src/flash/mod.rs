//! The flash array: commands wait for their die, cross their channel, work.
//!
//! A *unit* is what executes one command at a time: a die, or a whole chip where
//! the drive cannot interleave dies, or all chips of a channel where not even these.
//! Rules, most of them as `MQSim` (FAST'18) has them:
//!
//! * data that were read have the channel before new commands (`scheduler.data_first`), or only
//!   before those that bring data, so that no die rests while a channel could start it;
//! * else the units of a channel take turns;
//! * within a unit reads go before programs before erases (`scheduler.read_first`;
//!   without it, in order of arrival), the host's before collection's or after
//!   (`scheduler.host_first`), or as `gc.preemptible` has it; of the reads for the host
//!   those of the mapping table first;
//! * one command may read or program several planes of a die at the same page offset,
//!   or erase blocks of several.
//!
//! [`command`] is what waits and works, [`spots`] where, [`unit`] the dies, [`channel`] the
//! wires, `times` how long it takes, [`busy`] how long it took; `place` says where units
//! are, `turns` whose turn it is on a channel, `issue` picks what goes next, `exclusive` lets
//! collection go alone, `register` overlaps it with what goes before, [`suspend`] lets reads
//! pass, [`alone`] looks ahead where nothing else goes on. This module connects them. It knows
//! nothing of mapping: it is handed commands and hands back finished ones.

pub mod alone;
pub mod busy;
pub mod channel;
pub mod command;
mod exclusive;
mod issue;
mod place;
mod register;
pub mod spots;
pub mod suspend;
mod times;
mod turns;
pub mod unit;

use crate::config::{Channel as ChannelTimes, Nand, Scheduler};
use crate::divisor::Divisor;
use crate::events::{Event, EventQueue};
use crate::geometry::{Geometry, PlaneId};
use crate::slab::Slab;
use alone::known::Known;
use busy::Doing;
use channel::Channel;
use command::{Command, NONE, Work};
use spots::Spots;
use ssdscope_io::Counters;
use times::Times;
use unit::{Takes, Unit};

/// The order in which the queues of a unit are served.
const fn urgency(scheduler: &Scheduler) -> &'static [usize] {
    match (scheduler.read_first, scheduler.host_first) {
        (false, _) | (true, true) => &[0, 1, 2, 3, 4],
        (true, false) => &[1, 0, 3, 2, 4],
    }
}

/// The array with everything that waits for it.
#[derive(Clone, Debug)]
pub struct Flash {
    /// All commands waiting or working.
    pub commands: Slab<Command>,
    geometry: Geometry,
    times: Times,
    units: Vec<Unit>,
    channels: Vec<Channel>,
    units_per_channel: u32,
    planes_per_unit: Divisor,
    /// Queues of a unit, most urgent first.
    urgency: &'static [usize],
    scheduler: Scheduler,
    /// Collection's queues go behind the host's, except where it is urgent.
    collection_yields: bool,
    /// Collection has its unit to itself while it does not yield.
    collects_alone: bool,
    spots: Spots,
    known: Known,
    arrivals: u64,
    /// Of which so many came to pass as they had been foreseen, without an event of their own.
    followed: u64,
    /// Commands that it took to foresee them.
    worked_out: u64,
    pages_read: u64,
    pages_programmed: u64,
    multi_plane_commands: u64,
    suspends: u64,
}

impl Flash {
    /// An idle array.
    #[must_use]
    pub fn new(nand: &Nand, channel: &ChannelTimes, scheduler: Scheduler) -> Self {
        let geometry = Geometry::new(nand);
        let dies_per_unit = match (scheduler.way_interleave, scheduler.die_interleave) {
            (true, true) => 1,
            (true, false) => geometry.dies,
            (false, _) => geometry.ways * geometry.dies,
        };
        let units_per_channel = geometry.ways * geometry.dies / dies_per_unit;
        let unit_count = units_per_channel * geometry.channels;
        Self {
            commands: Slab::default(),
            times: Times::new(nand, channel),
            units: (0..unit_count)
                .map(|unit| Unit::new(unit / units_per_channel, unit % units_per_channel))
                .collect(),
            channels: (0..geometry.channels).map(|_| Channel::default()).collect(),
            units_per_channel,
            planes_per_unit: Divisor::new(dies_per_unit * geometry.planes_per_die),
            urgency: urgency(&scheduler),
            collection_yields: false,
            collects_alone: false,
            spots: Spots::new(&geometry, &scheduler),
            known: Known::default(),
            arrivals: 0,
            followed: 0,
            worked_out: 0,
            pages_read: 0,
            pages_programmed: 0,
            multi_plane_commands: 0,
            suspends: 0,
            scheduler,
            geometry,
        }
    }

    /// How long pages in blocks with one bit per cell take, if there are any.
    pub const fn set_one_bit_times(&mut self, read_ns: u64, program_ns: u64) {
        self.times.one_bit_read_ns += read_ns;
        self.times.one_bit_program_ns = program_ns;
    }

    /// From now on collection yields to the host between its steps, except in units with
    /// a plane that [`Flash::set_urgent`] names.
    pub const fn let_collection_yield(&mut self) {
        self.collection_yields = true;
    }

    /// Whether collection yields in the unit of `plane` depends on this of all its planes;
    /// the caller says when it changes.
    pub fn set_urgent(&mut self, plane: PlaneId, urgent: bool) {
        let unit = self.unit_of(plane);
        let planes = &mut self.units[unit as usize].urgent_planes;
        *planes = if urgent { *planes + 1 } else { *planes - 1 };
        if self.units[unit as usize].takes == Takes::Programs {
            self.refresh(unit);
        }
    }

    /// Lets a command wait for the unit of its page; returns the channel to [`Flash::kick`].
    #[inline]
    pub fn enqueue(&mut self, slot: u32, now_ns: u64) -> u32 {
        let Command { page, program_to, work, .. } = self.commands[slot];
        let plane = self.geometry.plane_of(page);
        let unit_index = self.unit_of(plane);
        let spot = if work == Work::GcCopy {
            self.spots.of(work, program_to, &self.geometry)
        } else {
            self.spots.on_plane(work, page, plane, &self.geometry)
        };
        self.spots.enter(spot);
        let unit = &mut self.units[unit_index as usize];
        let (channel, bit, takes) = (unit.channel, unit.bit(), unit.takes);
        let command = &mut self.commands[slot];
        let queue = command.queue();
        command.order = self.arrivals;
        command.spot = spot;
        command.since_ns = now_ns;
        command.next = NONE;
        if !work.is_gc() {
            command.worked_before = unit.clock.so_far(now_ns);
        }
        self.arrivals += 1;
        if work == Work::MapRead && self.scheduler.read_first {
            self.put_before_reads(unit_index, queue, slot);
        } else {
            let tail = unit.append(queue, slot);
            if tail != NONE {
                self.commands[tail].next = slot;
            }
        }
        match takes {
            Takes::Anything => self.channels[channel as usize].waiting |= bit,
            Takes::Nothing => {}
            Takes::Programs | Takes::HostReads => self.refresh(unit_index),
        }
        channel
    }

    /// Puts a read of the mapping table before the reads of its queue that are not.
    fn put_before_reads(&mut self, unit_index: u32, queue: usize, slot: u32) {
        let unit = &mut self.units[unit_index as usize];
        unit.occupied |= 1 << queue;
        let queue = &mut unit.queues[queue];
        let (mut before, mut next) = (NONE, queue.head);
        while next != NONE && self.commands[next].work == Work::MapRead {
            (before, next) = (next, self.commands[next].next);
        }
        self.commands[slot].next = next;
        if next == NONE {
            queue.tail = slot;
        } else {
            // As old as what it passes, so that no erase takes that for younger than itself.
            self.commands[slot].order = self.commands[next].order;
        }
        if before == NONE {
            queue.head = slot;
        } else {
            self.commands[before].next = slot;
        }
        unit.queued += 1;
    }

    /// A unit's array has read: the data wait for the channel.
    pub fn read_done(&mut self, unit: u32, now_ns: u64, events: &mut EventQueue) {
        let Unit { active: first, outgoing, channel, .. } = self.units[unit as usize];
        self.each(first, |command| command.array_done(now_ns));
        if outgoing != NONE {
            self.units[unit as usize].sensed = true;
        } else if self.data_go_at_once(channel, now_ns) {
            self.units[unit as usize].sent_out();
            self.start_data_out(channel, unit, now_ns, events);
        } else {
            self.send_out(unit);
            self.kick(channel, now_ns, events);
        }
    }

    /// A unit's array has programmed or erased, or was stopped: returns the first of the
    /// finished commands, which are linked, if any.
    pub fn write_done(&mut self, unit: u32, now_ns: u64, events: &mut EventQueue) -> u32 {
        if self.stopped(unit, now_ns, events) {
            return NONE;
        }
        let first = std::mem::replace(&mut self.units[unit as usize].active, NONE);
        self.each(first, |command| command.array_done(now_ns));
        if self.units[unit as usize].loaded == NONE {
            self.rest(unit, now_ns, events);
        } else {
            self.start_loaded(unit, now_ns, events);
        }
        first
    }

    /// What the array of a unit has read waits to go out.
    #[expect(clippy::inline_always, reason = "the one frequent call of several")]
    #[inline(always)]
    fn send_out(&mut self, unit_index: u32) {
        let unit = &mut self.units[unit_index as usize];
        unit.sent_out();
        self.channels[unit.channel as usize].ready.push_back(unit_index);
    }

    /// The data of a unit's read have crossed the channel: returns the finished read.
    #[inline]
    pub fn data_out(&mut self, unit_index: u32, now_ns: u64, events: &mut EventQueue) -> u32 {
        let unit = &mut self.units[unit_index as usize];
        let (channel_index, slot) = (unit.channel, unit.outgoing);
        self.channels[channel_index as usize].sends_out = false;
        let command = &mut self.commands[slot];
        command.transferred(now_ns);
        let next = command.next;
        unit.outgoing = next;
        if next != NONE {
            // The other planes of the same command have waited just as long.
            self.start_data_out(channel_index, unit_index, now_ns, events);
        } else if unit.sensed {
            self.send_out(unit_index);
        } else if unit.active == NONE {
            self.rest(unit_index, now_ns, events);
        }
        slot
    }

    #[inline]
    fn start_data_out(
        &mut self,
        channel_index: u32,
        unit_index: u32,
        now_ns: u64,
        events: &mut EventQueue,
    ) {
        let from_ns = if self.scheduler.cached_read {
            self.read_ahead(channel_index, unit_index, now_ns, events)
        } else {
            now_ns
        };
        let slot = self.units[unit_index as usize].outgoing;
        let command = &mut self.commands[slot];
        command.channel_granted(from_ns);
        let until_ns = from_ns + self.times.transfer_ns[command.sectors as usize];
        let channel = &mut self.channels[channel_index as usize];
        channel.occupy(from_ns, until_ns);
        channel.sends_out = true;
        events.schedule(until_ns, Event::DataOut(unit_index));
    }

    /// A unit has nothing more to do for what it had taken up.
    #[expect(clippy::inline_always, reason = "the one frequent call of several")]
    #[inline(always)]
    fn rest(&mut self, unit_index: u32, now_ns: u64, events: &mut EventQueue) {
        let unit = &mut self.units[unit_index as usize];
        if unit.suspension.first != NONE {
            self.serve_or_resume(unit_index, now_ns, events);
            return;
        }
        unit.takes = Takes::Anything;
        unit.clock.turn(now_ns, Doing::Rest);
        if unit.queued > 0 {
            self.channels[unit.channel as usize].waiting |= unit.bit();
        }
    }

    /// Lets a unit wait for its channel if it can take up what it would next, else not.
    #[inline(never)]
    fn refresh(&mut self, unit_index: u32) {
        let unit = &self.units[unit_index as usize];
        let waits = match unit.takes {
            Takes::Nothing => false,
            Takes::Anything => unit.queued > 0,
            Takes::Programs => {
                let next = self.next_queue(unit_index);
                unit.queues[next].head != NONE
                    && self.commands[unit.queues[next].head].work.programs()
            }
            Takes::HostReads => self.may_read(unit_index),
        };
        let bit = unit.bit();
        let waiting = &mut self.channels[unit.channel as usize].waiting;
        *waiting = if waits { *waiting | bit } else { *waiting & !bit };
    }

    /// Does something to every command linked from `first`.
    #[inline]
    fn each(&mut self, first: u32, mut act: impl FnMut(&mut Command)) {
        let mut slot = first;
        while slot != NONE {
            let command = &mut self.commands[slot];
            act(command);
            slot = command.next;
        }
    }

    /// Whether nothing waits or works.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.commands.in_use() == 0
    }

    /// Adds what the array counted to a drive's counters.
    pub fn count(&self, now_ns: u64, counters: &mut Counters) {
        let page_bytes = u64::from(self.geometry.page_bytes);
        counters.flash_bytes_read = self.pages_read * page_bytes;
        counters.flash_bytes_programmed = self.pages_programmed * page_bytes;
        counters.simulated.flash_steps = self.arrivals - self.followed + self.worked_out;
        counters.flash_pages_read = self.pages_read;
        counters.flash_pages_programmed = self.pages_programmed;
        counters.multi_plane_commands = self.multi_plane_commands;
        counters.suspends = self.suspends;
        counters.channel_busy_ns =
            self.channels.iter().map(|channel| channel.busy_so_far(now_ns)).collect();
        counters.die_busy_ns =
            self.units.iter().map(|unit| unit.clock.so_far(now_ns).all_ns).collect();
    }
}
