//! The server's half of the negotiation: bytes in, bytes out, no sockets.
//!
//! A client gets [`OPTIONS_MAX`] options of at most [`OPTION_DATA_BYTES_MAX`] bytes each. Every
//! option that is not known is refused in the protocol's own words, and the client may go on.

use super::protocol::{
    self as nbd, OPTION_BYTES, OPTION_MAGIC, be16, be32, be64, handshake_flag, info, option,
    option_reply, write_option_reply,
};

/// The longest data of an option; a client that announces more is sent away.
pub const OPTION_DATA_BYTES_MAX: usize = 16 << 10;
/// How many options a client may send.
pub const OPTIONS_MAX: u32 = 64;

/// What a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the empty name means it, too.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// Its size.
    pub capacity_bytes: u64,
    /// Smallest request and its alignment.
    pub block_bytes: u32,
    /// Whether it refuses writes.
    pub read_only: bool,
    /// Whether the drive understands discards.
    pub discard: bool,
}

impl Export {
    /// Its flags on the wire.
    #[must_use]
    pub fn flags(&self, structured: bool) -> u16 {
        use nbd::export_flag as flag;
        let mut flags = flag::HAS_FLAGS | flag::CAN_MULTI_CONN | flag::SEND_FLUSH | flag::SEND_FUA;
        if structured {
            flags |= flag::SEND_DF;
        }
        if self.read_only {
            return flags | flag::READ_ONLY;
        }
        if self.discard {
            flags |= flag::SEND_TRIM;
        }
        flags | flag::SEND_WRITE_ZEROES | flag::SEND_FAST_ZERO
    }

    fn is_called(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }
}

/// What a step of the negotiation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// So many bytes were used; there may be more to do.
    Used(usize),
    /// So many bytes were used, and transmission begins.
    Begin {
        /// Bytes used.
        used: usize,
        /// Whether reads are answered in chunks.
        structured: bool,
    },
    /// The connection is over; what was written should still be sent.
    Close,
}

/// How far a client is.
#[derive(Debug, Default)]
pub struct Handshake {
    client_flags: Option<u16>,
    structured: bool,
    options: u32,
}

impl Handshake {
    /// A new client, and the greeting for it.
    #[must_use]
    pub fn greet(out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&nbd::INIT_MAGIC.to_be_bytes());
        out.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        let flags = handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES;
        out.extend_from_slice(&flags.to_be_bytes());
        Self::default()
    }

    /// Takes the next message of the client from the head of `input`.
    pub fn step(&mut self, export: &Export, input: &[u8], out: &mut Vec<u8>) -> Progress {
        if self.client_flags.is_none() {
            return self.take_flags(input);
        }
        if input.len() < OPTION_BYTES {
            return Progress::More;
        }
        let (option, len) = (be32(input, 8), be32(input, 12) as usize);
        if be64(input, 0) != OPTION_MAGIC
            || len > OPTION_DATA_BYTES_MAX
            || self.options == OPTIONS_MAX
        {
            return Progress::Close;
        }
        let used = OPTION_BYTES + len;
        let Some(data) = input.get(OPTION_BYTES..used) else { return Progress::More };
        self.options += 1;
        self.answer(export, option, data, out).map_or(Progress::Used(used), |end| match end {
            End::Begin => Progress::Begin { used, structured: self.structured },
            End::Close => Progress::Close,
        })
    }

    fn take_flags(&mut self, input: &[u8]) -> Progress {
        if input.len() < 4 {
            return Progress::More;
        }
        let flags = be32(input, 0);
        let known = u32::from(handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES);
        if flags & !known != 0 {
            return Progress::Close;
        }
        self.client_flags = Some(flags as u16);
        Progress::Used(4)
    }

    /// Answers an option; says where the negotiation ends.
    fn answer(
        &mut self,
        export: &Export,
        option: u32,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<End> {
        match option {
            option::EXPORT_NAME => return Some(self.begin_the_old_way(export, data, out)),
            option::ABORT => {
                write_option_reply(out, option, option_reply::ACK, &[]);
                return Some(End::Close);
            }
            option::LIST if data.is_empty() => {
                let mut entry = (export.name.len() as u32).to_be_bytes().to_vec();
                entry.extend_from_slice(export.name.as_bytes());
                entry.extend_from_slice(export.description.as_bytes());
                write_option_reply(out, option, option_reply::SERVER, &entry);
                write_option_reply(out, option, option_reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                write_option_reply(out, option, option_reply::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY => {
                write_option_reply(out, option, option_reply::ERR_INVALID, &[]);
            }
            option::INFO | option::GO => match asked(data) {
                None => write_option_reply(out, option, option_reply::ERR_INVALID, &[]),
                Some((name, _)) if !export.is_called(name) => {
                    write_option_reply(out, option, option_reply::ERR_UNKNOWN, &[]);
                }
                Some((_, facts)) => {
                    self.describe(export, option, facts, out);
                    return (option == option::GO).then_some(End::Begin);
                }
            },
            _ => write_option_reply(out, option, option_reply::ERR_UNSUP, &[]),
        }
        None
    }

    /// `EXPORT_NAME` cannot be refused in words: a wrong name ends the connection.
    fn begin_the_old_way(&self, export: &Export, name: &[u8], out: &mut Vec<u8>) -> End {
        if !export.is_called(name) {
            return End::Close;
        }
        out.extend_from_slice(&export.capacity_bytes.to_be_bytes());
        out.extend_from_slice(&export.flags(self.structured).to_be_bytes());
        let flags = self.client_flags.unwrap_or(0);
        if flags & handshake_flag::NO_ZEROES == 0 {
            out.extend_from_slice(&[0; 124]);
        }
        End::Begin
    }

    fn describe(&self, export: &Export, option: u32, facts: &[u8], out: &mut Vec<u8>) {
        let mut fact = |kind: u16, parts: &[&[u8]]| {
            let data = [&[&kind.to_be_bytes()[..]], parts].concat().concat();
            write_option_reply(out, option, option_reply::INFO, &data);
        };
        let flags = export.flags(self.structured).to_be_bytes();
        fact(info::EXPORT, &[&export.capacity_bytes.to_be_bytes(), &flags]);
        let best = export.block_bytes.max(4096);
        let sizes = [export.block_bytes, best, nbd::PAYLOAD_BYTES_MAX].map(u32::to_be_bytes);
        fact(info::BLOCK_SIZE, &[sizes.as_flattened()]);
        let wants = |kind: u16| facts.chunks_exact(2).any(|fact| be16(fact, 0) == kind);
        if wants(info::NAME) {
            fact(info::NAME, &[export.name.as_bytes()]);
        }
        if wants(info::DESCRIPTION) {
            fact(info::DESCRIPTION, &[export.description.as_bytes()]);
        }
        write_option_reply(out, option, option_reply::ACK, &[]);
    }
}

enum End {
    Begin,
    Close,
}

/// The name and the list of facts in the data of `INFO` and `GO`; `None` if they make no sense.
fn asked(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let name_bytes = be32(data.get(..4)?, 0) as usize;
    let name = data.get(4..name_bytes.checked_add(4)?)?;
    let rest = &data[4 + name_bytes..];
    let count = usize::from(be16(rest.get(..2)?, 0));
    let facts = &rest[2..];
    (facts.len() == count * 2 && name.len() <= nbd::STRING_BYTES_MAX).then_some((name, facts))
}
