//! The fixed list of attributes: nothing else is ever written, whatever a journal says.

use serde::{Serialize, Serializer};
use std::fmt;

/// Where an attribute is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `/sys/block/DISK/queue/NAME`.
    Queue,
    /// `/sys/block/DISK/device/scsi_disk/*/cache_type`.
    ScsiDisk,
    /// The drive itself, by a command.
    Drive,
}

/// An attribute that ssdscope may set for a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// How the kernel orders requests: `none` hands them on as they come.
    Scheduler,
    /// 2 keeps the kernel from merging neighbouring requests.
    NoMerges,
    /// Microseconds of reads at which buffered writes are throttled; 0 never.
    WbtLatUsec,
    /// How far the kernel reads ahead of buffered reads.
    ReadAheadKb,
    /// On which core a completion is handled.
    RqAffinity,
    /// Whether completions may be polled.
    IoPoll,
    /// Whether the kernel counts requests, which tells other work from ours.
    IoStats,
    /// Requests that the kernel queues.
    NrRequests,
    /// What the kernel *assumes* of the write cache: whether it sends flushes. The drive's cache
    /// stays as it is.
    WriteCache,
    /// The caches of a SCSI or SATA disk, switched in the drive by the kernel.
    ScsiCacheType,
    /// The write cache of an ATA drive.
    AtaWriteCache,
    /// The read look-ahead of an ATA drive.
    AtaLookAhead,
    /// The volatile write cache of an NVMe drive.
    NvmeWriteCache,
}

const TABLE: [(Setting, &str, Place); 13] = [
    (Setting::Scheduler, "scheduler", Place::Queue),
    (Setting::NoMerges, "nomerges", Place::Queue),
    (Setting::WbtLatUsec, "wbt_lat_usec", Place::Queue),
    (Setting::ReadAheadKb, "read_ahead_kb", Place::Queue),
    (Setting::RqAffinity, "rq_affinity", Place::Queue),
    (Setting::IoPoll, "io_poll", Place::Queue),
    (Setting::IoStats, "iostats", Place::Queue),
    (Setting::NrRequests, "nr_requests", Place::Queue),
    (Setting::WriteCache, "write_cache", Place::Queue),
    (Setting::ScsiCacheType, "cache_type", Place::ScsiDisk),
    (Setting::AtaWriteCache, "ata_write_cache", Place::Drive),
    (Setting::AtaLookAhead, "ata_look_ahead", Place::Drive),
    (Setting::NvmeWriteCache, "nvme_write_cache", Place::Drive),
];

/// The names of all.
#[must_use]
pub fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(_, name, _)| *name).collect()
}

impl Setting {
    /// All that stand under `/sys/block`; those of the drive cost a command each.
    pub fn in_sysfs() -> impl Iterator<Item = Self> {
        TABLE.into_iter().filter(|(_, _, place)| *place != Place::Drive).map(|(each, _, _)| each)
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.into_iter().find(|(_, known, _)| *known == name).map(|(each, _, _)| each)
    }

    fn row(self) -> (Self, &'static str, Place) {
        TABLE.into_iter().find(|(each, _, _)| *each == self).expect("each has a row")
    }

    /// Its name, the kernel's where it has one.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    pub(crate) fn place(self) -> Place {
        self.row().2
    }

    /// What the kernel resets by itself when this is set.
    pub(crate) fn drags(self) -> &'static [Self] {
        match self {
            Self::Scheduler => &[Self::NrRequests, Self::WbtLatUsec],
            _ => &[],
        }
    }

    /// Whether ssdscope may write this value there.
    #[must_use]
    pub fn accepts(self, value: &str) -> bool {
        let number = |most: u64| {
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            digits && value.parse::<u64>().is_ok_and(|number| number <= most)
        };
        match self {
            Self::Scheduler => {
                let plain = |byte: u8| byte.is_ascii_lowercase() || b"0123456789-_".contains(&byte);
                (1..=31).contains(&value.len()) && value.bytes().all(plain)
            }
            Self::NoMerges | Self::RqAffinity => number(2),
            Self::IoPoll | Self::IoStats => number(1),
            Self::NrRequests => number(1 << 20),
            Self::WbtLatUsec => number(u64::from(u32::MAX)),
            Self::ReadAheadKb => number(1 << 22),
            Self::WriteCache => ["write back", "write through"].contains(&value),
            Self::ScsiCacheType => {
                ["write through", "none", "write back", "write back, no read (daft)"]
                    .contains(&value)
            }
            Self::AtaWriteCache | Self::AtaLookAhead | Self::NvmeWriteCache => {
                ["on", "off"].contains(&value)
            }
        }
    }

    /// What may stand there, for messages.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Scheduler => "the name of a scheduler that the disk lists",
            Self::NoMerges | Self::RqAffinity => "0, 1 or 2",
            Self::IoPoll | Self::IoStats => "0 or 1",
            Self::NrRequests | Self::WbtLatUsec | Self::ReadAheadKb => "a whole number",
            Self::WriteCache => "'write back' or 'write through'",
            Self::ScsiCacheType => "'write back', 'write through' or 'none'",
            Self::AtaWriteCache | Self::AtaLookAhead | Self::NvmeWriteCache => "'on' or 'off'",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_the_kind_that_the_kernel_takes() {
        let cases = [
            (Setting::Scheduler, "mq-deadline", true),
            (Setting::Scheduler, "../../etc", false),
            (Setting::Scheduler, "", false),
            (Setting::NoMerges, "2", true),
            (Setting::NoMerges, "3", false),
            (Setting::NrRequests, "+5", false),
            (Setting::WbtLatUsec, "2000\n1", false),
            (Setting::WriteCache, "write through", true),
            (Setting::WriteCache, "on", false),
            (Setting::NvmeWriteCache, "off", true),
        ];
        for (setting, value, accepted) in cases {
            assert_eq!(setting.accepts(value), accepted, "{setting} = {value:?}");
        }
        for name in names() {
            assert_eq!(Setting::named(name).map(Setting::name), Some(name));
        }
        assert_eq!(Setting::named("../ro"), None);
    }
}
