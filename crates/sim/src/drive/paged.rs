//! Page mapping in time: any free page of the right plane will do; a write waits while
//! its plane has none, and collection (`collect`) makes some.

use super::idle::Idle;
use super::{Drive, Scheme};
use crate::config::{Mapping, PageConfig, State};
use crate::error::SimError;
use crate::events::Event;
use crate::flash::Flash;
use crate::flash::command::{Command, Work};
use crate::ftl::{Collection, Ftl, Translation};
use crate::geometry::{BlockId, Lpn, PageId, PerPlane, PlaneId, Ppn};
use crate::mapping::Table;
use crate::mapping::untimed::Cached;
use crate::prepare::{self, RunIn};
use crate::slab::Slab;
use ssdscope_io::Cause;
use std::collections::VecDeque;

/// A simulated page-mapped drive.
pub type PageDrive = Drive<Collecting>;

/// A block being collected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub collection: Collection,
    /// Pages read or programmed that have not ended.
    pub moves: u32,
}

/// What collection has under way.
#[derive(Clone, Debug)]
pub struct Collecting {
    pub(super) jobs: Slab<Job>,
    /// Programs of the host that wait for a free block, by plane.
    pub(super) stalled: PerPlane<VecDeque<u32>>,
    /// Of pages that are placed together, where they go; else empty.
    places: Vec<Ppn>,
    /// Whether pages move within their plane without the channel, where they can.
    pub(super) copyback: bool,
    /// Whether reading what was never written gives it a place.
    pub(super) read_places: bool,
    /// Whether blocks are collected when the host is quiet.
    pub(super) background: bool,
    /// Whether the host is quiet, and blocks are collected in the background.
    pub(super) idle: Idle,
    /// Where collection yields to the host: the planes in which it does not, as the flash
    /// array was told. Empty where it never does.
    urgent: PerPlane<bool>,
}

impl Collecting {
    fn new(config: &PageConfig, folds_when_idle: bool, planes: u32) -> Self {
        let gc = &config.gc;
        Self {
            read_places: config.ftl.read_places,
            jobs: Slab::default(),
            stalled: PerPlane(vec![VecDeque::new(); planes as usize]),
            places: Vec::new(),
            copyback: gc.copyback,
            background: gc.background,
            idle: Idle::new(gc.background || folds_when_idle, gc.idle_ns, Event::Idle),
            urgent: PerPlane(vec![false; if gc.preemptible { planes as usize } else { 0 }]),
        }
    }
}

impl PageDrive {
    /// Opens a drive in a state.
    ///
    /// # Errors
    /// If too many blocks are bad, or preparing it gets stuck.
    pub fn new(config: &PageConfig, state: State, seed: u64) -> Result<Self, SimError> {
        let mut ftl = Ftl::new(config, seed);
        if let Some(lack) = config.lack_of_blocks(ftl.geometry().blocks_per_plane) {
            return Err(lack.of_good_blocks(config.nand.bad_block_ratio, seed));
        }
        let table = if let Mapping::Demand(demand) = &config.map {
            let mut cached = Cached::new(&mut ftl, demand);
            prepare::bring(&mut cached, state, seed)?;
            Table::Demand(Box::new(cached.into_demand()))
        } else {
            ftl.bring(state, seed)?;
            Table::new(&config.map, ftl.exported_pages(), ftl.geometry().page_bytes.into())
        };
        let mut flash = Flash::new(&config.nand, &config.channel, config.scheduler);
        if config.gc.preemptible {
            flash.let_collection_yield();
        }
        if config.gc.exclusive {
            flash.let_collection_be_alone();
        }
        flash.set_one_bit_times(config.pslc.read_ns, config.pslc.program_ns);
        let planes = ftl.geometry().plane_count;
        let work = Collecting::new(config, ftl.folds_when_idle(), planes);
        let mut drive = Self::assemble(&config.host, table, &config.caches, flash, ftl, work);
        (0..planes).for_each(|plane| drive.note_urgency(PlaneId(plane)));
        if let State::Steady { window_bytes } = state {
            // A block of every plane, which is one collection of each, and what the buffer holds.
            let array = drive.ftl.geometry();
            let block_bytes = u64::from(array.pages_per_block) * u64::from(array.page_bytes);
            let bytes = u64::from(planes) * block_bytes + 4 * config.caches.write_buffer.bytes;
            let enough = RunIn { bytes, upkeep_runs: 0 };
            drive.run_in(window_bytes, seed, enough, config.nand.endurance_erases)?;
        }
        Ok(drive)
    }

    /// Tells the flash array whether collection in `plane` may still yield: after every
    /// change of its free blocks.
    pub(super) fn note_urgency(&mut self, plane: PlaneId) {
        if self.work.urgent.0.is_empty() {
            return;
        }
        let urgent = self.ftl.is_urgent(plane);
        if urgent != self.work.urgent[plane] {
            self.work.urgent[plane] = urgent;
            let layout = self.ftl.layout();
            let first = self.ftl.geometry().ppn(plane, BlockId(0), PageId(0));
            for block in layout.blocks(first) {
                self.flash.set_urgent(layout.array().plane_of(block), urgent);
            }
        }
    }

    /// Gives a host program its page, and reads first what it does not replace.
    fn place(&mut self, slot: u32, plane: PlaneId) {
        let Command { logical, span: (first, count), .. } = self.flash.commands[slot];
        let placed = self.ftl.place(logical, first, count, plane);
        self.note_urgency(plane);
        self.flash.commands[slot].page = placed.page;
        #[cfg(test)]
        self.shadow.write(logical, placed.page);
        match (placed.old, placed.kept_sectors) {
            (Some(old), kept @ 1..) => self.read_before(slot, old, kept),
            _ => self.wait_for_unit(slot),
        }
        if placed.filled_block {
            self.consider(plane);
        }
    }

    /// Lets the programs that waited for a free block go on, in order, as far as they can.
    pub(super) fn resume_stalled(&mut self, queue: PlaneId) {
        while let Some(&slot) = self.work.stalled[queue].front() {
            let Ok(to) = self.ftl.plane_for(self.flash.commands[slot].logical) else {
                self.collect_behind(queue);
                self.end_life_if_worn_out(queue);
                return;
            };
            self.work.stalled[queue].pop_front();
            let command = &mut self.flash.commands[slot];
            command.ledger.gc_ns += self.now_ns - command.since_ns;
            command.since_ns = self.now_ns;
            self.place(slot, to);
        }
    }

    fn programmed(&mut self, page: Ppn) {
        self.ftl.programmed(page);
        let plane = self.ftl.geometry().plane_of(page);
        let queue = self.ftl.stall_queue(plane);
        if !self.work.stalled[queue].is_empty() && self.ftl.plane(plane).collecting == 0 {
            // The block just completed may be what collection was waiting for.
            self.make_room(plane);
            self.end_life_if_worn_out(queue);
            self.kick_touched();
        } else if self.work.idle.has_begun() && self.ftl.has_to_fold(plane) {
            self.go_on_idle(plane);
            self.kick_touched();
        }
    }

    /// Writes wait in a queue: if nothing is under way that could give them room, blocks
    /// retired being the reason, the drive is at its end.
    fn end_life_if_worn_out(&mut self, queue: PlaneId) {
        if self.ftl.retired_blocks() > 0 && self.ftl.is_dead(queue) {
            self.end_life();
        }
    }
}

impl Scheme for Collecting {
    type Ftl = Ftl;

    const UPKEEP: Cause = Cause::Gc;

    fn write(drive: &mut PageDrive, slot: u32) {
        match drive.ftl.plane_for(drive.flash.commands[slot].logical) {
            Ok(plane) => drive.place(slot, plane),
            Err(full) => {
                let queue = drive.ftl.stall_queue(full);
                drive.work.stalled[queue].push_back(slot);
                drive.collect_behind(queue);
                drive.end_life_if_worn_out(queue);
            }
        }
    }

    fn write_run(drive: &mut PageDrive, request: u32, first: Lpn, count: u32) -> u32 {
        let mut places = std::mem::take(&mut drive.work.places);
        drive.ftl.place_run(first, count, &mut places);
        for (page, &place) in (first.0..).zip(&places) {
            drive.program(request, Lpn(page), place);
        }
        let placed = places.len() as u32;
        places.clear();
        drive.work.places = places;
        placed
    }

    fn places_reads(&self) -> bool {
        self.read_places
    }

    fn place_read(drive: &mut PageDrive, slot: u32) -> Option<Ppn> {
        let Command { logical, span: (first, count), .. } = drive.flash.commands[slot];
        if drive.is_read_only() {
            return None;
        }
        let plane = drive.ftl.plane_for(logical).ok()?;
        let placed = drive.ftl.place(logical, first, count, plane);
        drive.ftl.programmed(placed.page);
        #[cfg(test)]
        drive.shadow.place_read(logical, placed.page);
        drive.note_urgency(plane);
        if placed.filled_block {
            drive.consider(plane);
        }
        Some(placed.page)
    }

    fn written(drive: &mut PageDrive, page: Ppn) {
        drive.programmed(page);
    }

    fn end_upkeep(drive: &mut PageDrive, slot: u32) {
        let Command { work, page, program_to, .. } = drive.flash.commands[slot];
        match work {
            Work::GcRead => drive.move_page(slot),
            Work::GcProgram | Work::GcCopy => {
                drive.end_move(slot);
                drive.programmed(if work == Work::GcCopy { program_to } else { page });
            }
            _ => drive.end_collection(slot),
        }
    }

    fn discarded(drive: &mut PageDrive) {
        let planes = drive.work.stalled.0.len() as u32;
        for plane in (0..planes).map(PlaneId) {
            if !drive.work.stalled[plane].is_empty() {
                drive.collect_behind(plane);
            }
        }
    }

    fn wake(&mut self) {
        self.idle.wake();
    }

    fn fall_quiet(drive: &mut PageDrive) {
        drive.work.idle.fall_quiet(drive.now_ns, &mut drive.events);
    }

    fn idle_timer(drive: &mut PageDrive) {
        if drive.work.idle.begins(drive.now_ns, &mut drive.events) {
            drive.collect_when_idle();
        }
    }

    fn give_up(drive: &mut PageDrive) -> Vec<u32> {
        drive.work.stalled.0.iter_mut().flat_map(std::mem::take).collect()
    }

    fn why_stuck(drive: &PageDrive) -> Option<String> {
        let plane = drive.work.stalled.0.iter().position(|waiting| !waiting.is_empty())?;
        Some(drive.ftl.stuck(PlaneId(plane as u32)).to_string())
    }
}
