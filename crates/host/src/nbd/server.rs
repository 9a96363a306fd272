//! The loop that serves a drive.
//!
//! One thread does everything: it reads requests, lets the drive's clock follow the wall's,
//! and sends each reply as soon as the drive says that it is done. No reply waits for another
//! thread to wake up, and no lock is held while the drive is simulated. A request goes to the
//! drive when its header is read. Its reply leaves when the drive is done, all data of a write
//! have come, and what must be durable is; replies overtake each other.
//!
//! For the last [`SPIN`] before something is due the loop does not sleep, because a sleeping
//! thread wakes up late.

use super::connection::{Answer, Connection};
use super::error::NbdError;
use super::handshake::Export;
use super::jobs::{Job, Jobs, Owner};
use super::listen::Listener;
use super::pace::Pace;
use super::poll::{Poll, READABLE, Ready, WRITABLE};
use super::protocol::error;
use super::session::{Action, Command, Step};
use super::statistics::{ServeSummary, Statistics, Surroundings};
use super::store::Store;
use super::sync::Syncer;
use crate::sys;
use ssdscope_io::{
    Attribution, ClockKind, Completion, Counters, Device, DeviceKind, Lba, Nanos, Op, Outcome,
    Request, SECTOR_BYTES, Sectors,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::AsRawFd as _;

/// Clients at a time; more are turned away.
pub const CONNECTIONS_MAX: usize = 128;
/// How long a client may negotiate, unless the options say otherwise.
pub const HANDSHAKE: Nanos = Nanos(10_000_000_000);
/// How long before something is due the loop no longer sleeps.
const SPIN: Nanos = Nanos(60_000);
/// How often to look whether to go on, and how long an idle drive's clock may stand.
const LOOK: Nanos = Nanos(50_000_000);
/// How much is read from a client at once.
const INPUT_BYTES: usize = 256 << 10;

const LISTENERS: u64 = 1 << 32;
const SYNCER: u64 = 1 << 33;

/// How to serve.
#[derive(Debug)]
pub struct ServeOptions {
    /// The export's name.
    pub export: String,
    /// What it is, for people.
    pub description: String,
    /// How much slower than the wall the drive lives; positive.
    pub slow_down: f64,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Where the data lie.
    pub store: Store,
    /// Where clients come in.
    pub listeners: Vec<Listener>,
    /// How long a client may negotiate; looked at about every 50 ms.
    pub handshake: Nanos,
}

/// Whoever lets a drive be served.
pub trait ServeObserver {
    /// Asked about every 50 ms.
    fn keep_going(&mut self) -> bool;

    /// Whether the statistics so far are wanted, asked as often.
    fn wants_statistics(&mut self) -> bool {
        false
    }

    /// The statistics so far.
    fn statistics(&mut self, _summary: &ServeSummary) {}
}

/// Whether the data of a device can be served, and where they lie if nobody says.
///
/// # Errors
/// If it is an export of another server, or an array of real drives: the door of a device carries
/// times and no data, and only files and block devices are served with their own.
pub fn default_store(device: &dyn Device, memory_bytes_max: u64) -> Result<Store, NbdError> {
    let info = device.info();
    match (info.kind, info.clock) {
        (DeviceKind::Null, _) => Ok(Store::Nothing),
        (_, ClockKind::Virtual) => Ok(Store::Memory(super::store::Memory::new(memory_bytes_max))),
        (DeviceKind::Nbd, _) => Err(NbdError::NoData("network block device")),
        _ => Err(NbdError::NoData("RAID-0 of real drives")),
    }
}

/// Serves a device until the observer ends it, or it breaks: then the reason stands beside what
/// was seen until then.
///
/// # Errors
/// If the kernel refuses what the loop needs to begin.
pub fn serve(
    device: &mut dyn Device,
    options: ServeOptions,
    observer: &mut dyn ServeObserver,
) -> Result<(ServeSummary, Option<NbdError>), NbdError> {
    let mut server = Server::new(device, options)?;
    let result = server.run(observer);
    server.close_all();
    Ok((server.summarize(), result.err()))
}

struct Server<'a> {
    device: &'a mut dyn Device,
    virtual_clock: bool,
    export: Export,
    pace: Pace,
    store: Store,
    syncer: Option<Syncer>,
    listeners: Vec<Listener>,
    handshake: Nanos,
    poll: Poll,
    connections: Vec<Option<Connection>>,
    clients: u64,
    jobs: Jobs,
    /// Jobs that the drive is done with, by the instant at which that may be known.
    due: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    completions: Vec<Completion>,
    /// Connections with something to send or to go on with.
    busy: Vec<usize>,
    /// When the replies of this round were due.
    leaving: Vec<Nanos>,
    buffer: Vec<u8>,
    statistics: Statistics,
    counters_before: Option<Counters>,
    started: Nanos,
}

impl<'a> Server<'a> {
    fn new(device: &'a mut dyn Device, options: ServeOptions) -> Result<Self, NbdError> {
        let info = device.info();
        let export = Export {
            name: options.export,
            description: options.description,
            capacity_bytes: info.capacity_bytes,
            block_bytes: info.logical_block_bytes as u32,
            read_only: options.read_only || !info.writable,
            discard: info.discard,
        };
        let poll = Poll::new().map_err(NbdError::system("wait for clients"))?;
        for (index, listener) in options.listeners.iter().enumerate() {
            poll.watch(listener.fd(), LISTENERS + index as u64, READABLE, true)
                .map_err(NbdError::system("wait for clients"))?;
        }
        let syncer = options.store.file().map(Syncer::new).transpose();
        let syncer = syncer.map_err(NbdError::system("start a thread"))?;
        if let Some(syncer) = &syncer {
            poll.watch(syncer.fd(), SYNCER, READABLE, true)
                .map_err(NbdError::system("wait for the backing file"))?;
        }
        sys::sharpen_timers();
        let started = sys::monotonic_now();
        Ok(Self {
            virtual_clock: info.clock == ClockKind::Virtual,
            pace: Pace::new(started, device.now(), options.slow_down),
            counters_before: device.counters(),
            device,
            export,
            store: options.store,
            syncer,
            listeners: options.listeners,
            handshake: options.handshake,
            poll,
            connections: (0..CONNECTIONS_MAX).map(|_| None).collect(),
            clients: 0,
            jobs: Jobs::default(),
            due: BinaryHeap::new(),
            completions: Vec::new(),
            busy: Vec::new(),
            leaving: Vec::new(),
            buffer: vec![0; INPUT_BYTES],
            statistics: Statistics::default(),
            started,
        })
    }

    fn run(&mut self, observer: &mut dyn ServeObserver) -> Result<(), NbdError> {
        let mut ready = Vec::new();
        let mut next_look = self.started + LOOK;
        loop {
            let now = sys::monotonic_now();
            if now >= next_look {
                next_look = now + LOOK;
                self.send_away_the_slow(now);
                if !observer.keep_going() {
                    return Ok(());
                }
                if observer.wants_statistics() {
                    observer.statistics(&self.summarize());
                }
            }
            let until = self.next_wake().min(next_look).saturating_sub(now);
            let failed = NbdError::system("wait for clients");
            self.poll.wait(until.saturating_sub(SPIN), &mut ready).map_err(failed)?;
            for event in ready.drain(..) {
                self.handle(event)?;
            }
            self.catch_up()?;
            self.send();
        }
    }

    /// When something is due by itself.
    fn next_wake(&self) -> Nanos {
        let reply = self.due.peek().map_or(Nanos::MAX, |Reverse((due, ..))| *due);
        let drive = match self.device.next_event() {
            Some(event) if self.device.in_flight() > 0 => self.pace.wall_at(event),
            _ => Nanos::MAX,
        };
        let resumed = if self.busy.is_empty() { Nanos::MAX } else { Nanos::ZERO };
        reply.min(drive).min(resumed)
    }

    fn handle(&mut self, event: Ready) -> Result<(), NbdError> {
        if event.key == SYNCER {
            while let Some((job, error)) = self.syncer.as_mut().and_then(Syncer::take) {
                self.came(job, error);
            }
            return Ok(());
        }
        if event.key >= LISTENERS {
            self.accept((event.key - LISTENERS) as usize);
            return Ok(());
        }
        let place = event.key as usize;
        if event.gone && self.connections[place].as_ref().is_some_and(|each| each.leaving) {
            self.close(place);
            return Ok(());
        }
        if event.readable {
            self.receive(place)?;
        }
        if event.writable {
            self.busy.push(place);
        }
        Ok(())
    }

    fn accept(&mut self, listener: usize) {
        while let Ok(socket) = self.listeners[listener].accept() {
            let Some(place) = self.connections.iter().position(Option::is_none) else {
                self.statistics.clients.turned_away += 1;
                continue;
            };
            let watched = self.poll.watch(socket.as_raw_fd(), place as u64, READABLE, true);
            if watched.is_err() {
                continue;
            }
            self.clients += 1;
            let mut connection = Connection::new(socket, self.clients, sys::monotonic_now());
            connection.keeps_served = self.store.is_the_drive();
            connection.watched = READABLE;
            self.connections[place] = Some(connection);
            self.busy.push(place);
            let at_once = self.connections.iter().flatten().count() as u64;
            let clients = &mut self.statistics.clients;
            clients.connections += 1;
            clients.most_at_once = clients.most_at_once.max(at_once);
        }
    }

    fn send_away_the_slow(&mut self, now: Nanos) {
        for place in 0..self.connections.len() {
            let slow = self.connections[place].as_ref().is_some_and(|connection| {
                !connection.is_negotiated() && now.saturating_sub(connection.since) > self.handshake
            });
            if slow {
                self.statistics.clients.timed_out += 1;
                self.close(place);
            }
        }
    }

    /// Reads what a client has sent, and does as it says.
    fn receive(&mut self, place: usize) -> Result<(), NbdError> {
        let Some(mut connection) = self.connections[place].take() else { return Ok(()) };
        if connection.leaving || connection.stalled || !connection.has_room() {
            self.connections[place] = Some(connection);
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let received = connection.receive(&mut buffer);
        let arrival = sys::monotonic_now();
        let result = self.follow_wall(arrival).map(|()| {
            match received {
                Some(len) => self.obey(place, &mut connection, &buffer[..len], arrival),
                None => self.take_no_more(&mut connection),
            };
        });
        self.buffer = buffer;
        self.connections[place] = Some(connection);
        self.busy.push(place);
        result
    }

    /// Takes up again what had to wait until the client had fewer requests in flight.
    fn resume(&mut self, place: usize) -> Result<(), NbdError> {
        let Some(mut connection) = self.connections[place].take() else { return Ok(()) };
        if connection.stalled && connection.has_room() {
            let input = std::mem::take(&mut connection.unused);
            let arrival = sys::monotonic_now();
            self.follow_wall(arrival)?;
            self.obey(place, &mut connection, &input, arrival);
            self.busy.push(place);
        }
        self.connections[place] = Some(connection);
        Ok(())
    }

    /// Goes through a client's messages; keeps what is not whole, or has to wait.
    fn obey(&mut self, place: usize, connection: &mut Connection, input: &[u8], arrival: Nanos) {
        let mut at = 0;
        connection.stalled = false;
        loop {
            if !connection.has_room() {
                connection.stalled = at < input.len();
                break;
            }
            let (used, step) = connection.step(&self.export, &input[at..]);
            let data = &input[at..at + used];
            at += used;
            match step {
                Step::More => break,
                Step::Answered | Step::Begun => {}
                Step::Command(command) => self.begin(place, connection, command, arrival),
                Step::Payload { range, offset_bytes, last } => {
                    self.take_data(connection, &data[range], offset_bytes, last);
                }
                Step::Close => return self.take_no_more(connection),
            }
        }
        connection.unused.extend_from_slice(&input[at..]);
    }

    /// Takes nothing more from a client, which is still sent what it is owed: all replies but that
    /// to a write whose data will not come.
    fn take_no_more(&mut self, connection: &mut Connection) {
        connection.leaving = true;
        if let Some(id) = connection.writing.take() {
            self.jobs.break_off(id);
            connection.in_flight -= 1;
        }
    }

    /// Hands a command to the drive.
    fn begin(
        &mut self,
        place: usize,
        connection: &mut Connection,
        command: Command,
        arrival: Nanos,
    ) {
        let has_data = command.action == Action::Write;
        let durable = self.syncer.is_some() && (command.fua || command.action == Action::Flush);
        let waits = 1 + u8::from(has_data) + u8::from(durable);
        let waits_for_data = if has_data { waits - 1 } else { 0 };
        let owner = Owner { place, client: connection.client };
        let id = self.jobs.add(Job {
            owner,
            command,
            arrival,
            due: arrival,
            error: 0,
            waits,
            waits_for_data,
        });
        connection.in_flight += 1;
        if has_data {
            connection.writing = Some(id);
        }
        let request = request_of(id, &command);
        let now = if self.virtual_clock { self.device.now() } else { Nanos::ZERO };
        if self.device.submit(now, request).is_err() {
            // What the session lets through fits the drive, so this one is the drive's defect.
            self.due.push(Reverse((arrival, id, error::IO)));
        }
        let len = u64::from(command.len_bytes);
        let stored = match command.action {
            Action::Trim | Action::Zero | Action::Fill => {
                self.store.zero(command.offset_bytes, len)
            }
            Action::Read => {
                self.store.expect(command.offset_bytes, len);
                Ok(())
            }
            Action::Write => self.store.admit(command.offset_bytes, len),
            Action::Flush => Ok(()),
        };
        if let (Err(error), Some(job)) = (stored, self.jobs.get(id)) {
            job.error = error;
        }
        if durable && !has_data {
            self.sync(id);
        }
    }

    fn take_data(
        &mut self,
        connection: &mut Connection,
        data: &[u8],
        offset_bytes: u64,
        last: bool,
    ) {
        let Some(id) = connection.writing else { return };
        let Some(job) = self.jobs.get(id) else { return };
        if job.error == 0 {
            job.error = self.store.write(offset_bytes, data).err().unwrap_or(0);
        }
        if !last {
            return;
        }
        connection.writing = None;
        let durable = job.command.fua && self.syncer.is_some();
        job.due = job.due.max(sys::monotonic_now());
        job.waits_for_data = 0;
        if durable {
            self.sync(id);
        }
        if let Some(job) = self.jobs.came(id, 0) {
            self.statistics.failed += u64::from(job.error != 0);
            Self::reply(&mut self.leaving, connection, &job);
        }
    }

    fn sync(&self, id: u64) {
        if let Some(syncer) = &self.syncer {
            syncer.start(id);
        }
    }

    /// Lets the drive's clock show what the wall's says, and notes what completes.
    fn follow_wall(&mut self, now: Nanos) -> Result<(), NbdError> {
        let to = if self.virtual_clock { self.pace.drive_at(now) } else { Nanos::MAX };
        while self.virtual_clock && self.device.now() < to
            || !self.virtual_clock && self.device.in_flight() > 0
        {
            self.device.advance(to, &mut self.completions)?;
        }
        for index in 0..self.completions.len() {
            let completion = self.completions[index];
            let Some(job) = self.jobs.get(completion.id) else { continue };
            let (op, bytes) = (op_of(job.command.action), u64::from(job.command.len_bytes));
            if self.virtual_clock {
                let latency = self.pace.span(completion.latency());
                job.due = job.due.max(job.arrival + latency);
            }
            let error = match completion.outcome {
                Outcome::Done => 0,
                Outcome::Failed(_) => error::IO,
            };
            self.due.push(Reverse((job.due, completion.id, error)));
            if !self.store.is_the_drive() {
                self.statistics.count(op, bytes, &completion);
            }
        }
        self.completions.clear();
        Ok(())
    }

    /// Brings the drive up to now, and answers what is due.
    fn catch_up(&mut self) -> Result<(), NbdError> {
        let now = sys::monotonic_now();
        self.follow_wall(now)?;
        while let Some(&Reverse((due, id, error))) = self.due.peek() {
            if due > now {
                break;
            }
            self.due.pop();
            self.came(id, error);
        }
        Ok(())
    }

    /// One thing that a job waits for has come.
    fn came(&mut self, id: u64, error: u32) {
        let Some(job) = self.jobs.came(id, error) else { return };
        let Owner { place, client } = job.owner;
        // The client may be gone, and its place another's.
        if let Some(connection) = &mut self.connections[place]
            && connection.client == client
        {
            self.statistics.failed += u64::from(job.error != 0);
            Self::reply(&mut self.leaving, connection, &job);
            self.busy.push(place);
        }
    }

    fn reply(leaving: &mut Vec<Nanos>, connection: &mut Connection, job: &Job) {
        connection.in_flight -= 1;
        connection.answer(Answer::to(job, job.error));
        if !connection.keeps_served {
            leaving.push(job.due);
        }
    }

    /// Sends what can be sent, and lets clients that had to wait go on.
    fn send(&mut self) {
        let mut busy = std::mem::take(&mut self.busy);
        busy.sort_unstable();
        busy.dedup();
        for &place in &busy {
            let Some(connection) = &mut self.connections[place] else { continue };
            let gone = connection.send(&self.store).is_err() || connection.is_done();
            Self::count_served(&mut self.statistics, connection);
            if gone {
                self.close(place);
            }
        }
        let now = sys::monotonic_now();
        for due in self.leaving.drain(..) {
            self.statistics.late(now.saturating_sub(due));
        }
        for &place in &busy {
            // A drive that fails fails the round that follows as well, which reports it.
            let _ = self.resume(place);
            self.watch(place);
        }
    }

    /// Counts what was served from the drive itself: from the arrival of a request until its reply,
    /// with all data, was made.
    fn count_served(statistics: &mut Statistics, connection: &mut Connection) {
        let completed = sys::monotonic_now();
        for answer in connection.served.drain(..) {
            let completion = Completion {
                id: answer.cookie,
                submitted: answer.arrival,
                completed,
                outcome: Outcome::Done,
                attribution: Attribution::ZERO,
            };
            statistics.count(op_of(answer.action), u64::from(answer.len_bytes), &completion);
        }
    }

    /// Watches a client for what it may do now.
    fn watch(&mut self, place: usize) {
        let Some(connection) = &mut self.connections[place] else { return };
        let read = !connection.leaving && !connection.stalled && connection.has_room();
        let wanted =
            if read { READABLE } else { 0 } | if connection.wants_to_send() { WRITABLE } else { 0 };
        if wanted != connection.watched {
            connection.watched = wanted;
            // A socket that can no longer be watched is closed when it is used next.
            let _ = self.poll.watch(connection.socket.as_raw_fd(), place as u64, wanted, false);
        }
    }

    fn close(&mut self, place: usize) {
        let Some(connection) = self.connections[place].take() else { return };
        self.statistics.refused += connection.refused();
        if let Some(id) = connection.writing {
            // Nobody waits for it any more, but the drive may still be at it.
            self.jobs.break_off(id);
        }
    }

    fn close_all(&mut self) {
        let open: Vec<Job> = self.jobs.drain().collect();
        for job in open {
            if let Some(connection) = &mut self.connections[job.owner.place]
                && connection.client == job.owner.client
            {
                connection.answer(Answer::to(&job, error::SHUTDOWN));
            }
        }
        for place in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[place] {
                // What the socket has no room for is lost with the server.
                let _ = connection.send(&self.store);
                self.close(place);
            }
        }
    }

    fn summarize(&mut self) -> ServeSummary {
        let open = self.connections.iter().flatten().map(Connection::refused).sum::<u64>();
        let closed = self.statistics.refused;
        let summary = self.statistics.summarize(Surroundings {
            counters: self.device.counters().zip(self.counters_before.as_ref()).map(since),
            attributes: self.device.info().attribution,
            slow_down: self.pace.slow_down(),
            wall_ns: (sys::monotonic_now() - self.started).0,
            stored_bytes: self.store.stored_bytes(),
        });
        ServeSummary { refused_requests: closed + open, ..summary }
    }
}

fn since((after, before): (Counters, &Counters)) -> Counters {
    after.since(before)
}

fn op_of(action: Action) -> Op {
    match action {
        Action::Read => Op::Read,
        Action::Write | Action::Fill => Op::Write,
        Action::Zero => Op::WriteZeroes,
        Action::Flush => Op::Flush,
        Action::Trim => Op::Discard,
    }
}

fn request_of(id: u64, command: &Command) -> Request {
    let lba = Lba(command.offset_bytes / SECTOR_BYTES);
    let sectors = Sectors(u64::from(command.len_bytes) / SECTOR_BYTES);
    let op = op_of(command.action);
    Request { fua: command.fua && op == Op::Write, ..Request::new(id, op, lba, sectors) }
}
