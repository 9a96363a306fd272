//! Sockets that only their owner reaches: a Unix socket of mode 0600, and a port of 127.0.0.1
//! where one is asked for.

use super::error::NbdError;
use super::poll;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process;

/// The longest name of a socket: the kernel's 107 bytes less a dot and the 7 digits of a process.
const NAME_BYTES: usize = 99;

/// A Unix socket with a name, which goes when this does.
#[derive(Debug)]
pub struct NamedSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode: a socket that somebody else put there meanwhile stays.
    identity: (u64, u64),
}

impl NamedSocket {
    /// Listens. What a server that is dead left there is replaced.
    ///
    /// # Errors
    /// If a server answers there, something else stands there, or the kernel refuses.
    pub fn bind(path: &Path) -> Result<Self, NbdError> {
        let os = |action| move |source| NbdError::os(path, action, source);
        if let Ok(stat) = fs::symlink_metadata(path) {
            if !stat.file_type().is_socket() {
                return Err(NbdError::NotASocket(path.to_owned()));
            }
            match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(os("replace it"))?;
                }
                _ => return Err(NbdError::SocketInUse(path.to_owned())),
            }
        }
        let listener = listen_then_name(path).map_err(|error| match error.raw_os_error() {
            Some(libc::ENAMETOOLONG) => NbdError::SocketPath(path.to_owned()),
            Some(libc::EADDRINUSE | libc::EEXIST) => NbdError::SocketInUse(path.to_owned()),
            _ => NbdError::os(path, "listen there", error),
        })?;
        let stat = fs::symlink_metadata(path).map_err(os("describe it"))?;
        let identity = (stat.dev(), stat.ino());
        Ok(Self { listener, path: path.to_owned(), identity })
    }
}

/// Listens under another name beside `path`, then gives it that of `path`, if that is free.
///
/// `bind` makes the file before `listen` lets clients in. Who waits for the file and then connects
/// would be refused in between; so it appears when somebody answers there.
fn listen_then_name(path: &Path) -> io::Result<UnixListener> {
    if path.as_os_str().len() > NAME_BYTES {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}", process::id()));
    let listener = poll::listen_privately(Path::new(&beside))?;
    let named = fs::hard_link(&beside, path);
    fs::remove_file(&beside)?;
    named.map(|()| listener)
}

impl Drop for NamedSocket {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|stat| (stat.dev(), stat.ino()) == self.identity);
        if ours {
            // If it cannot be removed, the next server finds it dead and replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where clients come in.
#[derive(Debug)]
pub enum Listener {
    /// A Unix socket.
    Unix(NamedSocket),
    /// A port of 127.0.0.1.
    Tcp(TcpListener),
}

/// A connected client.
#[derive(Debug)]
pub(crate) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Listener {
    /// Listens on a port of 127.0.0.1; 0 lets the kernel choose.
    ///
    /// # Errors
    /// If the port is taken, or the kernel refuses.
    pub fn tcp(port: u16) -> Result<Self, NbdError> {
        let refused = |source: io::Error| NbdError::Port { port, reason: source.to_string() };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        Ok(Self::Tcp(listener))
    }

    /// The port, of one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(listener) => listener.local_addr().ok().map(|address| address.port()),
        }
    }

    /// The next client; an error of the kind `WouldBlock` if nobody waits.
    pub(crate) fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(named) => {
                let (socket, _) = named.listener.accept()?;
                socket.set_nonblocking(true)?;
                Ok(Socket::Unix(socket))
            }
            Self::Tcp(listener) => {
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(true)?;
                socket.set_nodelay(true)?;
                Ok(Socket::Tcp(socket))
            }
        }
    }

    pub(crate) fn fd(&self) -> RawFd {
        match self {
            Self::Unix(named) => named.listener.as_raw_fd(),
            Self::Tcp(listener) => listener.as_raw_fd(),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Unix(socket) => socket.as_raw_fd(),
            Self::Tcp(socket) => socket.as_raw_fd(),
        }
    }
}

impl io::Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.read(buffer),
            Self::Tcp(socket) => socket.read(buffer),
        }
    }
}

impl io::Write for Socket {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.write(data),
            Self::Tcp(socket) => socket.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
