//! The caches of a drive, as far as a host may know and switch them.

use crate::device::DeviceError;
use serde::Serialize;

/// Which cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Of writes: the write buffer of a solid-state drive, the write-back cache of a disk.
    Write,
    /// Of reads, with what is read ahead.
    Read,
}

impl Cache {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write cache",
            Self::Read => "read cache",
        }
    }
}

/// What a host may do with a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheControl {
    /// The host does not know whether there is one.
    Unknown,
    /// There is none.
    Absent,
    /// It is as it is.
    Fixed,
    /// It can be switched on and off.
    Switchable,
}

/// A cache, before the first request or after switching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CacheInfo {
    /// What a host may do with it.
    pub control: CacheControl,
    /// Whether it is at work.
    pub on: bool,
}

impl CacheInfo {
    /// There is none.
    pub const ABSENT: Self = Self { control: CacheControl::Absent, on: false };

    /// A cache that is at work if there is one.
    #[must_use]
    pub const fn of(present: bool, switchable: bool) -> Self {
        match (present, switchable) {
            (false, _) => Self::ABSENT,
            (true, false) => Self { control: CacheControl::Fixed, on: true },
            (true, true) => Self { control: CacheControl::Switchable, on: true },
        }
    }
}

/// The caches of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Caches {
    /// That of writes.
    pub write: CacheInfo,
    /// That of reads.
    pub read: CacheInfo,
}

impl Caches {
    /// There are none.
    pub const ABSENT: Self = Self { write: CacheInfo::ABSENT, read: CacheInfo::ABSENT };

    /// There may be some.
    pub const UNKNOWN: Self = {
        let unknown = CacheInfo { control: CacheControl::Unknown, on: false };
        Self { write: unknown, read: unknown }
    };

    /// One of them.
    #[must_use]
    pub const fn get(&self, cache: Cache) -> CacheInfo {
        match cache {
            Cache::Write => self.write,
            Cache::Read => self.read,
        }
    }

    /// Notes that one of them is now on, or off.
    pub const fn note(&mut self, cache: Cache, on: bool) {
        match cache {
            Cache::Write => self.write.on = on,
            Cache::Read => self.read.on = on,
        }
    }

    /// Whether switching a cache to `on` changes anything.
    ///
    /// # Errors
    /// If it would and the cache does not let itself be switched.
    pub const fn would_change(&self, cache: Cache, on: bool) -> Result<bool, DeviceError> {
        let CacheInfo { control, on: is_on } = self.get(cache);
        let reason = match control {
            CacheControl::Switchable => return Ok(is_on != on),
            CacheControl::Fixed | CacheControl::Absent if is_on == on => return Ok(false),
            CacheControl::Fixed => "the drive keeps it on",
            CacheControl::Absent => "the drive has none",
            CacheControl::Unknown => "nothing is known of the caches of this device",
        };
        Err(DeviceError::Cache { cache: cache.name(), on, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_is_refused_and_with_its_reason() {
        let caches = Caches { write: CacheInfo::of(true, false), read: CacheInfo::of(true, true) };
        assert_eq!(caches.would_change(Cache::Write, true), Ok(false));
        let fixed = caches.would_change(Cache::Write, false).unwrap_err();
        assert_eq!(
            fixed.to_string(),
            "the write cache cannot be switched off: the drive keeps it on"
        );
        assert_eq!(caches.would_change(Cache::Read, true), Ok(false));
        assert_eq!(caches.would_change(Cache::Read, false), Ok(true));
        assert_eq!(Caches::ABSENT.would_change(Cache::Read, false), Ok(false));
        let absent = Caches::ABSENT.would_change(Cache::Read, true).unwrap_err();
        assert_eq!(absent.to_string(), "the read cache cannot be switched on: the drive has none");
        assert!(Caches::UNKNOWN.would_change(Cache::Write, false).is_err());
    }
}
