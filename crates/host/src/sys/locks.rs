//! Locks and leases of regular files: what the kernel knows of others who use one.
#![allow(unsafe_code)]

use super::check;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Whether anybody but one descriptor has a file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// Nobody: no process, in whatever namespace or container, and not the kernel.
    Yes,
    /// Somebody: a process, a mapping, a loop device, or a descriptor under way between processes.
    No,
    /// The kernel does not say: the file is another user's, or its file system has no leases.
    Unknown,
}

/// Asks for a lease to write, which the kernel grants only if nobody else has the file open, and
/// gives it back.
pub(crate) fn alone(file: &File) -> Alone {
    if super::file_system(file).is_on_a_server {
        return Alone::Unknown; // what its leases say is what the server has delegated
    }
    const F_SETSIG: libc::c_int = 10; // of asm-generic/fcntl.h; the libc crate has none
    let set = |lease: libc::c_int| {
        // SAFETY: takes integers only.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, lease) })
    };
    // Somebody who opens the file in between breaks the lease, and the kernel tells us by a
    // signal. The usual one would end this process; this one is ignored unless somebody listens.
    // SAFETY: takes integers only.
    unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) };
    match set(libc::F_WRLCK) {
        Ok(_) => {
            let _ = set(libc::F_UNLCK);
            Alone::Yes
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Alone::No,
        Err(_) => Alone::Unknown,
    }
}

/// Which process holds a POSIX or OFD lock on any part of a file: its number, or `None` for an OFD
/// lock, which belongs to no process.
pub(crate) fn holder(file: &File) -> io::Result<Option<Option<u32>>> {
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: F_OFD_GETLK reads and writes one `flock`, which `lock` is.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) })?;
    if lock.l_type == libc::F_UNLCK as libc::c_short {
        return Ok(None);
    }
    Ok(Some(u32::try_from(lock.l_pid).ok().filter(|&process| process > 0)))
}

/// Takes `O_NONBLOCK` off an open file, which was there so that a lease of somebody's could not hold
/// up the opening.
pub(crate) fn let_block(file: &File) -> io::Result<()> {
    // SAFETY: takes integers only.
    let flags = check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: takes integers only.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) })?;
    Ok(())
}
