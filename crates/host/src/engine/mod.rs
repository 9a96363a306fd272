//! How requests reach the kernel.
//!
//! * `uring`: `io_uring` with registered file and buffers, one thread, no hand-over;
//! * `threads`: blocking calls on a few threads, where `io_uring` is switched off
//!   (containers, `kernel.io_uring_disabled`).
//!
//! Both stamp a request right before the system call that starts it and right after
//! the one that brings the news of its end, so that their times mean the same.

pub(crate) mod threads;
pub(crate) mod uring;

use crate::buffer::{AlignedBuffer, BufferPool};
use crate::error::HostError;
use serde::Serialize;
use ssdscope_io::{Nanos, Op};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// A way to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Asynchronous requests through shared rings.
    IoUring,
    /// `pread` and `pwrite` on a pool of threads.
    Threads,
}

impl EngineKind {
    /// The name in files and on pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Threads => "threads",
        }
    }
}

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// `io_uring`, or threads where it is off.
    #[default]
    Auto,
    /// This one or none.
    Only(EngineKind),
}

/// What the kernel is asked to do with a buffer.
pub(crate) struct Transfer {
    pub(crate) op: Op,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: usize,
    /// A write must be durable before it ends.
    pub(crate) fua: bool,
    /// Present for reads and writes, at least `len_bytes` long.
    pub(crate) buffer: Option<AlignedBuffer>,
}

/// A transfer that ended.
pub(crate) struct Finished {
    /// The number given to [`Engine::start`].
    pub(crate) slot: usize,
    /// Nothing, or the errno.
    pub(crate) result: Result<(), i32>,
    pub(crate) started: Nanos,
    pub(crate) finished: Nanos,
    pub(crate) buffer: Option<AlignedBuffer>,
}

/// Starts transfers and reports their ends. It owns the buffers of what is in flight.
pub(crate) trait Engine: Send {
    fn kind(&self) -> EngineKind;

    /// How many transfers it takes at once.
    fn depth_max(&self) -> usize;

    /// Makes ready for the calling thread; called while nothing is in flight.
    fn prepare(&mut self, pool: &mut BufferPool) -> io::Result<()>;

    /// Makes a new buffer known to the kernel, where that helps.
    fn adopt(&mut self, buffer: &mut AlignedBuffer);

    /// Starts a transfer under a number that is not in use.
    fn start(&mut self, slot: usize, transfer: Transfer) -> io::Result<()>;

    /// Waits for the first end, at most until the given instant, and takes all there are.
    fn wait(&mut self, until: Nanos, finished: &mut Vec<Finished>) -> io::Result<()>;
}

/// Which engine [`EngineChoice::Auto`] comes to, and why not the first choice.
#[must_use]
pub fn available() -> (EngineKind, Option<String>) {
    match uring::usable() {
        Ok(()) => (EngineKind::IoUring, None),
        Err(error) => (EngineKind::Threads, Some(uring_reason(&error))),
    }
}

/// Opens the engine for a file: itself, and why it is not the first choice.
pub(crate) fn open(
    choice: EngineChoice,
    file: Arc<File>,
) -> Result<(Box<dyn Engine>, Option<String>), HostError> {
    let threads = |file| Box::new(threads::Threads::new(file));
    match choice {
        EngineChoice::Only(EngineKind::Threads) => {
            Ok((threads(file), Some("asked for".to_owned())))
        }
        EngineChoice::Only(EngineKind::IoUring) => match uring::Uring::new(file) {
            Ok(ring) => Ok((Box::new(ring), None)),
            Err(error) => {
                Err(HostError::Engine { engine: "io_uring", reason: uring_reason(&error) })
            }
        },
        EngineChoice::Auto => match uring::Uring::new(Arc::clone(&file)) {
            Ok(ring) => Ok((Box::new(ring), None)),
            Err(error) => Ok((threads(file), Some(uring_reason(&error)))),
        },
    }
}

/// What the kernel's refusal of a ring means.
fn uring_reason(error: &io::Error) -> String {
    let cause = match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has none, or a seccomp filter hides it",
        Some(libc::EPERM) => "kernel.io_uring_disabled or a seccomp filter forbids it",
        Some(libc::ENOMEM) => "the limit of locked memory is too small",
        _ => return format!("io_uring is off: {error}"),
    };
    format!("io_uring is off: {cause}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_the_fallback_says_what_to_change() {
        let reason = |errno| uring_reason(&io::Error::from_raw_os_error(errno));
        assert!(reason(libc::EPERM).contains("kernel.io_uring_disabled"));
        assert!(reason(libc::ENOSYS).contains("seccomp"));
        assert!(reason(libc::ENOMEM).contains("locked memory"));
        assert!(reason(libc::EINVAL).contains("Invalid argument"));
    }
}
