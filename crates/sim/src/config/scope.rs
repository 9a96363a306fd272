//! Which firmwares there are, and which of them read a key.

use serde::Serialize;

/// The firmwares that read a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every firmware.
    All,
    /// Those on the detailed flash array: page-mapped and log-block drives.
    Array,
    /// Those that collect garbage: page-mapped drives and the SSD extension.
    Collecting,
    /// Page-mapped drives only.
    Page,
    /// Log-block drives only.
    LogBlock,
    /// The firmware of `DiskSim`'s SSD extension only.
    Msr,
}

impl Scope {
    /// The values of `ftl.kind` with which the key means something.
    #[must_use]
    pub const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::All => FIRMWARES,
            Self::Array => &["page", "log-block"],
            Self::Collecting => &["page", "msr"],
            Self::Page => &["page"],
            Self::LogBlock => &["log-block"],
            Self::Msr => &["msr"],
        }
    }
}

/// The values of `ftl.kind`.
pub const FIRMWARES: &[&str] = &["page", "log-block", "msr"];
