//! One connection of the server: bytes in, commands and bytes out, no sockets.
//!
//! The payload of a write is handed on piece by piece as it arrives, so a connection needs no
//! memory for it. What a session writes by itself is small: greetings, answers to options, and
//! refusals.

use super::handshake::{Export, Handshake, Progress};
use super::protocol::{
    PAYLOAD_BYTES_MAX, REQUEST_BYTES, WireRequest, command, command_flag as flag, error,
    write_error_chunk, write_simple_reply,
};
use std::ops::Range;

/// What a command does to the drive and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read.
    Read,
    /// Write; the data follow as [`Step::Payload`].
    Write,
    /// Make durable.
    Flush,
    /// Forget; reads return zeros from then on.
    Trim,
    /// Make it read as zeros, in whatever way.
    Zero,
    /// Write zeros as data.
    Fill,
}

/// A command that was found to be in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The client's own number.
    pub cookie: u64,
    /// What to do.
    pub action: Action,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes; zero for a flush only.
    pub len_bytes: u32,
    /// Durable when acknowledged.
    pub fua: bool,
}

/// What the head of the input came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    /// A message was answered, or refused.
    Answered,
    /// The negotiation is over; requests follow.
    Begun,
    /// A command arrived.
    Command(Command),
    /// These bytes of the input belong to the write that came last.
    Payload {
        /// Where in the input.
        range: Range<usize>,
        /// Where on the drive.
        offset_bytes: u64,
        /// Whether the write is whole now.
        last: bool,
    },
    /// Nothing more is taken; what is owed should still be sent.
    Close,
}

#[derive(Debug)]
enum State {
    Handshake(Handshake),
    Ready,
    /// In the data of a write.
    Payload {
        left_bytes: u32,
        offset_bytes: u64,
    },
    /// In the data of a write that is refused once they are through.
    Refused {
        left_bytes: u32,
        cookie: u64,
        error: u32,
    },
    Closed,
}

/// The protocol's side of a connection.
#[derive(Debug)]
pub struct Session {
    state: State,
    structured: bool,
    refused: u64,
}

impl Session {
    /// A new connection; `out` gets the greeting.
    #[must_use]
    pub fn new(out: &mut Vec<u8>) -> Self {
        let state = State::Handshake(Handshake::greet(out));
        Self { state, structured: false, refused: 0 }
    }

    /// Whether requests are taken by now.
    #[must_use]
    pub fn is_negotiated(&self) -> bool {
        !matches!(self.state, State::Handshake(_))
    }

    /// Whether reads are answered in chunks.
    #[must_use]
    pub fn structured(&self) -> bool {
        self.structured
    }

    /// How many requests were refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Takes one message, or a part of a payload, from the head of `input`. Returns how many
    /// bytes were used, and what they were.
    pub fn step(&mut self, export: &Export, input: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        match &mut self.state {
            State::Handshake(handshake) => match handshake.step(export, input, out) {
                Progress::More => (0, Step::More),
                Progress::Used(used) => (used, Step::Answered),
                Progress::Begin { used, structured } => {
                    self.state = State::Ready;
                    self.structured = structured;
                    (used, Step::Begun)
                }
                Progress::Close => self.close(),
            },
            State::Ready => match input.first_chunk::<REQUEST_BYTES>() {
                None => (0, Step::More),
                Some(head) => match WireRequest::parse(head) {
                    None => self.close(),
                    Some(request) => (REQUEST_BYTES, self.take(export, &request, out)),
                },
            },
            State::Payload { left_bytes, offset_bytes } => {
                let taken = (*left_bytes as usize).min(input.len());
                if taken == 0 {
                    return (0, Step::More);
                }
                let at = *offset_bytes;
                *left_bytes -= taken as u32;
                *offset_bytes += taken as u64;
                let last = *left_bytes == 0;
                if last {
                    self.state = State::Ready;
                }
                (taken, Step::Payload { range: 0..taken, offset_bytes: at, last })
            }
            State::Refused { left_bytes, cookie, error } => {
                let taken = (*left_bytes as usize).min(input.len());
                if taken == 0 {
                    return (0, Step::More);
                }
                *left_bytes -= taken as u32;
                if *left_bytes == 0 {
                    write_simple_reply(out, *cookie, *error);
                    self.state = State::Ready;
                }
                (taken, Step::Answered)
            }
            State::Closed => (0, Step::Close),
        }
    }

    fn close(&mut self) -> (usize, Step) {
        self.state = State::Closed;
        (0, Step::Close)
    }

    fn take(&mut self, export: &Export, request: &WireRequest, out: &mut Vec<u8>) -> Step {
        if request.command == command::DISCONNECT {
            return self.close().1;
        }
        if request.command == command::WRITE && request.len_bytes > PAYLOAD_BYTES_MAX {
            // Its payload would have to be read first: nobody sends that by mistake.
            return self.close().1;
        }
        match check(export, request, self.structured) {
            Ok(command) => {
                if command.action == Action::Write {
                    self.state = State::Payload {
                        left_bytes: command.len_bytes,
                        offset_bytes: command.offset_bytes,
                    };
                }
                Step::Command(command)
            }
            Err(error) => {
                self.refuse(request, error, out);
                Step::Answered
            }
        }
    }

    fn refuse(&mut self, request: &WireRequest, error: u32, out: &mut Vec<u8>) {
        self.refused += 1;
        let WireRequest { cookie, len_bytes, .. } = *request;
        if request.command == command::WRITE && len_bytes > 0 {
            self.state = State::Refused { left_bytes: len_bytes, cookie, error };
        } else if request.command == command::READ && self.structured {
            write_error_chunk(out, cookie, error);
        } else {
            write_simple_reply(out, cookie, error);
        }
    }
}

/// Finds what a request means, or why it cannot be served.
fn check(export: &Export, request: &WireRequest, structured: bool) -> Result<Command, u32> {
    let WireRequest { flags, command, cookie, offset_bytes, len_bytes } = *request;
    let (action, known) = match command {
        command::READ if structured => (Action::Read, flag::FUA | flag::DF),
        command::READ => (Action::Read, flag::FUA),
        command::WRITE => (Action::Write, flag::FUA),
        command::FLUSH => (Action::Flush, flag::FUA),
        command::TRIM if export.discard || export.read_only => (Action::Trim, flag::FUA),
        command::WRITE_ZEROES => {
            (zeroes(export, request)?, flag::FUA | flag::NO_HOLE | flag::FAST_ZERO)
        }
        _ => return Err(error::INVAL),
    };
    if flags & !known != 0 {
        return Err(error::INVAL);
    }
    let fua = flags & flag::FUA != 0;
    if action == Action::Flush {
        // The protocol reserves both fields: a client must send zeros.
        let order = offset_bytes == 0 && len_bytes == 0;
        let command = Command { cookie, action, offset_bytes: 0, len_bytes: 0, fua: false };
        return if order { Ok(command) } else { Err(error::INVAL) };
    }
    if export.read_only && action != Action::Read {
        return Err(error::PERM);
    }
    let end = offset_bytes.checked_add(u64::from(len_bytes));
    if end.is_none_or(|end| end > export.capacity_bytes) {
        let grows = matches!(command, command::WRITE | command::WRITE_ZEROES);
        return Err(if grows { error::NOSPC } else { error::INVAL });
    }
    let block = u64::from(export.block_bytes);
    if len_bytes == 0
        || !offset_bytes.is_multiple_of(block)
        || !u64::from(len_bytes).is_multiple_of(block)
        || (action == Action::Read && len_bytes > PAYLOAD_BYTES_MAX)
    {
        return Err(error::INVAL);
    }
    let as_data = action == Action::Fill || (action == Action::Zero && !export.discard);
    if as_data && len_bytes > PAYLOAD_BYTES_MAX {
        return Err(error::OVERFLOW);
    }
    Ok(Command { cookie, action, offset_bytes, len_bytes, fua })
}

/// What writing zeros means: to a drive that discards a discard, unless room is to be taken; to
/// another one a write.
fn zeroes(export: &Export, request: &WireRequest) -> Result<Action, u32> {
    let hole = request.flags & flag::NO_HOLE == 0 && export.discard;
    let fast = request.flags & flag::FAST_ZERO != 0;
    match (export.read_only, hole, fast) {
        (true, ..) => Err(error::PERM),
        (_, true, _) => Ok(Action::Zero),
        (_, false, true) => Err(error::NOTSUP),
        (_, false, false) if export.discard => Ok(Action::Fill),
        (_, false, false) => Ok(Action::Zero),
    }
}
