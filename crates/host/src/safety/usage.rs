//! Check 2: not read-only; nothing mounted, swapped to or stacked on the device, or on anything
//! that shares its blocks ([`super::stack`]).
//!
//! The tables of mounts and swaps are this namespace's and name things by path: they make the
//! better message. What guards is [`super::claim`], which asks the kernel itself.

use super::refusal::Refusal;
use super::stack::{Attachments, Stack};
use crate::sys;
use crate::sysfs::{SysBlock, device_numbers};
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

pub(super) fn check_read_only(block: &SysBlock, file: Option<&File>) -> Result<(), Refusal> {
    let asked = file.is_some_and(|file| sys::is_read_only(file).unwrap_or(false));
    if block.is_read_only() || asked { Err(Refusal::ReadOnly) } else { Ok(()) }
}

pub(super) fn check(stack: &Stack) -> Result<(), Refusal> {
    let attachments = Attachments::of_this_machine();
    let users = users_and(stack, &attachments);
    if !users.is_empty() {
        return Err(Refusal::InUse(users));
    }
    match attachments.unasked.first() {
        Some(loop_device) => Err(Refusal::Unasked(loop_device.clone())),
        None => Ok(()),
    }
}

/// Who uses the device or anything that shares its blocks.
pub(crate) fn users(stack: &Stack) -> Vec<String> {
    users_and(stack, &Attachments::of_this_machine())
}

fn users_and(stack: &Stack, attachments: &Attachments) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let swaps = swap_numbers();
    let mut users = Vec::new();
    for device in with_what_is_on_top(stack) {
        let (name, numbers) = (stack.name_of(&device), device.numbers());
        let points = points_in(&mounts, &numbers, &source_numbers);
        users.extend(points.into_iter().map(|at| format!("{name} is mounted at {at}")));
        if swaps.contains(&numbers) {
            users.push(format!("{name} is swap space"));
        }
        let holders = stack.foreign_holders(&device).into_iter().map(|holder| holder.name());
        users.extend(holders.map(|holder| format!("{name} is held by {holder}")));
    }
    let loops = attachments.on_stack(stack).into_iter();
    users.extend(loops.map(|other| format!("{other} is attached to it")));
    users
}

/// All relatives, and what is made of them, which may be mounted.
fn with_what_is_on_top(stack: &Stack) -> Vec<SysBlock> {
    let mut found = stack.beside.clone();
    let mut open: Vec<_> =
        stack.beside.values().flat_map(|device| stack.foreign_holders(device)).collect();
    while let Some(next) = open.pop() {
        if found.contains_key(&next.numbers()) {
            continue;
        }
        for part in next.partitions().into_iter().chain([next]) {
            open.extend(part.holders());
            found.insert(part.numbers(), part);
        }
    }
    found.into_values().collect()
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
    /// partition. The volume itself may be written, as far as this check goes.
    #[test]
    fn what_is_on_top_uses_the_disk_and_the_way_up_to_the_target_does_not() {
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

        for device in [&disk, &part] {
            let block = SysBlock::at(device).expect("a folder");
            let stack = Stack::of(&block).expect("nothing needs asking");
            assert_eq!(users(&stack), ["sdx1 is held by dm-0"], "from {}", device.display());
        }
        // Of the volume itself, what is beneath is held by nobody else.
        let stack = Stack::of(&SysBlock::at(&volume).expect("a folder")).expect("as above");
        assert_eq!(stack.beside.len(), 3);
        assert_eq!(users(&stack), [""; 0]);
        let sibling = folder("dm-1");
        write("dm-1/dev", "4095:3");
        std::os::unix::fs::symlink(&sibling, holders.join("dm-1")).expect("a link");
        assert_eq!(users(&stack), ["sdx1 is held by dm-1"]);
        fs::remove_dir_all(root).expect("ours");
    }
}
