//! The end of a drive's life: blocks are retired, then writes fail and reads go on.

use crate::rig::{Ask, COMMAND, FLUSH, LINK, LOG_DRIVE, PAGE, PAGE_DRIVE, Rig, read, write};
use ssdscope_io::rng::Stream;
use ssdscope_io::{Op, Outcome};
use ssdscope_sim::SimError;

pub const PAGE_KEYS: &[&str] = &["nand.endurance_erases"];
pub const LOG_KEYS: &[&str] = &["nand.endurance_erases"];

const EROFS: Outcome = Outcome::Failed(30);

/// Overwrites the 64 pages of a drive in order until it refuses one; how many it took.
fn writes_until_refused(rig: &mut Rig) -> u64 {
    let refused = (0..).find(|number| rig.one(write(number % 64)).outcome != Outcome::Done);
    refused.unwrap()
}

/// What a drive at its end does, and what it must have counted.
fn check_read_only(rig: &mut Rig, endurance: u64) {
    let counters = rig.rest();
    assert!(counters.read_only);
    assert_eq!(counters.erase_histogram.len() as u64, endurance + 1, "never once more");
    assert_eq!(counters.erase_histogram[endurance as usize], counters.retired_blocks);
    let trim: Ask = (Op::Discard, 0, 8 * PAGE);
    let asks = [write(5), trim, read(5), FLUSH, (Op::Write, 512, 512)];
    let outcomes: Vec<Outcome> = rig.together(&asks).iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [EROFS, EROFS, Outcome::Done, Outcome::Done, EROFS]);
    assert_eq!(rig.latency_ns(write(0)), COMMAND + LINK, "refused as soon as it has come");
    for page in 0..64 {
        assert_eq!(rig.one(read(page)).outcome, Outcome::Done);
    }
    // Nothing changes any more.
    let later = rig.rest();
    assert_eq!(later.flash_bytes_programmed, counters.flash_bytes_programmed);
    assert_eq!(later.host_bytes_written, counters.host_bytes_written);
    assert_eq!(later.block_erases, counters.block_erases);
}

#[test]
fn a_page_mapped_drive_takes_what_its_blocks_are_made_for_and_then_can_only_be_read() {
    for endurance in [1, 5, 20] {
        let set = format!("nand.endurance_erases={endurance}");
        let mut rig = Rig::page(&["gc.policy=fifo", &set]);
        let taken = writes_until_refused(&mut rig);
        // In order, nothing is moved: a block is filled once for each time it is erased. At
        // the end eight blocks hold the data; of the others up to three were not erased once
        // more, being written or kept free.
        let pages = |blocks: u64| 8 * blocks * endurance;
        println!("{endurance}: {taken} writes, {} retired", rig.counters().retired_blocks);
        assert!(taken <= pages(16) && taken >= pages(16) - 8 * 3, "{endurance}: {taken}");
        assert_eq!(rig.counters().gc_pages_moved, 0);
        check_read_only(&mut rig, endurance);
    }
}

#[test]
fn the_first_block_to_wear_out_is_not_the_end() {
    // Room is short here, so that worn blocks must wait for others to make some.
    for policy in ["greedy", "fifo", "wear-aware"] {
        let sets = ["nand.endurance_erases=30", &format!("gc.policy={policy}")];
        let mut rig = Rig::page(&sets);
        let mut random = Stream::new(1, "wear");
        while rig.one(write(random.below(64))).outcome == Outcome::Done {}
        let counters = rig.rest();
        let used = counters.block_erases as f64 / (16.0 * 30.0);
        println!("{policy}: {used:.2} of all erases, {} retired", counters.retired_blocks);
        assert!(used > 0.85, "{policy}");
        check_read_only(&mut rig, 30);
    }
}

#[test]
fn a_log_block_drive_ends_when_its_spare_units_do() {
    for association in ["one-to-one", "many-to-one"] {
        for endurance in [2, 5, 20] {
            let sets = [
                &format!("nand.endurance_erases={endurance}")[..],
                &format!("ftl.log_association={association}"),
            ];
            let mut rig = Rig::open(LOG_DRIVE, &sets, None);
            let taken = writes_until_refused(&mut rig);
            let counters = rig.counters();
            println!("{association} {endurance}: {taken}, {} retired", counters.retired_blocks);
            // In order, logs are switched: a block is filled once for each time it is erased,
            // and at the end eight hold the data and no log has a unit.
            assert_eq!(counters.gc_pages_moved, 0);
            assert!((7..=8).contains(&counters.retired_blocks));
            assert_eq!(taken / 8, counters.block_erases + 16 - counters.retired_blocks - 1);
            check_read_only(&mut rig, endurance);
        }
    }
}

#[test]
fn writes_that_wait_when_the_end_comes_fail_with_it() {
    for text in [PAGE_DRIVE, LOG_DRIVE] {
        let mut rig = Rig::open(text, &["nand.endurance_erases=3"], None);
        let asks: Vec<Ask> = (0..3000).map(|number| write(number * 7 % 64)).collect();
        let done = rig.together(&asks);
        let failed = done.iter().filter(|one| one.outcome == EROFS).count();
        assert!(failed > 1000 && failed < 3000, "{failed}");
        assert!(rig.counters().read_only);
        // What was in the buffer and not in flash, is told by the flush.
        let sets = ["nand.endurance_erases=3", "write_buffer.bytes=64k"];
        let mut rig = Rig::open(text, &sets, None);
        rig.together(&asks);
        let outcomes = [FLUSH, write(0), read(0)].map(|ask| rig.one(ask).outcome);
        assert_eq!(outcomes, [EROFS, EROFS, Outcome::Done]);
        for page in 0..64 {
            assert_eq!(rig.one(read(page)).outcome, Outcome::Done);
        }
    }
}

#[test]
fn a_state_that_wears_a_drive_out_is_refused() {
    for text in [PAGE_DRIVE, LOG_DRIVE] {
        let config = crate::rig::config(text, &["nand.endurance_erases=2"]);
        let error = ssdscope_sim::open(&config, "steady".parse().ok(), 1).err().unwrap();
        assert_eq!(error, SimError::WornOut { endurance_erases: 2 });
        let text = error.to_string();
        assert!(text.contains("nand.endurance_erases = 2") && text.contains("raise it"), "{text}");
    }
}
