//! A chip that data sheets describe to the nanosecond, alone and in numbers: the K9XXG08UXM of
//! 2 KB pages, 64 of them in a block, 25 ns a byte.

use crate::rig::{Ask, NO_LINK, Rig};
use ssdscope_io::{Cause, Op};
use ssdscope_sim::State;

/// A drive of one such chip, a plane of 64 of its blocks, half of them exported.
pub const CHIP_DRIVE: &str = r#"
description = "one K9XXG08UXM"
default_state = "fresh"
over_provisioning_ratio = 1.0
[nand]
channels = 1
blocks_per_plane = 64
pages_per_block = 64
page_bytes = 2048
spare_bytes = 64
read_ns = 20_000
program_ns = 200_000
erase_ns = 1_500_000
[channel]
ns_per_byte = 25
[ftl]
kind = "page"
[gc]
min_free_blocks = 2
stop_writes_blocks = 1
"#;

pub const PAGE: u64 = 2048;
pub const READ_ARRAY: u64 = 20_000;
pub const PROGRAM_ARRAY: u64 = 200_000;
pub const ERASE: u64 = 1_500_000;
/// 2048 + 64 bytes.
pub const TRANSFER: u64 = 52_800;
pub const READ: u64 = READ_ARRAY + TRANSFER;
pub const PROGRAM: u64 = TRANSFER + PROGRAM_ARRAY;

/// Chips without a link, so that what is asked at once arrives at once.
pub fn chips(sets: &[&str], state: State) -> Rig {
    Rig::open(CHIP_DRIVE, &[&NO_LINK[..], sets].concat(), Some(state))
}

/// `count` pages from the first one on.
pub const fn pages(op: Op, count: u64) -> Ask {
    (op, 0, count * PAGE)
}

#[test]
fn a_chip_takes_what_its_data_sheet_says() {
    let mut rig = chips(&[], State::Fresh);
    let written = rig.one(pages(Op::Write, 1)).attribution;
    assert_eq!((written[Cause::Transfer], written[Cause::Nand]), (52_800, 200_000));
    assert_eq!(written.total().0, 252_800);
    let found = rig.one(pages(Op::Read, 1)).attribution;
    assert_eq!((found[Cause::Nand], found[Cause::Transfer]), (20_000, 52_800));
    assert_eq!(found.total().0, 72_800);
    // A sector takes its share of the spare bytes along.
    assert_eq!(rig.latency_ns((Op::Read, 512, 512)), 20_000 + 13_200);
    // An erase: of a block with nothing valid in it, by itself.
    let sets = ["gc.background=true", "gc.idle_ns=1000", "gc.high_water_ratio=0.5"];
    let mut rig = chips(&sets, State::Sequential);
    rig.one((Op::Discard, 0, rig.capacity()));
    let rested = rig.rest();
    assert_eq!((rested.block_erases, rested.gc_pages_moved), (1, 0));
    assert_eq!(rested.die_busy_ns, [1_500_000]);
}

/// Pages in each measurement, a multiple of all the numbers of chips.
const PAGES: u64 = 256;
const NUMBERS: [u64; 5] = [1, 2, 4, 8, 16];

/// How long that many pages take that are asked for at once.
fn all_ns(op: Op, sets: &[&str]) -> u64 {
    let state = if op == Op::Read { State::Sequential } else { State::Fresh };
    // Two requests: all bytes in one would take half a nanosecond of the link.
    let half = PAGES / 2 * PAGE;
    chips(sets, state).span_ns(&[(op, 0, half), (op, half, half)])
}

#[test]
fn channels_share_out_the_pages() {
    for n in NUMBERS {
        let set = format!("nand.channels={n}");
        assert_eq!(all_ns(Op::Read, &[&set]), PAGES / n * READ, "{set}");
        assert_eq!(all_ns(Op::Write, &[&set]), PAGES / n * PROGRAM, "{set}");
    }
}

#[test]
fn chips_of_a_channel_share_it() {
    for n in NUMBERS {
        let ways = format!("nand.ways={n}");
        // A chip reads again while the others send, until they take longer than it does.
        let array_bound = (n - 1) * TRANSFER + PAGES / n * READ;
        let bus_bound = PAGES * TRANSFER + READ_ARRAY;
        let reads = if n * TRANSFER < READ { array_bound } else { bus_bound };
        assert_eq!(all_ns(Op::Read, &[&ways]), reads, "{ways}");
        // If what is ready goes before new commands, the chips read in step, and send in turn.
        let in_step = [&ways[..], "scheduler.data_first=true"];
        let reads = PAGES / n * (READ_ARRAY + n * TRANSFER);
        assert_eq!(all_ns(Op::Read, &in_step), reads, "{in_step:?}");
        // With a cache register the channel never rests: one chip is enough to fill it.
        let cached = [&ways[..], "scheduler.cached_read=true"];
        assert_eq!(all_ns(Op::Read, &cached), READ_ARRAY + PAGES * TRANSFER, "{cached:?}");
        // Programs begin one transfer after the other, until the transfers of all the others
        // take longer than the program of one.
        let array_bound = (n - 1) * TRANSFER + PAGES / n * PROGRAM;
        let bus_bound = PAGES * TRANSFER + PROGRAM_ARRAY;
        let expected = if n * TRANSFER < PROGRAM { array_bound } else { bus_bound };
        assert_eq!(all_ns(Op::Write, &[&ways]), expected, "{ways}");
        assert_eq!(n <= 4, n * TRANSFER < PROGRAM, "four chips leave the channel time");
        // Several channels of several chips each are so many of these.
        let both = [&in_step[..], &["nand.channels=4"]].concat();
        let reads = PAGES / 4 / n * (READ_ARRAY + n * TRANSFER);
        assert_eq!(all_ns(Op::Read, &both), reads, "{both:?}");
    }
}

#[test]
fn all_orders_of_planes_take_the_time_of_what_works_side_by_side() {
    const COMMAND: u64 = 300;
    const EXTRA: u64 = 700;
    // Two of each; the dies of a chip do not overlap, so that they differ from its planes.
    let hardware = ["nand.channels=2", "nand.ways=2", "nand.dies=2", "nand.planes=2"];
    let cycles = ["channel.read_command_ns=300", "channel.read_command_extra_plane_ns=700"];
    let expected_ns = |letters: &str| {
        let two = |letter: char| if letters.contains(letter) { 2 } else { 1 };
        let (ways, dies, planes) = (two('W'), two('D'), two('P'));
        // Two chips fill their channel, as data take longer than the array; channels do all of
        // it together.
        let (command, data) = (COMMAND + (planes - 1) * EXTRA, planes * TRANSFER);
        let commands = 1 + (dies - 1) * ways;
        let arrays = if ways == 1 { dies } else { 1 };
        commands * command + arrays * READ_ARRAY + ways * dies * data
    };
    let mut seen = std::collections::BTreeSet::new();
    for order in orders() {
        let order_set = format!("ftl.plane_order={order}");
        let sets = [&hardware[..], &cycles, &["scheduler.die_interleave=false", &order_set]];
        let mut rig = chips(&sets.concat(), State::Sequential);
        let mut found = Vec::new();
        for letters in 1..=3 {
            let latency_ns = rig.latency_ns(pages(Op::Read, 1 << letters));
            assert_eq!(latency_ns, expected_ns(&order[..letters]), "{order}, {letters} letters");
            found.push(latency_ns);
        }
        assert!(seen.insert(found), "{order} is as another one");
    }
    assert_eq!(seen.len(), 24);
}

/// The letters C, W, D, P in every order.
fn orders() -> Vec<String> {
    let mut orders = vec![String::new()];
    for _ in 0..4 {
        orders = orders
            .iter()
            .flat_map(|order| {
                let left = "CWDP".chars().filter(|&letter| !order.contains(letter));
                left.map(|letter| format!("{order}{letter}")).collect::<Vec<_>>()
            })
            .collect();
    }
    orders
}
