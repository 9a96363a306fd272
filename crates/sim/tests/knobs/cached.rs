//! The cache register: array and channel overlap for one die.

use crate::rig::{
    NO_LINK, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER,
    WRITE, read, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "scheduler.cached_read" => the_next_page_is_read_while_data_go_out,
    "scheduler.cached_program" => data_come_in_while_the_array_programs,
}

/// Reads in a row of `planes` planes each, of which one takes `array` and its data `transfer`.
fn reads(n: u64, array: u64, transfer: u64) -> [u64; 2] {
    let plain = n * (READ_COMMAND + array + transfer);
    // The first page is read, then each step takes the longer of the two, then the last goes out.
    let step = READ_COMMAND + array.max(transfer);
    [plain, READ_COMMAND + array + (n - 1) * step + transfer]
}

fn the_next_page_is_read_while_data_go_out() {
    let ns_per_byte = [("2.5", TRANSFER), ("12", 49_152), ("25", 10 * TRANSFER)];
    for (flag, which) in [("false", 0), ("true", 1)] {
        for (rate, transfer) in ns_per_byte {
            let sets =
                [format!("scheduler.cached_read={flag}"), format!("channel.ns_per_byte={rate}")];
            for n in [1, 2, 3, 8, 40] {
                let mut rig = Rig::filled(&[&sets[0], &sets[1]]);
                let asks: Vec<_> = (0..n).map(read).collect();
                let expected = reads(n, READ_ARRAY, transfer)[which];
                assert_eq!(rig.span_ns(&asks), expected, "{sets:?}, {n} pages");
                // Two planes a command: twice the data for one time of the array.
                let mut rig = Rig::filled(&[&sets[0], &sets[1], "nand.planes=2"]);
                let expected = reads(n, READ_ARRAY, 2 * transfer)[which];
                assert_eq!(rig.latency_ns((Op::Read, 0, 2 * n * PAGE)), expected, "{sets:?}, {n}");
            }
        }
    }
    // The second of two has waited for the array, then its data for those of the first.
    let mut rig = Rig::filled(&["scheduler.cached_read=true", "channel.ns_per_byte=25"]);
    let second = rig.together(&[read(0), read(1)])[1].attribution;
    assert_eq!(second[Cause::DieWait], READ_COMMAND + READ_ARRAY);
    assert_eq!(second[Cause::ChannelWait], 10 * TRANSFER - READ_ARRAY);
    // A program is no read: it waits until the data are out.
    let mut rig = Rig::filled(&["scheduler.cached_read=true"]);
    assert_eq!(rig.span_ns(&[read(0), write(1)]), READ + WRITE);
}

fn data_come_in_while_the_array_programs() {
    let fresh = |sets: &[&str]| Rig::page(&[&NO_LINK[..], sets].concat());
    for (flag, cached) in [("false", false), ("true", true)] {
        for array in [PROGRAM_ARRAY, 10_640, 5_000] {
            for (planes, n) in [(1, 1), (1, 2), (1, 3), (1, 8), (1, 40), (2, 1), (2, 2), (2, 20)] {
                let sets = [
                    format!("scheduler.cached_program={flag}"),
                    format!("nand.program_ns={array}"),
                    format!("nand.planes={planes}"),
                ];
                let data = PROGRAM_COMMAND + planes * TRANSFER;
                let expected = if cached {
                    data + (n - 1) * data.max(array) + array
                } else {
                    n * (data + array)
                };
                let mut rig = fresh(&[&sets[0], &sets[1], &sets[2]]);
                let found = rig.latency_ns((Op::Write, 0, planes * n * PAGE));
                assert_eq!(found, expected, "{sets:?}, {n} pages");
            }
        }
    }
    // The second of two waits for its data's turn on the channel, then for the array.
    let mut rig = fresh(&["scheduler.cached_program=true"]);
    let second = rig.together(&[write(0), write(1)])[1].attribution;
    let data = PROGRAM_COMMAND + TRANSFER;
    assert_eq!(
        (second[Cause::DieWait], second[Cause::Transfer]),
        (data + PROGRAM_ARRAY - data, data)
    );
    // A read that waits is next in turn: no further data come in before it is served.
    let mut rig = Rig::filled(&["scheduler.cached_program=true"]);
    rig.submit(write(0));
    rig.then(write(1), 100_000);
    rig.then(read(9), 100_000).submit(write(2));
    let done = rig.drain();
    assert_eq!(done[2].latency().0, data + 2 * PROGRAM_ARRAY - 100_000 + READ);
    assert_eq!(done[3].latency().0, data + 2 * PROGRAM_ARRAY - 200_000 + READ + WRITE);
}
