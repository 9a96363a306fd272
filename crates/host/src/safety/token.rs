//! Check 7: the user named this drive, not this path: names of devices move, serials do not.
//!
//! | device | token |
//! |---|---|
//! | SATA disk, virtio disk | `SERIAL:` and the last four of its serial number |
//! | NVMe namespace | the same, and `-n` and its number, as a controller may have several |
//! | SCSI unit | the same, and `-lun` and its number, as an array may have several |
//! | disk without a serial | `WWN:` and its world wide name |
//! | loop device | `LOOP:` and the name of the file behind it |
//! | device-mapper volume, md array | `DM:` and its name, `MD:` and the last four of its UUID |
//! | partition | its disk's, and `-part` and its number |
//!
//! If another device of the machine has the same token, both have a longer one: `WWN:`, or all of
//! the serial number or the UUID. (A loop device is named by its file, as a file is.) What says
//! none of this (zram, a kernel nbd) has no token and is never written.

use super::refusal::Refusal;
use crate::sysfs::SysBlock;
use ssdscope_io::shown::Shown;
use std::path::Path;

/// The token of a block device; `None` where nothing tells it from others.
pub(crate) fn of(block: &SysBlock) -> Option<String> {
    let others = others_than(block);
    let is_its_own = |token: &String| {
        token.starts_with("LOOP:") || others.iter().all(|other| !tokens(other).contains(token))
    };
    let whole = tokens(&block.whole()).into_iter().find(is_its_own)?;
    Some(with_partition(block, whole))
}

/// All other devices; other paths to the same one are none.
fn others_than(block: &SysBlock) -> Vec<SysBlock> {
    let (own, wwn) = (block.whole().numbers(), block.wwn());
    let is_other =
        |other: &SysBlock| other.numbers() != own && (wwn.is_none() || other.wwn() != wwn);
    SysBlock::all().into_iter().filter(is_other).collect()
}

fn with_partition(block: &SysBlock, whole: String) -> String {
    match block.partition_number() {
        Some(number) => format!("{whole}-part{number}"),
        None => whole,
    }
}

/// What could name a whole device, the shortest first.
fn tokens(whole: &SysBlock) -> Vec<String> {
    if let Some(backing) = whole.backing_name() {
        let name = backing.file_name().map(|name| format!("LOOP:{}", Shown(Path::new(name))));
        return name.into_iter().collect();
    }
    if let Some(name) = whole.mapper_name() {
        return vec![format!("DM:{name}")];
    }
    if let Some(array) = whole.array_uuid() {
        return vec![format!("MD:{}", last_four(&array)), format!("MD:{array}")];
    }
    let unit = unit(whole);
    let wwn = whole.wwn().map(|name| format!("WWN:{name}"));
    let Some(serial) = whole.serial() else { return wwn.into_iter().collect() };
    let short = format!("SERIAL:{}{unit}", last_four(&serial));
    [short].into_iter().chain(wwn).chain([format!("SERIAL:{serial}{unit}")]).collect()
}

/// Which of several a controller or an array has under one serial number.
fn unit(whole: &SysBlock) -> String {
    if let Some(namespace) = whole.namespace() {
        return format!("-n{namespace}");
    }
    match whole.lun().filter(|_| !whole.is_ata()) {
        Some(lun) => format!("-lun{lun}"),
        None => String::new(),
    }
}

/// What former versions took for the token.
fn old(block: &SysBlock) -> Option<String> {
    let whole = block.whole();
    let short = match (whole.serial(), whole.wwn()) {
        (Some(serial), _) => format!("SERIAL:{}", last_four(&serial)),
        (None, Some(wwn)) => format!("WWN:{}", last_four(&wwn)),
        (None, None) => return None,
    };
    Some(with_partition(block, short))
}

fn last_four(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    letters[letters.len().saturating_sub(4)..].iter().collect()
}

pub(super) fn check(block: &SysBlock, given: &str) -> Result<(), Refusal> {
    let own = of(block).ok_or(Refusal::NoIdentity)?;
    if own == given {
        return Ok(());
    }
    let shorter = tokens(&block.whole()).into_iter().map(|token| with_partition(block, token));
    if shorter.chain(old(block)).any(|token| token == given) {
        return Err(Refusal::OldToken { given: given.to_owned(), own });
    }
    Err(Refusal::WrongToken(given.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_serials_are_whole() {
        assert_eq!(last_four("S4EVNX0M123456"), "3456");
        assert_eq!(last_four("ab"), "ab");
    }
}
