//! An errand under way, on copies of the channels and units: what [`Flash`] does with commands, with
//! steps that are only numbers.

use super::Errand;
use super::course::Course;
use super::laps::Laps;
use super::pattern::Cast;
use crate::events::{Event, EventQueue};
use crate::flash::Flash;
use crate::flash::channel::Channel;
use crate::flash::command::{NONE, Work};
use crate::flash::issue::COMPANION_SCAN;
use crate::flash::spots::Spots;
use crate::flash::unit::Unit;
use crate::geometry::Ppn;

/// A unit at it. Its steps go in the order in which they came, since reads come first of all
/// and erases last.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    channel: u32,
    bit: u64,
    /// The first of its steps that it has not taken up, or [`NONE`].
    pub head: u32,
    /// What it works on (linked), or [`NONE`].
    pub step: u32,
    pub from_ns: u64,
    pub busy_ns: u64,
}

/// An errand under way. Its steps are numbered: first the reads, then the programs, then the
/// erases.
pub(super) struct Run<'a> {
    pub flash: &'a Flash,
    pub errand: &'a Errand,
    pub now_ns: u64,
    pub events: EventQueue,
    pub channels: Vec<Channel>,
    pub workers: Vec<Worker>,
    /// Where steps wait that could go together.
    pub spots: Spots,
    /// By step; empty where all go alone.
    pub spot_of: Vec<u32>,
    pub multi_plane_commands: u64,
    /// By step: its unit.
    pub unit_of: Vec<u32>,
    /// By step: the one behind it on its unit, or of the same command; or [`NONE`].
    pub next: Vec<u32>,
    /// Steps that wait, or have waited: they come in their order.
    pub queued: u32,
    /// By copy: pages still to be read.
    pub unread: Vec<u32>,
    /// Copies whose programs are queued.
    pub released: u32,
    /// Reads, and programs, that have ended.
    pub ended: u32,
    /// Programs, then erases, that have not ended.
    pub left: usize,
    /// No step from here on was taken up before one that waits before it.
    pub in_order_from: u32,
    /// The furthest step that was looked at since that was last asked.
    pub furthest: u32,
    pub laps: Laps,
    touched: Vec<u32>,
    /// Commands that were sent, and not leapt over.
    sent: u64,
}

impl<'a> Run<'a> {
    /// At its beginning.
    pub fn new(flash: &'a Flash, spots: Spots, errand: &'a Errand, now_ns: u64) -> Self {
        let reads = errand.reads.len();
        let worker = |unit: &Unit| Worker {
            channel: unit.channel,
            bit: unit.bit(),
            head: NONE,
            step: NONE,
            from_ns: 0,
            busy_ns: 0,
        };
        let (unit_of, spot_of) = placed(&spots, flash, errand);
        let mut run = Self {
            flash,
            errand,
            now_ns,
            events: EventQueue::default(),
            channels: flash.channels.clone(),
            workers: flash.units.iter().map(worker).collect(),
            spot_of,
            spots,
            multi_plane_commands: 0,
            unit_of,
            next: vec![NONE; 2 * reads + errand.erases.len()],
            queued: 0,
            unread: vec![errand.members; reads / errand.members as usize],
            released: 0,
            ended: 0,
            left: reads,
            in_order_from: 0,
            furthest: 0,
            laps: Laps::default(),
            touched: Vec::new(),
            sent: 0,
        };
        run.line_up();
        run.laps = Laps::new(&run);
        run
    }

    /// Links the steps of each unit, in the order in which they will wait for it.
    fn line_up(&mut self) {
        for (step, &unit) in self.unit_of.iter().enumerate().rev() {
            let worker = &mut self.workers[unit as usize];
            self.next[step] = worker.head;
            worker.head = step as u32;
        }
    }

    /// Its course for those who take part, the spots as they were, and the commands it took.
    pub fn finish(mut self, cast: &Cast) -> (Option<Course>, Spots, u64) {
        let begun_ns = self.now_ns;
        let last_unit = self.last_unit();
        let course = last_unit.and_then(|unit| self.course(begun_ns, unit, cast));
        (course, self.spots, self.sent)
    }

    fn course(&self, begun_ns: u64, last_unit: u32, cast: &Cast) -> Option<Course> {
        let label = |unit: u32| cast.units.iter().position(|&each| each == unit);
        let served = |&index: &u32| {
            let units = self.flash.units_per_channel;
            label(index * units + self.channels[index as usize].last_served(units))
        };
        let busy_before_ns = |index: usize| self.flash.channels[index].busy_ns();
        let unit_ns = |unit: usize| self.workers[unit].busy_ns;
        let channel_ns = |index: usize| self.channels[index].busy_ns() - busy_before_ns(index);
        Some(Course {
            last_unit: label(last_unit)?,
            served: cast.channels.iter().map(served).collect::<Option<_>>()?,
            spent_ns: cast.spent(self.now_ns - begun_ns, unit_ns, channel_ns),
            pages: self.errand.reads.len() as u64,
            commands: self.next.len() as u64,
            multi_plane_commands: self.multi_plane_commands,
            leaps: self.laps.leaps(self, cast),
        })
    }

    /// Runs to the end, unless something is left over then: on which unit that is.
    pub fn last_unit(&mut self) -> Option<u32> {
        self.queue(self.errand.reads.len() as u32);
        self.kick_touched();
        if let Some(unit) = self.errand.after {
            self.go_on(unit);
        }
        let last_unit = loop {
            self.now_ns = self.events.next_time_ns();
            match self.events.pop_at(self.now_ns)? {
                Event::ReadDone(unit) => {
                    let channel = self.workers[unit as usize].channel;
                    self.channels[channel as usize].ready.push_back(unit);
                    self.kick(channel);
                }
                Event::DataOut(unit) => self.data_out(unit),
                Event::WriteDone(unit) => {
                    if self.write_done(unit) {
                        break unit;
                    }
                    self.go_on(unit);
                }
                Event::ChannelFree(channel) => {
                    let free = &mut self.channels[channel as usize];
                    debug_assert!(free.will_wake, "channel {channel} is woken twice");
                    free.will_wake = false;
                    self.kick(channel);
                }
                _ => {}
            }
            if self.ended >= self.laps.due() {
                self.leap();
            }
        };
        (self.events.next_time_ns() == u64::MAX).then_some(last_unit)
    }

    /// Skips what recurs, if anything does.
    fn leap(&mut self) {
        let mut laps = std::mem::take(&mut self.laps);
        laps.leap(self);
        self.laps = laps;
    }

    /// Lets steps up to `end` wait for their units; [`Run::kick_touched`] then serves the channels.
    fn queue(&mut self, end: u32) {
        let steps = std::mem::replace(&mut self.queued, end) as usize..end as usize;
        for &spot in self.spot_of.get(steps.clone()).unwrap_or_default() {
            self.spots.enter(spot);
        }
        for &unit in &self.unit_of[steps] {
            let worker = &self.workers[unit as usize];
            if worker.step == NONE {
                self.channels[worker.channel as usize].waiting |= worker.bit;
            }
            if self.touched.last() != Some(&worker.channel) {
                self.touched.push(worker.channel);
            }
        }
    }

    /// The kind of a step, and its page.
    #[inline]
    fn page(&self, step: u32) -> (Kind, Ppn) {
        let Errand { reads, programs, erases, .. } = self.errand;
        let (step, count) = (step as usize, reads.len());
        if step < count {
            (Kind::Read, reads[step])
        } else if step < 2 * count {
            (Kind::Program, programs[step - count])
        } else {
            (Kind::Erase, erases[step - 2 * count])
        }
    }

    /// How long the array takes for a step.
    #[inline]
    pub fn array_ns(&self, step: u32) -> u64 {
        let (times, (kind, page)) = (&self.flash.times, self.page(step));
        let place = || self.flash.geometry.page_of(page);
        match kind {
            Kind::Read => times.read.of(place),
            Kind::Program => times.program.of(place),
            Kind::Erase => times.erase_ns,
        }
    }

    fn kick_touched(&mut self) {
        while let Some(index) = self.touched.pop() {
            let channel = &self.channels[index as usize];
            // Most are named again and again, and have nothing to do since the first time.
            if channel.has_work() && (channel.free_at_ns <= self.now_ns || channel.is_unattended())
            {
                self.kick(index);
            }
        }
    }

    /// See [`Flash::kick`].
    fn kick(&mut self, index: u32) {
        let channel = &self.channels[index as usize];
        if channel.free_at_ns <= self.now_ns {
            let units = self.flash.units_per_channel;
            let first = index * units;
            let next = if channel.ready.is_empty() {
                channel.first_in_turn(|_| true)
            } else if self.flash.scheduler.data_first {
                None
            } else {
                channel.first_in_turn(|turn| self.goes_before_data(first + turn))
            };
            let channel = &mut self.channels[index as usize];
            if let Some(turn) = next {
                channel.take_turn(turn, units);
                self.issue(first + turn);
            } else if let Some(unit) = channel.ready.pop_front() {
                self.start_data_out(index, unit);
                return;
            }
        }
        let channel = &mut self.channels[index as usize];
        if channel.has_work() && channel.is_unattended() {
            channel.will_wake = true;
            self.events.schedule(channel.free_at_ns, Event::ChannelFree(index));
        }
    }

    /// See [`Flash::goes_before_data`].
    #[inline]
    fn goes_before_data(&self, unit: u32) -> bool {
        let (head, reads) = (self.workers[unit as usize].head as usize, self.errand.reads.len());
        !self.flash.scheduler.data_first && !(reads..2 * reads).contains(&head)
    }

    /// See [`Flash::go_on`].
    fn go_on(&mut self, unit: u32) {
        let Worker { channel: index, bit, .. } = self.workers[unit as usize];
        let channel = &self.channels[index as usize];
        let is_free = channel.free_at_ns <= self.now_ns && channel.waiting & bit != 0;
        if is_free && (channel.ready.is_empty() || self.goes_before_data(unit)) {
            self.channels[index as usize].waiting &= !bit;
            self.issue(unit);
        }
        self.kick(index);
    }

    /// Sends the next step of a unit over its free channel, with those that can go with it.
    fn issue(&mut self, unit: u32) {
        let first = self.workers[unit as usize].head;
        self.furthest = self.furthest.max(first);
        self.sent += 1;
        let kind = self.page(first).0;
        let planes = u64::from(self.take(unit, first));
        self.multi_plane_commands += u64::from(planes > 1);
        let times = &self.flash.times;
        let (sent_ns, done) = match kind {
            Kind::Read => {
                let sent_ns = times.read_command_ns + (planes - 1) * times.read_extra_plane_ns;
                (sent_ns, Event::ReadDone(unit))
            }
            Kind::Program => {
                let extra_ns = (planes - 1) * times.program_extra_plane_ns;
                let sent_ns = times.program_command_ns + extra_ns + planes * times.page_ns();
                (sent_ns, Event::WriteDone(unit))
            }
            Kind::Erase => (times.erase_command_ns, Event::WriteDone(unit)),
        };
        let (sent_ns, array_ns) = (self.now_ns + sent_ns, self.array_ns(first));
        let worker = &mut self.workers[unit as usize];
        worker.step = first;
        worker.from_ns = self.now_ns;
        self.channels[worker.channel as usize].occupy(self.now_ns, sent_ns);
        self.events.schedule(sent_ns + array_ns, done);
    }

    /// Takes the first step of a unit from its queue, and links to it those that go in the same
    /// command; returns how many they are. See [`Flash::issue`].
    #[inline]
    fn take(&mut self, unit: u32, first: u32) -> u32 {
        let behind = std::mem::replace(&mut self.next[first as usize], NONE);
        self.workers[unit as usize].head = behind;
        match self.spot_of.get(first as usize) {
            Some(&spot) => {
                self.spots.leave(spot);
                let alone = spot == NONE || behind >= self.queued;
                if alone { 1 } else { self.add_companions(unit, first, spot) }
            }
            None => 1,
        }
    }

    fn add_companions(&mut self, unit: u32, first: u32, spot: u32) -> u32 {
        let (first_spot, beside) = self.spots.beside(spot);
        let (mut taken, mut planes, mut last) = (1_u32 << (spot - first_spot), 1, first);
        let (mut before, mut step) = (NONE, self.workers[unit as usize].head);
        for _ in 0..COMPANION_SCAN {
            if step >= self.queued || planes > beside {
                break;
            }
            self.furthest = self.furthest.max(step);
            let next = self.next[step as usize];
            let plane = self.spot_of[step as usize].wrapping_sub(first_spot);
            if plane < self.flash.geometry.planes_per_die && taken & (1 << plane) == 0 {
                self.spots.leave(first_spot + plane);
                let worker = &mut self.workers[unit as usize];
                if before == NONE {
                    worker.head = next;
                } else {
                    self.next[before as usize] = next;
                    self.in_order_from = self.in_order_from.max(step + 1);
                }
                self.next[last as usize] = step;
                self.next[step as usize] = NONE;
                last = step;
                taken |= 1 << plane;
                planes += 1;
            } else {
                before = step;
            }
            step = next;
        }
        planes
    }

    /// Lets what a unit has read go out over its channel.
    fn start_data_out(&mut self, index: u32, unit: u32) {
        let channel = &mut self.channels[index as usize];
        let until_ns = self.now_ns + self.flash.times.page_ns();
        channel.occupy(self.now_ns, until_ns);
        channel.sends_out = true;
        self.events.schedule(until_ns, Event::DataOut(unit));
    }

    /// What a unit read is out: once a copy is read, and those before it, it is programmed.
    fn data_out(&mut self, unit: u32) {
        let Worker { channel, step, .. } = self.workers[unit as usize];
        self.channels[channel as usize].sends_out = false;
        let other_plane = self.next[step as usize];
        if other_plane == NONE {
            self.rest(unit);
        } else {
            self.workers[unit as usize].step = other_plane;
            self.start_data_out(channel, unit);
        }
        self.ended += 1;
        let members = self.errand.members;
        let unread = &mut self.unread[(step / members) as usize];
        *unread -= 1;
        if *unread == 0 {
            while self.unread.get(self.released as usize) == Some(&0) {
                self.released += 1;
            }
            self.queue(self.errand.reads.len() as u32 + self.released * members);
            self.kick_touched();
        }
        self.kick(channel);
    }

    /// A unit has programmed or erased: says whether that was the last.
    fn write_done(&mut self, unit: u32) -> bool {
        let programs = 2 * self.errand.reads.len() as u32;
        let mut step = self.workers[unit as usize].step;
        let erased = step >= programs;
        self.rest(unit);
        while step != NONE && self.left > 0 {
            step = self.next[step as usize];
            self.left -= 1;
            self.ended += u32::from(!erased);
        }
        if self.left == 0 && !erased {
            self.left = self.errand.erases.len();
            self.queue(self.next.len() as u32);
            self.kick_touched();
        }
        self.left == 0
    }

    /// A unit has nothing more to do for what it had taken up.
    fn rest(&mut self, unit: u32) {
        let worker = &mut self.workers[unit as usize];
        worker.step = NONE;
        worker.busy_ns += self.now_ns - worker.from_ns;
        if worker.head < self.queued {
            self.channels[worker.channel as usize].waiting |= worker.bit;
        }
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Read,
    Program,
    Erase,
}

/// The unit of each step, and its spot; no spots where all go alone.
fn placed(spots: &Spots, flash: &Flash, errand: &Errand) -> (Vec<u32>, Vec<u32>) {
    let (geometry, alone) = (&flash.geometry, spots.none());
    let steps = 2 * errand.reads.len() + errand.erases.len();
    let mut unit_of = Vec::with_capacity(steps);
    let mut spot_of = Vec::with_capacity(if alone { 0 } else { steps });
    let kinds = [
        (Work::GcRead, &errand.reads),
        (Work::GcProgram, &errand.programs),
        (Work::Erase, &errand.erases),
    ];
    for (work, pages) in kinds {
        unit_of.extend(pages.iter().map(|&page| flash.unit_of(geometry.plane_of(page))));
        if !alone {
            spots.of_each(work, pages, geometry, &mut spot_of);
        }
    }
    (unit_of, spot_of)
}
