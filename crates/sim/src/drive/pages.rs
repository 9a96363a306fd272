//! A request's pages become flash commands, and the end of the last one its end,
//! however the drive maps.

use super::host::Role;
use super::{Drive, Scheme};
use crate::cache::Spans;
use crate::flash::command::{Command, NONE, Work};
use crate::ftl::Translation;
use crate::geometry::{Lpn, Ppn};
use crate::mapping::Table;
use ssdscope_io::{Op, Outcome};
use std::ops::Range;

/// The part of one logical page that a request covers.
#[derive(Clone, Copy, Debug)]
struct Part {
    page: Lpn,
    first: u32,
    count: u32,
}

/// Of a span of sectors, the part in its first page.
const fn first_part(span: &Range<u64>, sectors_per_page: u32) -> Part {
    let per_page = sectors_per_page as u64;
    let page = span.start / per_page;
    let first = (span.start - page * per_page) as u32;
    let (room, left) = (sectors_per_page - first, span.end - span.start);
    let count = if left < room as u64 { left as u32 } else { room };
    Part { page: Lpn(page as u32), first, count }
}

impl<S: Scheme> Drive<S> {
    pub(super) fn read_pages(&mut self, slot: u32) {
        let span = self.front.requests[slot].span();
        self.start_pages(slot, Work::HostRead, span);
        self.kick_touched();
    }

    pub(super) fn write_pages(&mut self, slot: u32) {
        self.writes_at_work += 1;
        let span = self.front.requests[slot].span();
        self.start_pages(slot, Work::HostProgram, span);
        self.kick_touched();
    }

    /// Makes a command of every page of spans of a request and starts it. The caller
    /// serves the channels.
    pub(super) fn start_spans(&mut self, slot: u32, work: Work, spans: &Spans) {
        spans.iter().for_each(|span| self.expect_pages(slot, span));
        spans.iter().for_each(|span| self.start_expected(slot, work, span.clone()));
    }

    /// Makes a command of every page of a span of a request and starts it, likewise.
    fn start_pages(&mut self, slot: u32, work: Work, span: Range<u64>) {
        self.expect_pages(slot, &span);
        self.start_expected(slot, work, span);
    }

    /// Lets a request wait for the pages of a span. For all that it waits for before any starts: a
    /// page may end at once.
    #[inline]
    fn expect_pages(&mut self, slot: u32, span: &Range<u64>) {
        let per_page = u64::from(self.ftl.geometry().sectors_per_page);
        let pages = span.end.div_ceil(per_page) - span.start / per_page;
        self.front.requests[slot].waits_for += pages as u32;
    }

    fn start_expected(&mut self, slot: u32, work: Work, span: Range<u64>) {
        let per_page = self.ftl.geometry().sectors_per_page;
        let mut left = span;
        while !left.is_empty() {
            if work == Work::HostProgram {
                left.start += self.start_run(slot, &left);
                if left.is_empty() {
                    return;
                }
            }
            let part = first_part(&left, per_page);
            left.start += u64::from(part.count);
            let command = self.command_for(slot, work, part, Ppn(0));
            let page = self.flash.commands.insert(command);
            self.look_up(page);
        }
    }

    /// Starts the whole pages that a span of a write begins with in one go, as far as that goes;
    /// says how many sectors.
    #[inline]
    fn start_run(&mut self, slot: u32, span: &Range<u64>) -> u64 {
        let per_page = u64::from(self.ftl.geometry().sectors_per_page);
        let (first, count) = (span.start / per_page, (span.end - span.start) / per_page);
        let begins_whole = count > 0 && first * per_page == span.start;
        if !begins_whole || !matches!(self.table, Table::Ram) || self.is_read_only() {
            return 0;
        }
        per_page * u64::from(S::write_run(self, slot, Lpn(first as u32), count as u32))
    }

    /// A command on a part of a request, in a page.
    #[inline]
    fn command_for(&self, slot: u32, work: Work, part: Part, page: Ppn) -> Command {
        let mut command = Command::new(work, page, self.now_ns);
        command.request = slot;
        command.logical = part.page;
        command.span = (part.first, part.count);
        command.sectors = part.count;
        command
    }

    /// Lets the program of a whole page of a request, which was given a place, wait for its unit.
    #[inline]
    pub(super) fn program(&mut self, request: u32, page: Lpn, place: Ppn) {
        let part = Part { page, first: 0, count: self.ftl.geometry().sectors_per_page };
        #[cfg(test)]
        self.shadow.write(page, place);
        self.enqueue(self.command_for(request, Work::HostProgram, part, place));
    }

    /// Finds a host command its place and lets it wait for its unit, or a program for
    /// a free block.
    #[expect(clippy::inline_always, reason = "on the way of every page")]
    #[inline(always)]
    pub(super) fn start(&mut self, slot: u32) {
        if self.flash.commands[slot].work != Work::HostProgram {
            self.read(slot);
        } else if self.is_read_only() {
            self.fail_page(slot);
        } else {
            S::write(self, slot);
        }
    }

    #[expect(clippy::inline_always, reason = "on the way of every page")]
    #[inline(always)]
    pub(super) fn read(&mut self, slot: u32) {
        let Command { logical, work, .. } = self.flash.commands[slot];
        let written = self.ftl.lookup(logical).or_else(|| match work {
            Work::MapRead => Some(self.blank_map_page(logical)),
            Work::HostRead if self.work.places_reads() => S::place_read(self, slot),
            _ => None,
        });
        match written {
            Some(page) => {
                self.flash.commands[slot].page = page;
                self.wait_for_unit(slot);
            }
            None => self.answer_from_map(slot),
        }
    }

    /// Ends the read of a page that was never written, or discarded: the map says so, and no flash
    /// is read.
    #[cold]
    fn answer_from_map(&mut self, slot: u32) {
        if let Some(ahead) = self.end_page(slot) {
            self.ahead_fetched(ahead);
        }
    }

    /// Where a page of the map is read that was never programmed: any place will do.
    #[cold]
    fn blank_map_page(&mut self, page: Lpn) -> Ppn {
        let place = self.ftl.blank_map_page(page);
        #[cfg(test)]
        self.shadow.read_unwritten(place, page);
        place
    }

    /// Turns a placed program into the read of the old page that must come before it.
    /// In the same plane the chip keeps what was read in its register and only the
    /// host's sectors are sent; in another plane the whole page is.
    pub(super) fn read_before(&mut self, slot: u32, old: Ppn, kept_sectors: u32) {
        let layout = self.ftl.layout();
        let command = &mut self.flash.commands[slot];
        command.work = Work::RmwRead;
        command.sectors = kept_sectors;
        // Of a unit of several pages each member counts for itself.
        if layout.shape().pages == 1 {
            self.tally.rmw_reads += 1;
            let plane = |unit| layout.array().plane_of(layout.first_page(unit));
            if plane(old) != plane(command.page) {
                command.span.1 += kept_sectors;
            }
        }
        command.program_to = command.page;
        command.page = old;
        self.wait_for_unit(slot);
    }

    /// The old page is read: on to the program.
    fn program_after_read(&mut self, slot: u32) {
        let shape = *self.ftl.geometry();
        let command = &mut self.flash.commands[slot];
        let own = command.logical.0 >= self.ftl.exported_pages();
        command.work = if own { Work::MapProgram } else { Work::HostProgram };
        std::mem::swap(&mut command.page, &mut command.program_to);
        command.sectors = command.span.1.min(shape.sectors_per_page);
        self.wait_for_unit(slot);
        self.kick_touched();
    }

    pub(super) fn discard_pages(&mut self, slot: u32) {
        let whole = self.ftl.geometry().sectors_per_page;
        let (lba, end) = {
            let request = &self.front.requests[slot];
            (request.lba.0, request.lba.0 + u64::from(request.sectors))
        };
        if self.work.looks_ahead() {
            S::not_alone(self);
        }
        self.forget_cached(&(lba..end));
        #[cfg(test)]
        self.shadow
            .host
            .discard(lba.next_multiple_of(whole.into())..end / u64::from(whole) * u64::from(whole));
        let pages = lba.div_ceil(u64::from(whole)) as u32..(end / u64::from(whole)) as u32;
        #[cfg(test)]
        pages.clone().for_each(|page| self.shadow.discard(Lpn(page)));
        let (table, tally) = (&mut self.table, &mut self.tally);
        self.ftl.discard(pages, |page| {
            tally.pages_freed += 1;
            table.unmapped(page);
        });
        S::discarded(self);
    }

    /// A flash command has ended.
    pub(super) fn end_command(&mut self, slot: u32) {
        if self.flash.commands[slot].member_of != NONE {
            return self.end_member(slot);
        }
        if !self.ftl.layout().is_plain() {
            self.back_to_unit(slot);
        }
        #[cfg(test)]
        self.shadow.end(&self.flash.commands[slot], self.ftl.geometry());
        match self.flash.commands[slot].work {
            Work::HostRead | Work::AheadRead => {
                if let Some(ahead) = self.end_page(slot) {
                    self.ahead_fetched(ahead);
                }
            }
            Work::RmwRead => self.program_after_read(slot),
            Work::HostProgram => {
                let page = self.flash.commands[slot].page;
                let stored = self.end_page(slot);
                S::written(self, page);
                if let Some(piece) = stored {
                    self.piece_stored(piece);
                }
            }
            Work::GcRead | Work::GcProgram | Work::GcCopy | Work::Erase => {
                S::end_upkeep(self, slot);
            }
            Work::MapRead => self.map_read(slot),
            Work::MapProgram => self.map_written(slot),
        }
    }

    /// One page of a request is done; with the last one, the request. Returns it if it
    /// was not the host's.
    pub(super) fn end_page(&mut self, command_slot: u32) -> Option<u32> {
        let (slot, ledger) = {
            let command = &self.flash.commands[command_slot];
            (command.request, command.ledger)
        };
        self.flash.commands.remove(command_slot);
        let request = &mut self.front.requests[slot];
        request.waits_for -= 1;
        if request.waits_for > 0 {
            return None;
        }
        // The chain of waits and work that ends here is that of the last page.
        ledger.add_to(&mut request.attribution, S::UPKEEP);
        if request.role != Role::Host {
            // What found no place stays in the buffer.
            return (request.outcome == Outcome::Done).then_some(slot);
        }
        let (op, bytes, number) =
            (request.op, u64::from(request.sectors) * 512, request.write_number);
        if op == Op::Read {
            if self.cache.is_some() {
                self.host_fetched(slot);
            }
            self.answer(slot, bytes);
        } else {
            self.write_ended(slot);
            self.answer(slot, 0);
            self.write_done(number, &ledger);
        }
        None
    }

    pub(super) fn enqueue(&mut self, command: Command) {
        let slot = self.flash.commands.insert(command);
        self.wait_for_unit(slot);
    }

    /// Lets a command wait for its unit, or its members for theirs;
    /// [`Drive::kick_touched`] then serves the channels.
    #[expect(clippy::inline_always, reason = "on the way of every page")]
    #[inline(always)]
    pub(super) fn wait_for_unit(&mut self, slot: u32) {
        let collects_alone = self.flash.collects_alone();
        let command = &mut self.flash.commands[slot];
        let Command { work, page, .. } = *command;
        command.one_bit = self.ftl.is_one_bit(page);
        if collects_alone {
            command.with_collection =
                work.queue() == 0 && (work == Work::MapRead || self.ftl.is_being_collected(page));
        }
        if self.ftl.layout().is_plain() {
            self.queue(slot);
        } else {
            self.fan_out(slot);
        }
    }

    /// Lets a command on a physical page wait.
    pub(super) fn queue(&mut self, slot: u32) {
        if self.work.looks_ahead() {
            S::not_alone(self);
        }
        let channel = self.flash.enqueue(slot, self.now_ns);
        if self.flash.has_suspension() {
            self.flash.suspend_for(slot, self.now_ns, &mut self.events);
        }
        if self.touched.last() != Some(&channel) {
            self.touched.push(channel);
        }
    }

    /// Serves the channels that commands were just queued for.
    pub(super) fn kick_touched(&mut self) {
        while let Some(channel) = self.touched.pop() {
            self.flash.kick(channel, self.now_ns, &mut self.events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_cut_at_page_edges() {
        let cut = [14..34, 16..34, 32..34].map(|span| {
            let part = first_part(&span, 16);
            (part.page.0, part.first, part.count)
        });
        assert_eq!(cut, [(0, 14, 2), (1, 0, 16), (2, 0, 2)]);
    }
}
