//! Who opens a file or a device node after us: the kernel tells by inotify, whatever the name.
#![allow(unsafe_code)]

use super::check;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};

/// A watch over what a descriptor has open.
pub(crate) struct Visitors(File);

/// What others did since it was asked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    /// Somebody opened it.
    pub(crate) opened: bool,
    /// Somebody who could write closed it.
    pub(crate) written: bool,
}

impl Visitors {
    /// Watches from now on. Opening it once more, by this process too, is a visit.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        // SAFETY: takes integers only.
        let queue = check(unsafe { libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) })?;
        // SAFETY: the descriptor is new, and nobody else's.
        let queue = unsafe { File::from_raw_fd(queue) };
        let path = std::ffi::CString::new(super::link_of(file)).map_err(io::Error::other)?;
        let wanted = libc::IN_OPEN | libc::IN_CLOSE_WRITE;
        // SAFETY: `path` ends in zero and outlives the call.
        check(unsafe { libc::inotify_add_watch(queue.as_raw_fd(), path.as_ptr(), wanted) })?;
        Ok(Self(queue))
    }

    /// What was told since it was asked last. If more came than the kernel keeps, all of it.
    pub(crate) fn take(&mut self) -> Visits {
        const HEAD_BYTES: usize = size_of::<libc::inotify_event>();
        let mut visits = Visits::default();
        let mut buffer = [0_u8; 4096];
        while let Ok(len @ 1..) = self.0.read(&mut buffer) {
            let mut at = 0;
            while let Some(head) = buffer[..len].get(at..at + HEAD_BYTES) {
                let word =
                    |place: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| head[place + byte]));
                let mask = word(4);
                visits.opened |= mask & (libc::IN_OPEN | libc::IN_Q_OVERFLOW) != 0;
                visits.written |= mask & (libc::IN_CLOSE_WRITE | libc::IN_Q_OVERFLOW) != 0;
                at += HEAD_BYTES + word(12) as usize;
            }
        }
        visits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_writers_are_told_apart_whatever_the_name() {
        let path = std::env::temp_dir().join(format!("ssdscope-visits-{}", std::process::id()));
        let other = path.with_extension("other");
        std::fs::write(&path, "data").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let mut visitors = Visitors::of(&file).unwrap();
        assert_eq!(visitors.take(), Visits::default());
        std::os::unix::fs::FileExt::write_at(&file, b"ours", 0).unwrap();
        assert_eq!(visitors.take(), Visits::default(), "our own writes are no visit");
        std::fs::rename(&path, &other).unwrap();
        drop(File::open(&other).unwrap());
        assert_eq!(visitors.take(), Visits { opened: true, written: false });
        drop(File::options().write(true).open(&other).unwrap());
        assert_eq!(visitors.take(), Visits { opened: true, written: true });
        std::fs::remove_file(other).unwrap();
    }
}
