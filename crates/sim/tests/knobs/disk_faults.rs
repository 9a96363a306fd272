//! What is said of a hard disk that cannot work.

use crate::faults::complaint;
use crate::rig::{DISK_DRIVE, LOG_DRIVE, PAGE_DRIVE};

#[test]
fn a_disk_that_cannot_work_is_refused_with_the_key_at_fault() {
    for (key, sets, reason) in [
        (
            "disk.seek_average_ns",
            &["disk.seek_average_ns=6ms"][..],
            "is \"6ms\"; expected whole nanoseconds",
        ),
        (
            "disk.seek_average_ns",
            &["disk.seek_average_ns=6000000"],
            "6000000 cannot be the average of a curve that rises from disk.seek_track_ns = 1000000 \
             to disk.seek_full_ns = 6000000: expected ",
        ),
        (
            "disk.seek_full_ns",
            &["disk.seek_full_ns=900000"],
            "900000 is below disk.seek_track_ns = 1000000",
        ),
        ("disk.zones", &["disk.zones=41"], "41 zones in 40 cylinders"),
        (
            "disk.inner_sectors_per_track",
            &["disk.inner_sectors_per_track=101"],
            "101 is above disk.outer_sectors_per_track = 100",
        ),
        (
            "disk.read_cache_segments",
            &["disk.read_cache_bytes=4096"],
            "each of the 16 segments of disk.read_cache_bytes = 4096 has 256 bytes, not one sector",
        ),
        (
            "disk.read_ahead_bytes",
            &["disk.read_cache_bytes=64k", "disk.read_ahead_bytes=4097"],
            "has 4096 bytes, less than 4097",
        ),
        ("host.logical_block_bytes", &["host.logical_block_bytes=1000"], "not a multiple of 512"),
        (
            "default_state",
            &["default_state=steady:1g"],
            "the window of 1073741824 bytes is larger than the drive (3481600)",
        ),
    ] {
        let lines = complaint(DISK_DRIVE, sets);
        let place = format!(": {key}: ");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&place) && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
}

#[test]
fn a_key_of_a_disk_means_nothing_on_flash_nor_the_other_way_round() {
    for (drive, set, ending) in [
        (
            DISK_DRIVE,
            "nand.channels=4",
            "means nothing on a hard disk (a file with a table [disk]) (remove it)",
        ),
        (
            DISK_DRIVE,
            "ftl.kind=page",
            "means nothing on a hard disk (a file with a table [disk]) (remove it)",
        ),
        (
            PAGE_DRIVE,
            "disk.rpm=5400",
            "means nothing on a drive of ftl.kind = \"page\" (remove it)",
        ),
        (
            LOG_DRIVE,
            "disk.rpm=5400",
            "means nothing on a drive of ftl.kind = \"log-block\" (remove it)",
        ),
    ] {
        let lines = complaint(drive, &[set]);
        assert!(lines.len() == 1 || set.starts_with("nand"), "{lines:?}");
        assert!(lines[0].ends_with(ending), "{lines:?}");
    }
}

#[test]
fn a_file_without_a_kind_is_told_of_all_kinds() {
    assert_eq!(
        complaint("", &[]),
        [
            "drive.toml: ftl.kind: is missing (add [ftl] with kind = \"...\", one of page, log-block, \
          msr, or for a hard disk a table [disk])"
        ]
    );
}
