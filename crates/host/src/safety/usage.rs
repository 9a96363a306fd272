//! Check 2: not read-only; nothing mounted, swapped to or stacked on the device, or on
//! anything that shares its blocks.
//!
//! That is: the whole disk, all its partitions, the devices on top of them (holders), the
//! devices beneath (slaves, and what a loop device is made of), and so on from each.
//! Devices are compared by number, because a device has many names.

use super::refusal::Refusal;
use crate::sys;
use crate::sysfs::{SysBlock, device_numbers};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

pub(super) fn check_read_only(path: &Path, block: &SysBlock) -> Result<(), Refusal> {
    let asked = fs::File::open(path).and_then(|file| sys::is_read_only(&file));
    if block.is_read_only() || asked.unwrap_or(false) { Err(Refusal::ReadOnly) } else { Ok(()) }
}

pub(super) fn check(block: &SysBlock) -> Result<(), Refusal> {
    let users = users(block);
    if users.is_empty() { Ok(()) } else { Err(Refusal::InUse(users)) }
}

/// Who uses the device or anything that shares its blocks.
pub(crate) fn users(block: &SysBlock) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let swaps = swap_numbers();
    let mut users = Vec::new();
    for relative in relatives(block).values() {
        let (name, numbers) = (relative.name(), relative.numbers());
        let points = points_in(&mounts, &numbers, &source_numbers);
        users.extend(points.into_iter().map(|at| format!("{name} is mounted at {at}")));
        if swaps.contains(&numbers) {
            users.push(format!("{name} is swap space"));
        }
        let holders = relative.holders().into_iter().map(|holder| holder.name());
        users.extend(holders.map(|holder| format!("{name} is held by {holder}")));
    }
    users.extend(loops_on(block).into_iter().map(|other| format!("{other} is attached to it")));
    users
}

/// The device, its disk with all partitions, and what lies above and beneath, by number.
fn relatives(block: &SysBlock) -> BTreeMap<String, SysBlock> {
    let mut found = BTreeMap::new();
    let mut open = vec![block.whole()];
    while let Some(next) = open.pop() {
        if found.contains_key(&next.numbers()) {
            continue;
        }
        for part in next.partitions().into_iter().chain([next.clone()]) {
            open.extend(part.holders());
            found.insert(part.numbers(), part);
        }
        open.extend(next.slaves().iter().map(SysBlock::whole));
        open.extend(backing_block(&next).iter().map(SysBlock::whole));
    }
    found
}

/// The block device that a loop device is made of, if it is one.
fn backing_block(block: &SysBlock) -> Option<SysBlock> {
    let stat = fs::metadata(block.backing_file()?).ok()?;
    stat.file_type().is_block_device().then(|| SysBlock::find(stat.rdev()))?
}

/// Other loop devices that are made of this device, or of the file that it is made of.
fn loops_on(block: &SysBlock) -> Vec<String> {
    let whole = block.whole();
    let own_file = whole.backing_file().and_then(|file| file_id(Path::new(&file)));
    let on_it = |other: &SysBlock| {
        let Some(stat) = other.backing_file().and_then(|file| fs::metadata(file).ok()) else {
            return false;
        };
        if stat.file_type().is_block_device() {
            let beneath = SysBlock::find(stat.rdev());
            return beneath.is_some_and(|beneath| beneath.whole().numbers() == whole.numbers());
        }
        own_file == Some((stat.dev(), stat.ino()))
    };
    let others = SysBlock::all_loops().into_iter();
    others
        .filter(|other| other.numbers() != whole.numbers() && on_it(other))
        .map(|other| other.name())
        .collect()
}

/// The loop devices that are made of this regular file.
pub(crate) fn loops_of_file(path: &Path) -> Vec<String> {
    let own = file_id(path);
    let same = |block: &SysBlock| {
        own.is_some() && block.backing_file().and_then(|file| file_id(Path::new(&file))) == own
    };
    SysBlock::all_loops().into_iter().filter(same).map(|block| block.name()).collect()
}

fn file_id(path: &Path) -> Option<(u64, u64)> {
    let stat = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((stat.dev(), stat.ino()))
}

/// The number of the block device that a path names, as `major:minor`.
fn source_numbers(path: &str) -> Option<String> {
    let stat = fs::metadata(path).ok().filter(|stat| stat.file_type().is_block_device())?;
    let (major, minor) = device_numbers(stat.rdev());
    Some(format!("{major}:{minor}"))
}

/// Where a device with these numbers is mounted, by the number of the mount or of its
/// source: the number of a btrfs is none of a device.
fn points_in(
    table: &str,
    numbers: &str,
    source_numbers: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let point = |line: &str| {
        let (mount, file_system) = line.split_once(" - ")?;
        let fields: Vec<_> = mount.split(' ').collect();
        let source = plain(file_system.split(' ').nth(1)?);
        let by_source =
            || source.starts_with('/') && source_numbers(&source).as_deref() == Some(numbers);
        let found = *fields.get(2)? == numbers || by_source();
        found.then(|| plain(fields.get(4).unwrap_or(&"?")))
    };
    table.lines().filter_map(point).collect()
}

/// The table writes a space inside a name as its octal code.
fn plain(name: &str) -> String {
    name.replace(r"\040", " ")
}

fn swap_numbers() -> Vec<String> {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    table
        .lines()
        .skip(1)
        .filter_map(|line| source_numbers(&plain(line.split_whitespace().next()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_by_number_and_by_source() {
        let table = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                     40 27 254:0 /srv /mnt/my\\040disk rw - ext4 /dev/vda rw\n\
                     41 27 0:52 / /mnt/tree rw - btrfs /dev/sdx rw\n\
                     31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup cgroup rw\n";
        let sources = |path: &str| (path == "/dev/sdx").then(|| "8:16".to_owned());
        let points = |numbers| points_in(table, numbers, &sources);
        assert_eq!(points("254:0"), ["/", "/mnt/my disk"]);
        assert_eq!(points("8:16"), ["/mnt/tree"]);
        assert_eq!(points("54:0"), [""; 0]);
    }

    /// No device-mapper needed: what the kernel would show of a disk with a volume on its first
    /// partition.
    #[test]
    fn what_is_on_top_of_a_partition_uses_the_disk() {
        let root = std::env::temp_dir().join(format!("ssdscope-usage-{}", std::process::id()));
        let folder = |name: &str| {
            fs::create_dir_all(root.join(name)).expect("the temporary folder is writable");
            root.join(name)
        };
        let write = |name: &str, text: &str| fs::write(root.join(name), text).expect("ours");
        let (disk, volume) = (folder("sdx"), folder("dm-0"));
        let part = folder("sdx/sdx1");
        let holders = folder("sdx/sdx1/holders");
        let slaves = folder("dm-0/slaves");
        write("sdx/dev", "4095:0");
        write("sdx/sdx1/dev", "4095:1");
        write("sdx/sdx1/partition", "1");
        write("dm-0/dev", "4095:2");
        std::os::unix::fs::symlink(&volume, holders.join("dm-0")).expect("a link");
        std::os::unix::fs::symlink(&part, slaves.join("sdx1")).expect("a link");

        for device in [&disk, &part, &volume] {
            let block = SysBlock::at(device).expect("a folder");
            assert_eq!(relatives(&block).len(), 3, "from {}", device.display());
            let Err(Refusal::InUse(users)) = check(&block) else { panic!("a holder") };
            assert_eq!(users, ["sdx1 is held by dm-0"]);
        }
        fs::remove_dir_all(root).expect("ours");
    }
}
