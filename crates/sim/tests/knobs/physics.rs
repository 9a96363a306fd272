//! Formulas one can check with a pencil, across keys.

use crate::rig::{
    COMMAND, FLUSH, LINK, LOG_DRIVE, NO_LINK, PAGE, PAGE_DRIVE, PROGRAM_ARRAY, PROGRAM_COMMAND,
    READ, READ_ARRAY, READ_COMMAND, Rig, TRANSFER, WRITE, read, write,
};
use ssdscope_io::{Attribution, Cause, Op};
use ssdscope_sim::State;

/// A sector on the channel.
const SECTOR: u64 = TRANSFER / 8;

fn parts(expected: &[(Cause, u64)]) -> Attribution {
    let mut attribution = Attribution::ZERO;
    for &(cause, ns) in expected {
        attribution[cause] = ns;
    }
    attribution
}

#[test]
fn at_depth_1_every_part_of_a_latency_is_known() {
    let mut rig = Rig::page(&["host.firmware_ns=70"]);
    let written = rig.one(write(0)).attribution;
    let expected = [
        (Cause::Link, COMMAND + LINK),
        (Cause::Firmware, 70),
        (Cause::Transfer, PROGRAM_COMMAND + TRANSFER),
        (Cause::Nand, PROGRAM_ARRAY),
    ];
    assert_eq!(written, parts(&expected));
    let read_back = rig.one(read(0)).attribution;
    let expected = [
        (Cause::Link, COMMAND + LINK),
        (Cause::Firmware, 70),
        (Cause::Transfer, READ_COMMAND + TRANSFER),
        (Cause::Nand, READ_ARRAY),
    ];
    assert_eq!(read_back, parts(&expected));
    let flushed = rig.one(FLUSH).attribution;
    assert_eq!(flushed, parts(&[(Cause::Link, COMMAND), (Cause::Firmware, 70)]));
}

#[test]
fn waiting_is_told_by_what_was_waited_for() {
    // Two reads of one die: the second waits for the first, whole.
    let mut rig = Rig::filled(&[]);
    let done = rig.together(&[read(0), read(0)]);
    let known = [(Cause::Transfer, READ_COMMAND + TRANSFER), (Cause::Nand, READ_ARRAY)];
    assert_eq!(done[0].attribution, parts(&known));
    assert_eq!(done[1].attribution, parts(&[&known[..], &[(Cause::DieWait, READ)]].concat()));
    // Two dies of one channel: its command and its data wait for those of the first.
    let mut rig = Rig::filled(&["nand.ways=2"]);
    let done = rig.together(&[read(0), read(1)]);
    assert_eq!(done[0].attribution, parts(&known));
    assert_eq!(
        done[1].attribution,
        parts(&[&known[..], &[(Cause::ChannelWait, TRANSFER)]].concat())
    );
}

#[test]
fn a_small_write_costs_a_read_and_a_program() {
    // In its own plane the chip keeps what was read: the seven sectors come out, one goes in.
    let mut rig = Rig::page(&[]);
    rig.one(write(0));
    let done = rig.one((Op::Write, 512, 512));
    let rmw = READ_COMMAND + READ_ARRAY + 7 * SECTOR;
    let expected = [
        (Cause::Link, COMMAND + 512),
        (Cause::Rmw, rmw),
        (Cause::Transfer, PROGRAM_COMMAND + SECTOR),
        (Cause::Nand, PROGRAM_ARRAY),
    ];
    assert_eq!(done.attribution, parts(&expected));
    // On another plane all eight go in.
    let mut rig = Rig::page(&["nand.channels=2", "ftl.allocation=order"]);
    rig.one(write(0));
    let done = rig.one((Op::Write, 512, 512));
    let expected = [
        (Cause::Link, COMMAND + 512),
        (Cause::Rmw, rmw),
        (Cause::Transfer, PROGRAM_COMMAND + TRANSFER),
        (Cause::Nand, PROGRAM_ARRAY),
    ];
    assert_eq!(done.attribution, parts(&expected));
    let counters = rig.counters();
    assert_eq!((counters.rmw_reads, counters.flash_bytes_read), (1, PAGE));
    assert_eq!(counters.waf(), Some(2.0 * 4096.0 / (4096.0 + 512.0)));
}

#[test]
fn only_what_holds_data_is_read_first() {
    let mut rig = Rig::page(&NO_LINK);
    let first = rig.latency_ns((Op::Write, 0, 512));
    assert_eq!(first, PROGRAM_COMMAND + SECTOR + PROGRAM_ARRAY, "nothing to keep");
    let again = rig.latency_ns((Op::Write, 0, 512));
    assert_eq!(again, first, "all there is is replaced");
    let beside = rig.one((Op::Write, 1024, 1024));
    assert_eq!(beside.attribution[Cause::Rmw], READ_COMMAND + READ_ARRAY + SECTOR);
    // Two half pages of one request, each with its other half.
    rig.one((Op::Write, PAGE, 2 * PAGE));
    let before = rig.counters().rmw_reads;
    rig.one((Op::Write, PAGE + 2048, PAGE));
    assert_eq!(rig.counters().rmw_reads - before, 2);
}

#[test]
fn a_partly_written_page_is_read_like_any_other() {
    let mut rig = Rig::page(&[]);
    rig.one((Op::Write, 512, 1024));
    assert_eq!(rig.latency_ns(read(0)), COMMAND + READ + LINK);
    let part = COMMAND + READ_COMMAND + READ_ARRAY + 2 * SECTOR + 1024;
    assert_eq!(rig.latency_ns((Op::Read, 512, 1024)), part);
}

#[test]
fn of_what_holds_nothing_the_map_knows() {
    for drive in [PAGE_DRIVE, LOG_DRIVE] {
        let mut rig = Rig::open(drive, &[], Some(State::Fresh));
        rig.one(write(1));
        // Never written, and discarded; of a read that has both, what is there takes its time.
        assert_eq!(rig.latency_ns(read(9)), COMMAND + LINK);
        assert_eq!(rig.latency_ns((Op::Read, 0, 3 * PAGE)), COMMAND + READ + 3 * LINK);
        let before = rig.counters().flash_bytes_read;
        rig.one((Op::Discard, PAGE, PAGE));
        assert_eq!(rig.latency_ns((Op::Read, 0, 3 * PAGE)), COMMAND + 3 * LINK);
        assert_eq!((before, rig.counters().flash_bytes_read), (PAGE, PAGE));
    }
}

#[test]
fn what_was_discarded_is_neither_kept_nor_moved() {
    let mut rig = Rig::filled(&[]);
    // Half a page is not forgotten; a whole one is.
    rig.one((Op::Discard, 2048, PAGE));
    assert_eq!(rig.one((Op::Write, 0, 512)).attribution[Cause::Rmw], READ - SECTOR);
    let discard = rig.one((Op::Discard, PAGE - 512, PAGE + 512));
    assert_eq!(discard.latency().0, 0, "only the map is touched");
    assert_eq!(rig.one((Op::Write, PAGE, 512)).attribution[Cause::Rmw], 0);
    let beside = rig.one((Op::Write, PAGE + 512, 512)).attribution[Cause::Rmw];
    assert_eq!(beside, READ - 7 * SECTOR, "one sector to keep, the others stay forgotten");
    assert_eq!(rig.counters().host_bytes_discarded, 2 * PAGE + 512);
    // With everything discarded, collection has nothing to move.
    let mut rig = Rig::filled(&[]);
    rig.run(r#"{"rw": "randwrite", "requests": 300}"#);
    let before = rig.rest();
    assert!(before.gc_pages_moved > 0);
    rig.one((Op::Discard, 0, rig.capacity()));
    rig.write_pages((0..300).map(|number| number % 4));
    let after = rig.rest().since(&before);
    assert_eq!((after.gc_pages_moved, after.waf()), (0, Some(1.0)));
    assert!(after.block_erases > 30);
}

#[test]
fn a_flush_waits_for_earlier_writes_and_no_others() {
    let mut rig = Rig::filled(&["scheduler.read_first=false"]);
    let done = rig.together(&[write(0), write(1), FLUSH, write(2), read(3), FLUSH]);
    assert_eq!(done[2].latency().0, 2 * WRITE);
    assert_eq!(done[2].attribution[Cause::DieWait], 2 * WRITE);
    assert_eq!(done[5].latency().0, 3 * WRITE, "reads are nothing to wait for");
    assert_eq!(rig.one(FLUSH).latency().0, 0);
    // A later write that is done first is not counted for an earlier one.
    let mut rig = Rig::filled(&["nand.channels=2"]);
    let done = rig.together(&[write(0), write(2), FLUSH, write(1)]);
    assert_eq!((done[3].latency().0, done[2].latency().0), (WRITE, 2 * WRITE));
}

/// Nanoseconds per page of many requests in order, 64 at a time: reads of what is there, and writes
/// of a drive that has room for all of them.
fn pace_ns(rw: &str, sets: &[&str]) -> f64 {
    let size = ["nand.blocks_per_plane=64", "nand.pages_per_block=256"];
    let sets = [&NO_LINK[..], &size, sets].concat();
    let state = if rw == "read" { State::Sequential } else { State::Fresh };
    let mut rig = Rig::open(PAGE_DRIVE, &sets, Some(state));
    let workload = format!(r#"{{"rw": "{rw}", "iodepth": 64, "requests": 4000}}"#);
    rig.run(&workload).elapsed_ns as f64 / 4000.0
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.02, "{what}: {found} against {expected}");
}

#[test]
fn channels_add_up_until_the_link_is_full() {
    let slow = ["host.bytes_per_second=409.6e6"];
    for channels in [1, 2, 4, 5, 8, 16] {
        let set = format!("nand.channels={channels}");
        let array = READ as f64 / f64::from(channels);
        assert_close(pace_ns("read", &[&set]), array, &set);
        // A page takes 10 us on this link: from seven channels on that is the limit.
        assert_close(
            pace_ns("read", &[&[&set[..]], &slow[..]].concat()),
            array.max(10_000.0),
            &set,
        );
    }
}

#[test]
fn ways_add_up_until_the_channel_is_full() {
    for (command_ns, ways) in [(READ_COMMAND, [1, 2, 4, 8, 16]), (5_000, [1, 2, 5, 10, 12])] {
        for ways in ways {
            let [ways_set, command] =
                [format!("nand.ways={ways}"), format!("channel.read_command_ns={command_ns}")];
            let sets = [&ways_set[..], &command];
            let cycles = (command_ns + TRANSFER) as f64;
            let alone = (command_ns + READ_ARRAY + TRANSFER) as f64;
            let expected = (alone / f64::from(ways)).max(cycles);
            assert_close(pace_ns("read", &sets), expected, &format!("{sets:?}"));
            // If what is ready goes before new commands, the ways keep in step: they send their
            // commands, then sense together, then send their data, and a page takes its share
            // of one sensing plus its own transfer. Where commands take so long that the first
            // way is ready before the last has its own, the channel is never idle.
            let sensing = (command_ns + READ_ARRAY) as f64 / f64::from(ways);
            let in_step = sensing.max(command_ns as f64) + TRANSFER as f64;
            let sets = [&sets[..], &["scheduler.data_first=true"]].concat();
            assert_close(pace_ns("read", &sets), in_step, &format!("{sets:?}"));
        }
    }
    // Programs need the channel only at their beginning.
    let (array, cycles) = (60_000, PROGRAM_COMMAND + TRANSFER);
    for ways in [1, 2, 4, 6, 8, 16] {
        let sets = [&format!("nand.ways={ways}"), "nand.program_ns=60000"];
        let expected = ((array + cycles) as f64 / f64::from(ways)).max(cycles as f64);
        assert_close(pace_ns("write", &sets), expected, sets[0]);
    }
}
