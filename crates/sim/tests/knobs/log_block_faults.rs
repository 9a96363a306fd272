//! What is said of log-block drives that cannot work.

use crate::faults::{Impossible, complaint, hold};
use crate::rig::LOG_DRIVE;

const IMPOSSIBLE: &[Impossible] = &[
    (
        "ftl.log_blocks",
        &["ftl.log_blocks=8"],
        "8 log blocks and one to merge into are more than the 8 spare blocks that \
         over_provisioning_ratio = 1 leaves of 16",
    ),
    ("ftl.log_blocks", &["over_provisioning_ratio=0.2"], "more than the 3 spare blocks"),
    (
        "ftl.log_blocks",
        &["ftl.log_blocks=1", "ftl.log_association=many-to-one"],
        "1 is too few for ftl.log_association = \"many-to-one\"",
    ),
    (
        "ftl.merge_unit_bytes",
        &["ftl.merge_unit_bytes=40000"],
        "40000 is not a whole number of physical blocks of 32768 bytes",
    ),
    (
        "ftl.merge_unit_bytes",
        &["ftl.merge_unit_bytes=65536"],
        "65536 is 2 physical blocks of 32768 bytes, which do not divide the 1 planes",
    ),
    (
        "ftl.merge_unit_bytes",
        &["ftl.merge_unit_bytes=65536", "nand.channels=3"],
        "which do not divide the 3 planes",
    ),
    (
        "ftl.merge_unit_bytes",
        &["nand.channels=4", "ftl.map_unit_bytes=8192"],
        "32768 is not a multiple of 65536 bytes: the 2 physical blocks that a unit of \
         ftl.map_unit_bytes = 8192 lies on",
    ),
    (
        "ftl.merge_unit_bytes",
        &["ftl.placement_pages=3"],
        "32768 cannot be filled by ftl.placement_pages = 3, which do not divide",
    ),
    (
        "over_provisioning_ratio",
        &["over_provisioning_ratio=100"],
        "100 leaves less than one merge unit of 32768 bytes",
    ),
    (
        "default_state",
        &["default_state=steady:1g"],
        "the window of 1073741824 bytes is larger than the drive (262144)",
    ),
    ("host.logical_block_bytes", &["host.logical_block_bytes=8192"], "does not divide the page"),
];

#[test]
fn a_log_block_drive_that_cannot_work_is_refused_with_both_values() {
    hold(LOG_DRIVE, IMPOSSIBLE);
}

#[test]
fn all_contradictions_are_told_at_once_beside_a_refused_value() {
    let sets = [
        "nand.read_ns=-3",
        "write_buffer.bytes=1024",
        "ftl.map_unit_bytes=65536",
        "ftl.log_blocks=50",
        "map.kind=zones",
        "map.zone_bytes=1m",
    ];
    let told = [
        "nand.read_ns: is -3; expected whole nanoseconds",
        "write_buffer.bytes: 1024 is less than a page of nand.page_bytes = 4096",
        "ftl.map_unit_bytes: 65536 bytes take 16 pages of a block, which do not divide \
         nand.pages_per_block = 8",
        "ftl.merge_unit_bytes: 32768 is not a multiple of ftl.map_unit_bytes = 65536",
        "ftl.log_blocks: 50 log blocks and one to merge into are more than the 8 spare blocks",
        "map.zone_bytes: a zone of 1048576 bytes is larger than the drive, which exports 262144",
    ];
    let lines = complaint(LOG_DRIVE, &sets);
    assert_eq!(lines.len(), told.len(), "{lines:#?}");
    for (line, told) in lines.iter().zip(told) {
        assert!(line.contains(told), "{told:?} is not in {line:?}");
    }
}
