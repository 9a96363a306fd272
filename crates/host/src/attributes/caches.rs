//! The caches of a block device as a [`Device`](ssdscope_io::Device) offers them.
//!
//! What switches a cache is a command to the drive, or the kernel's `cache_type` of a SCSI disk,
//! which sends one. `queue/write_cache` does not: it only says what the kernel assumes. It stays
//! as it is, so that flushes go on reaching a drive whose cache is off.

use super::disk::{Disk, Places};
use super::session::{self, Shared};
use super::setting::Setting;
use ssdscope_io::DeviceError;
use ssdscope_io::caches::{Cache, CacheControl, CacheInfo, Caches};
use std::sync::PoisonError;

/// What switches the caches of one disk, and what was switched.
pub(crate) struct CacheSwitches {
    places: Places,
    disk: Disk,
    write: Option<Setting>,
    read: Option<Setting>,
    session: Option<Shared>,
}

/// The values of a setting that mean on and off.
const fn words(setting: Setting) -> (&'static str, &'static str) {
    match setting {
        Setting::ScsiCacheType => ("write back", "write through"),
        _ => ("on", "off"),
    }
}

impl CacheSwitches {
    /// Those of the disk that a block device is or lies on, if it has any.
    pub(crate) fn of(places: Places, device: u64) -> Option<Self> {
        let disk = Disk::beneath(&places, device)?;
        let offered = |among: &[Setting]| {
            among.iter().copied().find(|each| {
                let (on, off) = words(*each);
                disk.read(*each).is_some_and(|now| now == on || now == off)
            })
        };
        let write = match disk.name().starts_with("nvme") {
            true => offered(&[Setting::NvmeWriteCache]),
            false if disk.is_scsi() => offered(&[Setting::ScsiCacheType, Setting::AtaWriteCache]),
            false => None,
        };
        let read = if disk.is_scsi() { offered(&[Setting::AtaLookAhead]) } else { None };
        (write.is_some() || read.is_some()).then_some(Self {
            places,
            disk,
            write,
            read,
            session: None,
        })
    }

    const fn setting(&self, cache: Cache) -> Option<Setting> {
        match cache {
            Cache::Write => self.write,
            Cache::Read => self.read,
        }
    }

    /// What they are now.
    pub(crate) fn caches(&self) -> Caches {
        let info = |cache| {
            self.setting(cache).map_or(Caches::UNKNOWN.get(cache), |setting| CacheInfo {
                control: CacheControl::Switchable,
                on: self.disk.read(setting).is_some_and(|now| now == words(setting).0),
            })
        };
        Caches { write: info(Cache::Write), read: info(Cache::Read) }
    }

    /// Switches one; it is switched back when the device is closed.
    pub(crate) fn set(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        let Some(setting) = self.setting(cache) else {
            return Err(DeviceError::Unsupported("switching this cache"));
        };
        let failed = |error: super::AttributeError| DeviceError::Os {
            context: format!(
                "the {} cannot be switched {}",
                cache.name(),
                if on { "on" } else { "off" }
            ),
            reason: error.to_string(),
        };
        if self.session.is_none() {
            self.session = Some(session::share(&self.places, &self.disk).map_err(failed)?);
        }
        let Some(session) = &self.session else { return Ok(()) };
        let (word_on, word_off) = words(setting);
        let mut held = session.lock().unwrap_or_else(PoisonError::into_inner);
        held.set(setting, if on { word_on } else { word_off }).map(drop).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::path::Path;

    /// A SCSI disk on a tree made up here; its drive answers no command.
    fn tree(root: &Path) -> Places {
        let _ = fs::remove_dir_all(root);
        let disk = root.join("sys/block/sdz");
        fs::create_dir_all(disk.join("device/scsi_disk/0:0:0:0")).unwrap();
        fs::create_dir_all(root.join("sys/dev/block")).unwrap();
        fs::write(disk.join("device/scsi_disk/0:0:0:0/cache_type"), "write back\n").unwrap();
        fs::write(disk.join("dev"), "8:400\n").unwrap();
        symlink(&disk, root.join("sys/dev/block/8:400")).unwrap();
        Places {
            sysfs: root.join("sys"),
            devices: root.join("dev"),
            journals: root.join("run"),
            owner: fs::metadata(root).unwrap().uid(),
            boot: "this-start".into(),
        }
    }

    #[test]
    fn a_cache_is_switched_in_the_drive_and_switched_back() {
        let root = std::env::temp_dir().join(format!("ssdscope-caches-{}", std::process::id()));
        let places = tree(&root);
        let device = libc::makedev(8, 400);
        let mut switches = CacheSwitches::of(places.clone(), device).unwrap();
        assert!(switches.caches().write.on);
        assert_eq!(switches.caches().read, Caches::UNKNOWN.read);
        // Somebody else in this process has set something of that disk, too.
        let disk = Disk::beneath(&places, device).unwrap();
        let other = session::share(&places, &disk).unwrap();
        switches.set(Cache::Write, false).unwrap();
        assert!(!switches.caches().write.on);
        assert!(switches.set(Cache::Read, false).is_err());
        drop(switches);
        drop(other);
        assert_eq!(disk.read(Setting::ScsiCacheType).as_deref(), Some("write back"));
        assert!(!root.join("run/sdz.journal").exists());
        fs::remove_dir_all(&root).unwrap();
    }
}
