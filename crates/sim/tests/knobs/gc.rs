//! Which block is collected, and when collection starts and stops.

use crate::rig::{Rig, wear_spread, write};

knobs! {
    "gc.policy" => the_policy_chooses_the_victim,
    "gc.choices" => more_choices_come_closer_to_greedy,
    "gc.low_water_ratio" => collection_starts_below_the_low_water_mark,
    "gc.min_free_blocks" => the_low_water_mark_is_at_least_so_many_blocks,
    "gc.high_water_ratio" => collection_in_the_background_stops_at_the_high_water_mark,
    "gc.background" => only_with_background_is_idle_time_used,
    "gc.idle_ns" => collection_waits_until_the_host_has_been_quiet_so_long,
}

fn the_policy_chooses_the_victim() {
    // With nine blocks filled six are free; the tenth leaves one too few. The sixteen
    // overwrites that fill both leave blocks 1, 4 and 6 with so many invalid pages.
    for spread in [[3, 6, 7], [8, 4, 4], [5, 5, 6], [1, 7, 8]] {
        let mut rig = Rig::page(&["gc.min_free_blocks=6"]);
        rig.write_pages(0..64);
        for (block, overwritten) in [1, 4, 6].into_iter().zip(spread) {
            rig.write_pages(block * 8..block * 8 + overwritten);
        }
        let counters = rig.rest();
        let most = spread.into_iter().max().unwrap();
        assert_eq!((counters.gc_runs, counters.block_erases), (1, 1), "{spread:?}");
        assert_eq!(counters.gc_pages_moved, 8 - most, "{spread:?}");
    }
    // Wear-aware: blocks with data that never changes take part in the wear.
    let skewed = |policy| {
        let sets = [policy, "nand.endurance_erases=500", "nand.blocks_per_plane=32"];
        let mut rig = Rig::page(&sets);
        rig.run(r#"{"rw": "write"}"#);
        rig.run(r#"{"rw": "randwrite", "size_bytes": 65536, "requests": 20000}"#);
        rig.rest()
    };
    let (greedy, aware) = (skewed("gc.policy=greedy"), skewed("gc.policy=wear-aware"));
    println!("spread: greedy {:.1}, wear-aware {:.1}", wear_spread(&greedy), wear_spread(&aware));
    assert!(wear_spread(&aware) < wear_spread(&greedy) / 2.0);
    assert!(greedy.wear_pages_moved == 0 && aware.wear_pages_moved > 0);
    // Sequential overwrites let nothing be chosen: both do the same.
    let even = |policy| {
        let mut rig = Rig::page(&[policy]);
        rig.write_pages((0..1000).map(|number| number % 64));
        rig.rest()
    };
    assert_eq!(even("gc.policy=greedy"), even("gc.policy=wear-aware"));
}

/// Write amplification of uniform overwrites with a third of the space spare.
fn amplification(sets: &[&str]) -> f64 {
    let shape = ["nand.blocks_per_plane=256", "nand.pages_per_block=32"];
    let shape = [&shape[..], &["over_provisioning_ratio=0.5"], sets].concat();
    let mut rig = Rig::page(&shape);
    rig.run(r#"{"rw": "write"}"#);
    rig.run(r#"{"rw": "randwrite", "requests": 40000}"#);
    let before = rig.rest();
    rig.run(r#"{"rw": "randwrite", "requests": 40000, "seed": 2}"#);
    rig.rest().since(&before).waf().unwrap()
}

fn more_choices_come_closer_to_greedy() {
    // Theory for large blocks (PROBING.md 3.2): first in, first out costs what
    // a / (a + W(-a e^-a)) says, 1.735 for a = 1.5 less the few blocks kept free; a
    // block at random holds the average share of valid pages, 1 / 1.5, so costs 3,
    // somewhat less here because blocks that are still full are not drawn.
    let [greedy, fifo, random] =
        ["greedy", "fifo", "random"].map(|policy| amplification(&[&format!("gc.policy={policy}")]));
    println!("greedy {greedy:.3}, fifo {fifo:.3}, random {random:.3}");
    assert!(greedy < fifo && fifo < random);
    assert!((1.72..1.85).contains(&fifo), "{fifo}");
    assert!((2.7..3.0).contains(&random), "{random}");
    let draws = [1, 2, 4, 40]
        .map(|choices| amplification(&["gc.policy=d-choices", &format!("gc.choices={choices}")]));
    println!("1, 2, 4, 40 choices: {draws:.3?}");
    assert!(draws.is_sorted_by(|more, less| more > less), "{draws:?}");
    assert!((draws[0] / random - 1.0).abs() < 0.03, "one choice is a random one");
    assert!((draws[3] / greedy - 1.0).abs() < 0.02, "many choices are greedy");
    // Where a tenth of the space is hot, age tells cold blocks from those about to empty.
    let skewed = |policy: &str| {
        let mut rig = Rig::page(&[
            "nand.blocks_per_plane=256",
            "nand.pages_per_block=32",
            "over_provisioning_ratio=0.2",
            policy,
        ]);
        rig.run(r#"{"rw": "write"}"#);
        for seed in 0..60 {
            let hot = format!(
                r#"{{"rw": "randwrite", "size_bytes": 2560000, "block_bytes": 4096,
                    "requests": 900, "seed": {seed}}}"#
            );
            rig.run(&hot);
            rig.run(&format!(r#"{{"rw": "randwrite", "requests": 100, "seed": {seed}}}"#));
        }
        rig.rest().waf().unwrap()
    };
    let (greedy, benefit) = (skewed("gc.policy=greedy"), skewed("gc.policy=cost-benefit"));
    println!("hot and cold: greedy {greedy:.3}, cost-benefit {benefit:.3}");
    assert!(benefit < 0.95 * greedy);
}

/// Overwrites in order until the first block is collected; how many writes that took.
/// Of 16 blocks, `i` filled and one open leave `15 - i` free.
fn writes_until_collection(sets: &[&str]) -> u64 {
    let mut rig = Rig::page(sets);
    for number in 0.. {
        rig.one(write(number % 64));
        if rig.counters().gc_runs > 0 {
            assert_eq!(rig.counters().gc_runs, 1);
            return number + 1;
        }
    }
    0
}

fn collection_starts_below_the_low_water_mark() {
    for (ratio, blocks) in [(0.125, 2), (0.25, 4), (0.31, 4), (0.3125, 5), (0.375, 6)] {
        let found = writes_until_collection(&[&format!("gc.low_water_ratio={ratio}")]);
        assert_eq!(found, (16 - blocks) * 8, "{ratio}");
    }
}

fn the_low_water_mark_is_at_least_so_many_blocks() {
    for blocks in [2, 3, 5, 7] {
        let found = writes_until_collection(&[&format!("gc.min_free_blocks={blocks}")]);
        assert_eq!(found, (16 - blocks) * 8, "{blocks} blocks");
    }
    let both = ["gc.min_free_blocks=3", "gc.low_water_ratio=0.375"];
    assert_eq!(writes_until_collection(&both), (16 - 6) * 8, "the larger of the two");
}

/// The drive after 88 writes: eleven blocks filled, four free, three of them with
/// nothing valid left.
fn with_three_empty_blocks(sets: &[&str]) -> Rig {
    let mut rig = Rig::page(&[&["gc.idle_ns=1000000"], sets].concat());
    rig.write_pages((0..88).map(|number| number % 64));
    assert_eq!(rig.counters().gc_runs, 0);
    rig
}

fn collection_in_the_background_stops_at_the_high_water_mark() {
    for (ratio, blocks) in [(0.25, 4), (0.3125, 5), (0.375, 6), (0.4375, 7)] {
        let set = format!("gc.high_water_ratio={ratio}");
        let counters = with_three_empty_blocks(&["gc.background=true", &set]).rest();
        assert_eq!((counters.gc_runs, counters.block_erases), (blocks - 4, blocks - 4), "{ratio}");
        assert_eq!(counters.gc_pages_moved, 0, "{ratio}");
    }
}

fn only_with_background_is_idle_time_used() {
    for (background, erased) in [(false, 0), (true, 3)] {
        let set = format!("gc.background={background}");
        let mut rig = with_three_empty_blocks(&[&set, "gc.high_water_ratio=0.4375"]);
        assert_eq!(rig.rest().block_erases, erased, "{set}");
    }
}

fn collection_waits_until_the_host_has_been_quiet_so_long() {
    for idle_ns in [1_000_000, 25_000_000] {
        let set = format!("gc.idle_ns={idle_ns}");
        let sets = [&set, "gc.background=true", "gc.high_water_ratio=0.4375"];
        let mut rig = Rig::page(&sets);
        rig.write_pages((0..88).map(|number| number % 64));
        rig.idle(idle_ns - 1);
        assert_eq!(rig.counters().gc_runs, 0, "{idle_ns}");
        rig.one(write(24));
        rig.idle(idle_ns - 1);
        assert_eq!(rig.counters().gc_runs, 0, "{idle_ns}: a write starts it anew");
        rig.idle(1);
        assert_eq!(rig.counters().gc_runs, 1, "{idle_ns}");
    }
}
