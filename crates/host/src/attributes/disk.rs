//! A disk's corner of `/sys`: where its attributes are read and written.

use super::AttributeError;
use super::drive_cache;
use super::setting::{Place, Setting};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where things stand. In use always [`Places::system`]; tests make trees of their own.
#[derive(Clone, Debug)]
pub struct Places {
    /// `/sys`.
    pub sysfs: PathBuf,
    /// `/dev`.
    pub devices: PathBuf,
    /// The folder of journals.
    pub journals: PathBuf,
    /// The user whose the journals must be.
    pub owner: u32,
    /// This start of the machine: a journal of an earlier one has nothing left to set back.
    pub boot: String,
}

impl Places {
    /// Those of this machine.
    #[must_use]
    pub fn system() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            sysfs: "/sys".into(),
            devices: "/dev".into(),
            journals: "/run/ssdscope".into(),
            owner: 0,
            boot: boot.trim().to_owned(),
        }
    }
}

/// A whole disk as the kernel lists it.
#[derive(Clone, Debug)]
pub struct Disk {
    name: String,
    folder: PathBuf,
    node: PathBuf,
    /// Major and minor number.
    number: String,
    /// Counts disks since the machine's start, so that a name that is used again is known.
    sequence: String,
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Whether a word can be a disk's name: one entry of `/sys/block`, and no path.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!_-.".contains(&byte);
    (1..=32).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}

impl Disk {
    /// The disk of that name.
    ///
    /// # Errors
    /// If the kernel lists none.
    pub fn find(places: &Places, name: &str) -> Result<Self, AttributeError> {
        let missing = || AttributeError::NoDisk(name.to_owned());
        if !is_name(name) {
            return Err(missing());
        }
        let folder = places.sysfs.join("block").join(name);
        let number = text(&folder.join("dev")).ok_or_else(missing)?;
        let sequence = text(&folder.join("diskseq")).unwrap_or_else(|| "-".into());
        let node = places.devices.join(name.replace('!', "/"));
        Ok(Self { name: name.to_owned(), folder, node, number, sequence })
    }

    /// The whole disk that a device number belongs to, or lies on.
    #[must_use]
    pub fn beneath(places: &Places, device: u64) -> Option<Self> {
        let number = format!("{}:{}", libc::major(device), libc::minor(device));
        let own = fs::canonicalize(places.sysfs.join("dev/block").join(number)).ok()?;
        let whole = if own.join("partition").exists() { own.parent()? } else { &own };
        Self::find(places, whole.file_name()?.to_str()?).ok()
    }

    /// The kernel's name, such as `nvme0n1`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it speaks SCSI, as SATA drives do through the kernel.
    pub(crate) fn is_scsi(&self) -> bool {
        self.folder.join("device/scsi_disk").exists()
    }

    /// Major and minor number, and the disk's place in the order of arrival.
    pub(crate) fn identity(&self) -> (&str, &str) {
        (&self.number, &self.sequence)
    }

    fn path(&self, setting: Setting) -> Option<PathBuf> {
        match setting.place() {
            Place::Queue => Some(self.folder.join("queue").join(setting.name())),
            Place::ScsiDisk => {
                let disks = fs::read_dir(self.folder.join("device/scsi_disk")).ok()?;
                disks.flatten().next().map(|disk| disk.path().join(setting.name()))
            }
            Place::Drive => None,
        }
    }

    /// The value; `None` where kernel or drive do not have it.
    #[must_use]
    pub fn read(&self, setting: Setting) -> Option<String> {
        let Some(path) = self.path(setting) else {
            return drive_cache::read(&self.node, setting).ok().flatten();
        };
        let value = text(&path)?;
        // Of several words the one in brackets is in force.
        let chosen = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        Some(chosen.map_or(value.clone(), |(word, _)| word.to_owned()))
    }

    /// Writes a value, which the caller has checked.
    pub(crate) fn write(&self, setting: Setting, value: &str) -> io::Result<()> {
        let Some(path) = self.path(setting) else {
            return drive_cache::write(&self.node, setting, value == "on");
        };
        // In sysfs the way to a disk has links, the file itself is none.
        let mut file = OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
        file.write_all(value.as_bytes())?;
        // Of a file of a test what was longer before would stay; in sysfs this does nothing.
        let _ = file.set_len(value.len() as u64);
        Ok(())
    }
}
