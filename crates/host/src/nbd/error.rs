//! Why a drive was not served, or an export not opened: what, where, and what to do instead.

use crate::safety::refusal::Refusal;
use ssdscope_io::DeviceError;
use ssdscope_io::shown::{Shown, quoted};
use std::io;
use std::path::{Path, PathBuf};

/// Why serving, or being served, did not begin. [`NbdError::hint`] says what would help.
#[derive(Debug, thiserror::Error)]
pub enum NbdError {
    /// Something else stands where the socket should be.
    #[error("{}: is there already, and is not a socket", Shown(.0))]
    NotASocket(PathBuf),
    /// Another server listens there.
    #[error("{}: another server listens there", Shown(.0))]
    SocketInUse(PathBuf),
    /// The name is too long for the kernel.
    #[error("{}: the name of a socket has at most 99 bytes", Shown(.0))]
    SocketPath(PathBuf),
    /// The port cannot be had.
    #[error("port {port} of 127.0.0.1: {reason}")]
    Port {
        /// The port.
        port: u16,
        /// The kernel's answer.
        reason: String,
    },
    /// The backing file is a directory or a device.
    #[error("{}: is not a regular file, so it cannot hold a drive's data", Shown(.0))]
    NotABackingFile(PathBuf),
    /// The backing file is another one's.
    #[error("{}: holds {size_bytes} bytes, but the drive has {capacity_bytes} bytes", Shown(path))]
    BackingSize {
        /// The path as given.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
        /// The size that it should have.
        capacity_bytes: u64,
    },
    /// Another process uses it.
    #[error("{}: is locked by another process", Shown(.0))]
    Locked(PathBuf),
    /// Somebody else uses it.
    #[error("{}: {why}", Shown(path))]
    InUse {
        /// The path as given.
        path: PathBuf,
        /// Who, and how.
        why: Refusal,
    },
    /// The Device door carries no data.
    #[error("a {0} cannot be served: its data cannot be reached through ssdscope")]
    NoData(&'static str),
    /// The kernel refused.
    #[error("{}: cannot {action}: {source}", Shown(path))]
    Os {
        /// The path as given.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel refused something that has no name.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The drive can make no progress.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Nobody answers there.
    #[error("{address}: no NBD server answers: {reason}")]
    Unreachable {
        /// Where.
        address: String,
        /// The kernel's answer.
        reason: String,
    },
    /// It talks, but not as the protocol wants.
    #[error("{address}: {what}")]
    Protocol {
        /// Where.
        address: String,
        /// What is wrong.
        what: String,
    },
    /// It has no such export.
    #[error("{address}: the server has no export {export:?}")]
    NoExport {
        /// Where.
        address: String,
        /// The name as given.
        export: String,
    },
    /// The token does not belong to this export.
    #[error("the token {given:?} is not this export's; its token is NBD: and its name")]
    WrongToken {
        /// The token as given.
        given: String,
    },
    /// The export lets nobody write.
    #[error("{address}: the export is read-only")]
    ReadOnly {
        /// Where.
        address: String,
    },
}

impl NbdError {
    /// The kernel's answer to `action` on `path`.
    pub(crate) fn os(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Os { path: path.to_owned(), action, source }
    }

    /// The kernel's answer to `action`.
    pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }

    /// Whether asking differently helps (as opposed to a machine or a server that fails).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            Self::Os { .. }
                | Self::System { .. }
                | Self::Device(_)
                | Self::Unreachable { .. }
                | Self::Protocol { .. }
        )
    }

    /// What would help, in one sentence, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::InUse { path, why } => return why.hint(path),
            Self::NotASocket(_) | Self::SocketInUse(_) => "name another path".into(),
            Self::SocketPath(_) => "name a shorter path, as in /tmp/ssd.sock".into(),
            Self::Port { .. } => "name another port, or 0 for any that is free".into(),
            Self::BackingSize { path, .. } => format!(
                "name a file that does not exist yet, or empty this one: truncate -s 0 {}",
                quoted(path)
            ),
            Self::NoData(_) => "serve a file, a block device or a simulated drive".into(),
            Self::Unreachable { .. } => {
                "start a server: ssdscope serve sim:NAME --socket PATH".into()
            }
            Self::NoExport { .. } => "nbdinfo --list shows the names of a server's exports".into(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refusals before anything was done are the caller's to mend, whoever holds the thing.
    #[test]
    fn what_another_process_holds_is_a_refusal() {
        assert!(NbdError::Locked("x.img".into()).is_usage());
        assert!(NbdError::SocketInUse("x.sock".into()).is_usage());
        let source = io::Error::from_raw_os_error(5);
        assert!(!NbdError::System { action: "wait", source }.is_usage());
    }
}
