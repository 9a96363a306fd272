//! Log blocks in time. One merge at a time, as a small controller does it: it starts when
//! the programs under way have ended, and writes wait until it has; reads go on.
//!
//! With `gc.background` log blocks are merged when the host has been quiet for `gc.idle_ns`
//! too, the one that would be merged first for room first, until none is in use.
//!
//! The copies of a merge are read side by side and programmed in the order of their
//! places, since pages of a block are; its erases follow.

use super::foreseen::Foreseen;
use super::idle::Idle;
use super::{Drive, Scheme};
use crate::config::{LogAssociation, LogBlockConfig, State};
use crate::error::SimError;
use crate::events::Event;
use crate::flash::Flash;
use crate::flash::command::{Command, NONE, Work};
use crate::ftl::Translation;
use crate::geometry::Ppn;
use crate::logblock::{Copied, LogBlockFtl, Merge, MergeKind, Outline};
use crate::mapping::Table;
use crate::prepare::{self, RunIn};
use ssdscope_io::Cause;
use std::collections::VecDeque;

/// A simulated drive with log blocks.
pub type LogBlockDrive = Drive<Merging>;

/// A merge under way.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) merge: Merge,
    /// Commands that have not ended: of the copies, then of the erases.
    left: u32,
    erasing: bool,
    /// By copy: the command that has read it and not begun to program, or [`NONE`].
    read: Vec<u32>,
    /// Copies that have begun to program, or turned out to be needed no more.
    released: usize,
}

/// What merging has under way.
#[derive(Clone, Debug, Default)]
pub struct Merging {
    /// Programs of the host that wait for a merge, or behind one that does.
    waiting: VecDeque<u32>,
    /// Programs of the host under way, with the reads before them.
    programs: u32,
    pub(super) job: Option<Job>,
    /// Its course, if nothing but the merge concerns the flash; none of it has happened yet.
    pub(super) foreseen: Option<Box<Foreseen>>,
    #[cfg(test)]
    pub(super) foresight: super::foreseen::Foresight,
    /// Whether the host is quiet, and log blocks are merged meanwhile.
    idle: Idle,
}

#[cfg(test)]
impl Merging {
    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.programs == 0 && self.job.is_none()
    }
}

/// What must be written until all log blocks are used, and used again, and the buffer is as full
/// as it gets. Log blocks of one data block each are merged long before they are full, if there
/// are more such blocks.
fn enough(config: &LogBlockConfig, window_bytes: Option<u64>) -> RunIn {
    let logs = u64::from(config.log_blocks_within(window_bytes));
    let shared = config.ftl.log_association == LogAssociation::ManyToOne;
    let filled_bytes = if shared { 2 * logs * config.ftl.merge_unit_bytes } else { 0 };
    RunIn { bytes: filled_bytes + 4 * config.caches.write_buffer.bytes, upkeep_runs: 2 * logs }
}

/// In [`Job::read`]: a copy that needs no program.
const DROPPED: u32 = NONE - 1;

impl LogBlockDrive {
    /// Opens a drive in a state.
    ///
    /// # Errors
    /// If too many blocks are bad, or preparing it gets stuck.
    pub fn new(config: &LogBlockConfig, state: State, seed: u64) -> Result<Self, SimError> {
        let ftl = LogBlockFtl::new(config, seed);
        if let Some(lack) = config.lack_of_blocks(ftl.geometry().blocks_per_plane) {
            return Err(lack.of_good_blocks(config.nand.bad_block_ratio, seed));
        }
        let mut outline = Outline::new(ftl);
        // Of a full drive nothing but the log blocks changes, and those fill in time.
        let untimed = if let State::Steady { .. } = state { State::Sequential } else { state };
        prepare::bring(&mut outline, untimed, seed)?;
        let ftl = outline.finish();
        let table = Table::new(&config.map, ftl.exported_pages(), ftl.geometry().page_bytes.into());
        let flash = Flash::new(&config.nand, &config.channel, config.scheduler);
        let idle = Idle::new(config.gc.background, config.gc.idle_ns, Event::Idle);
        let work = Merging { idle, ..Merging::default() };
        let mut drive = Self::assemble(&config.host, table, &config.caches, flash, ftl, work);
        if let State::Steady { window_bytes } = state {
            let enough = enough(config, window_bytes);
            drive.run_in(window_bytes, seed, enough, config.nand.endurance_erases)?;
        }
        Ok(drive)
    }

    /// Places the writes that wait, in order, until a merge must come first; starts that
    /// as soon as nothing is being programmed. If none waits and the host is quiet, merges
    /// what will have to be. The caller serves the channels.
    fn go_on(&mut self) {
        while self.work.job.is_none() {
            if self.ftl.is_due() {
                if self.work.programs == 0 {
                    self.start_merge();
                }
                break;
            }
            let Some(&slot) = self.work.waiting.front() else {
                if self.work.idle.has_begun() && self.work.programs == 0 && self.ftl.make_due() {
                    continue;
                }
                break;
            };
            let Command { logical, span: (first, count), .. } = self.flash.commands[slot];
            let Some(placed) = self.ftl.place(logical, first, count) else {
                if self.ftl.is_exhausted() {
                    return self.end_life();
                }
                continue;
            };
            self.work.waiting.pop_front();
            self.work.programs += 1;
            let command = &mut self.flash.commands[slot];
            command.ledger.gc_ns += self.now_ns - command.since_ns;
            command.since_ns = self.now_ns;
            command.page = placed.page;
            #[cfg(test)]
            self.shadow.write(logical, placed.page);
            match (placed.old, placed.kept_sectors) {
                (Some(old), kept @ 1..) => self.read_before(slot, old, kept),
                _ => self.wait_for_unit(slot),
            }
        }
    }

    fn start_merge(&mut self) {
        let Some(merge) = self.ftl.begin_merge() else {
            return self.end_life();
        };
        self.tally.gc_runs += 1;
        let merges = &mut self.tally.merges;
        match merge.kind {
            MergeKind::Switch => merges.switch += 1,
            MergeKind::Partial => merges.partial += 1,
            MergeKind::Full => merges.full += 1,
            MergeKind::EraseOnly => {}
        }
        let left = merge.copies.len();
        self.work.job = Some(Job { merge, left, erasing: false, read: Vec::new(), released: 0 });
        if left == 0 {
            self.erase_merged();
        } else if !self.look_ahead() {
            self.begin_copies();
        }
    }

    pub(super) fn begin_copies(&mut self) {
        let Some(job) = &mut self.work.job else { return };
        let copies: Vec<Copied> = job.merge.copies.each(self.ftl.units()).collect();
        job.read = vec![NONE; copies.len()];
        for (index, copy) in copies.iter().enumerate() {
            let mut command = Command::new(Work::GcRead, copy.from, self.now_ns);
            command.logical = copy.page;
            command.program_to = copy.to;
            command.job = index as u32;
            command.sectors = self.ftl.geometry().sectors_per_page;
            self.enqueue(command);
        }
    }

    /// A page is read: it moves on, unless it was discarded meanwhile, when those before
    /// it have.
    fn copy_read(&mut self, slot: u32) {
        let command = &self.flash.commands[slot];
        let Command { page: from, program_to: to, logical: page, job: index, .. } = *command;
        let moved = self.ftl.relocate(Copied { page, from, to });
        #[cfg(test)]
        if moved {
            self.shadow.relocate(from, to);
        }
        let pages = u64::from(self.ftl.layout().shape().pages);
        self.tally.gc_pages_moved += if moved { pages } else { 0 };
        if let Some(job) = &mut self.work.job {
            job.read[index as usize] = if moved { slot } else { DROPPED };
        }
        while let Some(job) = &mut self.work.job
            && let Some(&next) = job.read.get(job.released)
            && next != NONE
        {
            job.released += 1;
            if next != DROPPED {
                let command = &mut self.flash.commands[next];
                command.work = Work::GcProgram;
                command.page = command.program_to;
                self.wait_for_unit(next);
            }
        }
        if !moved {
            self.end_step(slot);
        }
        self.kick_touched();
    }

    /// A copy, or an erase, has ended; with the last one, that part of the merge.
    fn end_step(&mut self, slot: u32) {
        self.flash.commands.remove(slot);
        let Some(job) = &mut self.work.job else { return };
        job.left -= 1;
        if job.left > 0 {
            return;
        }
        if !job.erasing {
            self.erase_merged();
        } else {
            self.end_merge();
        }
        self.kick_touched();
    }

    pub(super) fn end_merge(&mut self) {
        if let Some(done) = self.work.job.take() {
            self.ftl.end_merge(&done.merge);
            self.go_on();
        }
    }

    fn erase_merged(&mut self) {
        let Some(job) = &mut self.work.job else { return };
        let pages: Vec<Ppn> = self.ftl.blocks_to_erase(&job.merge).collect();
        job.erasing = true;
        job.left = pages.len() as u32;
        for page in pages {
            self.enqueue(Command::new(Work::Erase, page, self.now_ns));
        }
    }
}

impl Scheme for Merging {
    type Ftl = LogBlockFtl;

    const UPKEEP: Cause = Cause::Merge;

    fn write(drive: &mut LogBlockDrive, slot: u32) {
        drive.work.waiting.push_back(slot);
        if drive.work.waiting.len() == 1 {
            drive.go_on();
        }
    }

    fn written(drive: &mut LogBlockDrive, _page: Ppn) {
        drive.work.programs -= 1;
        drive.go_on();
        drive.kick_touched();
    }

    fn end_upkeep(drive: &mut LogBlockDrive, slot: u32) {
        match drive.flash.commands[slot].work {
            Work::GcRead => drive.copy_read(slot),
            Work::Erase => {
                drive.tally.block_erases += u64::from(drive.ftl.layout().shape().planes());
                drive.end_step(slot);
            }
            _ => drive.end_step(slot),
        }
    }

    fn foreseen(drive: &mut LogBlockDrive) {
        drive.foreseen();
    }

    fn looks_ahead(&self) -> bool {
        self.foreseen.is_some()
    }

    fn interfere(drive: &mut LogBlockDrive) {
        if drive.work.foreseen.is_some() {
            drive.go_step_by_step();
        }
    }

    fn not_alone(drive: &mut LogBlockDrive) {
        drive.take_back();
    }

    fn give_up(drive: &mut LogBlockDrive) -> Vec<u32> {
        drive.work.waiting.drain(..).collect()
    }

    fn wake(&mut self) {
        self.idle.wake();
    }

    fn fall_quiet(drive: &mut LogBlockDrive) {
        drive.work.idle.fall_quiet(drive.now_ns, &mut drive.events);
    }

    fn idle_timer(drive: &mut LogBlockDrive) {
        if drive.work.idle.begins(drive.now_ns, &mut drive.events) {
            drive.go_on();
            drive.kick_touched();
        }
    }

    fn why_stuck(drive: &LogBlockDrive) -> Option<String> {
        let waiting = drive.work.waiting.len();
        (waiting > 0).then(|| format!("{waiting} writes wait for a merge that does not end"))
    }
}
