//! The end of a drive's life. Blocks that were erased as often as they are made for are
//! retired; when the rest cannot take a write, the drive becomes read-only for good: writes and
//! discards fail, those that wait too, and reads go on.
//!
//! What had its place before is still programmed, so that a page always holds what it held or
//! what was written. Data in the write buffer that found no place stay there and are read from
//! there; as they are not in flash, flushes and forced writes that wait for them fail.

use super::{Drive, Scheme};
use crate::flash::command::Work;
use ssdscope_io::{Op, Outcome};

/// What a host is told of a drive that can only be read: the error number of Linux.
pub(super) const EROFS: i32 = 30;

impl<S: Scheme> Drive<S> {
    /// Whether it can only be read any more.
    #[inline]
    pub(super) const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Refuses what would write, if it can only be read; says whether it did.
    pub(super) fn refuse(&mut self, slot: u32) -> bool {
        let refused = self.read_only
            && match self.front.requests[slot].op {
                Op::Read => false,
                Op::Write | Op::Discard | Op::WriteZeroes => true,
                Op::Flush => self.holds_what_has_no_place(),
            };
        if refused {
            self.fail(slot);
        }
        refused
    }

    /// Sends the answer of a request that cannot be served.
    pub(super) fn fail(&mut self, slot: u32) {
        self.front.requests[slot].outcome = Outcome::Failed(EROFS);
        self.answer(slot, 0);
    }

    /// No write can find a place any more: from now on the drive can only be read.
    pub(super) fn end_life(&mut self) {
        if self.read_only {
            return;
        }
        self.read_only = true;
        for command in S::give_up(self) {
            self.fail_page(command);
        }
        self.give_up_buffering();
    }

    /// A program that waited finds no place. A mapping page then stays in RAM for good.
    pub(super) fn fail_page(&mut self, command_slot: u32) {
        let command = &mut self.flash.commands[command_slot];
        if command.work == Work::MapProgram {
            self.flash.commands.remove(command_slot);
            return;
        }
        command.ledger.gc_ns += self.now_ns - command.since_ns;
        let request = command.request;
        self.front.requests[request].outcome = Outcome::Failed(EROFS);
        self.end_page(command_slot);
    }
}
