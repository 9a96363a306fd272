//! Which kinds of drive there are, and which of them read a key.

use serde::Serialize;

/// The kinds of drive that read a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every drive.
    All,
    /// Every drive with flash, whatever its firmware.
    Flash,
    /// Those on the detailed flash array: page-mapped and log-block drives.
    Array,
    /// Those behind the detailed host link: page-mapped and log-block drives, and hard disks.
    Linked,
    /// Those that collect garbage: page-mapped drives and the SSD extension.
    Collecting,
    /// Page-mapped drives only.
    Page,
    /// Log-block drives only.
    LogBlock,
    /// The firmware of `DiskSim`'s SSD extension only.
    Msr,
    /// Hard disks only.
    Disk,
}

impl Scope {
    /// The kinds of drive that read the key: of [`KINDS`].
    #[must_use]
    pub const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::All => KINDS,
            Self::Flash => FIRMWARES,
            Self::Array => &["page", "log-block"],
            Self::Linked => &["page", "log-block", "disk"],
            Self::Collecting => &["page", "msr"],
            Self::Page => &["page"],
            Self::LogBlock => &["log-block"],
            Self::Msr => &["msr"],
            Self::Disk => &["disk"],
        }
    }
}

/// The values of `ftl.kind`.
pub const FIRMWARES: &[&str] = &["page", "log-block", "msr"];

/// Every kind of drive: the values of `ftl.kind`, and `disk` for a file with a table `[disk]`.
pub const KINDS: &[&str] = &["page", "log-block", "msr", "disk"];
