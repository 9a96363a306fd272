//! Where a sector lies: zone, cylinder, head, place on the track.
//!
//! Cylinder 0 is the outermost and holds the first sectors. Addresses fill a track, then
//! the other tracks of its cylinder, then the next cylinder. Outer zones have more sectors
//! per track. Each track starts a little later than the one before (skew), so that a
//! span may go on there after the switch without losing a revolution.

use crate::config::Disk;

/// Cylinders with the same number of sectors per track.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Zone {
    first_sector: u64,
    first_cylinder: u32,
    sectors_per_track: u32,
    /// Sectors that the next track of the cylinder starts later.
    track_skew: u64,
    /// Sectors that the first track of the next cylinder starts later.
    cylinder_skew: u64,
}

/// A place on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// 0 is the outermost.
    pub cylinder: u32,
    /// The surface.
    pub head: u32,
    /// Sectors between the index mark and this one.
    pub slot: u32,
    /// Sectors of the track.
    pub sectors_per_track: u32,
    /// Sectors from this one to the last address of the track, itself included.
    pub left: u32,
}

/// The shape of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    zones: Vec<Zone>,
    surfaces: u32,
    sectors: u64,
    rotation_ns: u64,
}

impl Geometry {
    /// The shape that `disk` describes.
    #[must_use]
    pub fn new(disk: &Disk) -> Self {
        let rotation_ns = disk.rotation_ns();
        // Two nanoseconds more than needed: instants on a track are whole nanoseconds.
        let skew = |switch_ns: u64, sectors_per_track: u32| {
            ((switch_ns + disk.write_settle_ns + 2) * u64::from(sectors_per_track))
                .div_ceil(rotation_ns)
        };
        let mut zones = Vec::with_capacity(disk.zones as usize);
        let (mut sectors, mut cylinder) = (0, 0);
        for zone in 0..disk.zones {
            let sectors_per_track = disk.sectors_per_track(zone);
            zones.push(Zone {
                first_sector: sectors,
                first_cylinder: cylinder,
                sectors_per_track,
                track_skew: skew(disk.head_switch_ns, sectors_per_track),
                cylinder_skew: skew(disk.seek_track_ns.max(disk.head_switch_ns), sectors_per_track),
            });
            let end = u64::from(disk.cylinders) * u64::from(zone + 1) / u64::from(disk.zones);
            let tracks = (end - u64::from(cylinder)) * u64::from(disk.surfaces);
            sectors += tracks * u64::from(sectors_per_track);
            cylinder = end as u32;
        }
        Self { zones, surfaces: disk.surfaces, sectors, rotation_ns }
    }

    /// All sectors.
    #[must_use]
    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The time of a revolution.
    pub(super) const fn rotation_ns(&self) -> u64 {
        self.rotation_ns
    }

    /// The first sector of a cylinder.
    pub(super) fn first_of(&self, cylinder: u32) -> u64 {
        let number = self.zones.partition_point(|zone| zone.first_cylinder <= cylinder) - 1;
        let zone = &self.zones[number];
        let tracks = u64::from(cylinder - zone.first_cylinder) * u64::from(self.surfaces);
        zone.first_sector + tracks * u64::from(zone.sectors_per_track)
    }

    /// Where a sector lies.
    pub(super) fn locate(&self, sector: u64) -> Spot {
        let number = self.zones.partition_point(|zone| zone.first_sector <= sector) - 1;
        let zone = &self.zones[number];
        let per_track = u64::from(zone.sectors_per_track);
        let (track, place) =
            ((sector - zone.first_sector) / per_track, (sector - zone.first_sector) % per_track);
        let surfaces = u64::from(self.surfaces);
        let (cylinder, head) = (track / surfaces, track % surfaces);
        let per_cylinder = (surfaces - 1) * zone.track_skew + zone.cylinder_skew;
        let skew = cylinder * per_cylinder + head * zone.track_skew;
        Spot {
            cylinder: zone.first_cylinder + cylinder as u32,
            head: head as u32,
            slot: ((place + skew) % per_track) as u32,
            sectors_per_track: zone.sectors_per_track,
            left: (per_track - place) as u32,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::QueueOrder;

    /// Three zones of 100, 80 and 60 sectors per track; a sector of the first takes 100 us.
    pub fn disk() -> Disk {
        Disk {
            rpm: 6000,
            surfaces: 2,
            cylinders: 30,
            zones: 3,
            outer_sectors_per_track: 100,
            inner_sectors_per_track: 60,
            seek_track_ns: 1_000_000,
            seek_average_ns: 4_000_000,
            seek_full_ns: 8_000_000,
            head_switch_ns: 500_000,
            write_settle_ns: 0,
            queue_order: QueueOrder::Position,
            read_cache_bytes: 0,
            read_cache_segments: 1,
            read_ahead_bytes: 0,
            write_cache_bytes: 0,
        }
    }

    #[test]
    fn zones_fill_outside_in() {
        let geometry = Geometry::new(&disk());
        assert_eq!(geometry.sectors(), 20 * (100 + 80 + 60));
        let at = |sector| {
            let spot = geometry.locate(sector);
            (spot.cylinder, spot.head, spot.sectors_per_track, spot.left)
        };
        assert_eq!(at(0), (0, 0, 100, 100));
        assert_eq!(at(99), (0, 0, 100, 1));
        assert_eq!(at(100), (0, 1, 100, 100));
        assert_eq!(at(200), (1, 0, 100, 100));
        assert_eq!(at(2000), (10, 0, 80, 80));
        assert_eq!(at(3600 + 61), (20, 1, 60, 59));
        assert_eq!(at(4799), (29, 1, 60, 1));
        assert_eq!(
            [0, 1, 10, 29].map(|cylinder| geometry.first_of(cylinder)),
            [0, 200, 2000, 4680]
        );
    }

    #[test]
    fn the_skew_covers_the_switch() {
        let geometry = Geometry::new(&disk());
        // 500 us are 5 sectors and 1 ms is 10, and one more for the rounding.
        assert_eq!(geometry.locate(100).slot, 6);
        assert_eq!(geometry.locate(200).slot, 6 + 11);
        assert_eq!(geometry.locate(300 + 95).slot, (6 + 11 + 6 + 95) % 100);
    }
}
