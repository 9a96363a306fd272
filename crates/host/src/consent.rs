//! When a file may be overwritten.
//!
//! Always needed: the file's token, `FILE:` and its name, so that a slip in a path cannot
//! cost data. Then one of:
//!
//! * nothing to lose: every sector is a hole, zeros, or was written by ssdscope. The
//!   sectors say so themselves (see [`crate::payload`]), so this survives copying,
//!   renaming and file systems without attributes, and a file into which somebody has
//!   since put data of their own is noticed;
//! * the mark: the attribute `user.ssdscope` holds the size and modification time as of
//!   our last close, and both are unchanged. It only saves the reading of a large file,
//!   and covers what the user has given up before with the next item;
//! * `overwrite_existing`;
//! * `preserve_content`: each write writes back what is there. Nothing is lost then, unless the
//!   power fails in the middle of a write, or another program writes in between: so nobody else
//!   may have the file open for writing.

use crate::buffer::BufferPool;
use crate::error::HostError;
use crate::safety::openers;
use crate::safety::refusal::Refusal;
use crate::{payload, sys};
use ssdscope_io::SECTOR_BYTES;
use ssdscope_io::shown::Shown;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// The attribute of the mark.
const MARK: &CStr = c"user.ssdscope";
/// How much is read at once when looking for data.
const STRETCH_BYTES: u64 = 1 << 20;
/// Longer than a step of any kernel's file times (10 ms at 100 Hz).
const TIME_STEP: Duration = Duration::from_millis(20);

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

/// Passes if the first `capacity_bytes` of the open file may be overwritten.
/// `keep_going` is asked now and then while the file is read.
pub(crate) fn check(
    file: &File,
    path: &Path,
    capacity_bytes: u64,
    consent: &Consent<'_>,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), HostError> {
    if consent.preserve_content {
        return check_alone(file, path);
    }
    if consent.overwrite_existing || mark_holds(file) {
        return Ok(());
    }
    let os = |source| HostError::os(path, "look at what it holds", source);
    match first_foreign_byte(file, capacity_bytes, keep_going).map_err(os)? {
        Scan::Clean => Ok(()),
        Scan::Stopped => Err(HostError::Interrupted(path.to_owned())),
        Scan::Foreign(offset_bytes) => {
            Err(HostError::HoldsData { path: path.to_owned(), offset_bytes })
        }
    }
}

/// Refuses a file that others write, as far as this user may look.
fn check_alone(file: &File, path: &Path) -> Result<(), HostError> {
    let stat = file.metadata().map_err(|error| HostError::os(path, "describe it", error))?;
    let writers = openers::writing(&stat);
    if writers.is_empty() {
        return Ok(());
    }
    Err(HostError::Refused { path: path.to_owned(), why: Refusal::OpenElsewhere(writers) })
}

/// Refuses a token that is not the target's.
pub(crate) fn check_token(path: &Path, real_path: &Path, given: &str) -> Result<(), HostError> {
    if given == file_token(real_path) {
        Ok(())
    } else {
        Err(HostError::WrongToken { path: path.to_owned(), given: given.to_owned() })
    }
}

/// Marks the file as one that may be overwritten for as long as nobody else changes it.
pub(crate) fn mark(file: &File) {
    // Times of files come in steps: a change right after ours must not get the same one.
    let modified = file.metadata().and_then(|stat| stat.modified()).ok();
    if modified.is_some_and(|at| at.elapsed().is_ok_and(|age| age < TIME_STEP)) {
        std::thread::sleep(TIME_STEP);
    }
    if let Some(value) = mark_value(file) {
        // Without the mark the contents are read next time: slower, not less safe.
        let _ = sys::set_xattr(file, MARK, value.as_bytes());
    }
}

fn mark_holds(file: &File) -> bool {
    let found = sys::get_xattr(file, MARK);
    found.is_some() && found == mark_value(file).map(String::into_bytes)
}

fn mark_value(file: &File) -> Option<String> {
    let stat = file.metadata().ok()?;
    Some(format!("v1 {} {}.{:09}", stat.size(), stat.mtime(), stat.mtime_nsec()))
}

enum Scan {
    Clean,
    Foreign(u64),
    Stopped,
}

fn first_foreign_byte(
    file: &File,
    capacity_bytes: u64,
    keep_going: &mut dyn FnMut() -> bool,
) -> io::Result<Scan> {
    let mut buffer = BufferPool::default().take(STRETCH_BYTES as usize, |_| {});
    let mut position = 0;
    while let Some((start, end)) = sys::next_data(file, position)? {
        position = start - start % STRETCH_BYTES;
        while position < end.min(capacity_bytes) {
            if !keep_going() {
                return Ok(Scan::Stopped);
            }
            let len = STRETCH_BYTES.min(capacity_bytes - position) as usize;
            let data = &mut buffer.as_mut_slice()[..len];
            file.read_exact_at(data, position)?;
            if let Some(sector) = first_foreign_sector(data) {
                return Ok(Scan::Foreign(position + sector * SECTOR_BYTES));
            }
            position += len as u64;
        }
        if position >= capacity_bytes {
            break;
        }
    }
    Ok(Scan::Clean)
}

/// The first sector that is neither zero nor ours.
pub(crate) fn first_foreign_sector(data: &[u8]) -> Option<u64> {
    const ZEROS: [u8; SECTOR_BYTES as usize] = [0; SECTOR_BYTES as usize];
    let foreign = |sector: &[u8]| *sector != ZEROS && !payload::is_ours(sector);
    data.chunks_exact(ZEROS.len()).position(foreign).map(|index| index as u64)
}
