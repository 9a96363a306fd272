//! Check 6: no other process has the device open, as far as this user may look; nor its disk,
//! nor a partition of it, which share its blocks.
//!
//! udev looks at a device for a moment after somebody has closed it: who is gone soon does
//! not count.

use super::refusal::Refusal;
use crate::sysfs::{SysBlock, device_numbers};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
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

/// Which other processes have a file open for writing.
pub(crate) fn writing(file: &fs::Metadata) -> Vec<String> {
    let same = |stat: &fs::Metadata| (stat.dev(), stat.ino()) == (file.dev(), file.ino());
    let writes = |process: &Path| {
        open_files(process)
            .filter(|(_, stat)| same(stat))
            .any(|(descriptor, _)| is_for_writing(&process.join("fdinfo").join(descriptor)))
    };
    other_processes(Path::new("/proc"))
        .filter(|(_, path)| writes(path))
        .map(|(process, path)| format!("process {process} ({})", command(&path)))
        .collect()
}

/// Whether a descriptor is, by what the kernel says of its flags, in octal.
fn is_for_writing(about: &Path) -> bool {
    let text = fs::read_to_string(about).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| libc::c_int::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

fn openers(processes: &Path, sharing: &BTreeMap<String, String>, name: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (process, path) in other_processes(processes) {
        let opened = opened_by(&path, sharing);
        found.extend(opened.into_iter().map(|device| (process, device)));
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
    open_files(process)
        .filter(|(_, stat)| stat.file_type().is_block_device())
        .filter_map(|(_, stat)| {
            let (major, minor) = device_numbers(stat.rdev());
            sharing.get(&format!("{major}:{minor}")).cloned()
        })
        .collect()
}

/// All processes but this one, with their folders.
fn other_processes(processes: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let folders = fs::read_dir(processes).into_iter().flatten().flatten();
    folders.filter_map(|entry| {
        let process = entry.file_name().to_string_lossy().parse::<u32>().ok()?;
        (process != std::process::id()).then(|| (process, entry.path()))
    })
}

/// What a process has open, as far as this user may look: descriptors, and what they lead to.
fn open_files(process: &Path) -> impl Iterator<Item = (OsString, fs::Metadata)> {
    let links = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    links.filter_map(|link| Some((link.file_name(), fs::metadata(link.path()).ok()?)))
}

fn command(process: &Path) -> String {
    fs::read_to_string(process.join("comm"))
        .map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
}
