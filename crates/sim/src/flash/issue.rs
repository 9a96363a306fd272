//! Issuing: which waiting command a unit takes up, and with which companions.

use super::Flash;
use super::busy::Doing;
use super::command::{Command, ERASES, HOST, MOVES, NONE, QUEUES, Work};
use super::exclusive::ALONE;
use super::unit::Takes;
use crate::events::{Event, EventQueue};

/// How many waiting commands are looked through for companions on other planes.
pub(super) const COMPANION_SCAN: usize = 64;

impl Flash {
    /// Sends the next command that a unit can take up over its free channel; returns when it
    /// is sent.
    pub(super) fn issue(
        &mut self,
        channel_index: u32,
        unit_index: u32,
        now_ns: u64,
        events: &mut EventQueue,
    ) -> u64 {
        let unit = &mut self.units[unit_index as usize];
        let queue = if unit.suspension.first != NONE {
            Work::HostRead.queue()
        } else if unit.occupied.is_power_of_two() {
            unit.occupied.trailing_zeros() as usize
        } else {
            self.next_queue(unit_index)
        };
        let unit = &mut self.units[unit_index as usize];
        let first = unit.queues[queue].head;
        let command = &mut self.commands[first];
        let (work, spot) = (command.work, command.spot);
        unit.take_out(queue, NONE, first, std::mem::replace(&mut command.next, NONE));
        self.spots.leave(spot);
        // Whatever could go with it waits for the same unit.
        let alone = spot == NONE || unit.queued == 0;
        let planes = if alone { 1 } else { self.add_companions(unit_index, queue, first) };
        let sent_ns = now_ns + self.channel_time(first, work, planes);
        let worked = self.units[unit_index as usize].clock.so_far(now_ns);
        self.each(first, |command| command.issued(now_ns, worked, sent_ns));
        self.channels[channel_index as usize].occupy(now_ns, sent_ns);
        let unit = &mut self.units[unit_index as usize];
        if unit.active == NONE {
            self.start_array(unit_index, first, sent_ns, now_ns, events);
        } else {
            unit.loaded = first;
            unit.takes = Takes::Nothing;
        }
        sent_ns
    }

    /// The array of a unit works on the commands linked from `first`, from `from_ns` on.
    #[expect(clippy::inline_always, reason = "the one frequent call of several")]
    #[inline(always)]
    pub(super) fn start_array(
        &mut self,
        unit_index: u32,
        first: u32,
        from_ns: u64,
        now_ns: u64,
        events: &mut EventQueue,
    ) {
        let Command { work, .. } = self.commands[first];
        let until_ns = from_ns + self.array_time(first);
        let unit = &mut self.units[unit_index as usize];
        unit.active = first;
        unit.takes = Takes::Nothing;
        unit.array_from_ns = from_ns;
        unit.array_until_ns = until_ns;
        unit.clock.turn(now_ns, if work.is_gc() { Doing::Gc } else { Doing::Host });
        unit.suspension.pass();
        if work.is_read() {
            events.schedule(until_ns, Event::ReadDone(unit_index));
        } else {
            events.schedule(until_ns, Event::WriteDone(unit_index));
        }
        if self.scheduler.cached_program {
            self.may_load(unit_index);
        }
    }

    /// Time on the channel before the array starts; counts the pages.
    #[inline]
    fn channel_time(&mut self, first: u32, work: Work, planes: u32) -> u64 {
        let extra = u64::from(planes - 1);
        self.multi_plane_commands += u64::from(planes > 1);
        let times = &self.times;
        match work {
            Work::Erase => times.erase_command_ns,
            // Both commands go out together, and no data between them.
            Work::GcCopy => {
                self.pages_read += u64::from(planes);
                self.pages_programmed += u64::from(planes);
                let extra_ns = times.read_extra_plane_ns + times.program_extra_plane_ns;
                times.read_command_ns + times.program_command_ns + extra * extra_ns
            }
            _ if work.is_read() => {
                self.pages_read += u64::from(planes);
                times.read_command_ns + extra * times.read_extra_plane_ns
            }
            _ => {
                self.pages_programmed += u64::from(planes);
                let mut data_ns = 0;
                let mut slot = first;
                while slot != NONE {
                    data_ns += times.transfer_ns[self.commands[slot].sectors as usize];
                    slot = self.commands[slot].next;
                }
                times.program_command_ns + extra * times.program_extra_plane_ns + data_ns
            }
        }
    }

    /// Time of the array. Planes of one command share the place in the block, and so the type;
    /// of copies, only the place they go to.
    #[expect(clippy::inline_always, reason = "the one frequent call of several")]
    #[inline(always)]
    fn array_time(&self, first: u32) -> u64 {
        let Command { work, page, one_bit, .. } = self.commands[first];
        let place = || self.geometry.page_of(page);
        match work {
            Work::Erase => self.times.erase_ns,
            _ if one_bit && work.is_read() => self.times.one_bit_read_ns,
            _ if one_bit => self.times.one_bit_program_ns,
            Work::GcCopy => self.copy_time(first),
            _ if work.is_read() => self.times.read.of(place),
            _ => self.times.program.of(place),
        }
    }

    /// The longest of the reads, and the program.
    #[cold]
    fn copy_time(&self, first: u32) -> u64 {
        let (mut read_ns, mut slot) = (0, first);
        while slot != NONE {
            let Command { page, next, .. } = self.commands[slot];
            read_ns = read_ns.max(self.times.read.of(|| self.geometry.page_of(page)));
            slot = next;
        }
        let to = self.commands[first].program_to;
        read_ns + self.times.program.of(|| self.geometry.page_of(to))
    }

    /// The queue whose first command goes next.
    #[expect(clippy::inline_always, reason = "the one frequent call of several")]
    #[inline(always)]
    pub(super) fn next_queue(&self, unit_index: u32) -> usize {
        let chosen = if self.collection_yields {
            let hurried = self.units[unit_index as usize].urgent_planes > 0;
            if hurried && self.collects_alone {
                self.first_of(unit_index, ALONE)
            } else if hurried {
                let moves = self.first_of(unit_index, MOVES);
                // An erase may not pass a read that came before it: of what it erases.
                let rest = moves.or_else(|| self.oldest_of(unit_index, &[HOST[0], ERASES]));
                rest.or_else(|| self.first_of(unit_index, HOST))
            } else {
                let host = self.first_of(unit_index, HOST);
                let moves = host.or_else(|| self.first_of(unit_index, MOVES));
                moves.or_else(|| self.first_of(unit_index, &[ERASES]))
            }
        } else {
            self.first_of(unit_index, self.urgency)
        };
        chosen.unwrap_or(0)
    }

    /// The queue among `queues`, given most urgent first, whose first command goes next.
    #[inline]
    fn first_of(&self, unit_index: u32, queues: &[usize]) -> Option<usize> {
        if !self.scheduler.read_first {
            return self.first_to_arrive(unit_index, queues);
        }
        let heads = &self.units[unit_index as usize].queues;
        queues.iter().copied().find(|&queue| heads[queue].head != NONE)
    }

    /// The same in order of arrival, collection that is alone before the host.
    fn first_to_arrive(&self, unit_index: u32, queues: &[usize]) -> Option<usize> {
        if queues != ALONE {
            return self.oldest_of(unit_index, queues);
        }
        let (collection, host) = queues.split_at(QUEUES - HOST.len());
        self.oldest_of(unit_index, collection).or_else(|| self.oldest_of(unit_index, host))
    }

    /// The queue among `queues` whose first command has waited longest.
    fn oldest_of(&self, unit_index: u32, queues: &[usize]) -> Option<usize> {
        let heads = &self.units[unit_index as usize].queues;
        let waiting = queues.iter().copied().filter(|&queue| heads[queue].head != NONE);
        waiting.min_by_key(|&queue| self.commands[heads[queue].head].order)
    }

    /// Links to `first` the commands that one multi-plane command can carry with it:
    /// same kind and die, other planes, same page offset unless it erases; from its own
    /// queue, then from that of the same kind of work for the other party. Returns the
    /// number of planes.
    fn add_companions(&mut self, unit_index: u32, queue: usize, first: u32) -> u32 {
        let Command { spot, one_bit, .. } = self.commands[first];
        let (first_spot, beside) = self.spots.beside(spot);
        if beside == 0 {
            return 1;
        }
        // An erase must not pass a read that arrived before it, of the same block perhaps.
        let erases = queue == Work::Erase.queue();
        let passes_reads = !erases || self.collects_alone;
        let latest = if passes_reads { u64::MAX } else { self.first_read(unit_index) };
        let mut taken = 1_u32 << (spot - first_spot);
        let mut planes = 1;
        let mut last = first;
        // Queues 0 and 1 are reads, 2 and 3 programs; erases have one of their own.
        let sources = [queue, if erases { queue } else { queue ^ 1 }];
        for source in sources {
            let mut before = NONE;
            let mut slot = self.units[unit_index as usize].queues[source].head;
            let mut left = COMPANION_SCAN;
            while slot != NONE && left > 0 && planes <= beside {
                left -= 1;
                let command = &self.commands[slot];
                let next = command.next;
                let plane = command.spot.wrapping_sub(first_spot);
                if plane < self.geometry.planes_per_die
                    && taken & (1 << plane) == 0
                    && command.order < latest
                    && (erases || command.one_bit == one_bit)
                {
                    self.remove(unit_index, source, before, slot);
                    self.commands[slot].next = NONE;
                    self.commands[last].next = slot;
                    last = slot;
                    taken |= 1 << plane;
                    planes += 1;
                } else {
                    before = slot;
                }
                slot = next;
            }
        }
        planes
    }

    /// When the first of the waiting reads arrived, in order of arrival; if none waits, never.
    fn first_read(&self, unit_index: u32) -> u64 {
        let queues = &self.units[unit_index as usize].queues[..2];
        let heads = queues.iter().map(|queue| queue.head).filter(|&head| head != NONE);
        heads.map(|head| self.commands[head].order).min().unwrap_or(u64::MAX)
    }

    /// Takes `slot`, which stands behind `before`, out of a queue.
    pub(super) fn remove(&mut self, unit_index: u32, queue: usize, before: u32, slot: u32) {
        let Command { next, spot, .. } = self.commands[slot];
        self.spots.leave(spot);
        self.units[unit_index as usize].take_out(queue, before, slot, next);
        if before != NONE {
            self.commands[before].next = next;
        }
    }
}
