//! Why a block device is not written, one variant per check, and what would help.

use crate::sys;
use ssdscope_io::shown::quoted;
use std::path::Path;

/// What may help root, whom the kernel has refused.
pub(crate) const ROOT_MAY_NOT: &str = "root may not do this here: a container has to be given the \
     device, as by docker run --device; lsattr shows an immutable file; a security module may \
     forbid it, too";

/// Why a block device was refused. Nothing was written to it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The kernel lists no such device.
    #[error("the kernel does not describe this device in /sys, so it cannot be checked")]
    Unknown,
    /// A partition, or a device that the kernel makes of others.
    #[error("is {0}, and writing to one of these has to be allowed")]
    Virtual(&'static str),
    /// A drive of zones that must be written in order.
    #[error("is a zoned drive ({0}): its zones must be written in order, which ssdscope does not")]
    Zoned(String),
    /// The kernel refuses writes.
    #[error("is read-only: the kernel refuses writes to it")]
    ReadOnly,
    /// Mounts, swap, devices on top.
    #[error("is in use: {}", .0.join("; "))]
    InUse(Vec<String>),
    /// What a device is made of cannot be asked; which one, and why not.
    #[error("cannot be checked: the kernel does not say what is attached to {0}")]
    Unasked(String),
    /// `O_EXCL` failed.
    #[error(
        "{}is in use by the kernel, which does not give it to anybody alone{}",
        sharing(device.as_deref()),
        also_open(openers)
    )]
    Claimed {
        /// Which device, if it is not the target itself.
        device: Option<String>,
        /// Which processes have it open, as far as this user may look.
        openers: Vec<String>,
    },
    /// The file is that of loop devices.
    #[error("is the file behind {}", .0.join(", "))]
    Attached(Vec<String>),
    /// Somebody holds a lock on the file, or a lease.
    #[error("is locked by {}", .0.join(", "))]
    Locked(Vec<String>),
    /// Somebody holds a lease, which opening the file would break.
    #[error("is in use: somebody holds a lease on it")]
    Leased,
    /// The kernel says that somebody has the file open, and not who.
    #[error(
        "is in use: somebody has it open, whom this user cannot see (the kernel gives no lease)"
    )]
    NotAlone,
    /// The library that knows signatures is missing.
    #[error("libblkid cannot be used ({0}), so nobody can say what the device carries")]
    NoLibrary(String),
    /// A file system, a partition table, a member of an array.
    #[error("carries {}", .0.join(", "))]
    Signatures(Vec<String>),
    /// Looking failed.
    #[error("cannot be searched for data: {0}")]
    Unreadable(String),
    /// Data without a signature.
    #[error("holds data that ssdscope did not write (found at byte {0})")]
    HoldsData(u64),
    /// A token of former versions, which may name more than one device.
    #[error("the token {given:?} may name another device, too; this one's is {own:?}")]
    OldToken {
        /// As the user typed it.
        given: String,
        /// What it must be.
        own: String,
    },
    /// Somebody else has it open.
    #[error("is open in {}", .0.join(", "))]
    OpenElsewhere(Vec<String>),
    /// Nothing tells this drive from another.
    #[error("has no serial number and no WWN, so no token can name it")]
    NoIdentity,
    /// The token names another drive.
    #[error("the token {0:?} is not this device's")]
    WrongToken(String),
    /// The window is not on the device.
    #[error(
        "the window of {size_bytes} bytes from byte {offset_bytes} is not on the device \
         ({capacity_bytes} bytes)"
    )]
    OutsideDevice {
        /// Where it starts.
        offset_bytes: u64,
        /// How long it is.
        size_bytes: u64,
        /// How long the device is.
        capacity_bytes: u64,
    },
    /// The window is not whole blocks.
    #[error("the window must start and end at a multiple of {0} bytes")]
    OffGrid(u64),
    /// There is no room for a window.
    #[error("is too small: the window to write would be {0} bytes, and a mebibyte is the least")]
    TooSmall(u64),
    /// The drive reports that it fails.
    #[error("reports a critical warning: {0}")]
    Critical(String),
    /// The drive's rated life is over.
    #[error("is worn: it reports {0} % of its rated life as used, and 90 % is the most")]
    Worn(u8),
    /// The drive is too warm.
    #[error("is hot: it reports {0} °C, and 70 °C is the most to write at")]
    Hot(i32),
}

impl Refusal {
    /// What would help, in one sentence, where that is known.
    #[must_use]
    pub fn hint(&self, path: &Path) -> Option<String> {
        let path = quoted(path);
        let hint = match self {
            Self::Virtual(_) => {
                "name the whole disk, or add --allow-virtual if this device is meant".into()
            }
            Self::Zoned(_) | Self::Unknown => "it can be read: leave out --destroy-data".into(),
            Self::ReadOnly => format!("blockdev --setrw {path} makes it writable, if it can be"),
            Self::InUse(_) => "unmount it, swapoff, or stop what is on top of it".into(),
            Self::Claimed { openers, .. } if openers.is_empty() => format!(
                "lsblk {path} shows what is on top of it; a mount may be that of a container"
            ),
            Self::Unasked(_) if sys::is_root() => ROOT_MAY_NOT.into(),
            Self::Unasked(_) => "run it as root, who may ask".into(),
            Self::Attached(_) => "losetup --detach it first, or write to the device".into(),
            Self::Leased | Self::NotAlone => {
                "lsof, as root, may show who; loop devices and containers count, too".into()
            }
            Self::NoLibrary(_) => {
                "install it: on Debian and Ubuntu the package is libblkid1, on Fedora libblkid"
                    .into()
            }
            Self::Signatures(_) => format!(
                "no option overrides this; if the data may go, wipefs --all {path} removes it \
                 (a disk's partitions first)"
            ),
            Self::HoldsData(_) => "add --overwrite-existing to lose the data".into(),
            Self::Claimed { .. } | Self::OpenElsewhere(_) | Self::Locked(_) => {
                "wait until that process is done, or end it".into()
            }
            Self::NoIdentity => "only drives that say who they are can be written".into(),
            Self::WrongToken(_) | Self::OldToken { .. } => {
                format!("ssdscope doctor --identify {path} prints the token, and what it names")
            }
            Self::OutsideDevice { .. } | Self::OffGrid(_) | Self::TooSmall(_) => {
                "--offset and --size choose the window; without them it is the last quarter".into()
            }
            Self::Hot(_) => "let it cool down".into(),
            Self::Unreadable(_) | Self::Critical(_) | Self::Worn(_) => return None,
        };
        Some(hint)
    }

    /// Whether it is a refusal, as opposed to a machine that fails.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Unreadable(_) | Self::NoLibrary(_))
    }
}

fn sharing(device: Option<&str>) -> String {
    device.map_or_else(String::new, |name| format!("shares its blocks with {name}, and that "))
}

fn also_open(openers: &[String]) -> String {
    if openers.is_empty() {
        String::new()
    } else {
        format!("; it is open in {}", openers.join(", "))
    }
}
