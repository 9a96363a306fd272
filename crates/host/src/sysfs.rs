//! What the kernel says about block devices in `/sys` and `/proc`.

use crate::sys::loops::{self, Backing};
use ssdscope_io::Moved;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
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
        Self::at(Path::new(&format!("/sys/dev/block/{major}:{minor}")))
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
        sort_of(&self.name(), &self.disk)
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

    /// The name of the file behind a loop device when it was attached: for people, as it may have
    /// another meaning by now ([`Self::backing`] is for checks). Nothing of it is trimmed.
    pub(crate) fn backing_name(&self) -> Option<PathBuf> {
        let mut name = fs::read(self.disk.join("loop/backing_file")).ok()?;
        if name.last() == Some(&b'\n') {
            name.pop();
        }
        Some(OsString::from_vec(name).into())
    }

    /// Opens the device by its node in `/dev`.
    ///
    /// # Errors
    /// What the kernel answers; and if the node is of another device.
    pub(crate) fn open(&self, flags: libc::c_int) -> io::Result<File> {
        let about = fs::read_to_string(self.own.join("uevent"))?;
        let name = about.lines().find_map(|line| line.strip_prefix("DEVNAME="));
        let node = Path::new("/dev").join(name.ok_or(io::ErrorKind::NotFound)?);
        let flags = flags | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(node)?;
        let (major, minor) = device_numbers(file.metadata()?.rdev());
        if self.numbers() == format!("{major}:{minor}") {
            Ok(file)
        } else {
            Err(io::Error::other("its node in /dev is of another device"))
        }
    }

    /// Whether something is attached to this loop device.
    pub(crate) fn is_attached_loop(&self) -> bool {
        self.disk.join("loop").exists()
    }

    /// What a loop device is made of, by identity; `None` of a device of another sort.
    ///
    /// # Errors
    /// If the device cannot be asked.
    pub(crate) fn backing(&self) -> io::Result<Option<Backing>> {
        if self.is_attached_loop() { loops::backing(&self.whole().open(0)?) } else { Ok(None) }
    }

    /// The major and minor number, as `major:minor`.
    pub(crate) fn numbers(&self) -> String {
        text(&self.own.join("dev")).unwrap_or_default()
    }

    /// The number of the medium that is in it: another one has another number.
    pub(crate) fn sequence(&self) -> Option<u64> {
        text(&self.disk.join("diskseq"))?.parse().ok()
    }

    /// The whole disk of a partition; of a disk itself.
    pub(crate) fn whole(&self) -> Self {
        Self { own: self.disk.clone(), disk: self.disk.clone() }
    }

    /// The number of a partition.
    pub(crate) fn partition_number(&self) -> Option<u32> {
        text(&self.own.join("partition"))?.parse().ok()
    }

    /// Where a partition starts on its disk.
    pub(crate) fn start_bytes(&self) -> Option<u64> {
        Some(text(&self.own.join("start"))?.parse::<u64>().ok()? * ssdscope_io::SECTOR_BYTES)
    }

    /// Whether the kernel takes the device, or its disk, for read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        [&self.own, &self.disk].iter().any(|path| text(&path.join("ro")).as_deref() == Some("1"))
    }

    /// The partitions of a whole disk; of a partition none.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        let part = |own: PathBuf| {
            own.join("partition").exists().then(|| Self { own, disk: self.disk.clone() })
        };
        entries(&self.own).filter_map(part).collect()
    }

    /// Devices on top of this one.
    pub(crate) fn holders(&self) -> Vec<Self> {
        self.others("holders")
    }

    /// Devices beneath this one.
    pub(crate) fn slaves(&self) -> Vec<Self> {
        self.others("slaves")
    }

    fn others(&self, folder: &str) -> Vec<Self> {
        entries(&self.own.join(folder)).filter_map(|path| Self::at(&path)).collect()
    }

    /// The entry at a path below `/sys`.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let own = fs::canonicalize(path).ok()?;
        let disk =
            if own.join("partition").exists() { own.parent()?.to_owned() } else { own.clone() };
        Some(Self { own, disk })
    }

    /// Every whole device of this machine that has a number: paths of NVMe that are hidden behind
    /// one device have none.
    pub(crate) fn all() -> Vec<Self> {
        entries(Path::new("/sys/block"))
            .filter(|path| path.join("dev").exists())
            .filter_map(|path| Self::at(&path))
            .collect()
    }

    /// Every loop device with something attached to it.
    pub(crate) fn all_loops() -> Vec<Self> {
        Self::all().into_iter().filter(Self::is_attached_loop).collect()
    }

    /// The number of an NVMe namespace on its controller.
    pub(crate) fn namespace(&self) -> Option<u32> {
        if self.is_nvme() { text(&self.disk.join("nsid"))?.parse().ok() } else { None }
    }

    /// The number of a SCSI unit on its target, the last part of `host:channel:target:lun`.
    pub(crate) fn lun(&self) -> Option<u64> {
        let address = fs::canonicalize(self.disk.join("device")).ok()?;
        let parts: Vec<_> = address.file_name()?.to_str()?.split(':').collect();
        if parts.len() == 4 { parts[3].parse().ok() } else { None }
    }

    /// The name of a device-mapper volume.
    pub(crate) fn mapper_name(&self) -> Option<String> {
        text(&self.disk.join("dm/name"))
    }

    /// The UUID of an md array.
    pub(crate) fn array_uuid(&self) -> Option<String> {
        text(&self.disk.join("md/uuid"))
    }

    /// The drive's world wide name. Zeros are none.
    pub(crate) fn wwn(&self) -> Option<String> {
        let name = ["wwid", "device/wwid"].iter().find_map(|name| text(&self.disk.join(name)))?;
        let (_, digits) = name.split_once('.').unwrap_or(("", &name));
        digits.chars().any(|digit| digit != '0').then_some(name)
    }

    /// The revision of the drive's firmware: NVMe, then SCSI.
    pub(crate) fn firmware(&self) -> Option<String> {
        ["device/firmware_rev", "device/rev"].iter().find_map(|name| text(&self.disk.join(name)))
    }

    /// Whether NVMe's admin commands can be sent to it.
    pub(crate) fn is_nvme(&self) -> bool {
        name_of(&self.disk).starts_with("nvme")
    }

    /// Whether ATA commands can be sent to it: the kernel's libata gives such drives this vendor.
    pub(crate) fn is_ata(&self) -> bool {
        text(&self.disk.join("device/vendor")).as_deref() == Some("ATA")
    }

    /// The drive's temperature from hwmon (`drivetemp` of ATA, or the driver of NVMe).
    pub(crate) fn celsius(&self) -> Option<i32> {
        let folders = [self.disk.join("device/hwmon"), self.disk.join("device")];
        folders
            .iter()
            .flat_map(|folder| entries(folder))
            .find_map(|path| text(&path.join("temp1_input"))?.parse::<i32>().ok())
            .map(|millidegrees| millidegrees / 1000)
    }
}

/// A disk, or what the kernel makes of files, other drives, memory or the network: of those it
/// keeps apart from hardware. Multipath drives of NVMe stand beside them, not among them.
fn sort_of(name: &str, folder: &Path) -> &'static str {
    let made = folder.to_string_lossy().contains("/devices/virtual/block/");
    [("loop", "loop"), ("dm-", "dm"), ("md", "md"), ("nbd", "nbd"), ("zram", "zram")]
        .into_iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map_or(if made { "virtual" } else { "disk" }, |(_, kind)| kind)
}

/// The entries of a folder in the order of their names; none if there is no folder.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_makes_is_no_disk() {
        let sort = |name: &str, under: &str| sort_of(name, &Path::new(under).join(name));
        assert_eq!(sort("sda", "/sys/devices/pci0/ata1/host0/block"), "disk");
        assert_eq!(sort("nvme0n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys0"), "disk");
        assert_eq!(sort("loop0", "/sys/devices/virtual/block"), "loop");
        for name in ["bcache0", "drbd1", "ram3", "zd16"] {
            assert_eq!(sort(name, "/sys/devices/virtual/block"), "virtual");
        }
    }
}
