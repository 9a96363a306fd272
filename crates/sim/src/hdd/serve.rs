//! Commands on their way: queue, link, controller, cache or arm, and back.

use super::device::HardDisk;
use ssdscope_io::{Attribution, Cause, Completion, Nanos, Op, Outcome, Request};
use std::ops::Range;

/// A request of the host, from submission to answer.
#[derive(Clone, Debug)]
pub(super) struct Command {
    id: u64,
    pub op: Op,
    fua: bool,
    /// Its sectors.
    pub span: Range<u64>,
    submitted_ns: u64,
    /// When it had arrived where it is.
    pub arrived_ns: u64,
    /// What the arm had spent on the write-back cache by then.
    pub stored_before_ns: u64,
    /// How often the arm chose somebody else.
    pub passed: u32,
    pub attribution: Attribution,
}

impl HardDisk {
    /// Accepts a request at `now_ns`: into the drive, or behind others before it.
    pub(super) fn take_in(&mut self, now_ns: u64, request: &Request) {
        let slot = self.front.requests.insert(Command {
            id: request.id,
            op: request.op,
            fua: request.fua,
            span: request.lba.0..request.lba.0 + request.sectors.0,
            submitted_ns: now_ns,
            arrived_ns: 0,
            stored_before_ns: 0,
            passed: 0,
            attribution: Attribution::ZERO,
        });
        if self.front.gate.enter(slot, request.op, request.queue) {
            self.bring_in(slot, now_ns);
        }
    }

    /// Fetches a command over the link.
    fn bring_in(&mut self, slot: u32, now_ns: u64) {
        let request = &mut self.front.requests[slot];
        let data_bytes = match request.op {
            Op::Write => (request.span.end - request.span.start) * 512,
            _ => 0,
        };
        let queued_ns = self.front.link.issue(now_ns, slot, request.op, data_bytes);
        if request.op == Op::WriteZeroes {
            // From here on it is a write: only its data need not be sent.
            request.op = Op::Write;
        }
        request.attribution[Cause::HostQueue] = now_ns - request.submitted_ns + queued_ns;
    }

    /// A command and its data are in the drive: on to the controller.
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

    /// The controller has read a command.
    pub(super) fn arrive(&mut self, slot: u32) {
        let stored_before_ns = self.stored_ns(self.now_ns);
        let request = &mut self.front.requests[slot];
        request.attribution[Cause::Firmware] = self.now_ns - request.arrived_ns;
        request.arrived_ns = self.now_ns;
        request.stored_before_ns = stored_before_ns;
        match request.op {
            Op::Read => self.read(slot),
            Op::Write => self.write(slot),
            Op::Flush if self.dirty.is_clean() => self.answer(slot, 0),
            Op::Flush => self.flush = Some(slot),
            Op::Discard => unreachable!("refused when it was submitted"),
            Op::WriteZeroes => unreachable!("a write since it came in"),
        }
        self.kick();
    }

    fn read(&mut self, slot: u32) {
        let span = self.front.requests[slot].span.clone();
        let data_bytes = (span.end - span.start) * 512;
        if self.dirty.holds(&span) {
            self.answer(slot, data_bytes);
            return;
        }
        self.catch_up();
        if let Some(held_to) = self.segments.hit(&span) {
            self.stay_ahead(span.end, held_to);
            self.answer(slot, data_bytes);
        } else {
            self.waiting.push(slot);
        }
    }

    fn write(&mut self, slot: u32) {
        let Command { span, fua, .. } = self.front.requests[slot].clone();
        let sectors = span.end - span.start;
        self.catch_up();
        self.segments.forget(&span);
        // What is being read ahead is older than this write.
        self.ahead = self.ahead.filter(|at| at.limit <= span.start || span.end <= at.next);
        if fua || sectors > self.dirty.room {
            self.dirty.cut(&span);
            self.waiting.push(slot);
            // What it replaced need not be written: that makes room too.
            self.room_was_made();
        } else if self.no_room.is_empty() && self.dirty.fits(sectors) {
            self.dirty.put(span);
            self.answer(slot, 0);
        } else {
            self.no_room.push_back(slot);
        }
    }

    /// The write-back cache holds less: those who waited for that go on.
    pub(super) fn room_was_made(&mut self) {
        while let Some(&slot) = self.no_room.front() {
            let span = self.front.requests[slot].span.clone();
            if !self.dirty.fits(span.end - span.start) {
                return;
            }
            self.no_room.pop_front();
            self.dirty.put(span);
            self.end_buffer_wait(slot);
        }
        if self.dirty.is_clean()
            && let Some(slot) = self.flush.take()
        {
            self.end_buffer_wait(slot);
        }
    }

    fn end_buffer_wait(&mut self, slot: u32) {
        let request = &mut self.front.requests[slot];
        request.attribution[Cause::Buffer] += self.now_ns - request.arrived_ns;
        self.answer(slot, 0);
    }

    /// Sends the answer of a command whose work is done now.
    pub(super) fn answer(&mut self, slot: u32, data_bytes: u64) {
        let request = &mut self.front.requests[slot];
        request.arrived_ns = self.now_ns;
        self.front.link.answer(self.now_ns, slot, request.op, data_bytes);
    }

    /// The host sees an answer; the place in the drive goes to the next in the queue.
    pub(super) fn leave(&mut self, slot: u32) -> Completion {
        let request = &mut self.front.requests[slot];
        request.attribution[Cause::Link] += self.now_ns - request.arrived_ns;
        let completion = Completion {
            id: request.id,
            submitted: Nanos(request.submitted_ns),
            completed: Nanos(self.now_ns),
            outcome: Outcome::Done,
            attribution: request.attribution,
        };
        debug_assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
        self.front.requests.remove(slot);
        self.front.gate.leave(0);
        while let Some(next) = self.front.gate.admit() {
            self.bring_in(next, self.now_ns);
        }
        completion
    }
}
