//! Copies and erases that have the array to themselves, worked out in one go.
//!
//! Nothing but the array decides how they go then, so that they need neither commands nor the
//! drive's events: what would happen to the channels and units happens to copies of them, in
//! the same order, and [`Flash::follow`] makes it so when it is over. It holds for an array
//! whose commands go one by one: without multi-plane commands and without a cache register.

use super::Flash;
use super::busy::Doing;
use super::channel::Channel;
use super::command::NONE;
use crate::events::{Event, EventQueue};
use crate::geometry::Ppn;

/// What is to be done: copies are read side by side and programmed in their order, each when
/// those before it have been read; then blocks are erased.
#[derive(Debug)]
pub struct Errand {
    /// Pages to read, those of one copy together.
    pub reads: Vec<Ppn>,
    /// By page read: where it goes.
    pub programs: Vec<Ppn>,
    /// Pages of a copy.
    pub members: u32,
    /// A page of each block to erase; of one at least.
    pub erases: Vec<Ppn>,
    /// The unit that has just ended something, and looks for more when all is queued.
    pub after: Option<u32>,
}

/// How it comes to pass.
#[derive(Clone, Debug)]
pub struct Course {
    /// When the last erase ends.
    pub end_ns: u64,
    /// The unit on which it does.
    pub last_unit: u32,
    /// The channels as they are then.
    channels: Vec<Channel>,
    /// By unit.
    busy_ns: Vec<u64>,
    pages: u64,
    commands: u64,
}

impl Flash {
    /// Whether what begins now has the array to itself, and it is one to look ahead on.
    #[must_use]
    pub fn is_alone(&self, now_ns: u64) -> bool {
        let scheduler = &self.scheduler;
        let one_by_one = self.spots.none() && !scheduler.cached_read && !scheduler.cached_program;
        one_by_one
            && self.channels.iter().all(|channel| channel.is_quiet(now_ns))
            && self.units.iter().all(super::unit::Unit::is_quiet)
    }

    /// Works an errand out that begins now; nothing if something is left over at its end.
    #[must_use]
    pub fn foresee(&self, errand: &Errand, now_ns: u64) -> Option<Course> {
        Run::new(self, errand, now_ns).finish()
    }

    /// An errand has gone as it was foreseen.
    pub fn follow(&mut self, course: Course) {
        for (unit, busy_ns) in self.units.iter_mut().zip(course.busy_ns) {
            if busy_ns > 0 {
                unit.clock.turn(course.end_ns - busy_ns, Doing::Gc);
                unit.clock.turn(course.end_ns, Doing::Rest);
            }
        }
        self.channels = course.channels;
        self.pages_read += course.pages;
        self.pages_programmed += course.pages;
        self.arrivals += course.commands;
    }
}

/// A unit at it. Its steps go in the order in which they came, since reads come first of all
/// and erases last.
#[derive(Clone, Debug)]
struct Worker {
    channel: u32,
    bit: u64,
    head: u32,
    tail: u32,
    /// What it works on, or [`NONE`].
    step: u32,
    from_ns: u64,
    busy_ns: u64,
}

/// An errand under way. Its steps are numbered: first the reads, then the programs, then the
/// erases.
struct Run<'a> {
    flash: &'a Flash,
    errand: &'a Errand,
    now_ns: u64,
    events: EventQueue,
    channels: Vec<Channel>,
    workers: Vec<Worker>,
    /// By step: the one behind it on its unit, or [`NONE`].
    next: Vec<u32>,
    /// By copy: pages still to be read.
    unread: Vec<u32>,
    /// Copies whose programs are queued.
    released: u32,
    /// Programs, then erases, that have not ended.
    left: usize,
    touched: Vec<u32>,
}

impl<'a> Run<'a> {
    fn new(flash: &'a Flash, errand: &'a Errand, now_ns: u64) -> Self {
        let reads = errand.reads.len();
        let worker = |unit: u32| Worker {
            channel: flash.channel_of(unit),
            bit: 1 << (unit % flash.units_per_channel),
            head: NONE,
            tail: NONE,
            step: NONE,
            from_ns: 0,
            busy_ns: 0,
        };
        Self {
            flash,
            errand,
            now_ns,
            events: EventQueue::default(),
            channels: flash.channels.clone(),
            workers: (0..flash.units.len() as u32).map(worker).collect(),
            next: vec![NONE; 2 * reads + errand.erases.len()],
            unread: vec![errand.members; reads / errand.members as usize],
            released: 0,
            left: reads,
            touched: Vec::new(),
        }
    }

    fn finish(mut self) -> Option<Course> {
        self.queue(0..self.errand.reads.len() as u32);
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
                    self.channels[channel as usize].will_wake = false;
                    self.kick(channel);
                }
                _ => {}
            }
        };
        let nothing_left = self.events.next_time_ns() == u64::MAX;
        nothing_left.then(|| Course {
            end_ns: self.now_ns,
            last_unit,
            channels: self.channels,
            busy_ns: self.workers.iter().map(|worker| worker.busy_ns).collect(),
            pages: self.errand.reads.len() as u64,
            commands: self.next.len() as u64,
        })
    }

    /// Lets steps wait for their units; [`Run::kick_touched`] then serves the channels.
    fn queue(&mut self, steps: std::ops::Range<u32>) {
        for step in steps {
            let plane = self.flash.geometry.plane_of(self.page(step).1);
            let worker = &mut self.workers[self.flash.unit_of(plane) as usize];
            if worker.head == NONE {
                worker.head = step;
            } else {
                self.next[worker.tail as usize] = step;
            }
            worker.tail = step;
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

    fn kick_touched(&mut self) {
        while let Some(channel) = self.touched.pop() {
            self.kick(channel);
        }
    }

    /// See [`Flash::kick`].
    fn kick(&mut self, index: u32) {
        let channel = &mut self.channels[index as usize];
        if channel.free_at_ns <= self.now_ns {
            if let Some(unit) = channel.ready.pop_front() {
                let until_ns = self.now_ns + self.flash.times.page_ns();
                channel.occupy(self.now_ns, until_ns);
                channel.will_wake = true;
                self.events.schedule(until_ns, Event::DataOut(unit));
                return;
            }
            if channel.waiting != 0 {
                let turn = channel.next_waiting(self.flash.units_per_channel);
                self.issue(index * self.flash.units_per_channel + turn);
            }
        }
        let channel = &mut self.channels[index as usize];
        if channel.has_work() && !channel.will_wake {
            channel.will_wake = true;
            self.events.schedule(channel.free_at_ns, Event::ChannelFree(index));
        }
    }

    /// See [`Flash::go_on`].
    fn go_on(&mut self, unit: u32) {
        let Worker { channel: index, bit, .. } = self.workers[unit as usize];
        let channel = &mut self.channels[index as usize];
        let is_free = channel.free_at_ns <= self.now_ns && channel.ready.is_empty();
        if is_free && channel.waiting & bit != 0 {
            channel.waiting &= !bit;
            self.issue(unit);
        }
        self.kick(index);
    }

    /// Sends the next step of a unit over its free channel.
    fn issue(&mut self, unit: u32) {
        let step = self.workers[unit as usize].head;
        let (kind, page) = self.page(step);
        let (times, place) = (&self.flash.times, || self.flash.geometry.page_of(page));
        let (sent_ns, array_ns, done) = match kind {
            Kind::Read => (times.read_command_ns, times.read.of(place), Event::ReadDone(unit)),
            Kind::Program => {
                let sent_ns = times.program_command_ns + times.page_ns();
                (sent_ns, times.program.of(place), Event::WriteDone(unit))
            }
            Kind::Erase => (times.erase_command_ns, times.erase_ns, Event::WriteDone(unit)),
        };
        let sent_ns = self.now_ns + sent_ns;
        let worker = &mut self.workers[unit as usize];
        worker.head = self.next[step as usize];
        worker.step = step;
        worker.from_ns = self.now_ns;
        self.channels[worker.channel as usize].occupy(self.now_ns, sent_ns);
        self.events.schedule(sent_ns + array_ns, done);
    }

    /// What a unit read is out: once a copy is read, and those before it, it is programmed.
    fn data_out(&mut self, unit: u32) {
        let Worker { channel, step, .. } = self.workers[unit as usize];
        self.channels[channel as usize].will_wake = false;
        self.rest(unit);
        let members = self.errand.members;
        let unread = &mut self.unread[(step / members) as usize];
        *unread -= 1;
        if *unread == 0 {
            let count = self.errand.reads.len() as u32;
            while self.unread.get(self.released as usize) == Some(&0) {
                let first = count + self.released * members;
                self.queue(first..first + members);
                self.released += 1;
            }
            self.kick_touched();
        }
        self.kick(channel);
    }

    /// A unit has programmed or erased: says whether that was the last.
    fn write_done(&mut self, unit: u32) -> bool {
        let programs = 2 * self.errand.reads.len() as u32;
        let erased = self.workers[unit as usize].step >= programs;
        self.rest(unit);
        self.left -= 1;
        if self.left == 0 && !erased {
            self.left = self.errand.erases.len();
            self.queue(programs..self.next.len() as u32);
            self.kick_touched();
        }
        self.left == 0
    }

    /// A unit has nothing more to do for what it had taken up.
    fn rest(&mut self, unit: u32) {
        let worker = &mut self.workers[unit as usize];
        worker.step = NONE;
        worker.busy_ns += self.now_ns - worker.from_ns;
        if worker.head != NONE {
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
