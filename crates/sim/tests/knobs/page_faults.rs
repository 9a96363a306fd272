//! What is said of page-mapped drives that cannot work.

use crate::faults::{Impossible, hold};
use crate::rig::PAGE_DRIVE;

const IMPOSSIBLE: &[Impossible] = &[
    (
        "scheduler.suspend",
        &["scheduler.suspend=erase", "scheduler.read_first=false"],
        "with scheduler.read_first = false it must not even pass what waits",
    ),
    (
        "gc.exclusive",
        &["gc.exclusive=true", "scheduler.suspend=erase"],
        "lets no read pass collection, but with scheduler.suspend reads stop",
    ),
    (
        "nand.type_order",
        &["nand.type_order=pairs", "nand.read_by_type_ns=[1, 2]"],
        "\"pairs\" is of three types of page, but nand.read_by_type_ns and \
         nand.program_by_type_ns name 2 and 0",
    ),
    (
        "nand.program_by_type_ns",
        &["nand.program_by_type_ns=[1, 2, 3, 4, 5, 6, 7, 8, 9]"],
        "names 9 types of page, but a block has only nand.pages_per_block = 8 pages",
    ),
    (
        "over_provisioning_ratio",
        &["over_provisioning_ratio=0"],
        "leaves 0 spare blocks in a plane of 16, but 4 are needed",
    ),
    ("over_provisioning_ratio", &["over_provisioning_ratio=0.25"], "leaves 3 spare blocks"),
    (
        "over_provisioning_ratio",
        &["over_provisioning_ratio=100", "nand.blocks_per_plane=4"],
        "leaves nothing to export",
    ),
    (
        "gc.min_free_blocks",
        &["gc.stop_writes_blocks=3"],
        "2 is below gc.stop_writes_blocks = 3: writes would stop before collection starts",
    ),
    (
        "over_provisioning_ratio",
        &["gc.stop_writes_blocks=6", "gc.min_free_blocks=6"],
        "leaves 8 spare blocks in a plane of 16, but 9 are needed (gc.stop_writes_blocks = 6",
    ),
    (
        "gc.high_water_ratio",
        &["gc.low_water_ratio=0.3", "gc.high_water_ratio=0.2"],
        "0.2 is below gc.low_water_ratio = 0.3",
    ),
    (
        "gc.urgent_blocks",
        &["gc.preemptible=true", "gc.urgent_blocks=4", "gc.min_free_blocks=4"],
        "4 is not below the low-water mark of 4 blocks (gc.low_water_ratio = 0.05",
    ),
    (
        "gc.urgent_blocks",
        &["gc.preemptible=true", "gc.min_free_blocks=4", "gc.stop_writes_blocks=3"],
        "2 is below gc.stop_writes_blocks = 3: collection would yield while writes wait",
    ),
    (
        "nand.page_bytes",
        &["nand.page_bytes=4000", "host.logical_block_bytes=1000"],
        "4000 is not a multiple of 512 bytes",
    ),
    (
        "host.logical_block_bytes",
        &["host.logical_block_bytes=8192"],
        "8192 does not divide the page of nand.page_bytes = 4096",
    ),
    (
        "host.logical_block_bytes",
        &["nand.page_bytes=6144", "host.logical_block_bytes=4096"],
        "4096 does not divide",
    ),
    (
        "nand.blocks_per_plane",
        &["nand.blocks_per_plane=1000000", "nand.pages_per_block=16384"],
        "the drive has 16384000000 pages; at most 4294967294 can be addressed",
    ),
    ("nand.ways", &["nand.ways=64", "nand.dies=2"], "64 ways x 2 dies is over 64 on a channel"),
    (
        "default_state",
        &["default_state=steady:1g"],
        "the window of 1073741824 bytes is larger than the drive (262144)",
    ),
    (
        "ftl.map_unit_bytes",
        &["ftl.map_unit_bytes=6144"],
        "6144 is not a whole number of nand.page_bytes = 4096",
    ),
    (
        "ftl.map_unit_bytes",
        &["ftl.map_unit_bytes=12288"],
        "12288 bytes take 3 pages of a block, which do not divide nand.pages_per_block = 8",
    ),
    (
        "ftl.map_unit_bytes",
        &["ftl.map_unit_bytes=12288", "nand.channels=4"],
        "are on 3 planes in turn, which neither divide nor go evenly round the 4 planes",
    ),
    (
        "ftl.placement_pages",
        &["ftl.map_unit_bytes=16384", "ftl.placement_pages=3"],
        "3 pages in a row neither divide nor hold whole units of 4 pages",
    ),
    (
        "ftl.stripe_bytes",
        &["ftl.stripe_bytes=8192"],
        "8192 is no whole number of sectors that divides nand.page_bytes = 4096",
    ),
    ("ftl.stripe_bytes", &["ftl.stripe_bytes=768"], "768 is no whole number of sectors"),
    ("ftl.phase_bytes", &["ftl.phase_bytes=4096"], "below ftl.map_unit_bytes = 4096"),
    (
        "ftl.reclaim_unit_bytes",
        &["ftl.reclaim_unit_bytes=40000"],
        "40000 is not a whole number of 32768 bytes: the 1 blocks that a unit",
    ),
    (
        "ftl.reclaim_unit_bytes",
        &["ftl.reclaim_unit_bytes=98304", "nand.channels=4"],
        "98304 is a block on each of 3 planes, which do not divide the 4 planes",
    ),
    (
        "ftl.reclaim_unit_bytes",
        &["ftl.reclaim_unit_bytes=65536", "nand.channels=2", "ftl.placement_pages=3"],
        "65536 cannot be filled by ftl.placement_pages = 3, which do not divide",
    ),
    (
        "ftl.placement_pages",
        &["nand.channels=4", "ftl.placement_pages=300"],
        "300 in a row on a plane give one of them 256 of the 256 exported pages; its \
             128 pages leave 0 spare blocks",
    ),
];

#[test]
fn a_page_mapped_drive_that_cannot_work_is_refused_with_the_reason() {
    hold(PAGE_DRIVE, IMPOSSIBLE);
}
