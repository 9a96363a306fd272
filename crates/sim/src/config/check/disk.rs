//! What hard disks cannot be.

use super::super::{DiskConfig, State};
use super::Checker;
use crate::hdd::SeekError;

impl Checker<'_> {
    pub(super) fn check_disk(&mut self, config: &DiskConfig, state: State) {
        let disk = &config.disk;
        self.check_link(&config.host);
        match disk.seek_curve() {
            Ok(_) => {}
            Err(error @ SeekError::Falling { .. }) => {
                let message = format!("{} {error}", disk.seek_full_ns);
                self.fault("disk.seek_full_ns", &message);
            }
            Err(error @ SeekError::Average { .. }) => {
                self.fault("disk.seek_average_ns", &error.to_string());
            }
        }
        let segment_bytes = disk.segment_bytes();
        if disk.read_cache_bytes > 0 && segment_bytes < 512.max(disk.read_ahead_bytes) {
            let (key, wanted) = if segment_bytes < 512 {
                ("disk.read_cache_segments", "not one sector".to_owned())
            } else {
                ("disk.read_ahead_bytes", format!("less than {}", disk.read_ahead_bytes))
            };
            let message = format!(
                "each of the {} segments of disk.read_cache_bytes = {} has {segment_bytes} bytes, \
                 {wanted}",
                disk.read_cache_segments, disk.read_cache_bytes
            );
            self.fault(key, &message);
        }
        if disk.zones > disk.cylinders {
            let message = format!("{} zones in {} cylinders", disk.zones, disk.cylinders);
            self.fault("disk.zones", &message);
        } else if disk.inner_sectors_per_track > disk.outer_sectors_per_track {
            let message = format!(
                "{} is above disk.outer_sectors_per_track = {}: the inner tracks are the shorter ones",
                disk.inner_sectors_per_track, disk.outer_sectors_per_track
            );
            self.fault("disk.inner_sectors_per_track", &message);
        } else {
            self.check_disk_capacity(config, state);
        }
    }

    fn check_disk_capacity(&mut self, config: &DiskConfig, state: State) {
        let (capacity_bytes, block) = (config.capacity_bytes(), config.host.logical_block_bytes);
        if !block.is_multiple_of(512) || capacity_bytes == 0 {
            let message = format!("{block} is not a multiple of 512, or larger than the disk");
            self.fault("host.logical_block_bytes", &message);
        }
        self.check_state(state, capacity_bytes);
    }
}
