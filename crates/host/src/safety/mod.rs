//! Whether a target may be written: one check per file. Of a block device, in this order:
//!
//! 1. [`kind`]: a whole disk, or a virtual device that the user names as one; not zoned;
//! 2. [`usage`]: not read-only, no mount, swap or holder on it or on what belongs to it
//!    ([`stack`]);
//! 3. [`claim`]: the kernel gives it to us alone (`O_EXCL`), and all that shares its blocks;
//! 4. [`signatures`]: libblkid finds nothing on it, nor on its partitions;
//! 5. [`contents`]: what is sampled is zero or ours, or the user gives it up, or it is kept;
//! 6. [`openers`]: no other process has it open, nor what shares its blocks;
//! 7. [`token`]: the user named this drive, not this path;
//! 8. [`limits`]: the window fits, the drive is neither worn out nor hot;
//! 9. the writer's lock, which udev and other runs of ours respect.
//!
//! Regular files go through [`files`].
//!
//! The path is followed once ([`crate::pinned`]); everything is asked of what was found. Whatever
//! refuses, nothing was written by then. While it is written, [`presence`] asks again whether it
//! is still the same drive, and [`recheck`] whether it may still be written.

mod blkid;
mod claim;
mod contents;
pub(crate) mod files;
mod kind;
pub(crate) mod limits;
pub(crate) mod openers;
pub(crate) mod presence;
pub(crate) mod recheck;
pub mod refusal;
mod signatures;
pub(crate) mod stack;
pub(crate) mod token;
pub(crate) mod usage;

use crate::consent::Consent;
use crate::error::HostError;
use crate::file::Writing;
use crate::health::Health;
use crate::open::Opened;
use crate::pinned::Pinned;
use crate::sys;
use crate::sysfs::SysBlock;
use crate::vetted::Vetted;
use recheck::Moment;
use refusal::Refusal;
use stack::Stack;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// A target that may be written, and how.
pub(crate) struct Admitted {
    pub(crate) opened: Opened,
    pub(crate) writing: Writing,
}

/// Opens a block device for writing if every check passes.
pub(crate) fn admit(pinned: &Pinned, consent: &Consent<'_>) -> Result<Admitted, HostError> {
    let path = &pinned.path;
    let refused = |why| HostError::Refused { path: path.clone(), why };
    let block = SysBlock::find(pinned.device()).ok_or_else(|| refused(Refusal::Unknown))?;
    kind::check(&block, consent.allow_virtual).map_err(refused)?;
    usage::check_read_only(&block, pinned.open(false, 0).ok().as_ref()).map_err(refused)?;
    let stack = Stack::of(&block).map_err(refused)?;
    usage::check(&stack).map_err(refused)?;
    let claimed = claim::open(pinned, &stack)?;
    let opened = claimed.opened;
    same_medium(&opened.file, &block).map_err(refused)?;
    signatures::check(&opened.file, &block).map_err(refused)?;
    let window = limits::window(&opened, consent.window);
    let loses = !consent.overwrite_existing && !consent.preserve_content;
    if loses {
        let whole = 0..opened.capacity_bytes();
        contents::check(&opened, window.as_ref().unwrap_or(&whole)).map_err(refused)?;
    }
    openers::check(|| openers::of(&stack)).map_err(refused)?;
    token::check(&block, consent.token).map_err(refused)?;
    let window = window.map_err(refused)?;
    limits::check_health(&Health::of(&opened.file, &block)).map_err(refused)?;
    let locked = openers::lock(&opened.file);
    if !locked.map_err(|error| HostError::os(path, "lock it", error))? {
        return Err(refused(openers::locked(&opened.file)));
    }
    let block_bytes = opened.logical_block_bytes;
    let vetted = loses.then(|| Vetted::new(window.clone(), block_bytes, true));
    let writing = Writing {
        window,
        limit_bytes: consent.write_limit_bytes,
        preserves: consent.preserve_content,
        vetted,
        recheck: Arc::new(again),
        claims: claimed.others,
        use_note: unseen_openers(),
    };
    Ok(Admitted { opened, writing })
}

/// Refuses a descriptor that is not of the medium whose description was checked.
fn same_medium(file: &File, block: &SysBlock) -> Result<(), Refusal> {
    match (sys::disk_sequence(file).ok(), block.sequence()) {
        (Some(opened), Some(checked)) if opened != checked => Err(Refusal::Unknown),
        _ => Ok(()),
    }
}

/// What is asked of an open device before each phase of writing, and now and then within one.
fn again(file: &File, moment: Moment) -> Result<(), Refusal> {
    let device = file.metadata().map_err(|error| Refusal::Unreadable(error.to_string()))?.rdev();
    let block = SysBlock::find(device).ok_or(Refusal::Unknown)?;
    let stack = Stack::of(&block)?;
    usage::check_read_only(&block, Some(file))?;
    usage::check(&stack)?;
    openers::check(|| openers::of(&stack))?;
    if moment == Moment::Phase {
        signatures::check(file, &block)?;
    }
    if moment == Moment::Pause {
        return Ok(()); // a question to the drive would be work in its pause
    }
    limits::check_health(&Health::of(file, &block))
}

/// What must be said where not every process can be seen.
fn unseen_openers() -> Option<String> {
    let note = "which other users' programs have the device open is seen by root only";
    (!sys::is_root()).then(|| note.to_owned())
}

/// Why a block device would be refused whatever the user says, as far as a look without
/// opening it for writing shows; and the options that it needs beside its token.
pub(crate) fn outlook(opened: &Opened, block: &SysBlock) -> (Option<Refusal>, Vec<&'static str>) {
    let needs = if kind::is_virtual(block) { vec!["--allow-virtual"] } else { Vec::new() };
    let refusal = kind::check(block, true)
        .and_then(|()| usage::check_read_only(block, Some(&opened.file)))
        .and_then(|()| usage::check(&Stack::of(block)?))
        .and_then(|()| signatures::check(&opened.file, block))
        .and_then(|()| token::of(block).map(drop).ok_or(Refusal::NoIdentity))
        .and_then(|()| limits::check_health(&Health::of(&opened.file, block)))
        .err();
    (refusal, needs)
}
