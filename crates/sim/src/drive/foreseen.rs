//! Merges that have the flash to themselves, in one step.
//!
//! While a merge goes on and the host asks for nothing of the flash, its course follows from where
//! its copies lie. It is worked out when the merge has gone on for as long as it takes at the least
//! (what arrives, arrives before, mostly), and comes to pass at its end. Should anything arrive
//! before, then so far nothing has happened: the merge begins once more, at its time, and goes step
//! by step up to the present. Either way every time and count is the same.

use super::LogBlockDrive;
use super::merging::Job;
use crate::events::Event;
use crate::flash::Flash;
use crate::flash::alone::{Errand, Fate, Plan};
use crate::flash::command::NONE;
#[cfg(test)]
use crate::flash::command::{Command, Work};
use crate::ftl::Translation;
use crate::geometry::{PlaneId, Ppn};
#[cfg(test)]
use crate::logblock::Copied;
use crate::logblock::{LogBlockFtl, Merge, Stray};
use crate::mapping::Table;

/// Merges of more pages elsewhere hardly ever recur.
const MOST_STRAYS: usize = 16;

/// A merge of which nothing has happened yet.
#[derive(Clone, Debug)]
pub(super) struct Foreseen {
    begun_ns: u64,
    /// The unit of the flash whose last program or erase made it begin.
    after: Option<u32>,
    /// Not known yet, if there is none.
    fate: Option<Fate>,
}

/// Whether tests want it, and what became of it.
#[cfg(test)]
#[derive(Clone, Debug, Default)]
pub(super) struct Foresight {
    off: bool,
    kept: u32,
    broken: u32,
}

impl LogBlockDrive {
    /// Lets nothing of the merge happen until it is over, if its copies and erases have the flash
    /// to themselves; says whether they have.
    pub(super) fn look_ahead(&mut self) -> bool {
        let Some(Job { merge, .. }) = &self.work.job else { return false };
        // A table in flash is read at any moment.
        let told_in_time = !matches!(self.table, Table::Demand(_));
        #[cfg(test)]
        let told_in_time = told_in_time && !self.work.foresight.off;
        if !told_in_time || merge.erases.is_empty() || !self.flash.is_alone(self.now_ns) {
            return false;
        }
        let (after, begun_ns) = (self.ending, self.now_ns);
        let pages = u64::from(merge.copies.len()) * u64::from(self.ftl.layout().shape().pages);
        self.events.schedule(begun_ns + self.flash.least_span_ns(pages), Event::Foreseen);
        self.work.foreseen = Some(Box::new(Foreseen { begun_ns, after, fate: None }));
        true
    }

    /// The merge has gone on for as long as it takes at the least, or as was worked out then.
    pub(super) fn foreseen(&mut self) {
        let Some(Foreseen { begun_ns, after, fate: None }) = self.work.foreseen.as_deref() else {
            return self.come_to_pass();
        };
        let Some(Job { merge, .. }) = &self.work.job else { return };
        let errand = || errand(&self.ftl, merge, *after);
        let plan = plan(&self.ftl, merge, &self.flash);
        let fate = self.flash.foresee(plan, *after, errand, *begun_ns);
        match (fate, self.work.foreseen.as_deref_mut()) {
            (Some(fate), Some(foreseen)) => {
                self.events.schedule(fate.end_ns(), Event::Foreseen);
                foreseen.fate = Some(fate);
            }
            _ => self.go_step_by_step(),
        }
    }

    /// The merge has ended as was foreseen.
    fn come_to_pass(&mut self) {
        let Some(foreseen) = self.work.foreseen.take() else { return };
        let (Some(fate), Some(Job { merge, .. })) = (foreseen.fate, &self.work.job) else { return };
        self.ftl.relocate_all(&merge.copies);
        let shape = *self.ftl.layout().shape();
        self.tally.gc_pages_moved += u64::from(merge.copies.len()) * u64::from(shape.pages);
        self.tally.block_erases +=
            self.ftl.blocks_to_erase(merge).count() as u64 * u64::from(shape.planes());
        #[cfg(test)]
        {
            self.work.foresight.kept += 1;
            self.shadow_merge();
        }
        let last_unit = fate.last_unit();
        self.flash.follow(&fate);
        self.ending = Some(last_unit);
        self.end_merge();
        self.kick_touched();
        self.ending = None;
        self.flash.go_on(last_unit, self.now_ns, &mut self.events);
    }

    /// Takes back what was foreseen: the copies wait for their units, as if nobody had looked
    /// ahead. The caller serves the channels.
    #[cold]
    pub(super) fn take_back(&mut self) {
        if self.work.foreseen.take().is_none() {
            return;
        }
        #[cfg(test)]
        {
            self.work.foresight.broken += 1;
        }
        self.events.cancel(Event::Foreseen);
        self.begin_copies();
    }

    /// Takes back what was foreseen and does it step by step up to the present.
    #[cold]
    pub(super) fn go_step_by_step(&mut self) {
        let Some(&Foreseen { begun_ns, after, .. }) = self.work.foreseen.as_deref() else { return };
        let present_ns = std::mem::replace(&mut self.now_ns, begun_ns);
        // What the link brings comes before what the array does at the same instant.
        let until_ns = if self.settled_ns < present_ns { present_ns - 1 } else { present_ns };
        self.take_back();
        self.kick_touched();
        if let Some(unit) = after {
            self.flash.go_on(unit, begun_ns, &mut self.events);
        }
        while let Some((time_ns, event)) = self.events.pop_of_array(until_ns) {
            self.now_ns = time_ns;
            self.handle(event);
        }
        self.now_ns = present_ns;
    }

    #[cfg(test)]
    fn shadow_merge(&mut self) {
        let Some(Job { merge, .. }) = &self.work.job else { return };
        let Errand { programs, erases, .. } = errand(&self.ftl, merge, None);
        let (units, array) = (*self.ftl.geometry(), *self.ftl.layout().array());
        let command = |work, page: &Ppn| Command::new(work, *page, 0);
        for Copied { from, to, .. } in merge.copies.each(self.ftl.units()) {
            self.shadow.end(&command(Work::GcRead, &from), &units);
            self.shadow.relocate(from, to);
            self.shadow.end(&command(Work::GcProgram, &to), &units);
        }
        if !self.ftl.layout().is_plain() {
            programs
                .iter()
                .for_each(|to| self.shadow.end_member(&command(Work::GcProgram, to), &array));
            erases.iter().for_each(|at| self.shadow.end_member(&command(Work::Erase, at), &array));
        }
        let erased = self.ftl.blocks_to_erase(merge);
        erased.for_each(|at| self.shadow.end(&command(Work::Erase, &at), &units));
    }
}

/// What a merge has the flash do.
fn errand(ftl: &LogBlockFtl, merge: &Merge, after: Option<u32>) -> Errand {
    let (layout, erased) = (ftl.layout(), ftl.blocks_to_erase(merge));
    let erases = if layout.is_plain() {
        erased.collect()
    } else {
        erased.flat_map(|unit| layout.blocks(unit)).collect()
    };
    Errand {
        reads: layout.pages_of(merge.copies.sources(ftl.units())),
        programs: layout.pages_of(merge.copies.targets(ftl.units())),
        members: layout.shape().pages,
        lap: ftl.units().lap(),
        erases,
        after,
    }
}

/// The same in few words, if pages are those of the array, and few are elsewhere. Of these it tells
/// the plane, and if that matters the page; nothing if they are as in the data block.
fn plan(ftl: &LogBlockFtl, merge: &Merge, flash: &Flash) -> Option<Plan> {
    let (units, geometry, copies) = (ftl.units(), ftl.geometry(), &merge.copies);
    if !ftl.layout().is_plain() || copies.strays.len() > MOST_STRAYS {
        return None;
    }
    let mut read: Vec<PlaneId> = units.planes_of(copies.from).to_vec();
    let beside: Vec<PlaneId> =
        copies.in_logs().map(|page| geometry.plane_of(page)).chain(read.iter().copied()).collect();
    let place = |page: Ppn| {
        let plane = geometry.plane_of(page);
        let matters = flash.tells_pages_apart(plane, &beside);
        (plane, if matters { geometry.page_of(page).0 } else { 0 })
    };
    let mut words = vec![copies.slots.start, copies.slots.end, merge.erases.len() as u32];
    let mut bends = Vec::new();
    for &Stray { slot, page } in &copies.strays {
        match page.map(place) {
            None => words.extend([slot, NONE]),
            Some(at) if at == place(units.page(copies.from, slot)) => {}
            Some((plane, offset)) => {
                words.push(offset);
                read.push(plane);
                bends.push(slot - copies.slots.start);
            }
        }
    }
    if copies.len() < copies.slots.len() as u32 {
        // What is nowhere has to be between the same bends.
        words.extend(&bends);
    }
    let mut written = units.planes_of(copies.to).to_vec();
    written.extend(merge.erases.iter().flat_map(|&unit| units.planes_of(unit)));
    Some(Plan { read, written, bends, lap: units.lap(), words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DriveConfig, Firmware, State};
    use crate::drive::swarm_log::draw_drive;
    use ssdscope_io::counters::Simulated;
    use ssdscope_io::rng::Stream;
    use ssdscope_io::{Counters, Device, Lba, Nanos, Op, Request, Sectors};

    /// A drive of one to three ways, if such a one can be.
    fn draw(random: &mut Stream) -> Option<LogBlockDrive> {
        let ways = format!("\nways = {}\n", 1 + random.below(3));
        let text = draw_drive(random, 3000).replace("\nways = 1\n", &ways);
        let config = DriveConfig::parse(&text, "test", &[]).ok()?;
        let states = [State::Sequential, State::Random];
        match config.firmware {
            Firmware::LogBlock(log) => {
                LogBlockDrive::new(&log, states[random.below(2) as usize], 1).ok()
            }
            _ => None,
        }
    }

    #[test]
    fn what_comes_to_pass_is_what_happens_step_by_step() {
        let (mut kept, mut broken) = (0, 0);
        for seed in 0..80 {
            println!("seed {seed}");
            let mut random = Stream::new(seed, "foreseen");
            let Some(mut ahead) = draw(&mut random) else { continue };
            let mut plain = ahead.clone();
            plain.work.foresight.off = true;
            let sectors = ahead.info.capacity_bytes / 512;
            let longest_pause_ns = [300_000, 4_000_000, 40_000_000][random.below(3) as usize];
            for id in 0..150 {
                let at = Nanos(ahead.now_ns + random.below(longest_pause_ns));
                // To count is to take back what was foreseen.
                let counted = random.below(4) == 0;
                let seen = [&mut ahead, &mut plain].map(|drive| {
                    let mut completions = Vec::new();
                    while drive.now_ns < at.0 {
                        drive.advance(at, &mut completions).unwrap();
                    }
                    let count = || Counters {
                        simulated: Simulated::default(),
                        ..drive.counters().unwrap()
                    };
                    (completions, counted.then(count))
                });
                assert_eq!(seen[0], seen[1], "before request {id}");
                let length = 1 + random.below(sectors.min(64));
                let lba = Lba(random.below(sectors - length + 1));
                let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Discard]
                    [random.below(5) as usize];
                for drive in [&mut ahead, &mut plain] {
                    drive.submit(at, Request::new(id, op, lba, Sectors(length))).unwrap();
                }
            }
            kept += ahead.work.foresight.kept;
            broken += ahead.work.foresight.broken;
        }
        println!("{kept} came to pass, {broken} did not");
        assert!(kept > 100 && broken > 100, "{kept}, {broken}");
    }
}
