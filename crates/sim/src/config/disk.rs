//! What the drive file of a hard disk says, as plain structs.

use super::get::Getter;
use super::host::{self, Host};
use crate::hdd::{Geometry, SeekCurve, SeekError};

/// Which command the arm serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// The one that it can begin with first.
    Position,
    /// The oldest.
    Arrival,
}

/// The moving parts and the caches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the key of the same name")]
pub struct Disk {
    pub rpm: u32,
    pub surfaces: u32,
    pub cylinders: u32,
    pub zones: u32,
    pub outer_sectors_per_track: u32,
    pub inner_sectors_per_track: u32,
    pub seek_track_ns: u64,
    pub seek_average_ns: u64,
    pub seek_full_ns: u64,
    pub head_switch_ns: u64,
    pub write_settle_ns: u64,
    pub queue_order: QueueOrder,
    pub read_cache_bytes: u64,
    pub read_cache_segments: u32,
    pub read_ahead_bytes: u64,
    pub write_cache_bytes: u64,
}

impl Disk {
    /// A revolution, to the nearest nanosecond.
    #[must_use]
    pub const fn rotation_ns(&self) -> u64 {
        (60_000_000_000 + self.rpm as u64 / 2) / self.rpm as u64
    }

    /// Sectors on a track of a zone; they fall evenly from the outermost to the innermost.
    #[must_use]
    pub fn sectors_per_track(&self, zone: u32) -> u32 {
        let fewer = u64::from(self.outer_sectors_per_track - self.inner_sectors_per_track);
        let last = u64::from(self.zones.max(2) - 1);
        self.outer_sectors_per_track - ((fewer * u64::from(zone) + last / 2) / last) as u32
    }

    /// Bytes of a segment of the read cache.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        self.read_cache_bytes / u64::from(self.read_cache_segments)
    }

    /// How long the arm takes.
    ///
    /// # Errors
    /// If the three seek times do not belong to one curve.
    pub fn seek_curve(&self) -> Result<SeekCurve, SeekError> {
        SeekCurve::new(self.seek_track_ns, self.seek_average_ns, self.seek_full_ns, self.cylinders)
    }
}

/// The keys of a hard disk.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field is a table of the file")]
pub struct DiskConfig {
    pub disk: Disk,
    pub host: Host,
}

impl DiskConfig {
    /// What a host sees: whole logical blocks.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        let block = u64::from(self.host.logical_block_bytes);
        Geometry::new(&self.disk).sectors() * 512 / block * block
    }
}

pub(super) fn disk_config(get: &Getter) -> DiskConfig {
    let disk = Disk {
        rpm: get.int("disk.rpm"),
        surfaces: get.int("disk.surfaces"),
        cylinders: get.int("disk.cylinders"),
        zones: get.int("disk.zones"),
        outer_sectors_per_track: get.int("disk.outer_sectors_per_track"),
        inner_sectors_per_track: get.int("disk.inner_sectors_per_track"),
        seek_track_ns: get.long("disk.seek_track_ns"),
        seek_average_ns: get.long("disk.seek_average_ns"),
        seek_full_ns: get.long("disk.seek_full_ns"),
        head_switch_ns: get.long("disk.head_switch_ns"),
        write_settle_ns: get.long("disk.write_settle_ns"),
        queue_order: match get.word("disk.queue_order") {
            "arrival" => QueueOrder::Arrival,
            _ => QueueOrder::Position,
        },
        read_cache_bytes: get.long("disk.read_cache_bytes"),
        read_cache_segments: get.int("disk.read_cache_segments"),
        read_ahead_bytes: get.long("disk.read_ahead_bytes"),
        write_cache_bytes: get.long("disk.write_cache_bytes"),
    };
    DiskConfig { disk, host: host::host(get) }
}
