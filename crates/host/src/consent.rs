//! What the user has to say before anything is written, and a file's token.
//!
//! The token names the target, so that a slip in a path cannot cost data. Data that ssdscope did not
//! write are lost only by `overwrite_existing`. What ssdscope wrote says so itself, in every sector
//! ([`crate::payload`]): that survives copying and renaming, and ends where somebody writes something
//! else. There is no other mark.

use ssdscope_io::shown::Shown;
use std::path::Path;

/// What the user said about losing data.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// The target's token.
    pub token: &'a str,
    /// Whether data that is not ours may be lost too.
    pub overwrite_existing: bool,
    /// Whether a partition, a loop device or another virtual one is meant.
    pub allow_virtual: bool,
    /// Offset and size, in bytes, of what may be written on a block device: without them the
    /// last quarter, without a size up to the end. A file may be written everywhere.
    pub window: Option<(u64, Option<u64>)>,
    /// How many bytes may be written in all.
    pub write_limit_bytes: Option<u64>,
    /// Whether each write writes back what is there, so that nothing is lost.
    pub preserve_content: bool,
}

impl<'a> Consent<'a> {
    /// The token alone.
    #[must_use]
    pub const fn by_token(token: &'a str) -> Self {
        Self {
            token,
            overwrite_existing: false,
            allow_virtual: false,
            window: None,
            write_limit_bytes: None,
            preserve_content: false,
        }
    }
}

/// A file's token.
pub(crate) fn file_token(real_path: &Path) -> String {
    let name = real_path.file_name().unwrap_or(real_path.as_os_str());
    format!("FILE:{}", Shown(Path::new(name)))
}
