//! The mapping table in time: a page of the host goes on when its part of the table is in
//! RAM, and waits until that is loaded otherwise: a zone by the loader, an entry by reading
//! its mapping page.

use super::{Drive, Scheme};
use crate::events::Event;
use crate::flash::command::{Command, NONE, Work};
use crate::ftl::Translation;
use crate::geometry::{Lpn, Ppn};
use crate::mapping::Table;
use crate::mapping::demand::WriteBack;

impl<S: Scheme> Drive<S> {
    /// Starts a page command of the host, at once or when its part of the table is loaded.
    #[expect(clippy::inline_always, reason = "on the way of every page")]
    #[inline(always)]
    pub(super) fn look_up(&mut self, slot: u32) {
        if matches!(self.table, Table::Ram) || self.is_in_ram(slot) {
            self.start(slot);
        } else {
            self.wait_for_map(slot);
        }
    }

    /// Uses the part of the table that a command needs, if it is there.
    fn is_in_ram(&mut self, slot: u32) -> bool {
        let (page, changes) = (self.flash.commands[slot].logical, self.changes_map(slot));
        match &mut self.table {
            Table::Ram => true,
            Table::Zones(zones) => zones.touch(zones.zone_of(page), changes),
            Table::Demand(demand) => {
                let found = demand.touch(page, changes);
                if !found && demand.is_leaving(page) {
                    self.add_entry(page, changes);
                    return true;
                }
                found
            }
        }
    }

    /// Whether a command changes the part of the table that it needs.
    fn changes_map(&self, slot: u32) -> bool {
        let Command { work, logical, .. } = self.flash.commands[slot];
        work == Work::HostProgram || self.work.places_reads() && self.ftl.lookup(logical).is_none()
    }

    fn wait_for_map(&mut self, slot: u32) {
        let page = self.flash.commands[slot].logical;
        match &mut self.table {
            Table::Ram => {}
            Table::Zones(zones) => {
                let zone = zones.zone_of(page);
                if zones.waiting.add(zone, slot, &mut self.flash.commands) {
                    zones.ask(zone);
                    self.load_zone();
                }
            }
            Table::Demand(demand) => {
                let (wanted, sectors) = (demand.mapping_page(page), demand.sectors_to_load(page));
                if demand.waiting.add(wanted.0, slot, &mut self.flash.commands) {
                    self.tally.map_loads += 1;
                    self.read_map(wanted, sectors);
                }
            }
        }
    }

    /// Sets the loader to the next zone, if it is free and one is asked for.
    fn load_zone(&mut self) {
        if let Table::Zones(zones) = &mut self.table
            && let Some(load) = zones.begin()
        {
            self.tally.map_write_backs += u64::from(load.wrote_back);
            self.events.schedule(self.now_ns + load.span_ns, Event::MapLoaded);
        }
    }

    /// The loader has ended: what waited for the zone goes on, then the loader.
    pub(super) fn map_loaded(&mut self) {
        if let Table::Zones(zones) = &mut self.table
            && let Some(zone) = zones.end()
        {
            self.tally.map_loads += 1;
            let first = zones.waiting.take(zone);
            if self.reads_among(first) {
                S::interfere(self);
            }
            self.go_on_from(first);
            self.load_zone();
            self.kick_touched();
        }
    }

    /// Whether one of the commands linked from `first` reads: writes wait for what may have been
    /// foreseen, and so do not change it.
    fn reads_among(&self, first: u32) -> bool {
        let commands = &self.flash.commands;
        let linked = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(linked(first), |&slot| linked(commands[slot].next))
            .any(|slot| commands[slot].work != Work::HostProgram)
    }

    /// Reads so many sectors of a mapping page, from the first one on.
    fn read_map(&mut self, mapping_page: Lpn, (first, count): (u32, u32)) {
        let slot = self.flash.commands.insert(Command::new(Work::MapRead, Ppn(0), self.now_ns));
        let command = &mut self.flash.commands[slot];
        command.logical = mapping_page;
        command.span = (first, count);
        command.sectors = count;
        self.read(slot);
    }

    /// A mapping page is read: what waited for entries of it goes on.
    pub(super) fn map_read(&mut self, slot: u32) {
        let mapping_page = self.flash.commands[slot].logical;
        self.flash.commands.remove(slot);
        if let Table::Demand(demand) = &mut self.table {
            let first = demand.waiting.take(mapping_page.0);
            self.go_on_from(first);
            self.kick_touched();
        }
    }

    /// Starts the commands linked from `first`, which have waited for the table.
    fn go_on_from(&mut self, first: u32) {
        let mut slot = first;
        while slot != NONE {
            let command = &mut self.flash.commands[slot];
            command.ledger.map_ns += self.now_ns - command.since_ns;
            command.since_ns = self.now_ns;
            let (page, next) = (command.logical, command.next);
            let changes = self.changes_map(slot);
            let known = self.is_in_ram(slot);
            self.start(slot);
            slot = next;
            if !known {
                self.add_entry(page, changes);
            }
        }
    }

    /// Adds an entry to those in RAM, and writes back what gives way to it.
    fn add_entry(&mut self, page: Lpn, changes: bool) {
        if let Table::Demand(demand) = &mut self.table
            && let Some(WriteBack { page, first, count }) = demand.insert(page, changes)
        {
            if self.read_only {
                return;
            }
            self.tally.map_write_backs += 1;
            if !demand.programs() {
                let sectors = demand.sectors_to_load(page);
                return self.read_map(page, sectors);
            }
            let new = Command::new(Work::MapProgram, Ppn(0), self.now_ns);
            let slot = self.flash.commands.insert(new);
            let command = &mut self.flash.commands[slot];
            command.logical = page;
            command.span = (first, count);
            command.sectors = count;
            S::write(self, slot);
        }
    }

    /// A mapping page is programmed.
    pub(super) fn map_written(&mut self, slot: u32) {
        let Command { logical, page, .. } = self.flash.commands[slot];
        self.flash.commands.remove(slot);
        if let Table::Demand(demand) = &mut self.table {
            demand.written_back(logical);
        }
        S::written(self, page);
    }

    /// Collection has moved what is now in `page`: an entry in RAM changes with it.
    pub(super) fn moved(&mut self, page: Ppn) {
        if let Table::Demand(demand) = &mut self.table
            && let Some(logical) = self.ftl.was_given(page)
        {
            demand.note_change(logical);
        }
    }
}
