//! How a client begins: it connects, asks for an export, and believes nothing that it has not
//! checked. The whole negotiation has one deadline, and every length a bound.

use super::client::NbdAddress;
use super::error::NbdError;
use super::listen::Socket;
use super::poll;
use super::protocol::{
    INIT_MAGIC, OPTION_MAGIC, OPTION_REPLY_BYTES, OPTION_REPLY_MAGIC, PAYLOAD_BYTES_MAX,
    STRING_BYTES_MAX, be16, be32, be64, handshake_flag, info, option, option_reply, write_option,
};
use crate::sys;
use ssdscope_io::Nanos;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream;

/// How many answers a server may give to one option.
const ANSWERS_MAX: usize = 64;
/// The longest answer to an option that is read.
const ANSWER_BYTES_MAX: usize = 2 * STRING_BYTES_MAX;

/// What a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) size_bytes: u64,
    pub(crate) flags: u16,
    pub(crate) block_bytes: u32,
    pub(crate) payload_bytes_max: u32,
}

/// Connects to a server and begins with an export, within `patience`.
pub(crate) fn begin(
    address: &NbdAddress,
    export: &str,
    patience: Nanos,
) -> Result<(Socket, Offer), NbdError> {
    let socket = connect(address).map_err(|error| NbdError::Unreachable {
        address: address.to_string(),
        reason: error.to_string(),
    })?;
    let deadline = sys::monotonic_now() + patience;
    let mut wire = Wire { socket, deadline };
    let offer = negotiate(&mut wire, export).map_err(|fault| match fault {
        Fault::Lost(error) => {
            NbdError::Unreachable { address: address.to_string(), reason: error.to_string() }
        }
        Fault::Wrong(what) => NbdError::Protocol { address: address.to_string(), what },
        Fault::NoExport => {
            NbdError::NoExport { address: address.to_string(), export: export.to_owned() }
        }
    })?;
    Ok((wire.socket, offer))
}

fn connect(address: &NbdAddress) -> io::Result<Socket> {
    match address {
        NbdAddress::Unix(path) => {
            let socket = UnixStream::connect(path)?;
            socket.set_nonblocking(true)?;
            Ok(Socket::Unix(socket))
        }
        NbdAddress::Loopback(port) => {
            let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, *port))?;
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            Ok(Socket::Tcp(socket))
        }
    }
}

enum Fault {
    Lost(io::Error),
    Wrong(String),
    NoExport,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong(what.into()))
}

/// A socket with a deadline for all that is said.
struct Wire {
    socket: Socket,
    deadline: Nanos,
}

impl Wire {
    fn wait(&self, room: bool) -> io::Result<()> {
        let left = self.deadline.saturating_sub(sys::monotonic_now());
        if left == Nanos::ZERO {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it stopped answering"));
        }
        poll::wait_for(&self.socket, room, left)
    }

    fn read<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut data = [0; N];
        self.fill(&mut data)?;
        Ok(data)
    }

    fn fill(&mut self, data: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < data.len() {
            match self.socket.read(&mut data[filled..]) {
                Ok(0) => {
                    let kind = io::ErrorKind::UnexpectedEof;
                    return Err(io::Error::new(kind, "it closed the connection"));
                }
                Ok(len) => filled += len,
                Err(error) if super::connection::is_for_later(&error) => self.wait(false)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send(&mut self, data: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        while sent < data.len() {
            match self.socket.write(&data[sent..]) {
                Ok(len) => sent += len,
                Err(error) if super::connection::is_for_later(&error) => self.wait(true)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn negotiate(wire: &mut Wire, export: &str) -> Result<Offer, Fault> {
    let greeting: [u8; 18] = wire.read()?;
    if be64(&greeting, 0) != INIT_MAGIC {
        return wrong("what listens there is not an NBD server");
    }
    let flags = be16(&greeting, 16);
    if be64(&greeting, 8) != OPTION_MAGIC || flags & handshake_flag::FIXED_NEWSTYLE == 0 {
        return wrong("the server speaks an old NBD protocol; expected fixed newstyle");
    }
    let ours = flags & (handshake_flag::FIXED_NEWSTYLE | handshake_flag::NO_ZEROES);
    wire.send(&u32::from(ours).to_be_bytes())?;
    let name = export.as_bytes();
    let wanted = [1_u16.to_be_bytes(), info::BLOCK_SIZE.to_be_bytes()].concat();
    let data = [&(name.len() as u32).to_be_bytes()[..], name, &wanted].concat();
    let mut message = Vec::new();
    write_option(&mut message, option::GO, &data);
    wire.send(&message)?;
    let offer = match answers(wire)? {
        Some(offer) => offer,
        None => the_old_way(wire, name, ours)?,
    };
    check(offer)
}

/// Reads the answers to `GO`; `None` if the server does not know it.
fn answers(wire: &mut Wire) -> Result<Option<Offer>, Fault> {
    let mut offer = None;
    let (mut block_bytes, mut payload_bytes_max) = (1, PAYLOAD_BYTES_MAX);
    for _ in 0..ANSWERS_MAX {
        let head: [u8; OPTION_REPLY_BYTES] = wire.read()?;
        let (kind, len) = (be32(&head, 12), be32(&head, 16) as usize);
        if be64(&head, 0) != OPTION_REPLY_MAGIC || be32(&head, 8) != option::GO {
            return wrong("the server answers something that was not asked");
        }
        if len > ANSWER_BYTES_MAX {
            return wrong(format!("the server announces an answer of {len} bytes"));
        }
        let mut data = vec![0; len];
        wire.fill(&mut data)?;
        match kind {
            option_reply::ACK => match offer {
                Some((size_bytes, flags)) => {
                    return Ok(Some(Offer { size_bytes, flags, block_bytes, payload_bytes_max }));
                }
                None => return wrong("the server begins without saying how large the export is"),
            },
            option_reply::INFO if len == 12 && be16(&data, 0) == info::EXPORT => {
                offer = Some((be64(&data, 2), be16(&data, 10)));
            }
            option_reply::INFO if len == 14 && be16(&data, 0) == info::BLOCK_SIZE => {
                block_bytes = be32(&data, 2);
                payload_bytes_max = be32(&data, 10);
            }
            option_reply::INFO => {}
            option_reply::ERR_UNSUP => return Ok(None),
            option_reply::ERR_UNKNOWN => return Err(Fault::NoExport),
            _ => return wrong(format!("the server refuses the export (reply {kind:#x})")),
        }
    }
    wrong("the server's answers do not end")
}

fn the_old_way(wire: &mut Wire, name: &[u8], flags: u16) -> Result<Offer, Fault> {
    let mut message = Vec::new();
    write_option(&mut message, option::EXPORT_NAME, name);
    wire.send(&message)?;
    let head: [u8; 10] = wire.read()?;
    if flags & handshake_flag::NO_ZEROES == 0 {
        wire.read::<124>()?;
    }
    Ok(Offer {
        size_bytes: be64(&head, 0),
        flags: be16(&head, 8),
        block_bytes: 1,
        payload_bytes_max: PAYLOAD_BYTES_MAX,
    })
}

/// Takes only sizes that can be true.
fn check(offer: Offer) -> Result<Offer, Fault> {
    let Offer { size_bytes, block_bytes, payload_bytes_max, .. } = offer;
    if size_bytes > i64::MAX as u64 {
        return wrong(format!("the server offers {size_bytes} bytes, more than any drive has"));
    }
    if !block_bytes.is_power_of_two() || block_bytes > 1 << 16 || payload_bytes_max < block_bytes {
        return wrong(format!(
            "the server's block sizes make no sense: {block_bytes} to {payload_bytes_max} bytes"
        ));
    }
    let block_bytes = block_bytes.max(512);
    if size_bytes < u64::from(block_bytes) {
        return wrong(format!(
            "the export holds {size_bytes} bytes, less than one block of {block_bytes} bytes"
        ));
    }
    let payload_bytes_max = payload_bytes_max.min(PAYLOAD_BYTES_MAX);
    Ok(Offer { block_bytes, payload_bytes_max, ..offer })
}
