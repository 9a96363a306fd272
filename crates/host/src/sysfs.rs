//! What the kernel says about block devices in `/sys` and `/proc`.

use ssdscope_io::Moved;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Queue attributes worth knowing: declared, hence hints and never truth.
const QUEUE_ATTRIBUTES: [&str; 18] = [
    "discard_granularity",
    "discard_max_bytes",
    "fua",
    "io_poll",
    "logical_block_size",
    "max_hw_sectors_kb",
    "max_sectors_kb",
    "minimum_io_size",
    "nomerges",
    "nr_requests",
    "optimal_io_size",
    "physical_block_size",
    "read_ahead_kb",
    "rotational",
    "scheduler",
    "wbt_lat_usec",
    "write_cache",
    "zoned",
];

/// A block device's corner of `/sys`.
#[derive(Clone, Debug)]
pub(crate) struct SysBlock {
    /// The device itself, maybe a partition.
    own: PathBuf,
    /// The whole disk.
    disk: PathBuf,
}

/// The major and minor number of a device.
pub(crate) fn device_numbers(device: u64) -> (u32, u32) {
    (libc::major(device), libc::minor(device))
}

fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl SysBlock {
    /// The entry of a device number, if it is one of a block device.
    pub(crate) fn find(device: u64) -> Option<Self> {
        let (major, minor) = device_numbers(device);
        let own = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
        let disk =
            if own.join("partition").exists() { own.parent()?.to_owned() } else { own.clone() };
        Some(Self { own, disk })
    }

    /// The kernel's name, such as `nvme0n1p2`.
    pub(crate) fn name(&self) -> String {
        name_of(&self.own)
    }

    /// What sort of device it is.
    pub(crate) fn device_type(&self) -> &'static str {
        if self.own != self.disk {
            return "partition";
        }
        let name = self.name();
        [("loop", "loop"), ("dm-", "dm"), ("md", "md"), ("nbd", "nbd"), ("zram", "zram")]
            .into_iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .map_or("disk", |(_, kind)| kind)
    }

    /// The queue attributes that this kernel has.
    pub(crate) fn queue(&self) -> BTreeMap<&'static str, String> {
        let queue = self.disk.join("queue");
        QUEUE_ATTRIBUTES
            .into_iter()
            .filter_map(|key| text(&queue.join(key)).map(|value| (key, value)))
            .collect()
    }

    /// The size in bytes.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        Some(text(&self.own.join("size"))?.parse::<u64>().ok()? * ssdscope_io::SECTOR_BYTES)
    }

    /// What anyone moved on the whole disk since it is there: sectors of the columns 3 and 7 of
    /// `stat` (the kernel's Documentation/block/stat.rst).
    pub(crate) fn moved(&self) -> Option<Moved> {
        let counts = text(&self.disk.join("stat"))?;
        let sectors = |index| counts.split_whitespace().nth(index)?.parse::<u64>().ok();
        Some(Moved {
            read_bytes: sectors(2)? * ssdscope_io::SECTOR_BYTES,
            written_bytes: sectors(6)? * ssdscope_io::SECTOR_BYTES,
        })
    }

    /// The drive's model.
    pub(crate) fn model(&self) -> Option<String> {
        text(&self.disk.join("device/model"))
    }

    /// The drive's serial number: NVMe, virtio, then the SCSI page.
    pub(crate) fn serial(&self) -> Option<String> {
        let plain = ["device/serial", "serial"];
        plain.iter().find_map(|name| text(&self.disk.join(name))).or_else(|| {
            let page = fs::read(self.disk.join("device/vpd_pg80")).ok()?;
            let serial = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
            (!serial.is_empty()).then_some(serial)
        })
    }

    /// The file behind a loop device.
    pub(crate) fn backing_file(&self) -> Option<String> {
        text(&self.disk.join("loop/backing_file"))
    }

    /// Who uses the device or a part of it: mounts, swap, and devices on top.
    pub(crate) fn users(&self) -> Vec<String> {
        let mut users = Vec::new();
        for device in self.family() {
            let name = name_of(&device);
            let numbers = text(&device.join("dev")).unwrap_or_default();
            users.extend(
                mount_points(&numbers).into_iter().map(|at| format!("{name} is mounted at {at}")),
            );
            if is_swap(&numbers) {
                users.push(format!("{name} is swap space"));
            }
            users.extend(
                entries(&device.join("holders"))
                    .map(|holder| format!("{name} is held by {}", name_of(&holder))),
            );
        }
        users
    }

    /// The device and, if it is a whole disk, its partitions.
    fn family(&self) -> Vec<PathBuf> {
        let partitions = entries(&self.own).filter(|path| path.join("partition").exists());
        std::iter::once(self.own.clone()).chain(partitions).collect()
    }
}

/// The entries of a folder in the order of their names; none if there is no folder.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

/// Where a device with these numbers (`major:minor`) is mounted.
fn mount_points(numbers: &str) -> Vec<String> {
    points_in(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(), numbers)
}

/// By number, because a device has many names.
fn points_in(table: &str, numbers: &str) -> Vec<String> {
    let point = |line: &str| {
        let mut fields = line.split(' ').skip(2);
        let found = fields.next()? == numbers;
        // The table writes a space inside a name as its octal code.
        found.then(|| fields.nth(1).map(|point| point.replace(r"\040", " ")))?
    };
    table.lines().filter_map(point).collect()
}

fn is_swap(numbers: &str) -> bool {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).any(|path| {
        fs::metadata(path).is_ok_and(|stat| {
            let (major, minor) = device_numbers(stat.rdev());
            format!("{major}:{minor}") == numbers
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_by_number() {
        let table = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                     40 27 254:0 /srv /mnt/my\\040disk rw - ext4 /dev/vda rw\n\
                     31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup cgroup rw\n";
        assert_eq!(points_in(table, "254:0"), ["/", "/mnt/my disk"]);
        assert_eq!(points_in(table, "54:0"), [""; 0]);
    }
}
