//! What other simulators claim and do not do, each switched off and on, measured: the table of
//! `docs/simulator.md`, whose numbers are held against those found here.

use crate::chip::{ERASE, PAGE, PROGRAM, PROGRAM_ARRAY, READ, READ_ARRAY, TRANSFER, chips, pages};
use crate::rig::Rig;
use ssdscope_io::Op;
use ssdscope_sim::State;

/// Checks that off and on take what the closed forms say, and that the table says so too.
fn check(claim: &str, measured_ns: [u64; 2], expected_ns: [u64; 2]) {
    assert_eq!(measured_ns, expected_ns, "{claim}");
    check_row(claim, measured_ns.map(|ns| format!("{:.1}", ns as f64 / 1000.0)));
}

/// Checks that the table says what was measured off and on.
fn check_row(claim: &str, [off, on]: [String; 2]) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulator.md");
    let table = std::fs::read_to_string(path).unwrap();
    let ends = format!("| {off} | {on} |");
    println!("| {claim} ... {ends}");
    let row = table.lines().find(|line| line.starts_with(&format!("| {claim} ")));
    let row = row.unwrap_or_else(|| panic!("the table has no row {claim:?}"));
    assert!(row.ends_with(&ends), "{row} should end with {ends}");
}

/// How long something takes with a key off and on.
fn off_and_on(key: &str, sets: &[&str], state: State, ask: impl Fn(&mut Rig) -> u64) -> [u64; 2] {
    ["false", "true"].map(|flag| {
        let set = format!("{key}={flag}");
        ask(&mut chips(&[sets, &[&set]].concat(), state))
    })
}

#[test]
fn dies_of_a_chip_overlap() {
    let measured = off_and_on("scheduler.die_interleave", &["nand.dies=2"], State::Fresh, |rig| {
        rig.latency_ns(pages(Op::Write, 64))
    });
    check("die overlap", measured, [64 * PROGRAM, TRANSFER + 32 * PROGRAM]);
}

#[test]
fn planes_of_a_die_program_and_erase_together() {
    let four = ["nand.planes=4"];
    let measured = off_and_on("scheduler.multi_plane", &four, State::Fresh, |rig| {
        rig.latency_ns(pages(Op::Write, 64))
    });
    let together = 16 * (4 * TRANSFER + PROGRAM_ARRAY);
    check("multi-plane program", measured, [64 * PROGRAM, together]);
    let quiet = ["gc.background=true", "gc.idle_ns=1000", "gc.high_water_ratio=0.5"];
    let sets = [&four[..], &quiet].concat();
    let measured = off_and_on("scheduler.multi_plane_erase", &sets, State::Sequential, |rig| {
        rig.one((Op::Discard, 0, rig.capacity()));
        let rested = rig.rest();
        assert_eq!(rested.block_erases, 4);
        rested.die_busy_ns[0]
    });
    check("multi-plane erase", measured, [4 * ERASE, ERASE]);
}

#[test]
fn the_cache_register_overlaps_array_and_channel() {
    let measured = off_and_on("scheduler.cached_read", &[], State::Sequential, |rig| {
        rig.latency_ns(pages(Op::Read, 64))
    });
    check("cached read", measured, [64 * READ, READ_ARRAY + 64 * TRANSFER]);
    let measured = off_and_on("scheduler.cached_program", &[], State::Fresh, |rig| {
        rig.latency_ns(pages(Op::Write, 64))
    });
    check("cached program", measured, [64 * PROGRAM, TRANSFER + 64 * PROGRAM_ARRAY]);
}

/// A read that arrives a microsecond after the array has begun with a program, or an erase.
fn interrupting(mode: &str, erase: bool) -> u64 {
    let mode = format!("scheduler.suspend={mode}");
    let quiet = ["gc.background=true", "gc.idle_ns=1000", "gc.high_water_ratio=0.5"];
    let sets = [&quiet[..], &["scheduler.suspend_ns=5000", "scheduler.resume_ns=5000", &mode]];
    let mut rig = chips(&sets.concat(), State::Sequential);
    if erase {
        rig.one((Op::Discard, 0, rig.capacity() / 2));
        rig.idle(1000 + 1000);
    } else {
        rig.then(pages(Op::Write, 1), TRANSFER + 1000);
    }
    rig.submit((Op::Read, rig.capacity() - PAGE, PAGE));
    rig.drain().last().unwrap().latency().0
}

#[test]
fn a_read_suspends_a_program_or_an_erase() {
    let measured = ["none", "program-and-erase"].map(|mode| interrupting(mode, false));
    check("program suspend", measured, [PROGRAM_ARRAY - 1000 + READ, 5000 + READ]);
    let measured = ["none", "erase"].map(|mode| interrupting(mode, true));
    check("erase suspend", measured, [ERASE - 1000 + READ, 5000 + READ]);
}

#[test]
fn pages_move_without_the_channel() {
    // What the channel carries for a page moved, in overwrites of a full drive.
    let measured = off_and_on("gc.copyback", &[], State::Sequential, |rig| {
        rig.run(r#"{"rw": "randwrite", "block_bytes": 2048, "requests": 4000}"#);
        let counters = rig.rest();
        assert!(counters.gc_pages_moved > 500);
        (counters.channel_busy_ns[0] - 4000 * TRANSFER) / counters.gc_pages_moved
    });
    check("copyback", measured, [2 * TRANSFER, 0]);
}

#[test]
fn pages_of_a_cell_differ() {
    // The three pages of a cell one after the other.
    let measured = ["[]", "[20000, 35000, 65000]"].map(|types| {
        let set = format!("nand.read_by_type_ns={types}");
        let mut rig = chips(&[&set], State::Sequential);
        (0..3).map(|page| rig.latency_ns((Op::Read, page * PAGE, PAGE))).sum()
    });
    check("times by page type", measured, [3 * READ, 3 * TRANSFER + 20_000 + 35_000 + 65_000]);
}

#[test]
fn a_hybrid_map_merges() {
    // A page of each of eight blocks overwritten, and three log blocks to do it in.
    let overwritten = |mut rig: Rig| {
        rig.write_pages((0..8).map(|block| 8 * block + 5));
        rig.rest().merges
    };
    let merges = [Rig::filled(&[]), Rig::logged(&[])].map(overwritten);
    assert!(merges.iter().all(|merges| merges.switch + merges.partial == 0));
    assert_eq!(merges.map(|merges| merges.full), [0, 8 - 3]);
    check_row("hybrid map", merges.map(|merges| merges.full.to_string()));
}

#[test]
fn wear_is_levelled() {
    // Three quarters of the data rest, the others are overwritten all the time.
    let unevenness = |spread: u64| {
        let sets = [format!("wear.static_spread_erases={spread}")];
        let mut rig = chips(&[&sets[0]], State::Sequential);
        let hot = rig.capacity() / 4;
        rig.run(&format!(
            r#"{{"rw": "randwrite", "block_bytes": 2048, "size_bytes": {hot}, "requests": 40000}}"#
        ));
        let erases = rig.rest().erase_histogram;
        erases.len() - 1 - erases.iter().position(|&blocks| blocks > 0).unwrap()
    };
    let measured = [0, 4].map(unevenness);
    assert!(measured[0] > 10 && (4..=6).contains(&measured[1]), "{measured:?}");
    check_row("wear levelling", measured.map(|erases| erases.to_string()));
}

/// Reads and writes mixed, 256 at once, from a state on: served, and blocks collected.
fn mixed(state: State) -> [u64; 2] {
    let mut rig = chips(&["over_provisioning_ratio=0.25"], state);
    let mixed = r#"{"rw": "randrw", "block_bytes": 2048, "iodepth": 256, "requests": 20000,
        "size_bytes": 1048576}"#;
    let workload = if state == State::Fresh {
        // As many as a drive never written has room for.
        mixed.replace("20000", "3000")
    } else {
        mixed.to_owned()
    };
    let served = rig.run(&workload).requests;
    [served, rig.rest().gc_runs]
}

#[test]
fn collection_meets_mixed_traffic() {
    let [[served, none], [all, collected]] = [State::Fresh, State::Random].map(mixed);
    assert_eq!((served, none, all), (3000, 0, 20_000), "every request is served");
    assert!(collected > 100, "{collected}");
    check_row("collection under mixed load", [none, collected].map(|runs| runs.to_string()));
}

#[test]
fn a_drive_is_opened_in_its_settled_state() {
    // Write amplification of the first overwrites, and of those after them.
    let amplification = |state: State| {
        let mut rig = chips(&["over_provisioning_ratio=0.25"], state);
        let workload = r#"{"rw": "randwrite", "block_bytes": 2048, "requests": 20000}"#;
        let first = rig.run(workload).counters.unwrap().waf().unwrap();
        let more = rig.run(&workload.replace("20000", "20001")).counters.unwrap();
        (first, more.waf().unwrap())
    };
    let fresh = amplification(State::Fresh);
    let steady = amplification(State::Steady { window_bytes: None });
    assert!(fresh.1 > 1.2 * fresh.0, "a fresh drive is not settled: {fresh:?}");
    assert!((steady.0 / steady.1 - 1.0).abs() < 0.03, "a steady one is: {steady:?}");
    let measured =
        [fresh, steady].map(|(first, more)| format!("{:+.1} %", (more / first - 1.0) * 100.0));
    check_row("preconditioning", measured);
}
