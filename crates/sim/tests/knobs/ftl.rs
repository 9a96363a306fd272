//! Where pages go.

use crate::rig::{
    MSR_DRIVE, PAGE, PAGE_DRIVE, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER, config, read, write,
};
use ssdscope_io::Op;
use ssdscope_sim::State;
use ssdscope_sim::config::Firmware;

knobs! {
    "ftl.kind" => the_kind_is_another_firmware,
    "ftl.allocation" => allocation_is_by_address_or_by_order,
    "ftl.plane_order" => all_24_orders_reach_every_plane_in_their_order,
    "ftl.placement_pages" => so_many_pages_in_a_row_share_a_plane,
}

fn the_kind_is_another_firmware() {
    assert!(matches!(config(PAGE_DRIVE, &[]).firmware, Firmware::Page(_)));
    assert!(matches!(config(MSR_DRIVE, &[]).firmware, Firmware::Msr(_)));
    let opened = |text| Rig::open(text, &[], None).device.info();
    assert_eq!((opened(PAGE_DRIVE).discard, opened(PAGE_DRIVE).logical_block_bytes), (true, 512));
    assert_eq!((opened(MSR_DRIVE).discard, opened(MSR_DRIVE).logical_block_bytes), (false, 4096));
}

fn allocation_is_by_address_or_by_order() {
    // Every fourth page: one channel by address, all four by order of writing.
    for (allocation, rounds) in [("address", 4), ("order", 1)] {
        let set = format!("ftl.allocation={allocation}");
        let mut rig = Rig::open(
            PAGE_DRIVE,
            &[&crate::rig::NO_LINK[..], &["nand.channels=4", &set]].concat(),
            Some(State::Fresh),
        );
        let pages = [0, 4, 8, 12];
        rig.write_pages(pages);
        assert_eq!(rig.span_ns(&pages.map(read)), rounds * READ, "{allocation}");
        // Writing spreads alike.
        let programs = rig.together(&pages.map(write));
        let last = programs.iter().map(|done| done.latency().0).max().unwrap();
        assert_eq!(last, rounds * crate::rig::WRITE, "{allocation}");
    }
}

/// All orders of four letters.
fn orders() -> Vec<String> {
    let mut all = Vec::new();
    for a in "CWDP".chars() {
        for b in "CWDP".chars() {
            for c in "CWDP".chars() {
                for d in "CWDP".chars() {
                    let mut letters = [a, b, c, d];
                    letters.sort_unstable();
                    if letters == ['C', 'D', 'P', 'W'] {
                        all.push(String::from_iter([a, b, c, d]));
                    }
                }
            }
        }
    }
    all
}

/// How many of each there are: different numbers, so that strides cannot be mixed up.
const fn extent(letter: char) -> u64 {
    match letter {
        'C' => 2,
        'W' => 3,
        'D' => 4,
        _ => 5,
    }
}

/// When the last of three reads ends, two of the same page and one of a neighbour.
/// Channels share nothing; ways share the channel, where what is ready goes first; the
/// dies of a chip take turns here; planes share the second command.
const fn three_reads_ns(letter: char) -> u64 {
    match letter {
        'C' => 2 * READ,
        'W' => 2 * READ + TRANSFER,
        'D' => 3 * READ,
        _ => READ + READ_COMMAND + 700 + READ_ARRAY + 2 * TRANSFER,
    }
}

fn all_24_orders_reach_every_plane_in_their_order() {
    let orders = orders();
    assert_eq!(orders.len(), 24);
    for order in orders {
        let set = format!("ftl.plane_order={order}");
        let shape = ["nand.channels=2", "nand.ways=3", "nand.dies=4", "nand.planes=5", &set];
        let switches = [
            "scheduler.die_interleave=false",
            "scheduler.data_first=true",
            "channel.read_command_extra_plane_ns=700",
        ];
        let mut rig = Rig::filled(&[&shape[..], &switches].concat());
        let mut stride = 1;
        for letter in order.chars() {
            let found = rig.span_ns(&[read(0), read(0), read(stride)]);
            let expected = three_reads_ns(letter);
            assert_eq!(found, expected, "{order}: {letter} advances every {stride} pages");
            stride *= extent(letter);
        }
        let before = rig.counters();
        rig.one((Op::Read, 0, stride * PAGE));
        let counters = rig.counters().since(&before);
        assert_eq!(counters.multi_plane_commands, 2 * 3 * 4, "{order}: each die, all its planes");
        assert_eq!(counters.channel_busy_ns[0], counters.channel_busy_ns[1], "{order}");
        assert_eq!(counters.flash_bytes_read, stride * PAGE);
    }
}

fn so_many_pages_in_a_row_share_a_plane() {
    for allocation in ["address", "order"] {
        for in_a_row in [1, 2, 3, 8] {
            let sets = [
                "nand.channels=4",
                &format!("ftl.allocation={allocation}"),
                &format!("ftl.placement_pages={in_a_row}"),
            ];
            let mut rig = Rig::filled(&sets);
            let mut span = |page| rig.span_ns(&[read(0), read(page)]);
            for page in 1..4 * in_a_row {
                let same_plane = page < in_a_row;
                let rounds = if same_plane { 2 } else { 1 };
                assert_eq!(span(page), rounds * READ, "{allocation}, k {in_a_row}, page {page}");
            }
            assert_eq!(span(4 * in_a_row), 2 * READ, "{allocation}: round again");
        }
    }
}
