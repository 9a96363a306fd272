//! Log blocks and free units of each zone of the mapping table.
//!
//! Four zones of 64 KB, two merge units each, whose loading takes no time; 16 units, of which
//! eight are spare: two for each zone.

use crate::faults::complaint;
use crate::merges::COPY;
use crate::rig::{ERASE, LOG_DRIVE, Rig, WRITE};

knobs! {
    "map.private_pools" => each_zone_has_its_own_log_blocks,
}

const POOLS: [&str; 5] = [
    "map.kind=zones",
    "map.zone_bytes=64k",
    "map.load_ns=0",
    "map.write_back_ns=0",
    "map.private_pools=true",
];

/// The drive, written in order, with one log block for each zone.
fn pooled(sets: &[&str]) -> Rig {
    Rig::logged(&[&POOLS[..], &["ftl.log_blocks=1"], sets].concat())
}

/// Pages of the first block of each zone, and of both blocks of the first zone.
const APART: [u64; 4] = [3, 19, 35, 51];
const TOGETHER: [u64; 2] = [3, 11];

fn each_zone_has_its_own_log_blocks() {
    for (private, logs, apart, together) in
        [("true", "1", 0, 1), ("false", "1", 3, 1), ("false", "4", 0, 0)]
    {
        let sets = [format!("map.private_pools={private}"), format!("ftl.log_blocks={logs}")];
        let sets = sets.each_ref().map(String::as_str);
        let merges = |pages: &[u64]| {
            let mut rig = pooled(&sets);
            rig.write_pages(pages.iter().copied());
            rig.rest().merges.full
        };
        assert_eq!((merges(&APART), merges(&TOGETHER)), (apart, together), "{sets:?}");
    }
}

#[test]
fn writes_confined_to_a_zone_have_only_its_log_block() {
    let mut rig = pooled(&[]);
    rig.write_pages([3]);
    // From one block to the other and back: a merge every time, whatever other zones have.
    for page in [11, 4, 12, 5] {
        assert_eq!(rig.latency_ns(crate::rig::write(page)), 8 * COPY + 2 * ERASE + WRITE);
    }
    let counters = rig.rest();
    assert_eq!((counters.merges.full, counters.map_loads), (4, 1));
    // Its own units wear, those of the other zones rest.
    let erased: u64 = counters.erase_histogram.iter().skip(1).sum();
    assert_eq!((counters.erase_histogram[0], erased), (12, 4), "{:?}", counters.erase_histogram);
}

#[test]
fn pools_that_cannot_be_are_refused_with_both_values() {
    for (sets, reason) in [
        (
            &["ftl.log_blocks=2"][..],
            "ftl.log_blocks: 2 log blocks and one to merge into are more than the 2 spare blocks \
             that over_provisioning_ratio = 1 leaves of 16 for each of 4 zones",
        ),
        (&["map.kind=ram"], "map.private_pools: true needs map.kind = \"zones\""),
    ] {
        let lines = complaint(LOG_DRIVE, &[&POOLS[..], &["ftl.log_blocks=1"], sets].concat());
        assert!(lines.len() == 1 && lines[0].contains(reason), "{sets:?}: {lines:?}");
    }
}
