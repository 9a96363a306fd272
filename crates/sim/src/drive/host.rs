//! Commands in, answers out: the queue, the link, the controller's processor.

use super::{Drive, Scheme};
use crate::flash::command::Ledger;
use ssdscope_io::{Attribution, Cause, Completion, Lba, Nanos, Op, Outcome, Request};
use std::ops::Range;

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The host's.
    Host,
    /// Ours: from the write buffer to flash.
    Store,
    /// Ours: from flash to the read cache, ahead of the host.
    Ahead,
}

/// A request, from submission to answer.
#[derive(Clone, Debug)]
pub(super) struct HostRequest {
    pub id: u64,
    pub queue: u16,
    pub op: Op,
    pub role: Role,
    pub fua: bool,
    pub lba: Lba,
    pub sectors: u32,
    /// Pages, or for a flush earlier writes, still to be waited for.
    pub waits_for: u32,
    /// A write's number, or for a flush that of the last write before it.
    pub write_number: u64,
    pub submitted_ns: u64,
    /// When it had arrived where it is: in the drive, in its firmware, at the answer.
    pub arrived_ns: u64,
    pub attribution: Attribution,
    pub outcome: Outcome,
}

impl HostRequest {
    /// Its sectors.
    pub fn span(&self) -> Range<u64> {
        self.lba.0..self.lba.0 + u64::from(self.sectors)
    }
}

impl<S: Scheme> Drive<S> {
    /// Accepts a request at `now_ns`: into the drive, or behind others before it.
    pub(super) fn take_in(&mut self, now_ns: u64, request: Request) {
        self.work.wake();
        self.wake_buffer();
        // What is discarded reads as zeros, so that is how these drives write them.
        let op = if request.op == Op::WriteZeroes { Op::Discard } else { request.op };
        let slot = self.front.requests.insert(HostRequest {
            id: request.id,
            queue: request.queue.index,
            op,
            role: Role::Host,
            fua: request.fua,
            lba: request.lba + self.phase,
            sectors: request.sectors.0 as u32,
            waits_for: 0,
            write_number: 0,
            submitted_ns: now_ns,
            arrived_ns: 0,
            attribution: Attribution::ZERO,
            outcome: Outcome::Done,
        });
        if self.front.gate.enter(slot, op, request.queue) {
            self.bring_in(slot, now_ns);
        }
    }

    /// A request of our own, which no host sees.
    pub(super) fn own_request(&mut self, role: Role, op: Op, span: Range<u64>) -> u32 {
        self.front.requests.insert(HostRequest {
            id: 0,
            queue: 0,
            op,
            role,
            fua: false,
            lba: Lba(span.start),
            sectors: (span.end - span.start) as u32,
            waits_for: 0,
            write_number: 0,
            submitted_ns: self.now_ns,
            arrived_ns: self.now_ns,
            attribution: Attribution::ZERO,
            outcome: Outcome::Done,
        })
    }

    /// Fetches a command over the link and runs it through the firmware.
    fn bring_in(&mut self, slot: u32, now_ns: u64) {
        let request = &mut self.front.requests[slot];
        let data_bytes = match request.op {
            Op::Write => u64::from(request.sectors) * 512,
            _ => 0,
        };
        let queued_ns = self.front.link.issue(now_ns, slot, request.op, data_bytes);
        request.attribution[Cause::HostQueue] = now_ns - request.submitted_ns + queued_ns;
    }

    /// A command and its data are in the drive: on to the firmware.
    pub(super) fn enter(&mut self, slot: u32) {
        let request = &mut self.front.requests[slot];
        let spent_ns = self.now_ns - request.submitted_ns;
        request.attribution[Cause::Link] = spent_ns - request.attribution[Cause::HostQueue];
        request.arrived_ns = self.now_ns;
        if self.front.processor.is_instant() {
            self.arrive(slot);
        } else {
            self.front.processor.enter(self.now_ns, slot);
        }
    }

    /// The firmware has read a command.
    pub(super) fn arrive(&mut self, slot: u32) {
        let now_ns = self.now_ns;
        let request = &mut self.front.requests[slot];
        request.attribution[Cause::Firmware] = now_ns - request.arrived_ns;
        request.arrived_ns = now_ns;
        if self.refuse(slot) {
            return;
        }
        let request = &self.front.requests[slot];
        let (op, bytes) = (request.op, u64::from(request.sectors) * 512);
        // Writes wait for what may have been foreseen, and so do not change it.
        if matches!(op, Op::Read | Op::Discard) {
            S::interfere(self);
        }
        match op {
            Op::Read => {
                self.tally.host_bytes_read += bytes;
                if self.reads_memory() {
                    self.read_through(slot);
                } else {
                    self.read_pages(slot);
                }
            }
            Op::Write => {
                self.tally.host_bytes_written += bytes;
                if self.is_buffered() {
                    return self.enter_buffer(slot);
                }
                self.writes_seen += 1;
                self.front.requests[slot].write_number = self.writes_seen;
                self.write_pages(slot);
            }
            Op::Discard | Op::WriteZeroes => {
                self.tally.host_bytes_discarded += bytes;
                if self.is_buffered() {
                    return self.enter_buffer(slot);
                }
                self.discard_pages(slot);
                self.answer(slot, 0);
            }
            Op::Flush if self.is_buffered() => self.enter_buffer(slot),
            Op::Flush => self.flush(slot),
        }
    }

    /// A flush ends when every write that arrived before it has: without a write
    /// buffer an ended write is durable.
    fn flush(&mut self, slot: u32) {
        let writes = self.writes_at_work;
        self.front.requests[slot].write_number = self.writes_seen;
        self.front.requests[slot].waits_for = writes;
        if writes == 0 {
            self.answer(slot, 0);
        } else {
            self.flushes.push(slot);
        }
    }

    /// Sends the answer of a request whose work is done now.
    pub(super) fn answer(&mut self, slot: u32, data_bytes: u64) {
        let request = &mut self.front.requests[slot];
        request.arrived_ns = self.now_ns;
        self.front.link.answer(self.now_ns, slot, request.op, data_bytes);
    }

    /// A write is done, whose last page spent its time so: flushes behind it wait for one
    /// less.
    pub(super) fn write_done(&mut self, write_number: u64, ledger: &Ledger) {
        self.writes_at_work -= 1;
        if self.flushes.is_empty() {
            return;
        }
        // Space is freed before a write is placed: the end of its time is its own.
        let own_ns = ledger.total_ns() - ledger.gc_ns;
        let mut waiting = std::mem::take(&mut self.flushes);
        waiting.retain(|&slot| {
            let flush = &mut self.front.requests[slot];
            if write_number <= flush.write_number {
                flush.waits_for -= 1;
            }
            if flush.waits_for == 0 {
                let waited_ns = self.now_ns - flush.arrived_ns;
                let upkeep_ns = waited_ns.saturating_sub(own_ns).min(ledger.gc_ns);
                flush.attribution[S::UPKEEP] += upkeep_ns;
                flush.attribution[Cause::DieWait] += waited_ns - upkeep_ns;
                self.answer(slot, 0);
                return false;
            }
            true
        });
        self.flushes = waiting;
    }

    /// The host sees an answer; its place in the drive goes to the next in the queue.
    pub(super) fn deliver(&mut self, slot: u32) -> Completion {
        let request = &mut self.front.requests[slot];
        request.attribution[Cause::Link] += self.now_ns - request.arrived_ns;
        let completion = Completion {
            id: request.id,
            submitted: Nanos(request.submitted_ns),
            completed: Nanos(self.now_ns),
            outcome: request.outcome,
            attribution: request.attribution,
        };
        debug_assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
        self.front.gate.leave(request.queue);
        self.front.requests.remove(slot);
        while let Some(next) = self.front.gate.admit() {
            self.bring_in(next, self.now_ns);
        }
        if self.front.gate.inside() == 0 {
            S::fall_quiet(self);
            self.buffer_falls_quiet();
        }
        completion
    }
}
