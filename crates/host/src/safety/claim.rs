//! Check 3: the kernel gives the device to us alone (`O_EXCL`), and with it every device that
//! shares its blocks; "busy" is final, but for what a killed process still holds.
//!
//! A mount, swap, md or device-mapper claims a device in the kernel, in whatever namespace or
//! container it was made. Claims are kept as long as the target is open, so that nothing can be
//! mounted meanwhile either. What lies beneath a volume is claimed by the volume, and that is as
//! good: nobody else can have it.

use super::openers;
use super::refusal::Refusal;
use super::stack::Stack;
use crate::error::HostError;
use crate::open::{self, Opened};
use crate::pinned::Pinned;
use crate::sysfs::SysBlock;
use std::fs::File;
use std::io;

/// A target that is ours alone, and the claims that make it so.
pub(super) struct Claimed {
    pub(super) opened: Opened,
    pub(super) others: Vec<File>,
}

/// Opens the target for writing, alone, and claims what shares its blocks.
pub(super) fn open(pinned: &Pinned, stack: &Stack) -> Result<Claimed, HostError> {
    let attempt = || match open::open_target(pinned, libc::O_EXCL, true) {
        Err(HostError::Os { source, .. }) if is_busy(&source) => None,
        result => Some(result),
    };
    let opened = openers::after_the_dead(attempt, || !openers::of(stack).is_empty());
    let opened = opened.unwrap_or_else(|| {
        let why = Refusal::Claimed { device: None, openers: openers::of(stack) };
        Err(HostError::Refused { path: pinned.path.clone(), why })
    })?;
    let others =
        claim_others(stack).map_err(|why| HostError::Refused { path: pinned.path.clone(), why })?;
    Ok(Claimed { opened, others })
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

fn claim_others(stack: &Stack) -> Result<Vec<File>, Refusal> {
    let mut claims = Vec::new();
    let disks = stack.beside.values().filter(|device| device.partition_number().is_none());
    for disk in disks.filter(|disk| !is_ours_already(stack, disk)) {
        match claim(stack, disk)? {
            Some(claim) => claims.push(claim),
            None => claims.extend(claim_partitions(stack, disk)?),
        }
    }
    Ok(claims)
}

/// Whether nobody else can have a device, as the target is it or was made of it.
fn is_ours_already(stack: &Stack, device: &SysBlock) -> bool {
    device.numbers() == stack.target.numbers() || stack.is_held_from_above(device)
}

/// Claims the partitions of a disk that is busy: because of a partition that is ours already,
/// or else somebody has it. The kernel gives a disk and its partitions to one or the other.
fn claim_partitions(stack: &Stack, disk: &SysBlock) -> Result<Vec<File>, Refusal> {
    let (ours, others): (Vec<_>, Vec<_>) =
        disk.partitions().into_iter().partition(|part| is_ours_already(stack, part));
    if ours.is_empty() {
        return Err(claimed(stack, disk));
    }
    let claim = |part: &SysBlock| claim(stack, part)?.ok_or_else(|| claimed(stack, part));
    others.iter().map(claim).collect()
}

/// Claims a device; `None` if somebody has.
fn claim(stack: &Stack, device: &SysBlock) -> Result<Option<File>, Refusal> {
    match device.open(libc::O_EXCL) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_busy(&error) => Ok(None),
        Err(error) => Err(Refusal::Unasked(format!("{}: {error}", stack.name_of(device)))),
    }
}

fn claimed(stack: &Stack, device: &SysBlock) -> Refusal {
    Refusal::Claimed { device: Some(stack.name_of(device)), openers: openers::of(stack) }
}
