//! Why a target was refused: what, where, and what to do instead.

use crate::safety::refusal::{ROOT_MAY_NOT, Refusal};
use crate::sys;
use ssdscope_io::shown::{Shown, quoted};
use std::io;
use std::path::{Path, PathBuf};

/// Why a path was not opened or described. [`HostError::hint`] says what would help.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Nothing there.
    #[error("{}: no such file or device", Shown(.0))]
    NotFound(PathBuf),
    /// There, but not a drive and not a file.
    #[error("{}: is {what}; expected a regular file or a block device", Shown(path))]
    NotADrive {
        /// The path as given.
        path: PathBuf,
        /// What it is, with an article.
        what: &'static str,
    },
    /// There is no whole block to read.
    #[error(
        "{}: holds {size_bytes} bytes, less than one block of {logical_block_bytes} bytes",
        Shown(path)
    )]
    TooSmall {
        /// The path as given.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
        /// The smallest request.
        logical_block_bytes: u64,
    },
    /// The kernel says this user may not.
    #[error("{}: permission denied for {access}", Shown(path))]
    Permission {
        /// The path as given.
        path: PathBuf,
        /// Reading, or writing.
        access: &'static str,
        /// Whether it is a block device.
        block: bool,
    },
    /// A check of [`crate::safety`] refuses to write to a block device.
    #[error("{}: {why}", Shown(path))]
    Refused {
        /// The path as given.
        path: PathBuf,
        /// Which check, and what it found.
        why: Refusal,
    },
    /// The token does not belong to this target.
    #[error(
        "{}: the token {given:?} is not this target's; a file's token is FILE: and its name",
        Shown(path)
    )]
    WrongToken {
        /// The path as given.
        path: PathBuf,
        /// The token as given.
        given: String,
    },
    /// The path names something else than a moment ago.
    #[error("{}: was deleted or replaced, so its name does not lead to it", Shown(.0))]
    Replaced(PathBuf),
    /// The engine that was asked for is not there.
    #[error("the {engine} engine cannot be used: {reason}")]
    Engine {
        /// Its name.
        engine: &'static str,
        /// The kernel's answer.
        reason: String,
    },
    /// The kernel refused for another reason.
    #[error("{}: cannot {action}: {source}", Shown(path))]
    Os {
        /// The path as given.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl HostError {
    /// Turns the kernel's answer to `action` on `path` into the fitting error.
    pub(crate) fn os(path: &Path, action: &'static str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::NotFound(path.to_owned())
            }
            _ => Self::Os { path: path.to_owned(), action, source },
        }
    }

    /// Whether asking differently helps (as opposed to a machine that fails).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        if let Self::Refused { why, .. } = self {
            return why.is_usage();
        }
        !matches!(self, Self::Permission { .. } | Self::Engine { .. } | Self::Os { .. })
    }

    /// What would help, in one sentence, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound(_) => "check the spelling; simulated drives are written sim:NAME".into(),
            Self::NotADrive { what: "a directory", .. } => {
                "name a file inside it, for example one made with: head -c 1G /dev/urandom > FILE"
                    .into()
            }
            Self::NotADrive { .. } => "name a regular file or a disk such as /dev/nvme0n1".into(),
            Self::TooSmall { path, .. } => format!(
                "reads of a file can only measure what it holds; make one with: \
                 head -c 1G /dev/urandom > {}",
                quoted(path)
            ),
            Self::Permission { .. } if sys::is_root() => ROOT_MAY_NOT.into(),
            Self::Permission { block: true, .. } => {
                "run it as root, or as a member of the group that owns the device (often disk)"
                    .into()
            }
            Self::Refused { path, why } => return why.hint(path),
            Self::WrongToken { path, .. } => {
                format!("ssdscope doctor --identify {} prints the token", quoted(path))
            }
            Self::Replaced(_) => "see where the path leads, and name that".into(),
            _ => return None,
        };
        Some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_told_to_be_root() {
        let refused =
            |block| HostError::Permission { path: "/dev/x".into(), access: "reading", block };
        for block in [true, false] {
            let hint = refused(block).hint();
            assert_eq!(hint.is_some_and(|hint| hint == ROOT_MAY_NOT), sys::is_root());
        }
        let unasked = Refusal::Unasked("/dev/x".into()).hint(Path::new("/dev/x")).unwrap();
        assert_eq!(unasked == ROOT_MAY_NOT, sys::is_root());
        assert!(ROOT_MAY_NOT.contains("container"));
    }
}
