//! A client's session with its socket, and what waits to be sent.
//!
//! A connection is bounded: so many commands in flight, so many bytes to be sent. Data of reads
//! are fetched only when there is room for them, so a client that stops reading costs
//! [`OUT_BYTES`] and nobody's time; its requests are not read any more either.

use super::handshake::Export;
use super::jobs::Job;
use super::listen::Socket;
use super::protocol::{write_data_chunk, write_error_chunk, write_simple_reply};
use super::session::{Action, Command, Session, Step};
use super::store::Store;
use ssdscope_io::Nanos;
use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};

/// Commands in flight of one client; more are not read.
pub(crate) const IN_FLIGHT_MAX: usize = 256;
/// Bytes that wait to be sent, beyond which none are added.
const OUT_BYTES: usize = 256 << 10;

/// A command that was served.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) cookie: u64,
    pub(crate) action: Action,
    pub(crate) error: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u32,
    /// When its header was read.
    pub(crate) arrival: Nanos,
}

impl Answer {
    /// The answer to a job, with an error of the protocol or 0.
    pub(crate) fn to(job: &Job, error: u32) -> Self {
        let Command { cookie, action, offset_bytes, len_bytes, .. } = job.command;
        Self { cookie, action, error, offset_bytes, len_bytes, arrival: job.arrival }
    }
}

pub(crate) struct Connection {
    pub(crate) socket: Socket,
    session: Session,
    /// When it came, on the wall's clock.
    pub(crate) since: Nanos,
    /// Which client it is, of all that ever came.
    pub(crate) client: u64,
    /// Input that was read and not yet used: the head of a message, or what must wait.
    pub(crate) unused: Vec<u8>,
    /// The job whose data come in.
    pub(crate) writing: Option<u64>,
    /// Commands that are being served.
    pub(crate) in_flight: usize,
    /// Whether `unused` may hold whole messages.
    pub(crate) stalled: bool,
    /// Whether nothing more is taken from it: it said so, ended its side, or broke the protocol.
    /// What it is owed is still sent.
    pub(crate) leaving: bool,
    /// What the poll watches it for.
    pub(crate) watched: u32,
    answers: VecDeque<Answer>,
    /// The read whose data are being sent: where the rest of them lies, and how much that is.
    reading: Option<(u64, u32, Answer)>,
    /// Whether answers are kept when they are made, with all their data.
    pub(crate) keeps_served: bool,
    pub(crate) served: Vec<Answer>,
    out: Vec<u8>,
    sent: usize,
}

impl Connection {
    pub(crate) fn new(socket: Socket, client: u64, now: Nanos) -> Self {
        let mut out = Vec::new();
        let session = Session::new(&mut out);
        Self {
            socket,
            session,
            since: now,
            client,
            unused: Vec::new(),
            writing: None,
            in_flight: 0,
            stalled: false,
            leaving: false,
            watched: 0,
            answers: VecDeque::new(),
            reading: None,
            keeps_served: false,
            served: Vec::new(),
            out,
            sent: 0,
        }
    }

    pub(crate) fn is_negotiated(&self) -> bool {
        self.session.is_negotiated()
    }

    pub(crate) fn refused(&self) -> u64 {
        self.session.refused()
    }

    /// Whether it may ask for more.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight + self.answers.len() < IN_FLIGHT_MAX && self.waiting_bytes() < OUT_BYTES
    }

    fn waiting_bytes(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Whether something waits for room in the socket.
    pub(crate) fn wants_to_send(&self) -> bool {
        self.waiting_bytes() > 0 || self.reading.is_some() || !self.answers.is_empty()
    }

    /// Whether it has been given all that it will ever be.
    pub(crate) fn is_done(&self) -> bool {
        self.leaving && self.in_flight == 0 && !self.wants_to_send()
    }

    /// Reads once, behind what is unused. Returns how much of the buffer is filled; `None` if the
    /// client is gone.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let used = self.unused.len();
        buffer[..used].copy_from_slice(&self.unused);
        self.unused.clear();
        match self.socket.read(&mut buffer[used..]) {
            Ok(0) => None,
            Ok(len) => Some(used + len),
            Err(error) if is_for_later(&error) => Some(used),
            Err(_) => None,
        }
    }

    pub(crate) fn step(&mut self, export: &Export, input: &[u8]) -> (usize, Step) {
        self.session.step(export, input, &mut self.out)
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        self.answers.push_back(answer);
    }

    /// Sends what there is room for.
    ///
    /// # Errors
    /// If the client is gone, or data cannot be read in the middle of an answer.
    pub(crate) fn send(&mut self, store: &Store) -> io::Result<()> {
        loop {
            self.fill(store)?;
            if self.waiting_bytes() == 0 {
                self.out.clear();
                self.sent = 0;
                return Ok(());
            }
            match self.socket.write(&self.out[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => self.sent += len,
                Err(error) if is_for_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Turns answers into bytes while there is room.
    fn fill(&mut self, store: &Store) -> io::Result<()> {
        if self.sent > OUT_BYTES / 2 {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
        while self.waiting_bytes() < OUT_BYTES {
            if let Some((offset_bytes, left, answer)) = self.reading {
                let len = (left as usize).min(OUT_BYTES);
                self.fetch(store, offset_bytes, len).map_err(|_| io::ErrorKind::Other)?;
                self.go_on(offset_bytes + len as u64, left - len as u32, answer);
            } else if let Some(answer) = self.answers.pop_front() {
                self.write(answer, store);
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Notes what is left of a read, or that it is served.
    fn go_on(&mut self, offset_bytes: u64, left: u32, answer: Answer) {
        self.reading = (left > 0).then_some((offset_bytes, left, answer));
        if left == 0 && self.keeps_served {
            self.served.push(answer);
        }
    }

    fn fetch(&mut self, store: &Store, offset_bytes: u64, len: usize) -> Result<(), u32> {
        let start = self.out.len();
        self.out.resize(start + len, 0);
        store.read(offset_bytes, &mut self.out[start..])
    }

    /// Writes an answer; of a long read the head and the first data.
    fn write(&mut self, answer: Answer, store: &Store) {
        let Answer { cookie, action, error, offset_bytes, len_bytes, .. } = answer;
        let chunks = self.session.structured();
        if action != Action::Read {
            if self.keeps_served && error == 0 {
                self.served.push(answer);
            }
            return write_simple_reply(&mut self.out, cookie, error);
        }
        let start = self.out.len();
        let refuse = |out: &mut Vec<u8>, error| {
            out.truncate(start);
            if chunks {
                write_error_chunk(out, cookie, error);
            } else {
                write_simple_reply(out, cookie, error);
            }
        };
        if error != 0 {
            return refuse(&mut self.out, error);
        }
        if chunks {
            write_data_chunk(&mut self.out, cookie, offset_bytes, len_bytes);
        } else {
            write_simple_reply(&mut self.out, cookie, 0);
        }
        let len = (len_bytes as usize).min(OUT_BYTES);
        match self.fetch(store, offset_bytes, len) {
            Err(error) => refuse(&mut self.out, error),
            Ok(()) => self.go_on(offset_bytes + len as u64, len_bytes - len as u32, answer),
        }
    }
}

/// Whether a socket only has nothing to read, or no room, right now.
pub(crate) fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
