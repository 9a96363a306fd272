//! The mapping table in time: a page of the host goes on when its part of the table is in
//! RAM, and waits until that is loaded otherwise.

use super::{Drive, Scheme};
use crate::events::Event;
use crate::flash::command::{Command, NONE, Work};
use crate::mapping::Table;

impl<S: Scheme> Drive<S> {
    /// Starts a page command of the host, at once or when its part of the table is loaded.
    #[inline]
    pub(super) fn look_up(&mut self, command: Command) {
        if matches!(self.table, Table::Ram) || self.is_in_ram(&command) {
            self.start(command);
        } else {
            self.wait_for_map(command);
        }
    }

    /// Uses the part of the table that a command needs, if it is there.
    fn is_in_ram(&mut self, command: &Command) -> bool {
        match &mut self.table {
            Table::Ram => true,
            Table::Zones(zones) => {
                zones.touch(zones.zone_of(command.logical), command.work == Work::HostProgram)
            }
        }
    }

    fn wait_for_map(&mut self, command: Command) {
        let page = command.logical;
        let slot = self.flash.commands.insert(command);
        match &mut self.table {
            Table::Ram => {}
            Table::Zones(zones) => {
                let zone = zones.zone_of(page);
                if zones.waiting.add(zone, slot, &mut self.flash.commands) {
                    zones.ask(zone);
                    self.load_zone();
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
            self.go_on_from(first);
            self.load_zone();
            self.kick_touched();
        }
    }

    /// Starts the commands linked from `first`, which have waited for the table.
    fn go_on_from(&mut self, first: u32) {
        let mut slot = first;
        while slot != NONE {
            let mut command = self.flash.commands[slot].clone();
            self.flash.commands.remove(slot);
            slot = command.next;
            command.ledger.map_ns += self.now_ns - command.since_ns;
            command.since_ns = self.now_ns;
            let found = self.is_in_ram(&command);
            debug_assert!(found, "what was just loaded is there");
            self.start(command);
        }
    }
}
