//! System calls of sockets that the standard library lacks, behind safe functions.
#![allow(unsafe_code)]

use ssdscope_io::Nanos;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Wait for input.
pub(crate) const READABLE: u32 = libc::EPOLLIN as u32;
/// Wait for room.
pub(crate) const WRITABLE: u32 = libc::EPOLLOUT as u32;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Says which of many descriptors are ready.
pub(crate) struct Poll(OwnedFd);

/// A descriptor that is ready.
#[derive(Clone, Copy)]
pub(crate) struct Ready {
    /// The number it was added under.
    pub(crate) key: u64,
    /// Whether there is input, or an end.
    pub(crate) readable: bool,
    /// Whether there is room.
    pub(crate) writable: bool,
    /// Whether the other end is closed in both directions, or broken.
    pub(crate) gone: bool,
}

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: takes an integer only; the descriptor returned is new and ours.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: as above.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Watches a descriptor, or watches it for something else.
    pub(crate) fn watch(&self, fd: RawFd, key: u64, wanted: u32, new: bool) -> io::Result<()> {
        let action = if new { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
        let mut event = libc::epoll_event { events: wanted, u64: key };
        // SAFETY: `event` is valid; a wrong descriptor is an error. Closing one ends its watch.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), action, fd, &raw mut event) })?;
        Ok(())
    }

    /// Waits at most so long; a signal ends the wait, too.
    pub(crate) fn wait(&self, timeout: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        const EVENTS: usize = 64;
        let mut events = [MaybeUninit::<libc::epoll_event>::uninit(); EVENTS];
        let span = timespec(timeout);
        // SAFETY: `events` has room for as many as are asked for, `span` outlives the call.
        let found = unsafe {
            let room = events.as_mut_ptr().cast();
            let signals = std::ptr::null();
            libc::epoll_pwait2(self.0.as_raw_fd(), room, EVENTS as i32, &raw const span, signals)
        };
        let found = match check(found) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            result => usize::try_from(result?).unwrap_or(0),
        };
        ready.extend(events[..found].iter().map(|event| {
            // SAFETY: the kernel has filled so many.
            let event = unsafe { event.assume_init() };
            let flags = event.events;
            let over = (libc::EPOLLHUP | libc::EPOLLERR) as u32;
            Ready {
                key: event.u64,
                readable: flags & (READABLE | over) != 0,
                writable: flags & (WRITABLE | over) != 0,
                gone: flags & over != 0,
            }
        }));
        Ok(())
    }
}

/// Waits until one descriptor has input (or room, where that is wanted), at most so long.
pub(crate) fn wait_for(fd: &impl AsRawFd, room: bool, timeout: Nanos) -> io::Result<()> {
    let events = libc::POLLIN | if room { libc::POLLOUT } else { 0 };
    let mut watched = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    let span = timespec(timeout);
    // SAFETY: one pollfd and a timespec, both valid for the call.
    match check(unsafe { libc::ppoll(&raw mut watched, 1, &raw const span, std::ptr::null()) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

fn timespec(span: Nanos) -> libc::timespec {
    const SECOND: u64 = 1_000_000_000;
    let tv_sec = i64::try_from(span.0 / SECOND).unwrap_or(i64::MAX);
    libc::timespec { tv_sec, tv_nsec: (span.0 % SECOND) as i64 }
}

/// A listening Unix socket that only its owner may connect to.
///
/// The mode is set on the socket before it gets a name, so there is no instant at which others
/// could connect, and the process's umask, which other threads share, stays as it is.
pub(crate) fn listen_privately(path: &Path) -> io::Result<UnixListener> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: zero is valid for this structure.
    let mut address: libc::sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
    if bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (place, &byte) in address.sun_path.iter_mut().zip(bytes) {
        *place = byte as libc::c_char;
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: takes integers only; the descriptor returned is new and ours.
    let socket = unsafe { OwnedFd::from_raw_fd(check(libc::socket(libc::AF_UNIX, kind, 0))?) };
    let len = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: `socket` is open, and `address` is valid for `len` bytes.
    unsafe {
        check(libc::fchmod(socket.as_raw_fd(), 0o600))?;
        check(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len))?;
        check(libc::listen(socket.as_raw_fd(), 128))?;
    }
    Ok(UnixListener::from(socket))
}
