//! Erases spread over the blocks of a plane, by where data are put and by moving what rests.

use crate::rig::{Rig, wear_spread};
use ssdscope_io::Counters;

knobs! {
    "wear.dynamic" => cold_data_go_to_worn_blocks,
    "wear.static_spread_erases" => no_block_rests_while_others_wear_out,
}

/// Most and least erases of a block.
fn extremes(counters: &Counters) -> (usize, usize) {
    let erases = |&erases: &usize| counters.erase_histogram[erases] > 0;
    let all = 0..counters.erase_histogram.len();
    (all.clone().rfind(erases).unwrap(), all.clone().find(erases).unwrap())
}

/// A drive whose first part is overwritten at random, and by every tenth request anything;
/// eight blocks are kept free, among which to choose.
fn skewed(sets: &[&str]) -> Counters {
    let shape = [
        "nand.blocks_per_plane=64",
        "over_provisioning_ratio=0.4",
        "gc.stop_writes_blocks=8",
        "gc.min_free_blocks=9",
    ];
    let mut rig = Rig::page(&[&shape[..], sets].concat());
    rig.run(r#"{"rw": "write"}"#);
    for seed in 0..60 {
        let hot = r#"{"rw": "randwrite", "size_bytes": 409600, "requests": 900, "seed": SEED}"#;
        rig.run(&hot.replace("SEED", &seed.to_string()));
        rig.run(&format!(r#"{{"rw": "randwrite", "requests": 100, "seed": {seed}}}"#));
    }
    rig.rest()
}

fn cold_data_go_to_worn_blocks() {
    let [off, on] = ["wear.dynamic=false", "wear.dynamic=true"].map(|set| skewed(&[set]));
    let spreads = [wear_spread(&off), wear_spread(&on)];
    println!("spread: first in first out {:.1}, dynamic {:.1}", spreads[0], spreads[1]);
    assert!(spreads[1] < 0.5 * spreads[0]);
    // It only chooses among free blocks: nothing is moved for it.
    assert_eq!((off.wear_pages_moved, on.wear_pages_moved), (0, 0));
}

/// A drive that is filled once, then overwritten in its first eighth only.
fn hot_and_frozen(sets: &[&str]) -> Counters {
    let mut rig = Rig::page(&[&["nand.blocks_per_plane=32"], sets].concat());
    rig.run(r#"{"rw": "write"}"#);
    rig.run(r#"{"rw": "randwrite", "size_bytes": 65536, "requests": 20000}"#);
    rig.rest()
}

fn no_block_rests_while_others_wear_out() {
    let off = hot_and_frozen(&["wear.static_spread_erases=0"]);
    let (most, least) = extremes(&off);
    println!("off: {most} and {least} erases, {} in all", off.block_erases);
    assert!(least == 0 && most > 100, "frozen data keep their blocks");
    assert_eq!(off.wear_pages_moved, 0);
    let mut moved = u64::MAX;
    for spread in [4, 10, 30] {
        let on = hot_and_frozen(&[&format!("wear.static_spread_erases={spread}")]);
        let (most, least) = extremes(&on);
        println!("{spread}: {most} and {least} erases, {} moved", on.wear_pages_moved);
        // A block may be erased again while the one to be moved is on its way.
        assert!((spread..=spread + 2).contains(&(most - least)), "{spread}");
        assert!(on.wear_pages_moved > 0 && on.wear_pages_moved < moved, "{spread}");
        moved = on.wear_pages_moved;
        assert!(wear_spread(&on) < wear_spread(&off) / 3.0);
        // Blocks moved for wear are erased, and are no collections of the policy's.
        assert!(on.block_erases > on.gc_runs);
    }
}
