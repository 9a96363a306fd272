//! Check 7: the user named this drive, not this path: names of devices move, serials do not.
//!
//! | device | token |
//! |---|---|
//! | disk | `SERIAL:` and the last four of its serial number |
//! | disk without one | `WWN:` and the last four of its world wide name |
//! | loop device | `LOOP:` and the name of the file behind it |
//! | device-mapper volume, md array | `DM:` and its name, `MD:` and the last four of its UUID |
//! | partition | its disk's, and `-part` and its number |
//!
//! What says none of this (zram, a kernel nbd) has no token and is never written.

use super::refusal::Refusal;
use crate::sysfs::SysBlock;
use ssdscope_io::shown::Shown;
use std::path::Path;

/// The token of a block device; `None` where nothing identifies it.
pub(crate) fn of(block: &SysBlock) -> Option<String> {
    let whole = of_whole(&block.whole())?;
    Some(match block.partition_number() {
        Some(number) => format!("{whole}-part{number}"),
        None => whole,
    })
}

fn of_whole(block: &SysBlock) -> Option<String> {
    if let Some(backing) = block.backing_file() {
        let name = Shown(Path::new(Path::new(&backing).file_name()?)).to_string();
        return Some(format!("LOOP:{name}"));
    }
    if let Some(name) = block.mapper_name() {
        return Some(format!("DM:{name}"));
    }
    if let Some(array) = block.array_uuid() {
        return Some(format!("MD:{}", last_four(&array)));
    }
    let serial = block.serial().map(|serial| format!("SERIAL:{}", last_four(&serial)));
    serial.or_else(|| Some(format!("WWN:{}", last_four(&block.wwn()?))))
}

fn last_four(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    letters[letters.len().saturating_sub(4)..].iter().collect()
}

pub(super) fn check(block: &SysBlock, given: &str) -> Result<(), Refusal> {
    match of(block) {
        None => Err(Refusal::NoIdentity),
        Some(own) if own == given => Ok(()),
        Some(_) => Err(Refusal::WrongToken(given.to_owned())),
    }
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
