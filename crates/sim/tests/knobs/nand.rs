//! The array's shape and times.

use crate::rig::{
    COMMAND, ERASE, LINK, PAGE, PROGRAM_ARRAY, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER,
    WRITE, read, wear_spread, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "nand.channels" => channels_work_side_by_side,
    "nand.ways" => ways_share_their_channel,
    "nand.dies" => dies_share_their_channel,
    "nand.planes" => planes_share_a_command,
    "nand.blocks_per_plane" => blocks_are_capacity,
    "nand.pages_per_block" => pages_per_block_is_what_an_erase_frees,
    "nand.page_bytes" => a_page_is_what_is_read_and_programmed,
    "nand.spare_bytes" => spare_bytes_cross_the_channel_in_proportion,
    "nand.read_ns" => a_read_takes_read_ns,
    "nand.program_ns" => a_program_takes_program_ns,
    "nand.erase_ns" => an_erase_takes_erase_ns,
    "nand.endurance_erases" => endurance_decides_when_wear_is_evened_out,
}

/// Eight pages read at once, and the raw pages of the drive.
fn eight_reads(sets: &[&str]) -> (u64, u64) {
    let mut rig = Rig::filled(sets);
    (rig.latency_ns((Op::Read, 0, 8 * PAGE)), rig.capacity() / PAGE * 2)
}

fn channels_work_side_by_side() {
    for channels in [1, 2, 4, 8] {
        let (latency, pages) = eight_reads(&[&format!("nand.channels={channels}")]);
        assert_eq!(latency, 8 / channels * READ, "{channels} channels");
        assert_eq!(pages, channels * 128);
    }
}

/// Eight reads on the dies of a channel, each of which reads again as soon as its data are out:
/// those of the last wait, the first time, for those of the others and their next commands.
pub const fn overlapped(dies: u64) -> u64 {
    let next_command = if dies < 8 { READ_COMMAND } else { 0 };
    8 / dies * READ + (dies - 1) * (TRANSFER + next_command)
}

/// Eight reads on so many dies, or planes, that read at the same time and then send in turn.
pub const fn in_step(dies: u64) -> u64 {
    8 / dies * (READ_COMMAND + READ_ARRAY + dies * TRANSFER)
}

fn ways_share_their_channel() {
    for ways in [1, 2, 4, 8] {
        let (latency, pages) = eight_reads(&[&format!("nand.ways={ways}")]);
        assert_eq!((latency, pages), (overlapped(ways), ways * 128), "{ways} ways");
    }
}

fn dies_share_their_channel() {
    for dies in [1, 2, 4, 8] {
        let (latency, pages) = eight_reads(&[&format!("nand.dies={dies}")]);
        assert_eq!((latency, pages), (overlapped(dies), dies * 128), "{dies} dies");
    }
}

fn planes_share_a_command() {
    for planes in [1, 2, 4, 8] {
        let (latency, pages) = eight_reads(&[&format!("nand.planes={planes}")]);
        assert_eq!((latency, pages), (in_step(planes), planes * 128), "{planes} planes");
    }
}

fn blocks_are_capacity() {
    for blocks in [16, 17, 40, 1000] {
        let mut rig = Rig::page(&[&format!("nand.blocks_per_plane={blocks}")]);
        assert_eq!(rig.capacity(), blocks * 8 / 2 * PAGE);
        assert_eq!(rig.counters().erase_histogram, [blocks]);
    }
}

fn pages_per_block_is_what_an_erase_frees() {
    for (pages, total) in [(8, 10), (16, 5), (80, 1)] {
        let sets = [&format!("nand.pages_per_block={pages}"), "gc.min_free_blocks=6"];
        let mut rig = Rig::page(&sets);
        assert_eq!(rig.capacity(), 16 * pages / 2 * PAGE);
        // The first pass and two more blocks leave six free; then each block needs another.
        let capacity = 8 * pages;
        rig.write_pages((0..10 * pages).map(|number| number % capacity));
        let before = rig.rest().block_erases;
        rig.write_pages((10 * pages..10 * pages + 80).map(|number| number % capacity));
        let counters = rig.rest();
        assert_eq!(counters.block_erases - before, total, "{pages} pages");
        assert_eq!(counters.gc_pages_moved, 0);
    }
}

fn a_page_is_what_is_read_and_programmed() {
    for page_bytes in [512, 2048, 4096, 6144, 16_384] {
        let mut rig = Rig::page(&[&format!("nand.page_bytes={page_bytes}")]);
        assert_eq!(rig.capacity(), 64 * page_bytes);
        let (transfer, link) = (page_bytes * 5 / 2, page_bytes);
        let written = rig.latency_ns((Op::Write, 0, page_bytes));
        assert_eq!(written, COMMAND + link + WRITE - TRANSFER + transfer, "{page_bytes}");
        let found = rig.latency_ns((Op::Read, 0, page_bytes));
        assert_eq!(found, COMMAND + READ - TRANSFER + transfer + link, "{page_bytes}");
        let before = rig.counters().flash_bytes_programmed;
        assert_eq!(before, page_bytes);
        rig.one((Op::Write, 0, 4 * page_bytes));
        assert_eq!(rig.counters().flash_bytes_programmed - before, 4 * page_bytes);
    }
}

fn spare_bytes_cross_the_channel_in_proportion() {
    let mut rig = Rig::filled(&["nand.spare_bytes=128"]);
    assert_eq!(rig.latency_ns(read(0)), READ + 320);
    assert_eq!(rig.latency_ns(write(0)), WRITE + 320);
    assert_eq!(rig.latency_ns((Op::Read, 0, 2048)), READ - TRANSFER / 2 + 160);
}

fn a_read_takes_read_ns() {
    let mut rig = Rig::filled(&["nand.read_ns=50001"]);
    let done = rig.one(read(0));
    assert_eq!((done.latency().0, done.attribution[Cause::Nand]), (READ + 1, 50_001));
    assert_eq!(rig.latency_ns(write(0)), WRITE);
}

fn a_program_takes_program_ns() {
    let mut rig = Rig::filled(&["nand.program_ns=700007"]);
    let done = rig.one(write(0));
    let expected = (WRITE - PROGRAM_ARRAY + 700_007, 700_007);
    assert_eq!((done.latency().0, done.attribution[Cause::Nand]), expected);
    assert_eq!(rig.latency_ns(read(0)), READ);
}

fn an_erase_takes_erase_ns() {
    for (set, erase) in [("nand.erase_ns=3000000", ERASE), ("nand.erase_ns=9000009", 9_000_209)] {
        let mut rig = Rig::page(&[set]);
        // The last of these writes fills a block; two are free then, and one is erased
        // as soon as the page is programmed.
        rig.write_pages((0..112).map(|number| number % 64));
        let behind = rig.one(read(0));
        assert_eq!(behind.latency().0, erase + READ + LINK);
        assert_eq!(behind.attribution[Cause::Gc], erase - COMMAND);
        assert_eq!(rig.counters().block_erases, 1);
        assert_eq!(rig.latency_ns(read(0)), COMMAND + READ + LINK);
    }
}

fn endurance_decides_when_wear_is_evened_out() {
    let skewed = |sets: &[&str]| {
        let mut rig = Rig::page(&[&["nand.blocks_per_plane=32"], sets].concat());
        rig.run(r#"{"rw": "write"}"#);
        rig.run(r#"{"rw": "randwrite", "size_bytes": 65536, "requests": 20000}"#);
        rig.rest()
    };
    let greedy = skewed(&[]);
    let endless = skewed(&["gc.policy=wear-aware", "nand.endurance_erases=1000000000"]);
    assert_eq!(endless, greedy, "far from its end a drive has no wear to even out");
    let mut before = wear_spread(&greedy);
    for endurance in ["1000", "500", "250"] {
        let set = format!("nand.endurance_erases={endurance}");
        let counters = skewed(&["gc.policy=wear-aware", &set]);
        let spread = wear_spread(&counters);
        println!("endurance {endurance}: spread {spread:.1}, moved {}", counters.wear_pages_moved);
        assert!(spread < before, "{endurance}: {spread} is not below {before}");
        before = spread;
    }
}
