//! The keys that the firmware of `DiskSim`'s SSD extension reads.
//!
//! One element with one plane of 32 blocks of 8 pages, the last of each a summary; 8
//! blocks in reserve, one of them open. A page takes 105,600 ns over the pins (528
//! bytes a sector at 25 ns) and 4,096 ns on the bus.

use crate::rig::{MSR_DRIVE, PAGE, Rig, config, read, wear_spread, write};
use ssdscope_io::{Cause, DeviceError, Nanos, Op};

const PINS: u64 = 105_600;
const BUS: u64 = 4_096;
const READ: u64 = 25_000 + PINS;
const WRITE: u64 = 200_000 + PINS;
const SUMMARY: u64 = 200_000 + PINS / 8;

knobs! {
    "description" => description_is_reported,
    "default_state" => default_state_is_what_open_prepares,
    "nand.channels" => channels_are_elements,
    "nand.ways" => ways_are_elements,
    "nand.dies" => dies_are_elements,
    "nand.planes" => planes_are_capacity_and_open_blocks,
    "nand.blocks_per_plane" => blocks_are_capacity,
    "nand.pages_per_block" => the_last_page_of_a_block_is_its_summary,
    "nand.page_bytes" => a_page_is_the_unit,
    "nand.read_ns" => a_read_takes_read_ns,
    "nand.program_ns" => a_program_takes_program_ns,
    "nand.erase_ns" => an_erase_takes_erase_ns,
    "nand.endurance_erases" => a_block_is_erased_so_often,
    "channel.ns_per_byte" => pins_take_so_long_for_a_byte,
    "host.bytes_per_second" => the_bus_carries_so_many_bytes,
    "ftl.kind" => the_kind_is_this_firmware,
    "gc.policy" => wear_aware_evens_out,
    "gc.low_water_ratio" => cleaning_starts_at_the_mark,
    "gc.background" => background_cleaning_waits_for_nobody,
    "msr.reserve_ratio" => the_reserve_is_not_exported,
    "msr.parallel_units" => units_of_an_element_work_side_by_side,
}

fn description_is_reported() {
    let config = config(MSR_DRIVE, &["description=An old drive"]);
    assert_eq!(config.description, "An old drive");
}

fn default_state_is_what_open_prepares() {
    // Fresh and sequential have the whole reserve; the others have written into it.
    for (state, used) in [("fresh", false), ("sequential", false), ("random", true)] {
        let mut rig = Rig::msr(&[&format!("default_state={state}")]);
        rig.write_pages(0..35);
        assert_eq!(rig.rest().gc_runs > 0, used, "{state}");
    }
    let config = config(MSR_DRIVE, &["default_state=steady:64k"]);
    assert_eq!(config.default_state.to_string(), "steady:65536");
}

/// Reads of eight pages with so many elements, which take them in turn.
fn check_elements(key: &str) {
    for elements in [1, 2, 4, 8] {
        let mut rig = Rig::msr(&[&format!("{key}={elements}")]);
        let expected = 8 / elements * READ + 8 * BUS;
        assert_eq!(rig.latency_ns((Op::Read, 0, 8 * PAGE)), expected, "{key} {elements}");
        assert_eq!(rig.capacity(), elements * 24 * 7 * PAGE, "{key} {elements}");
        assert_eq!(rig.counters().die_busy_ns.len() as u64, elements, "{key} {elements}");
    }
}

fn channels_are_elements() {
    check_elements("nand.channels");
}

fn ways_are_elements() {
    check_elements("nand.ways");
}

fn dies_are_elements() {
    check_elements("nand.dies");
}

fn planes_are_capacity_and_open_blocks() {
    for planes in [1, 2, 4] {
        let mut rig = Rig::msr(&[&format!("nand.planes={planes}")]);
        assert_eq!(rig.capacity(), planes * 24 * 7 * PAGE);
        // Writes go round the planes, so that their seventh pages come together.
        for number in 1..=7 * planes {
            let summary = if number > 6 * planes { SUMMARY } else { 0 };
            let found = rig.latency_ns(write(number));
            assert_eq!(found, WRITE + BUS + summary, "{planes} planes: write {number}");
        }
    }
}

fn blocks_are_capacity() {
    for (blocks, exported) in [(32, 24), (33, 25), (100, 75)] {
        let rig = Rig::msr(&[&format!("nand.blocks_per_plane={blocks}")]);
        assert_eq!(rig.capacity(), exported * 7 * PAGE);
    }
}

fn the_last_page_of_a_block_is_its_summary() {
    for pages in [8, 16, 64] {
        let mut rig = Rig::msr(&[&format!("nand.pages_per_block={pages}")]);
        assert_eq!(rig.capacity(), 24 * (pages - 1) * PAGE);
        for number in 1..pages {
            let summary = if number == pages - 1 { SUMMARY } else { 0 };
            assert_eq!(rig.latency_ns(write(0)), WRITE + BUS + summary, "{pages}: {number}");
        }
    }
}

fn a_page_is_the_unit() {
    for page_bytes in [512, 2048, 8192] {
        let mut rig = Rig::msr(&[&format!("nand.page_bytes={page_bytes}")]);
        assert_eq!(rig.device.info().logical_block_bytes, page_bytes);
        assert_eq!(rig.capacity(), 24 * 7 * page_bytes);
        let sectors = page_bytes / 512;
        let expected = 25_000 + sectors * 528 * 25 + page_bytes;
        assert_eq!(rig.latency_ns((Op::Read, 0, page_bytes)), expected);
    }
}

fn a_read_takes_read_ns() {
    let mut rig = Rig::msr(&["nand.read_ns=25001"]);
    assert_eq!(rig.latency_ns(read(0)), READ + 1 + BUS);
    assert_eq!(rig.latency_ns(write(0)), WRITE + BUS);
}

fn a_program_takes_program_ns() {
    let mut rig = Rig::msr(&["nand.program_ns=300003"]);
    let done = rig.one(write(0));
    assert_eq!(done.latency().0, 300_003 + PINS + BUS);
    assert_eq!(done.attribution[Cause::Nand], 300_003);
}

fn an_erase_takes_erase_ns() {
    let cleaned = |set| {
        let mut rig = Rig::msr(&[set]);
        let writes = (0..300).map(|number| rig.one(write(number % 168))).collect::<Vec<_>>();
        let gc_ns: u64 = writes.iter().map(|done| done.attribution[Cause::Gc]).sum();
        let all_ns: u64 = writes.iter().map(|done| done.latency().0).sum();
        (rig.counters().block_erases, gc_ns, all_ns)
    };
    let (erases, gc_ns, all_ns) = cleaned("nand.erase_ns=1500000");
    assert!(erases > 10);
    assert_eq!(gc_ns, erases * 1_500_000, "overwritten in order, a block holds nothing valid");
    let longer = (erases, erases * 2_000_002, all_ns + erases * 500_002);
    assert_eq!(cleaned("nand.erase_ns=2000002"), longer);
}

fn a_block_is_erased_so_often() {
    for endurance in [2, 5] {
        let mut rig = Rig::msr(&[&format!("nand.endurance_erases={endurance}")]);
        let mut done = Vec::new();
        let stuck = (0..10_000).find_map(|number| {
            rig.submit(write(number % 168));
            rig.device.advance(Nanos::MAX, &mut done).err()
        });
        assert!(matches!(stuck, Some(DeviceError::Stuck(_))), "{stuck:?}");
        let histogram = rig.counters().erase_histogram;
        assert_eq!(histogram.len() - 1, endurance, "{histogram:?}");
    }
}

fn pins_take_so_long_for_a_byte() {
    for (ns_per_byte, pins) in [("25", PINS), ("2.5", PINS / 10), ("0.1", 422)] {
        let mut rig = Rig::msr(&[&format!("channel.ns_per_byte={ns_per_byte}")]);
        assert_eq!(rig.latency_ns(read(0)), 25_000 + pins + BUS);
        assert_eq!(rig.latency_ns(write(0)), 200_000 + pins + BUS);
    }
}

fn the_bus_carries_so_many_bytes() {
    for (rate, page_ns) in [("1e9", 4096), ("2147651006.7114096", 1907), ("1e8", 40_960)] {
        let mut rig = Rig::msr(&[&format!("host.bytes_per_second={rate}")]);
        assert_eq!(rig.one(read(0)).attribution[Cause::Link], page_ns);
        assert_eq!(rig.latency_ns(write(0)), WRITE + page_ns);
    }
}

fn the_kind_is_this_firmware() {
    let rig = Rig::msr(&[]);
    assert_eq!(rig.capacity(), 24 * 7 * PAGE, "summaries and reserve are left out");
}

fn wear_aware_evens_out() {
    let skewed = |policy| {
        let mut rig = Rig::msr(&[policy, "nand.endurance_erases=400"]);
        rig.run(r#"{"rw": "randwrite", "size_bytes": 65536, "requests": 10000}"#);
        rig.rest()
    };
    let (greedy, aware) = (skewed("gc.policy=greedy"), skewed("gc.policy=wear-aware"));
    println!("spread: greedy {:.1}, wear-aware {:.1}", wear_spread(&greedy), wear_spread(&aware));
    assert!(wear_spread(&aware) < wear_spread(&greedy) / 1.5);
    assert!(greedy.wear_pages_moved == 0 && aware.wear_pages_moved > 0);
}

/// Writes until a block is cleaned in the background: of `reserve` blocks one is open, and
/// opening the one that leaves `low` free brings the plane to the mark.
fn check_first_cleaning(sets: &[&str], reserve: u64, low: u64) {
    let writes = (reserve - 1 - low) * 7;
    let sets = [sets, &["gc.background=true"]].concat();
    let mut rig = Rig::msr(&sets);
    rig.write_pages(0..writes);
    assert_eq!(rig.rest().gc_runs, 0, "{sets:?}");
    rig.write_pages(writes..=writes);
    assert_eq!(rig.rest().gc_runs, 1, "{sets:?}");
}

fn cleaning_starts_at_the_mark() {
    for (ratio, low) in [(0.05, 1), (0.1, 3), (0.15, 4), (0.1875, 6)] {
        check_first_cleaning(&[&format!("gc.low_water_ratio={ratio}")], 8, low);
    }
}

fn background_cleaning_waits_for_nobody() {
    for (background, runs) in [(true, 1), (false, 0)] {
        let mut rig = Rig::msr(&[&format!("gc.background={background}")]);
        rig.write_pages(0..43);
        assert_eq!(rig.rest().gc_runs, runs);
        // The next write finds it done, or waits.
        let waited = rig.one(write(43)).attribution[Cause::Gc];
        assert_eq!(waited, if background { 0 } else { 1_500_000 });
    }
}

fn the_reserve_is_not_exported() {
    for (ratio, reserve) in [(0.1, 3), (0.25, 8), (0.5, 16)] {
        let set = format!("msr.reserve_ratio={ratio}");
        assert_eq!(Rig::msr(&[&set]).capacity(), (32 - reserve) * 7 * PAGE);
        check_first_cleaning(&[&set], reserve, 1);
    }
}

fn units_of_an_element_work_side_by_side() {
    // Four pages go to the four planes, the first before the others are there. What waits
    // is served in rounds of a page per unit, whose programs overlap and transfers do not.
    let round = |units| 200_000 + units * PINS;
    for (units, expected) in
        [(1, 4 * WRITE), (2, WRITE + round(2) + round(1)), (4, WRITE + round(3))]
    {
        let mut rig = Rig::msr(&["nand.planes=4", &format!("msr.parallel_units={units}")]);
        let found = rig.latency_ns((Op::Write, 0, 4 * PAGE));
        assert_eq!(found, expected + 4 * BUS, "{units} units");
    }
}
