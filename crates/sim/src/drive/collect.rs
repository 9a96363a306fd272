//! Garbage collection in time. A block is collected by reading its valid pages,
//! programming them elsewhere in the plane, and erasing it; the commands wait for
//! the die like any other. With `gc.copyback` a page gets its new place when the collection
//! begins, and its die moves it there by itself if that is on the same plane.
//!
//! In the foreground a block is considered whenever the host has filled one and
//! free blocks are below the low-water mark, and again after each erase as long as
//! writes wait for it. In the background, when the host has been quiet for
//! `gc.idle_ns`, until the high-water mark is reached.

use super::paged::{Job, PageDrive};
use crate::flash::command::{Command, Work};
use crate::ftl::{Collection, Purpose, Translation};
use crate::geometry::{PageId, PlaneId, Ppn};

impl PageDrive {
    /// Starts to collect a block of `plane`, if one is worth it, or to fold a borrowed one.
    pub(super) fn collect(&mut self, plane: PlaneId) {
        if self.is_read_only() {
            return;
        }
        if let Some(collection) = self.ftl.begin_reclaim(plane) {
            self.note_urgency(plane);
            self.start_job(collection);
        }
    }

    /// A block of `plane` has been filled: collects another one if free ones are few.
    pub(super) fn consider(&mut self, plane: PlaneId) {
        if self.ftl.collection_falls_due(plane) {
            self.collect(plane);
        }
    }

    /// Starts to collect where that lets a queue of waiting writes move on.
    pub(super) fn collect_behind(&mut self, queue: PlaneId) {
        for plane in self.ftl.planes_behind(queue) {
            self.make_room(plane);
        }
    }

    /// Starts what gives waiting writes room in `plane`: folding where they wait for that,
    /// collection where that has no room itself, or else.
    pub(super) fn make_room(&mut self, plane: PlaneId) {
        if !self.ftl.waits_for_folding(plane) {
            self.collect(plane);
        } else {
            self.fold(plane);
        }
    }

    /// Starts folding a block of `plane`, or to make room for that.
    fn fold(&mut self, plane: PlaneId) {
        if self.is_read_only() {
            return;
        }
        if let Some(fold) = self.ftl.begin_fold(plane, self.work.idle.has_begun()) {
            self.note_urgency(plane);
            self.start_job(fold);
        } else if self.ftl.fold_lacks_room(plane) {
            self.collect(plane);
        }
    }

    /// Goes on with what the drive does while the host is quiet.
    pub(super) fn go_on_idle(&mut self, plane: PlaneId) {
        if !self.work.idle.has_begun() {
            return;
        }
        if self.work.background && self.ftl.below_high_water(plane) {
            self.collect(plane);
        }
        if self.ftl.folds_when_idle() && self.ftl.has_to_fold(plane) {
            self.fold(plane);
        }
    }

    fn start_job(&mut self, collection: Collection) {
        self.tally.gc_runs += u64::from(collection.purpose == Purpose::Space);
        let mut pages = Vec::new();
        self.ftl.valid_pages(collection.plane, collection.victim, &mut pages);
        let job = self.work.jobs.insert(Job { collection, moves: pages.len() as u32 });
        if self.flash.collects_alone() {
            let layout = self.ftl.layout();
            let unit = self.ftl.geometry().ppn(collection.plane, collection.victim, PageId(0));
            layout.blocks(unit).for_each(|block| self.flash.take_reads_along(block));
        }
        if pages.is_empty() {
            self.erase(job);
            return;
        }
        let copyback = self.copies_back(collection.purpose);
        let mut filled_block = false;
        for page in pages {
            let mut command = Command::new(Work::GcRead, page, self.now_ns);
            command.job = job;
            command.sectors = self.ftl.geometry().sectors_per_page;
            if copyback && let Some((new, filled)) = self.relocate(page, job) {
                filled_block |= filled;
                command.program_to = new;
                if self.ftl.layout().on_the_same_planes(page, new) {
                    command.work = Work::GcCopy;
                }
            }
            self.enqueue(command);
        }
        if copyback {
            self.note_urgency(collection.plane);
        }
        if filled_block {
            self.consider(collection.plane);
        }
    }

    /// Whether pages are moved within their plane: not from one bit per cell to more.
    fn copies_back(&self, purpose: Purpose) -> bool {
        self.work.copyback && purpose != Purpose::Fold
    }

    /// Finds a page being collected its new place, unless the host has replaced it; says
    /// also whether that filled a block.
    fn relocate(&mut self, old: Ppn, job: u32) -> Option<(Ppn, bool)> {
        let (new, filled_block) = self.ftl.relocate(old)?;
        let pages = u64::from(self.ftl.layout().shape().pages);
        let count = match self.work.jobs[job].collection.purpose {
            Purpose::Space => &mut self.tally.gc_pages_moved,
            Purpose::Wear => &mut self.tally.wear_pages_moved,
            Purpose::Fold => &mut self.tally.pslc_pages_folded,
        };
        *count += pages;
        #[cfg(test)]
        self.shadow.relocate(old, new);
        self.moved(new);
        Some((new, filled_block))
    }

    /// A page being collected is read: on to its new place, unless the host has
    /// replaced it meanwhile.
    pub(super) fn move_page(&mut self, slot: u32) {
        let Command { page: old, program_to, job, .. } = self.flash.commands[slot];
        let copyback = self.copies_back(self.work.jobs[job].collection.purpose);
        let place = if copyback { Some((program_to, false)) } else { self.relocate(old, job) };
        let Some((new, filled_block)) = place else {
            self.end_move(slot);
            self.kick_touched();
            return;
        };
        let command: &mut Command = &mut self.flash.commands[slot];
        command.work = Work::GcProgram;
        command.page = new;
        self.wait_for_unit(slot);
        let plane = self.ftl.geometry().plane_of(new);
        self.note_urgency(plane);
        if filled_block {
            self.consider(plane);
        }
        self.kick_touched();
    }

    /// A page of a collection is where it belongs; with the last one the block is erased.
    pub(super) fn end_move(&mut self, slot: u32) {
        let job = self.flash.commands[slot].job;
        self.flash.commands.remove(slot);
        self.work.jobs[job].moves -= 1;
        if self.work.jobs[job].moves == 0 {
            self.erase(job);
            self.kick_touched();
        }
    }

    fn erase(&mut self, job: u32) {
        let Collection { plane, victim, .. } = self.work.jobs[job].collection;
        let page = self.ftl.geometry().ppn(plane, victim, PageId(0));
        let mut command = Command::new(Work::Erase, page, self.now_ns);
        command.job = job;
        self.enqueue(command);
    }

    /// The block is erased: writes that waited go on, and if they must still wait, or
    /// the host is quiet, the next block follows.
    pub(super) fn end_collection(&mut self, slot: u32) {
        let job = self.flash.commands[slot].job;
        self.flash.commands.remove(slot);
        let Job { collection, .. } = self.work.jobs[job];
        self.work.jobs.remove(job);
        self.tally.block_erases += u64::from(self.ftl.layout().shape().planes());
        let plane = collection.plane;
        if let Some(next) = self.ftl.end_collection(collection) {
            self.start_job(next);
        }
        self.note_urgency(plane);
        self.resume_stalled(self.ftl.stall_queue(plane));
        self.go_on_idle(plane);
        self.kick_touched();
    }

    /// The host has been quiet for `gc.idle_ns`.
    pub(super) fn collect_when_idle(&mut self) {
        for plane in (0..self.ftl.geometry().plane_count).map(PlaneId) {
            self.go_on_idle(plane);
        }
        self.kick_touched();
    }
}
