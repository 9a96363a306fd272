//! Check 6: no other process has the device open, as far as this user may look; nor its disk,
//! nor a partition of it, which share its blocks.
//!
//! udev looks at a device for a moment after somebody has closed it: who is gone soon does
//! not count.

use super::refusal::Refusal;
use crate::sysfs::{SysBlock, device_numbers};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

pub(super) fn check(block: &SysBlock) -> Result<(), Refusal> {
    let mut openers = of(block);
    for _ in 1..LOOKS {
        if openers.is_empty() {
            return Ok(());
        }
        std::thread::sleep(BETWEEN_LOOKS);
        openers = of(block);
    }
    if openers.is_empty() { Ok(()) } else { Err(Refusal::OpenElsewhere(openers)) }
}

/// Which other processes have blocks of the device open, and by which name if by another.
pub(super) fn of(block: &SysBlock) -> Vec<String> {
    let sharing: BTreeMap<_, _> = [block.clone(), block.whole()]
        .into_iter()
        .chain(block.partitions())
        .map(|device| (device.numbers(), device.name()))
        .collect();
    openers(Path::new("/proc"), &sharing, &block.name())
}

fn openers(processes: &Path, sharing: &BTreeMap<String, String>, name: &str) -> Vec<String> {
    let own = std::process::id();
    let folders = fs::read_dir(processes).into_iter().flatten().flatten();
    let mut found = BTreeSet::new();
    for entry in folders {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        if process != own {
            let opened = opened_by(&entry.path(), sharing);
            found.extend(opened.into_iter().map(|device| (process, device)));
        }
    }
    let in_words = |(process, device): (u32, String)| {
        let command = command(&processes.join(process.to_string()));
        let by = if device == name { String::new() } else { format!(" as {device}") };
        format!("process {process} ({command}){by}")
    };
    found.into_iter().map(in_words).collect()
}

/// The names of the devices that a process has open.
fn opened_by(process: &Path, sharing: &BTreeMap<String, String>) -> Vec<String> {
    let links = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    links
        .filter_map(|link| fs::metadata(link.path()).ok())
        .filter(|stat| stat.file_type().is_block_device())
        .filter_map(|stat| {
            let (major, minor) = device_numbers(stat.rdev());
            sharing.get(&format!("{major}:{minor}")).cloned()
        })
        .collect()
}

fn command(process: &Path) -> String {
    fs::read_to_string(process.join("comm"))
        .map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
}
