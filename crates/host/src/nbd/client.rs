//! [`NbdClient`]: a served drive as a [`Device`] on the wall's clock.
//!
//! With a slow-down the device's clock runs that much slower than the wall's, so a drive that
//! is served twenty times slower shows its own times again, and the noise of the machine between
//! is divided by twenty. Rates, pauses and time limits of a workload follow the same clock.
//!
//! A server is not trusted: lengths are checked, replies must answer what is under way, and a
//! silence longer than [`Patience`] allows ends the device with a clear reason.

use super::connection::is_for_later;
use super::error::NbdError;
use super::listen::Socket;
use super::negotiate::{self, Offer};
use super::pace::Pace;
use super::poll;
use super::protocol::{
    SIMPLE_REPLY_BYTES, SIMPLE_REPLY_MAGIC, WireRequest, be32, be64, command, command_flag,
    export_flag,
};
use crate::contents::Contents;
use crate::{payload, sys};
use serde::Serialize;
use ssdscope_io::device::check_request;
use ssdscope_io::shown::Shown;
use ssdscope_io::{
    Attribution, Caches, ClockKind, Completion, Device, DeviceError, DeviceInfo, DeviceKind, Nanos,
    Op, Outcome, Request,
};
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// Requests that the server has at once; more wait here.
const DEPTH_MAX: usize = 1024;
/// Data of all requests that the server has at once.
const FLIGHT_BYTES_MAX: u64 = 64 << 20;
/// How much is read at once.
const INPUT_BYTES: usize = 256 << 10;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbdAddress {
    /// A Unix socket.
    Unix(PathBuf),
    /// A port of 127.0.0.1.
    Loopback(u16),
}

impl std::fmt::Display for NbdAddress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => Shown(path).fmt(out),
            Self::Loopback(port) => write!(out, "127.0.0.1:{port}"),
        }
    }
}

/// How long to wait for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until it has agreed on an export.
    pub negotiation: Nanos,
    /// Until it says something while requests are under way; longer in proportion to a slow-down.
    pub silence: Nanos,
}

impl Default for Patience {
    fn default() -> Self {
        Self { negotiation: Nanos(10_000_000_000), silence: Nanos(30_000_000_000) }
    }
}

/// Which export, and how its times are read.
#[derive(Clone, Debug, PartialEq)]
pub struct NbdTarget {
    /// Where the server listens.
    pub address: NbdAddress,
    /// The export's name.
    pub export: String,
    /// What times are divided by.
    pub slow_down: f64,
    /// Leave to write: `NBD:` and the export's name.
    pub destroy_token: Option<String>,
    /// How long to wait for the server.
    pub patience: Patience,
}

/// What a server offers under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExportFacts {
    /// Whole blocks, in bytes.
    pub capacity_bytes: u64,
    /// Smallest request.
    pub logical_block_bytes: u64,
    /// Largest request.
    pub request_bytes_max: u32,
    /// Whether it refuses writes.
    pub read_only: bool,
    /// Whether it takes flushes.
    pub flush: bool,
    /// Whether it takes writes that are durable when they end.
    pub fua: bool,
    /// Whether it takes discards.
    pub discard: bool,
}

/// Asks a server what it offers under a name; nothing is read or written.
///
/// # Errors
/// If nobody answers, the answers make no sense, or there is no such export.
pub fn identify_export(target: &NbdTarget) -> Result<ExportFacts, NbdError> {
    let reading = NbdTarget { destroy_token: None, ..target.clone() };
    let client = NbdClient::open(&reading)?;
    Ok(ExportFacts {
        capacity_bytes: client.info.capacity_bytes,
        logical_block_bytes: client.info.logical_block_bytes,
        request_bytes_max: client.offer.payload_bytes_max,
        read_only: client.has(export_flag::READ_ONLY),
        flush: client.has(export_flag::SEND_FLUSH),
        fua: client.has(export_flag::SEND_FUA),
        discard: client.has(export_flag::SEND_TRIM),
    })
}

/// A request that the server has.
struct UnderWay {
    id: u64,
    cookie: u64,
    submitted: Nanos,
    /// Data that a good reply brings.
    read_bytes: u32,
    /// Data either way.
    moved_bytes: u64,
    offset_bytes: u64,
    /// Which write it is, if what is written is remembered.
    serial: Option<u64>,
}

/// Where in the server's words we are.
enum Reading {
    Head { filled: usize },
    Data { slot: usize, left_bytes: u32 },
}

/// A drive behind an NBD server.
pub struct NbdClient {
    socket: Socket,
    address: NbdAddress,
    offer: Offer,
    info: DeviceInfo,
    pace: Pace,
    patience: Patience,
    under_way: Vec<Option<UnderWay>>,
    free: Vec<usize>,
    waiting: VecDeque<(Request, Nanos)>,
    flight_bytes: u64,
    serial: u64,
    salt: u64,
    writes: u64,
    contents: Contents,
    /// Data of the read that is coming in, if it is compared.
    read: Vec<u8>,
    out: Vec<u8>,
    sent: usize,
    buffer: Vec<u8>,
    head: [u8; SIMPLE_REPLY_BYTES],
    reading: Reading,
    /// When the server last said something, or had nothing to say.
    heard: Nanos,
    broken: Option<DeviceError>,
}

impl NbdClient {
    /// Connects, and begins with an export.
    ///
    /// # Errors
    /// If nobody answers, the answers make no sense, there is no such export, or it shall be
    /// written and the token or the export forbids it.
    pub fn open(target: &NbdTarget) -> Result<Self, NbdError> {
        if let Some(given) = &target.destroy_token
            && *given != format!("NBD:{}", target.export)
        {
            return Err(NbdError::WrongToken { given: given.clone() });
        }
        let patience = target.patience;
        let (socket, offer) =
            negotiate::begin(&target.address, &target.export, patience.negotiation)?;
        let writable = target.destroy_token.is_some();
        if writable && offer.flags & export_flag::READ_ONLY != 0 {
            return Err(NbdError::ReadOnly { address: target.address.to_string() });
        }
        let now = sys::monotonic_now();
        let salt = RandomState::new().build_hasher().finish();
        Ok(Self {
            socket,
            address: target.address.clone(),
            offer,
            info: describe(&offer, writable),
            pace: Pace::new(now, Nanos::ZERO, target.slow_down),
            patience,
            under_way: (0..DEPTH_MAX).map(|_| None).collect(),
            free: (0..DEPTH_MAX).rev().collect(),
            waiting: VecDeque::new(),
            flight_bytes: 0,
            serial: 0,
            salt,
            writes: 0,
            contents: Contents::new(0, salt),
            read: Vec::new(),
            out: Vec::new(),
            sent: 0,
            buffer: vec![0; INPUT_BYTES],
            head: [0; SIMPLE_REPLY_BYTES],
            reading: Reading::Head { filled: 0 },
            heard: now,
            broken: None,
        })
    }

    /// The handle by which what is stored can be checked.
    #[must_use]
    pub fn contents(&self) -> Contents {
        self.contents.clone()
    }

    fn has(&self, flag: u16) -> bool {
        self.offer.flags & flag != 0
    }

    /// Refuses what the server does not know, or takes only in parts.
    fn check(&self, request: &Request) -> Result<(), DeviceError> {
        check_request(&self.info, request)?;
        match request.op {
            Op::Flush if !self.has(export_flag::SEND_FLUSH) => {
                Err(DeviceError::Unsupported("flush"))
            }
            Op::Write if request.fua && !self.has(export_flag::SEND_FUA) => {
                Err(DeviceError::Unsupported("writes with forced unit access"))
            }
            Op::Read | Op::Write if request.bytes().0 > u64::from(self.offer.payload_bytes_max) => {
                Err(DeviceError::Os {
                    context: format!("request of {}", request.bytes()),
                    reason: format!(
                        "the largest request to this server is {} bytes",
                        self.offer.payload_bytes_max
                    ),
                })
            }
            Op::WriteZeroes if !self.has(export_flag::SEND_WRITE_ZEROES) => {
                Err(DeviceError::Unsupported("writing zeros"))
            }
            Op::Discard | Op::WriteZeroes if request.bytes().0 > u64::from(u32::MAX) => {
                Err(DeviceError::Os {
                    context: format!("discard, or zeros, of {}", request.bytes()),
                    reason: "the largest over NBD is 4 GiB less one block".to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    fn has_room_for(&self, request: &Request) -> bool {
        let bytes = moved_bytes(request);
        !self.free.is_empty()
            && (self.flight_bytes == 0 || self.flight_bytes + bytes <= FLIGHT_BYTES_MAX)
    }

    /// Writes a request, for which there is room, behind what is to be sent.
    fn issue(&mut self, request: &Request, submitted: Nanos) -> Result<(), DeviceError> {
        if self.free.len() == DEPTH_MAX {
            self.heard = sys::monotonic_now();
            sys::sharpen_timers();
        }
        let slot = self.free.pop().expect("the caller has seen to room");
        self.serial += 1;
        let cookie = (self.serial << 16) | slot as u64;
        let len_bytes = request.bytes().0 as u32;
        let command = match request.op {
            Op::Read => command::READ,
            Op::Write => command::WRITE,
            Op::Flush => command::FLUSH,
            Op::Discard => command::TRIM,
            Op::WriteZeroes => command::WRITE_ZEROES,
        };
        let flags = if request.fua && request.op == Op::Write { command_flag::FUA } else { 0 };
        let offset_bytes = if request.op == Op::Flush { 0 } else { request.lba.byte_offset().0 };
        WireRequest { flags, command, cookie, offset_bytes, len_bytes }.write(&mut self.out);
        let serial = if request.op == Op::Write { self.add_data(request)? } else { None };
        if matches!(request.op, Op::Discard | Op::WriteZeroes) {
            self.contents.forget(offset_bytes, request.bytes().0);
        }
        let read_bytes = if request.op == Op::Read { len_bytes } else { 0 };
        let moved_bytes = moved_bytes(request);
        self.flight_bytes += moved_bytes;
        self.under_way[slot] = Some(UnderWay {
            id: request.id,
            cookie,
            submitted,
            read_bytes,
            moved_bytes,
            offset_bytes,
            serial,
        });
        Ok(())
    }

    /// Writes the data of a write behind its head; its number, if it is to be remembered.
    fn add_data(&mut self, request: &Request) -> Result<Option<u64>, DeviceError> {
        let start = self.out.len();
        self.out.resize(start + request.bytes().0 as usize, 0);
        let (data, number) = (&mut self.out[start..], self.writes);
        let stamps = self.contents.stamps();
        if stamps {
            let stamped = self.contents.stamp(data, request.lba.byte_offset().0, number);
            stamped.inspect_err(|error| self.broken = Some(error.clone()))?;
        } else {
            payload::fill(data, self.salt, number);
        }
        self.writes += 1;
        Ok(stamps.then_some(number))
    }

    fn send(&mut self) -> Result<(), DeviceError> {
        while self.sent < self.out.len() {
            match self.socket.write(&self.out[self.sent..]) {
                Ok(len) if len > 0 => self.sent += len,
                Err(error) if is_for_later(&error) => return Ok(()),
                Err(error) => return Err(self.lost(&error)),
                Ok(_) => return Err(self.lost(&io::ErrorKind::WriteZero.into())),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Reads once what the server has said; true if that was as much as could be.
    fn receive(&mut self, completions: &mut Vec<Completion>) -> Result<bool, DeviceError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self.socket.read(&mut buffer);
        let now = sys::monotonic_now();
        let taken = match result {
            Ok(0) => Err(self.fail("the server closed the connection")),
            Ok(len) => {
                self.heard = now;
                let at = self.pace.drive_at(now);
                self.take(&buffer[..len], at, completions).map(|()| len == buffer.len())
            }
            Err(error) if is_for_later(&error) => Ok(false),
            Err(error) => Err(self.lost(&error)),
        };
        self.buffer = buffer;
        taken
    }

    /// Goes through replies; the data of reads are looked at only if they are to be compared.
    fn take(
        &mut self,
        mut input: &[u8],
        now: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        while !input.is_empty() {
            match &mut self.reading {
                Reading::Head { filled } => {
                    let len = (SIMPLE_REPLY_BYTES - *filled).min(input.len());
                    self.head[*filled..*filled + len].copy_from_slice(&input[..len]);
                    *filled += len;
                    input = &input[len..];
                    if *filled == SIMPLE_REPLY_BYTES {
                        self.take_reply(now, completions)?;
                    }
                }
                Reading::Data { slot, left_bytes } => {
                    let len = (*left_bytes as usize).min(input.len());
                    *left_bytes -= len as u32;
                    if self.contents.compares() {
                        self.read.extend_from_slice(&input[..len]);
                    }
                    input = &input[len..];
                    if *left_bytes == 0 {
                        let slot = *slot;
                        self.reading = Reading::Head { filled: 0 };
                        self.complete(slot, Outcome::Done, now, completions);
                    }
                }
            }
        }
        Ok(())
    }

    fn take_reply(
        &mut self,
        now: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let (error, cookie) = (be32(&self.head, 4), be64(&self.head, 8));
        if be32(&self.head, 0) != SIMPLE_REPLY_MAGIC {
            return Err(self.fail("the server sends something that is not a reply"));
        }
        let slot = (cookie & 0xffff) as usize;
        let read_bytes = match self.under_way.get(slot) {
            Some(Some(request)) if request.cookie == cookie => request.read_bytes,
            _ => return Err(self.fail("the server answers a request that was not made")),
        };
        self.reading = Reading::Head { filled: 0 };
        if error != 0 {
            let outcome = Outcome::Failed(i32::try_from(error).unwrap_or(libc::EIO));
            self.complete(slot, outcome, now, completions);
        } else if read_bytes > 0 {
            self.reading = Reading::Data { slot, left_bytes: read_bytes };
        } else {
            self.complete(slot, Outcome::Done, now, completions);
        }
        Ok(())
    }

    fn complete(
        &mut self,
        slot: usize,
        outcome: Outcome,
        completed: Nanos,
        completions: &mut Vec<Completion>,
    ) {
        let Some(request) = self.under_way[slot].take() else { return };
        let UnderWay { id, submitted, moved_bytes, .. } = request;
        if !self.read.is_empty() {
            self.contents.check(&self.read, request.offset_bytes);
            self.read.clear();
        }
        if let Some(serial) = request.serial {
            self.contents.ended(serial, outcome == Outcome::Done);
        }
        self.free.push(slot);
        self.flight_bytes -= moved_bytes;
        let attribution = Attribution::ZERO;
        completions.push(Completion { id, submitted, completed, outcome, attribution });
    }

    /// Fills the room that replies have made.
    fn issue_waiting(&mut self) -> Result<(), DeviceError> {
        while let Some((request, submitted)) = self.waiting.pop_front() {
            if !self.has_room_for(&request) {
                self.waiting.push_front((request, submitted));
                break;
            }
            self.issue(&request, submitted)?;
        }
        self.send()
    }

    fn lost(&mut self, error: &io::Error) -> DeviceError {
        let gone =
            matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
        if gone { self.fail("the server went away") } else { self.fail(&error.to_string()) }
    }

    fn fail(&mut self, reason: &str) -> DeviceError {
        let error = DeviceError::Os {
            context: format!("NBD server at {}", self.address),
            reason: format!("{reason}, with {} requests in flight", self.in_flight()),
        };
        self.broken = Some(error.clone());
        error
    }

    /// How long the server may be silent, on the wall's clock.
    fn silence(&self) -> Nanos {
        self.patience.silence.max(self.pace.span(self.patience.silence))
    }

    /// Waits for replies until an instant of the wall.
    fn await_replies(
        &mut self,
        until: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let before = completions.len();
        loop {
            self.send()?;
            while self.receive(completions)? {}
            let now = sys::monotonic_now();
            if completions.len() > before || now >= until {
                return Ok(());
            }
            let silence = now.saturating_sub(self.heard);
            let patience = self.silence();
            if silence >= patience {
                let seconds = Duration::from_nanos(silence.0).as_secs_f64();
                return Err(self.fail(&format!("the server has not answered for {seconds:.1} s")));
            }
            let span = (until - now).min(patience - silence);
            let room = self.sent < self.out.len();
            poll::wait_for(&self.socket, room, span).map_err(|error| self.lost(&error))?;
        }
    }
}

impl Device for NbdClient {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn now(&self) -> Nanos {
        self.pace.drive_at(sys::monotonic_now())
    }

    fn submit(&mut self, _now: Nanos, request: Request) -> Result<(), DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        self.check(&request)?;
        let submitted = self.now();
        if !self.waiting.is_empty() || !self.has_room_for(&request) {
            self.waiting.push_back((request, submitted));
            return Ok(());
        }
        self.issue(&request, submitted)?;
        self.send()
    }

    fn next_event(&self) -> Option<Nanos> {
        (self.in_flight() > 0).then(|| self.now())
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let until = if to == Nanos::MAX { Nanos::MAX } else { self.pace.wall_at(to) };
        if self.in_flight() == 0 {
            if to != Nanos::MAX {
                let span = until.saturating_sub(sys::monotonic_now());
                std::thread::sleep(Duration::from_nanos(span.0));
            }
            return Ok(());
        }
        let result = self.await_replies(until, completions);
        if result.is_err() && !completions.is_empty() {
            // What came before the end still counts; the next call says why it was the end.
            return Ok(());
        }
        result.and_then(|()| self.issue_waiting())
    }

    fn in_flight(&self) -> usize {
        DEPTH_MAX - self.free.len() + self.waiting.len()
    }
}

impl Drop for NbdClient {
    fn drop(&mut self) {
        if self.broken.is_none() && self.in_flight() == 0 {
            let command = command::DISCONNECT;
            let request =
                WireRequest { flags: 0, command, cookie: 0, offset_bytes: 0, len_bytes: 0 };
            request.write(&mut self.out);
            // A server that does not take it sees the end of the connection.
            let _ = self.send();
        }
    }
}

fn describe(offer: &Offer, writable: bool) -> DeviceInfo {
    let block_bytes = u64::from(offer.block_bytes);
    DeviceInfo {
        kind: DeviceKind::Nbd,
        capacity_bytes: offer.size_bytes - offer.size_bytes % block_bytes,
        logical_block_bytes: block_bytes,
        clock: ClockKind::Wall,
        writable,
        discard: writable && offer.flags & export_flag::SEND_TRIM != 0,
        attribution: false,
        snapshot: false,
        caches: Caches::UNKNOWN,
    }
}

fn moved_bytes(request: &Request) -> u64 {
    match request.op {
        Op::Read | Op::Write => request.bytes().0,
        Op::Flush | Op::Discard | Op::WriteZeroes => 0,
    }
}
