//! The write buffer, on page-mapped and log-block drives alike. Without a link, what finds
//! room takes no time at all.

use crate::faults::complaint;
use crate::rig::{Ask, FLUSH, NO_LINK, PAGE, PAGE_DRIVE, READ, Rig, WRITE, read, write};
use crate::rig::{LOG_DRIVE, write_sector};
use ssdscope_io::{Cause, Completion, Lba, Nanos, Op, Request, Sectors};
use ssdscope_sim::State;

knobs! {
    "write_buffer.bytes" => a_buffer_absorbs_exactly_its_bytes,
    "write_buffer.unit_bytes" => room_is_taken_in_whole_units,
    "write_buffer.drain" => the_policy_says_when_it_is_emptied,
    "write_buffer.high_water_ratio" => above_the_mark_it_is_emptied,
    "write_buffer.idle_ns" => a_quiet_host_lets_it_empty,
    "write_buffer.order" => the_order_says_what_goes_first,
    "write_buffer.concurrent_drains" => so_many_runs_are_under_way,
    "write_buffer.ns_per_byte" => a_copy_takes_so_long,
    "write_buffer.power_loss_protected" => a_protected_buffer_is_as_good_as_flash,
}

const BOTH: [fn(&[&str]) -> Rig; 2] = [Rig::filled, Rig::logged];

/// Latencies of what is asked at one instant.
fn latencies(rig: &mut Rig, asks: &[Ask]) -> Vec<u64> {
    rig.together(asks).iter().map(|done| done.latency().0).collect()
}

/// Both drives with a buffer of so many pages, and more keys.
fn buffered(pages: u64, sets: &[&str]) -> impl Iterator<Item = Rig> {
    let bytes = format!("write_buffer.bytes={}", pages * PAGE);
    BOTH.into_iter().map(move |open| open(&[&[bytes.as_str()], sets].concat()))
}

fn pages_programmed(rig: &mut Rig) -> u64 {
    rig.counters().flash_bytes_programmed / PAGE
}

/// Which of some pages are in the buffer.
fn held(rig: &Rig, pages: &[u64]) -> Vec<u64> {
    let is_held = |page: &u64| rig.fork().latency_ns(read(*page)) == 0;
    pages.iter().copied().filter(is_held).collect()
}

fn a_buffer_absorbs_exactly_its_bytes() {
    for drain in ["eager", "high-water", "full", "idle"].map(|drain| format!("drain={drain}")) {
        for pages in 1..6 {
            let set = format!("write_buffer.{drain}");
            for mut rig in buffered(pages, &[&set]) {
                let burst: Vec<_> = (0..=pages).map(write).collect();
                let done = rig.together(&burst);
                let absorbed = done[..pages as usize].iter().map(|done| done.latency().0);
                assert!(absorbed.eq(vec![0; pages as usize]), "{drain}: {pages} pages at once");
                let waited = done[pages as usize];
                assert_eq!((waited.latency().0, waited.attribution[Cause::Buffer]), (WRITE, WRITE));
            }
            // In one request, and in one larger than the buffer: it streams through.
            for mut rig in buffered(pages, &[&set]) {
                assert_eq!(rig.fork().latency_ns((Op::Write, 0, pages * PAGE)), 0);
                assert_eq!(rig.latency_ns((Op::Write, 0, (pages + 2) * PAGE)), 2 * WRITE);
            }
        }
    }
    // With none, a write is answered from flash.
    for mut rig in BOTH.map(|open| open(&["write_buffer.bytes=0"])) {
        assert_eq!(rig.latency_ns(write(0)), WRITE);
    }
}

fn room_is_taken_in_whole_units() {
    // 16 KB are four, two, or one of these; pages 0 and 1 share the larger ones.
    for (unit, expected) in [
        (4096, [0, 0, 0, 0, WRITE]),
        (8192, [0, 0, 0, WRITE, WRITE]),
        (16_384, [0, 0, WRITE, WRITE, WRITE]),
    ] {
        let set = format!("write_buffer.unit_bytes={unit}");
        for mut rig in buffered(4, &[&set, "write_buffer.drain=full"]) {
            let asks = [0, 1, 5, 7, 3].map(write);
            let first_wait = latencies(&mut rig, &asks).iter().position(|&ns| ns > 0);
            assert_eq!(first_wait, expected.iter().position(|&ns| ns > 0), "{unit}");
        }
    }
    // Of small units a page takes as many as it has sectors written.
    for mut rig in buffered(1, &["write_buffer.unit_bytes=512", "write_buffer.drain=full"]) {
        let scattered: Vec<_> = (0..9).map(|page| write_sector(page % 8 * 8 + page / 8)).collect();
        let waits = latencies(&mut rig, &scattered);
        assert!(waits[..8].iter().all(|&ns| ns == 0) && waits[8] > 0, "{waits:?}");
    }
}

fn the_policy_says_when_it_is_emptied() {
    // Pages in flash after three writes into four units, at once and after a rest.
    for (drain, at_once, rested) in
        [("eager", 1, 3), ("high-water", 1, 1), ("full", 0, 0), ("idle", 0, 3)]
    {
        let set = format!("write_buffer.drain={drain}");
        let sets = [
            &*set,
            "write_buffer.high_water_ratio=0.5",
            "write_buffer.order=fifo",
            "write_buffer.concurrent_drains=1",
        ];
        for mut rig in buffered(4, &sets) {
            assert_eq!(latencies(&mut rig, &[0, 1, 2].map(write)), [0, 0, 0]);
            assert_eq!(pages_programmed(&mut rig), at_once, "{drain}");
            rig.rest();
            assert_eq!(pages_programmed(&mut rig), rested, "{drain}");
        }
    }
}

fn above_the_mark_it_is_emptied() {
    for (ratio, left) in [("0", 0), ("0.25", 1), ("0.5", 2), ("1", 4)] {
        let set = format!("write_buffer.high_water_ratio={ratio}");
        let sets = ["write_buffer.drain=high-water", "write_buffer.order=fifo", &set];
        for mut rig in buffered(4, &sets) {
            latencies(&mut rig, &[0, 1, 2, 3].map(write));
            rig.rest();
            assert_eq!(pages_programmed(&mut rig), 4 - left, "{ratio}");
            let newest: Vec<u64> = (4 - left..4).collect();
            assert_eq!(held(&rig, &[0, 1, 2, 3]), newest);
        }
    }
}

fn a_quiet_host_lets_it_empty() {
    for idle_ns in [1000, 70_000] {
        let set = format!("write_buffer.idle_ns={idle_ns}");
        for mut rig in buffered(4, &["write_buffer.drain=idle", &set]) {
            rig.one(write(0));
            rig.idle(idle_ns - 1);
            assert_eq!(rig.latency_ns(write(1)), 0, "it begins anew");
            rig.idle(idle_ns - 1);
            assert_eq!(pages_programmed(&mut rig), 0);
            rig.idle(1);
            assert!(pages_programmed(&mut rig) > 0);
            rig.rest();
            assert_eq!(pages_programmed(&mut rig), 2);
        }
    }
}

fn the_order_says_what_goes_first() {
    for (order, left) in [("fifo", &[8, 9][..]), ("lru", &[6, 8]), ("sequential-runs", &[6])] {
        let set = format!("write_buffer.order={order}");
        let sets = [
            "nand.channels=2",
            "write_buffer.drain=full",
            "write_buffer.concurrent_drains=1",
            &set,
        ];
        for mut rig in buffered(3, &sets) {
            assert_eq!(latencies(&mut rig, &[6, 9, 6, 8].map(write)), [0; 4]);
            assert_eq!(rig.counters().buffer_coalesced_bytes, PAGE);
            assert_eq!(rig.latency_ns(write(20)), WRITE);
            rig.rest();
            assert_eq!(held(&rig, &[6, 8, 9]), left, "{order}");
        }
    }
    // A run goes out in the order of its places, whatever the order of writing: a whole
    // unit takes the place of the old one, and nothing is copied.
    for (order, full) in [("sequential-runs", 0), ("fifo", 1)] {
        let set = format!("write_buffer.order={order}");
        let sets = ["write_buffer.bytes=32768", "write_buffer.drain=full", &set];
        let mut rig = Rig::logged(&sets);
        latencies(&mut rig, &[3, 1, 7, 0, 5, 2, 6, 4].map(write));
        rig.one(FLUSH);
        let merges = rig.rest().merges;
        assert_eq!((merges.switch, merges.full), (1 - full, full), "{order}");
    }
}

fn so_many_runs_are_under_way() {
    for (drains, waits) in [(1, [WRITE, 2 * WRITE]), (2, [WRITE, WRITE])] {
        let set = format!("write_buffer.concurrent_drains={drains}");
        let sets = ["nand.channels=2", "write_buffer.order=fifo", &set];
        let log = [&sets[..], &["ftl.merge_unit_bytes=65536"]].concat();
        let bytes = "write_buffer.bytes=8192";
        for mut rig in [
            Rig::filled(&[&sets[..], &[bytes]].concat()),
            Rig::logged(&[&log[..], &[bytes]].concat()),
        ] {
            let [first, second, ..] = latencies(&mut rig, &[0, 1].map(write))[..] else { panic!() };
            assert_eq!((first, second), (0, 0));
            assert_eq!(latencies(&mut rig, &[2, 3].map(write)), waits, "{drains}");
        }
    }
}

/// What has been sent cannot be overwritten where it waits: that tells how much was.
#[test]
fn each_plane_gets_sixteen_pages_if_the_file_leaves_it_open() {
    for planes in [1, 2, 4] {
        let sent = 16 * planes;
        let shape = format!("nand.planes={planes}");
        let merge_unit = format!("ftl.merge_unit_bytes={}", planes * 32_768);
        for order in ["fifo", "lru"] {
            let order = format!("write_buffer.order={order}");
            let sets = [&shape[..], "write_buffer.bytes=1m", &order];
            for mut rig in [
                Rig::filled(&sets),
                Rig::logged(&[&sets[..], &[&merge_unit, "nand.blocks_per_plane=64"]].concat()),
            ] {
                let pages = || (0..sent + 5).map(write);
                let done = rig.together(&pages().chain(pages()).collect::<Vec<_>>());
                assert!(done.iter().all(|one| one.latency().0 == 0));
                assert_eq!(rig.counters().buffer_coalesced_bytes, 5 * PAGE, "{planes} {order}");
            }
        }
    }
}

/// A buffer never makes writes slower than none, however many the host has under way.
#[test]
fn a_buffer_keeps_as_many_planes_busy_as_the_host_would_without_it() {
    let array = ["nand.channels=4", "nand.ways=4", "nand.planes=2", "nand.blocks_per_plane=64"];
    for allocation in ["address", "order"] {
        let allocation = format!("ftl.allocation={allocation}");
        for depth in [1, 8, 64, 512] {
            let pace = |bytes: &str| {
                let sets = [&array[..], &[&allocation, bytes]].concat();
                let mut rig = Rig::open(PAGE_DRIVE, &[&NO_LINK[..], &sets].concat(), None);
                rig.run(&format!(
                    r#"{{"rw": "randwrite", "block_bytes": 4096, "requests": 7000,
                         "ramp_requests": 1000, "iodepth": {depth}}}"#
                ))
                .elapsed_ns as f64
            };
            let (with, without) = (pace("write_buffer.bytes=1m"), pace("write_buffer.bytes=0"));
            assert!(with < 1.02 * without, "{allocation}, depth {depth}: {with} and {without}");
        }
    }
}

fn a_copy_takes_so_long() {
    for (rate, page_ns) in [("0.5", 2048), ("2", 8192), ("1.3", 5325)] {
        let set = format!("write_buffer.ns_per_byte={rate}");
        for mut rig in buffered(8, &[&set, "write_buffer.drain=full"]) {
            let both = rig.together(&[write(0), write(1)]);
            assert_eq!(both[0].attribution[Cause::Buffer], page_ns);
            assert_eq!(both[1].attribution[Cause::Buffer], 2 * page_ns, "one after the other");
            assert_eq!(rig.latency_ns(read(1)), page_ns, "and out again");
            assert_eq!(rig.latency_ns((Op::Read, PAGE, 2 * PAGE)), READ, "behind what flash takes");
        }
    }
}

/// A write that must be durable when it is answered.
fn forced(rig: &mut Rig, page: u64) -> Completion {
    let (lba, sectors) = (Lba(page * 8), Sectors(8));
    let request = Request { fua: true, ..Request::write(77, lba, sectors) };
    rig.device.submit(rig.device.now(), request).unwrap();
    let mut done = Vec::new();
    rig.device.advance(Nanos::MAX, &mut done).unwrap();
    done[0]
}

fn a_protected_buffer_is_as_good_as_flash() {
    for (protected, wait) in [("false", WRITE), ("true", 0)] {
        let set = format!("write_buffer.power_loss_protected={protected}");
        for mut rig in buffered(4, &[&set, "write_buffer.drain=full", "write_buffer.order=fifo"]) {
            assert_eq!(rig.latency_ns(write(5)), 0);
            let force = forced(&mut rig, 0);
            assert_eq!((force.latency().0, force.attribution[Cause::Buffer]), (wait, wait));
            assert_eq!(held(&rig, &[5]), [5], "only what is forced need go to flash");
            let flush = rig.one(FLUSH);
            assert_eq!((flush.latency().0, flush.attribution[Cause::Buffer]), (wait, wait));
            assert_eq!(rig.latency_ns(FLUSH), 0, "nothing is left to do");
        }
    }
}

#[test]
fn a_wait_for_room_is_the_time_of_the_write_before_cause_by_cause() {
    let page = (PAGE_DRIVE, Cause::Gc);
    for (text, upkeep) in [page, (LOG_DRIVE, Cause::Merge)] {
        // In order of arrival, so that it does not matter what arrives with what.
        let open = |bytes: &str| {
            let sets = [&NO_LINK[..], &["scheduler.read_first=false", bytes]].concat();
            Rig::open(text, &sets, Some(State::Random))
        };
        let mut plain = open("write_buffer.bytes=0");
        let mut one_page = open("write_buffer.bytes=4096");
        let pages: Vec<u64> = (0..400).map(|number| number * 37 % 61).collect();
        let waits: Vec<_> = pages.iter().map(|&page| plain.one(write(page))).collect();
        let after: Vec<_> = pages.iter().map(|&page| one_page.one(write(page))).collect();
        let mut spent = 0;
        for (before, after) in waits.iter().zip(&after[1..]) {
            assert_eq!(after.latency(), before.latency());
            assert_eq!(after.attribution[upkeep], before.attribution[upkeep]);
            spent += after.attribution[upkeep];
        }
        assert!(spent > 0, "nothing was collected");
        assert_eq!(after[0].latency().0, 0);
    }
}

#[test]
fn what_is_overwritten_in_the_buffer_is_written_once() {
    for mut rig in buffered(4, &["write_buffer.drain=full"]) {
        for _ in 0..10 {
            assert_eq!(latencies(&mut rig, &[write(0), write(2), write_sector(1)]), [0; 3]);
        }
        assert_eq!(rig.one((Op::Discard, 2 * PAGE, PAGE)).latency().0, 0);
        assert_eq!(rig.latency_ns(FLUSH), WRITE);
        let counters = rig.rest();
        assert_eq!(counters.flash_bytes_programmed, PAGE, "page 2 was discarded in time");
        assert_eq!(counters.buffer_coalesced_bytes, 9 * 2 * PAGE + 10 * 512);
        assert_eq!(counters.buffer_read_bytes, 0);
    }
}

#[test]
fn a_page_written_while_it_is_on_its_way_follows_itself() {
    for mut rig in buffered(2, &["write_buffer.unit_bytes=4096"]) {
        // The first version takes a page of room until it is in flash, the second another.
        let waits = latencies(&mut rig, &[write(0), write(0), write(0), write(1)]);
        assert_eq!(waits, [0, 0, 0, WRITE]);
        rig.one(FLUSH);
        assert_eq!(rig.rest().flash_bytes_programmed, 3 * PAGE);
    }
}

#[test]
fn buffers_that_cannot_be_are_refused_with_both_values() {
    for (sets, expected) in [
        (&["write_buffer.bytes=2k"][..], "2048 is less than a page of nand.page_bytes = 4096"),
        (
            &["write_buffer.bytes=10k"],
            "10240 is not a whole number of units of write_buffer.unit_bytes = 4096",
        ),
        (
            &["write_buffer.bytes=64k", "write_buffer.unit_bytes=128k"],
            "65536 is less than one unit of write_buffer.unit_bytes = 131072",
        ),
        (&["write_buffer.unit_bytes=1000"], "1000 is not a whole number of sectors of 512 bytes"),
    ] {
        for text in [PAGE_DRIVE, LOG_DRIVE] {
            let lines = complaint(text, sets);
            assert!(lines.len() == 1 && lines[0].ends_with(expected), "{lines:?}");
        }
    }
}
