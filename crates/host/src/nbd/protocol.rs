//! The NBD protocol (fixed newstyle): its numbers, and its messages as bytes.
//!
//! Names follow the protocol's own document (`NBD_OPT_GO` is [`option::GO`]). All integers
//! on the wire are big-endian.

/// What a server says first.
pub const INIT_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// What follows, and what every option of a client begins with.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// What every answer to an option begins with.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// What every request begins with.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// What a simple reply begins with.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// What each chunk of a structured reply begins with.
pub const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Bytes of a request without its payload.
pub const REQUEST_BYTES: usize = 28;
/// Bytes of a simple reply without its payload.
pub const SIMPLE_REPLY_BYTES: usize = 16;
/// Bytes of an option without its data.
pub const OPTION_BYTES: usize = 16;
/// Bytes of an answer to an option without its data.
pub const OPTION_REPLY_BYTES: usize = 20;
/// The longest string that the protocol allows.
pub const STRING_BYTES_MAX: usize = 4096;
/// The largest payload that every peer takes.
pub const PAYLOAD_BYTES_MAX: u32 = 32 << 20;

/// Flags of the handshake; a client answers with the same bits.
pub mod handshake_flag {
    /// Options are answered one by one.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// No 124 zeros after the answer to `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 2;
}

/// What a client may ask before transmission.
pub mod option {
    /// Begin with this export, the old way.
    pub const EXPORT_NAME: u32 = 1;
    /// End the session.
    pub const ABORT: u32 = 2;
    /// List the exports.
    pub const LIST: u32 = 3;
    /// Describe an export.
    pub const INFO: u32 = 6;
    /// Describe an export and begin with it.
    pub const GO: u32 = 7;
    /// Answer reads in chunks.
    pub const STRUCTURED_REPLY: u32 = 8;
}

/// How an option is answered.
pub mod option_reply {
    /// Done.
    pub const ACK: u32 = 1;
    /// An export's name.
    pub const SERVER: u32 = 2;
    /// A fact about an export.
    pub const INFO: u32 = 3;
    /// The bit that every refusal has.
    pub const ERROR: u32 = 1 << 31;
    /// The option is not known.
    pub const ERR_UNSUP: u32 = ERROR + 1;
    /// The option's data make no sense.
    pub const ERR_INVALID: u32 = ERROR + 3;
    /// There is no such export.
    pub const ERR_UNKNOWN: u32 = ERROR + 6;
    /// The option's data are too long.
    pub const ERR_TOO_BIG: u32 = ERROR + 9;
}

/// Facts about an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Its name.
    pub const NAME: u16 = 1;
    /// What it is, for people.
    pub const DESCRIPTION: u16 = 2;
    /// Smallest, best and largest request.
    pub const BLOCK_SIZE: u16 = 3;
}

/// What an export can do.
pub mod export_flag {
    /// The flags mean something.
    pub const HAS_FLAGS: u16 = 1;
    /// No writes.
    pub const READ_ONLY: u16 = 1 << 1;
    /// Flush is understood.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// Forced unit access is understood.
    pub const SEND_FUA: u16 = 1 << 3;
    /// Trim is understood.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// Writing zeros is understood.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// A read may ask for an answer in one piece.
    pub const SEND_DF: u16 = 1 << 7;
    /// All connections see the same drive and the same flushes.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// Writing zeros may ask to fail if it is not quick.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// What a request asks.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write.
    pub const WRITE: u16 = 1;
    /// End the session.
    pub const DISCONNECT: u16 = 2;
    /// Make durable what was acknowledged.
    pub const FLUSH: u16 = 3;
    /// Forget.
    pub const TRIM: u16 = 4;
    /// Write zeros.
    pub const WRITE_ZEROES: u16 = 6;
}

/// How a request asks it.
pub mod command_flag {
    /// Durable when acknowledged.
    pub const FUA: u16 = 1;
    /// Zeros that take up space.
    pub const NO_HOLE: u16 = 1 << 1;
    /// An answer in one piece.
    pub const DF: u16 = 1 << 2;
    /// Fail if zeros are not quicker than a write.
    pub const FAST_ZERO: u16 = 1 << 4;
}

/// Why a request failed.
pub mod error {
    /// Not allowed.
    pub const PERM: u32 = 1;
    /// The drive failed.
    pub const IO: u32 = 5;
    /// The request makes no sense here.
    pub const INVAL: u32 = 22;
    /// No room for it.
    pub const NOSPC: u32 = 28;
    /// Larger than is served.
    pub const OVERFLOW: u32 = 75;
    /// Not in this way.
    pub const NOTSUP: u32 = 95;
    /// The server ends.
    pub const SHUTDOWN: u32 = 108;
}

/// Chunks of structured replies.
pub mod chunk {
    /// The last one of its reply.
    pub const DONE: u16 = 1;
    /// Data, behind its offset.
    pub const OFFSET_DATA: u16 = 1;
    /// A failure.
    pub const ERROR: u16 = (1 << 15) + 1;
}

/// A request as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRequest {
    /// From [`command_flag`].
    pub flags: u16,
    /// From [`command`].
    pub command: u16,
    /// The client's own number, which the reply repeats.
    pub cookie: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub len_bytes: u32,
}

impl WireRequest {
    /// Reads a request; `None` if the magic is wrong.
    #[must_use]
    pub fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        (be32(bytes, 0) == REQUEST_MAGIC).then(|| Self {
            flags: be16(bytes, 4),
            command: be16(bytes, 6),
            cookie: be64(bytes, 8),
            offset_bytes: be64(bytes, 16),
            len_bytes: be32(bytes, 24),
        })
    }

    /// Writes the request.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&REQUEST_MAGIC.to_be_bytes());
        out.extend_from_slice(&self.flags.to_be_bytes());
        out.extend_from_slice(&self.command.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&self.offset_bytes.to_be_bytes());
        out.extend_from_slice(&self.len_bytes.to_be_bytes());
    }
}

/// Writes a simple reply; the data of a read follow it.
pub fn write_simple_reply(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

/// Writes the head of a structured reply in one piece: the data of a read follow it.
pub fn write_data_chunk(out: &mut Vec<u8>, cookie: u64, offset_bytes: u64, len_bytes: u32) {
    write_chunk(out, chunk::OFFSET_DATA, cookie, len_bytes + 8);
    out.extend_from_slice(&offset_bytes.to_be_bytes());
}

/// Writes a structured reply that says why a read failed.
pub fn write_error_chunk(out: &mut Vec<u8>, cookie: u64, error: u32) {
    write_chunk(out, chunk::ERROR, cookie, 6);
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&0_u16.to_be_bytes());
}

fn write_chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, len_bytes: u32) {
    out.extend_from_slice(&CHUNK_MAGIC.to_be_bytes());
    out.extend_from_slice(&chunk::DONE.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&len_bytes.to_be_bytes());
}

/// Writes an option of a client.
pub fn write_option(out: &mut Vec<u8>, option: u32, data: &[u8]) {
    out.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}

/// Writes an answer to an option.
pub fn write_option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    out.extend_from_slice(data);
}

/// The big-endian number at a place, which must lie inside.
#[must_use]
pub fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The big-endian number at a place, which must lie inside.
#[must_use]
pub fn be32(bytes: &[u8], at: usize) -> u32 {
    (u32::from(be16(bytes, at)) << 16) | u32::from(be16(bytes, at + 2))
}

/// The big-endian number at a place, which must lie inside.
#[must_use]
pub fn be64(bytes: &[u8], at: usize) -> u64 {
    (u64::from(be32(bytes, at)) << 32) | u64::from(be32(bytes, at + 4))
}
