//! Check 6: no other process has the device open, as far as this user may look.

use super::refusal::Refusal;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

pub(super) fn check(device: u64) -> Result<(), Refusal> {
    let openers = openers(Path::new("/proc"), device);
    if openers.is_empty() { Ok(()) } else { Err(Refusal::OpenElsewhere(openers)) }
}

fn openers(processes: &Path, device: u64) -> Vec<String> {
    let own = std::process::id();
    let folders = fs::read_dir(processes).into_iter().flatten().flatten();
    let mut found: Vec<(u32, String)> = folders
        .filter_map(|entry| {
            let process = entry.file_name().to_string_lossy().parse::<u32>().ok()?;
            let has_it = process != own && has_open(&entry.path(), device);
            has_it.then(|| (process, command(&entry.path())))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(process, name)| format!("process {process} ({name})")).collect()
}

fn has_open(process: &Path, device: u64) -> bool {
    let links = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    links
        .filter_map(|link| fs::metadata(link.path()).ok())
        .any(|stat| stat.file_type().is_block_device() && stat.rdev() == device)
}

fn command(process: &Path) -> String {
    fs::read_to_string(process.join("comm"))
        .map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
}
