//! Attributes of a disk that ssdscope may set for a measurement, and how they come back.
//!
//! In reading order:
//!
//! * [`setting`]: the fixed list, and which values each may have;
//! * [`disk`]: a disk's corner of `/sys`, where they are read and written;
//! * `drive_cache`: the caches inside a drive, by ATA and NVMe commands;
//! * [`journal`]: what is written down before the first change;
//! * [`session`]: sets, and restores when it is dropped;
//! * `caches`: those of them that switch a device's caches;
//! * [`restore`]: sets back what a killed process has left.
//!
//! One process at a time sets attributes of a disk: it holds the lock of that disk's journal.
//! Whoever takes over a dead one's journal first sets back what stands in it. So the value that
//! was there before any of us is the one that returns.

pub(crate) mod caches;
pub mod disk;
mod drive_cache;
pub mod journal;
pub mod restore;
pub mod session;
pub mod setting;

pub use disk::{Disk, Places};
pub(crate) use drive_cache::ata_data_in;
pub use restore::{Outcome, Restored, restore_all};
pub use session::{Session, Shared, share};
pub use setting::Setting;

use crate::sys;
use std::io;
use std::path::PathBuf;

/// Why an attribute was not set, or a journal not used.
#[derive(Debug, thiserror::Error)]
pub enum AttributeError {
    /// There is no such disk in `/sys/block`.
    #[error("{0}: the kernel lists no such disk under /sys/block")]
    NoDisk(String),
    /// A word that is none of the fixed list.
    #[error("'{0}' is no attribute that ssdscope may set")]
    Unknown(String),
    /// This kernel or drive does not have it.
    #[error("{disk}: has no attribute '{setting}'")]
    NotOffered {
        /// The disk.
        disk: String,
        /// The attribute.
        setting: Setting,
    },
    /// A value outside what ssdscope may write there.
    #[error("{disk}: '{value}' is no value of '{setting}'; expected {expected}")]
    Value {
        /// The disk.
        disk: String,
        /// The attribute.
        setting: Setting,
        /// The value as given.
        value: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// Another process measures on that disk with attributes of its own.
    #[error("{0}: another ssdscope has set attributes of this disk and is still at work")]
    InUse(String),
    /// A journal that cannot be trusted.
    #[error("{}: {reason}; nothing was set back from it", path.display())]
    Journal {
        /// The journal, or its folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The kernel refused.
    #[error("{what}: {source}")]
    Os {
        /// What was tried, on what.
        what: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl AttributeError {
    pub(crate) fn os(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Os { what, source }
    }

    /// What would help, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown(_) => Some(format!("one of {}", setting::names().join(", "))),
            Self::InUse(_) => Some("wait for the other run, or measure without the option".into()),
            Self::Journal { path, .. } => Some(format!(
                "look at {} as root; if it is not ssdscope's, move it away",
                path.display()
            )),
            Self::Os { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                let ordinary = "attributes of a disk are set by root only";
                let root =
                    "this root may not set them, as in most containers: run it outside of one";
                Some(if sys::is_root() { root } else { ordinary }.into())
            }
            _ => None,
        }
    }
}
