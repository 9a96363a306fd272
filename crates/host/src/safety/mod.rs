//! Whether a block device may be written: one check per file, asked in this order.
//!
//! 1. [`kind`]: a whole disk, or a virtual device that the user names as one; not zoned;
//! 2. [`usage`]: not read-only, no mount, swap or holder on it or on what belongs to it;
//! 3. [`claim`]: the kernel gives it to us alone (`O_EXCL`);
//! 4. [`signatures`]: libblkid finds nothing on it, nor on its partitions;
//! 5. [`contents`]: what is sampled is zero or ours, or the user gives it up, or it is kept;
//! 6. [`openers`]: no other process has it open, nor its disk, nor a partition of it;
//! 7. [`token`]: the user named this drive, not this path;
//! 8. [`limits`]: the window fits, the drive is neither worn out nor hot;
//! 9. the writer's lock, which udev and other runs of ours respect.
//!
//! Whatever refuses, nothing was written by then. While it is written, [`presence`] asks again
//! whether it is still the same drive, and [`fitness`] whether it is still fit.

mod blkid;
mod claim;
mod contents;
pub(crate) mod fitness;
mod kind;
pub(crate) mod limits;
pub(crate) mod openers;
pub(crate) mod presence;
pub mod refusal;
mod signatures;
pub(crate) mod token;
pub(crate) mod usage;

use crate::consent::Consent;
use crate::error::HostError;
use crate::health::Health;
use crate::open::Opened;
use crate::sys;
use crate::sysfs::SysBlock;
use refusal::Refusal;
use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Opens a block device for writing if every check passes; also gives the bytes that may
/// be written.
pub(crate) fn admit(
    path: &Path,
    stat: &Metadata,
    consent: &Consent<'_>,
) -> Result<(Opened, Range<u64>), HostError> {
    let refused = |why| HostError::Refused { path: path.to_owned(), why };
    let block = SysBlock::find(stat.rdev()).ok_or_else(|| refused(Refusal::Unknown))?;
    kind::check(&block, consent.allow_virtual).map_err(refused)?;
    usage::check_read_only(path, &block).map_err(refused)?;
    usage::check(&block).map_err(refused)?;
    let opened = claim::open(path, &block, stat.rdev())?;
    signatures::check(&opened, &block).map_err(refused)?;
    let window = limits::window(&opened, consent.window);
    if !consent.overwrite_existing && !consent.preserve_content {
        contents::check(&opened, window.as_ref().ok()).map_err(refused)?;
    }
    openers::check(&block).map_err(refused)?;
    token::check(&block, consent.token).map_err(refused)?;
    let window = window.map_err(refused)?;
    limits::check_health(&Health::of(&opened.file, &block)).map_err(refused)?;
    match sys::try_lock(&opened.file) {
        Ok(true) => Ok((opened, window)),
        Ok(false) => Err(HostError::Locked(path.to_owned())),
        Err(error) => Err(HostError::os(path, "lock it", error)),
    }
}

/// Why a block device would be refused whatever the user says, as far as a look without
/// opening it for writing shows; and the options that it needs beside its token.
pub(crate) fn outlook(opened: &Opened, block: &SysBlock) -> (Option<Refusal>, Vec<&'static str>) {
    let needs = if kind::is_virtual(block) { vec!["--allow-virtual"] } else { Vec::new() };
    let refusal = kind::check(block, true)
        .and_then(|()| usage::check_read_only(&opened.real_path, block))
        .and_then(|()| usage::check(block))
        .and_then(|()| signatures::check(opened, block))
        .and_then(|()| token::of(block).map(drop).ok_or(Refusal::NoIdentity))
        .and_then(|()| limits::check_health(&Health::of(&opened.file, block)))
        .err();
    (refusal, needs)
}
