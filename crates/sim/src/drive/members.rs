//! One operation on a mapping unit is a command for each of its pages.
//!
//! The command of the unit stays with the drive and waits; its members go to the array. The
//! one that ends last is the end of the operation, and where its time went is where that of
//! the whole went. A command on a unit of a single page goes to the array itself.

use super::{Drive, Scheme};
use crate::flash::command::{Command, NONE, Work};
use crate::ftl::Translation;
use crate::geometry::Ppn;

impl<S: Scheme> Drive<S> {
    // Apart, so that drives whose unit is a page pay a branch and no more.

    /// Lets the members of a command on a unit wait for theirs.
    #[inline(never)]
    pub(super) fn fan_out(&mut self, slot: u32) {
        let command = &mut self.flash.commands[slot];
        command.unit = command.page;
        match command.work {
            Work::GcCopy => self.copy_whole(slot),
            Work::Erase => self.erase_blocks(slot),
            _ if self.ftl.layout().shape().pages == 1 => {
                command.page = self.ftl.layout().first_page(command.page);
                self.queue(slot);
            }
            Work::HostRead | Work::AheadRead | Work::MapRead => self.read_span(slot),
            Work::RmwRead => self.read_kept(slot),
            Work::HostProgram | Work::MapProgram => self.program_span(slot),
            Work::GcRead | Work::GcProgram => self.move_whole(slot),
        }
    }

    /// A command that went out, itself or as members, is one on its unit again.
    #[inline(never)]
    pub(super) fn back_to_unit(&mut self, slot: u32) {
        let command = &mut self.flash.commands[slot];
        #[cfg(test)]
        if self.ftl.layout().shape().pages == 1
            && !matches!(command.work, Work::GcCopy | Work::Erase)
        {
            self.shadow.end_member(command, self.ftl.layout().array());
        }
        command.page = command.unit;
    }

    /// Reads the members on which sectors of the host lie.
    fn read_span(&mut self, slot: u32) {
        let Command { page, span: (first, count), .. } = self.flash.commands[slot];
        let place = self.ftl.layout().place(page);
        for (member, sectors) in self.ftl.layout().members_of(first, first + count) {
            self.add_member(slot, self.ftl.layout().member(place, member), sectors);
        }
    }

    /// Reads the members on which sectors lie that a small write does not replace.
    fn read_kept(&mut self, slot: u32) {
        let Command { page, span: (first, count), logical, .. } = self.flash.commands[slot];
        let sectors = self.ftl.sectors();
        let mut kept = vec![0; self.ftl.layout().shape().pages as usize];
        for stripe in self.ftl.layout().stripes() {
            let before = sectors.count(logical, stripe.first.min(first), stripe.end.min(first));
            let after = (first + count).clamp(stripe.first, stripe.end);
            kept[stripe.member as usize] += before + sectors.count(logical, after, stripe.end);
        }
        let place = self.ftl.layout().place(page);
        for (member, &sectors) in kept.iter().enumerate() {
            if sectors > 0 {
                self.tally.rmw_reads += 1;
                self.add_member(slot, self.ftl.layout().member(place, member as u32), sectors);
            }
        }
        self.kept.insert(slot, kept);
    }

    /// Programs every member. A chip that read what it keeps has it in its register still;
    /// to another plane it must be sent with what the host sent.
    fn program_span(&mut self, slot: u32) {
        let Command { page, program_to: old, span: (first, count), .. } = self.flash.commands[slot];
        let mut sectors = vec![0; self.ftl.layout().shape().pages as usize];
        for (member, count) in self.ftl.layout().members_of(first, first + count) {
            sectors[member as usize] = count;
        }
        let kept = self.kept.remove(&slot).unwrap_or_default();
        let (place, old) = (self.ftl.layout().place(page), self.ftl.layout().place(old));
        for (number, sent) in sectors.into_iter().enumerate() {
            let (layout, member) = (self.ftl.layout(), number as u32);
            let page = layout.member(place, member);
            let array = layout.array();
            let moved = array.plane_of(page) != array.plane_of(layout.member(old, member));
            let kept = if moved { kept.get(number).copied().unwrap_or(0) } else { 0 };
            self.add_member(slot, page, sent + kept);
        }
    }

    fn move_whole(&mut self, slot: u32) {
        let Command { page, sectors, .. } = self.flash.commands[slot];
        let pages = self.ftl.layout().shape().pages;
        let place = self.ftl.layout().place(page);
        for member in 0..pages {
            self.add_member(slot, self.ftl.layout().member(place, member), sectors / pages);
        }
    }

    fn copy_whole(&mut self, slot: u32) {
        let Command { page, program_to, .. } = self.flash.commands[slot];
        let (from, to) = (self.ftl.layout().place(page), self.ftl.layout().place(program_to));
        for member in 0..self.ftl.layout().shape().pages {
            let layout = self.ftl.layout();
            let (page, program_to) = (layout.member(from, member), layout.member(to, member));
            let mut command = self.member_of(slot, page, 0);
            command.program_to = program_to;
            self.start_member(command);
        }
    }

    fn erase_blocks(&mut self, slot: u32) {
        let blocks: Vec<Ppn> = self.ftl.layout().blocks(self.flash.commands[slot].page).collect();
        for block in blocks {
            self.add_member(slot, block, 0);
        }
    }

    fn add_member(&mut self, slot: u32, page: Ppn, sectors: u32) {
        let command = self.member_of(slot, page, sectors);
        self.start_member(command);
    }

    /// A further member of a command.
    fn member_of(&mut self, slot: u32, page: Ppn, sectors: u32) -> Command {
        let whole = &mut self.flash.commands[slot];
        whole.members += 1;
        let mut command = Command::new(whole.work, page, self.now_ns);
        command.ledger = whole.ledger;
        command.one_bit = whole.one_bit;
        command.with_collection = whole.with_collection;
        command.member_of = slot;
        command.sectors = sectors;
        command
    }

    fn start_member(&mut self, command: Command) {
        let member = self.flash.commands.insert(command);
        self.queue(member);
    }

    /// A member has ended; with the last one, the operation.
    #[inline(never)]
    pub(super) fn end_member(&mut self, slot: u32) {
        #[cfg(test)]
        self.shadow.end_member(&self.flash.commands[slot], self.ftl.layout().array());
        let Command { member_of: whole, ledger, .. } = self.flash.commands[slot];
        self.flash.commands.remove(slot);
        let command = &mut self.flash.commands[whole];
        debug_assert!(command.members > 0 && command.member_of == NONE);
        command.members -= 1;
        if command.members == 0 {
            command.ledger = ledger;
            command.since_ns = self.now_ns;
            self.end_command(whole);
        }
    }
}
