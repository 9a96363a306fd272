//! Formulas one can check with a pencil.
//!
//! Sample configuration: page read 25 us, program 200 us, erase 1.5 ms; a page of
//! 8 x 528 bytes takes 105.6 us over the pins at 25 ns each, one sector 13.2 us; a
//! sector takes 238.4 ns on the bus. So a page is read in 130.6 us and written in
//! 305.6 us, and its block's summary page in 213.2 us. Eight elements share n pages:
//! q = ceil(n / 8) is what the busiest has.

use super::{closed_loop, latencies, mean, sample, sequential};
use ssdscope_io::{Cause, Device, Lba, Nanos, Request, Sectors};
use ssdscope_sim::msr::{MsrDrive, MsrParams};

fn drive(blocks: u32, reserve_pct: u32, min_free_pct: u32) -> MsrDrive {
    MsrDrive::new(sample(blocks, reserve_pct, min_free_pct), 1).unwrap()
}

#[test]
fn capacity_leaves_out_reserve_and_summaries() {
    // 8 elements x (2048 - 307) blocks x 8 planes x 63 pages.
    assert_eq!(drive(2048, 15, 5).info().capacity_bytes, 8 * 1741 * 8 * 63 * 4096);
}

#[test]
fn reads_cost_the_same_whatever_the_state() {
    for (size_kib, expected_ns) in [
        (8, 134_414), // 1 x 130,600 + 16 x 238.4
        (16, 138_229),
        (32, 145_858),
        (64, 291_715), // 2 x 130,600 + 128 x 238.4
        (1024, 4_667_443),
        (4096, 18_669_773), // 128 x 130,600 + 8192 x 238.4
    ] {
        let mut drive = drive(256, 15, 5);
        let reads = || sequential(Request::read, 20, size_kib * 1024);
        let fresh = closed_loop(&mut drive, reads()).unwrap();
        closed_loop(&mut drive, sequential(Request::write, 500, 1 << 20)).unwrap();
        let aged = closed_loop(&mut drive, reads()).unwrap();
        for latency_ns in latencies(&fresh).into_iter().chain(latencies(&aged)) {
            assert_eq!(latency_ns, expected_ns, "{size_kib} KiB");
        }
    }
}

#[test]
fn writes_without_cleaning_are_pages_and_summaries() {
    let mut drive = drive(2048, 15, 5);
    // 16 pages = 2 per element. An element fills its 8 open blocks side by side, so the 63rd
    // pages of all of them are its pages 497 to 504: requests 249 to 252 write two summaries.
    let done = closed_loop(&mut drive, sequential(Request::write, 300, 64 << 10)).unwrap();
    for (number, latency_ns) in (1..).zip(latencies(&done)) {
        let summaries = if (249..=252).contains(&number) { 2 } else { 0 };
        assert_eq!(latency_ns, 2 * 305_600 + summaries * 213_200 + 30_515, "request {number}");
    }
    let attribution = done[249].attribution;
    assert_eq!(attribution[Cause::Link], 30_515);
    assert_eq!(attribution[Cause::Nand], 4 * 200_000);
    assert_eq!(attribution[Cause::Transfer], 2 * 105_600 + 2 * 13_200);
    let counters = drive.counters().unwrap();
    assert_eq!((counters.gc_runs, counters.block_erases), (0, 0));
    assert_eq!(counters.flash_bytes_programmed, (300 * 16 + 64) * 4096);
}

#[test]
fn cleaning_starts_when_the_headroom_is_written() {
    // 38 blocks in reserve, one of them open, cleaned at 12 free: 25 blocks are written per
    // plane, and opening the 26th brings the plane to the mark.
    let mut drive = drive(256, 15, 5);
    let headroom_bytes = 63 * 64 * 4096 * (38 - 1 - 12);
    let requests = headroom_bytes / (1 << 20);
    closed_loop(&mut drive, sequential(Request::write, requests, 1 << 20)).unwrap();
    assert_eq!(drive.counters().unwrap().gc_runs, 0);
    let next = |id| Request::write(id, Lba((requests + id) * 2048), Sectors(2048));
    closed_loop(&mut drive, (0..2).map(next)).unwrap();
    assert!(drive.counters().unwrap().gc_runs > 0);
}

#[test]
fn sequential_overwrite_pays_an_erasure_per_block() {
    // All victims are fully invalid: 1.5 ms per 63 pages of a plane on top of their writing
    // and their share of the bus. Measured over many rounds.
    let mut drive = drive(256, 15, 5);
    let capacity_bytes = drive.info().capacity_bytes;
    let laps = |drive: &mut MsrDrive| {
        // 504 pages: one per plane of each element.
        let pages = capacity_bytes / 4096 / 504 * 504;
        let writes =
            (0..pages / 504).map(|id| Request::write(id, Lba(id * 504 * 8), Sectors(504 * 8)));
        mean(&latencies(&closed_loop(drive, writes).unwrap()))
    };
    let before_ns: f64 = 63.0 * 305_600.0 + 213_200.0 + 504.0 * 8.0 * 238.4;
    laps(&mut drive);
    let after_ns = laps(&mut drive);
    let ceiling = 1_500_000.0 / before_ns;
    assert!((ceiling - 0.0734).abs() < 0.0001);
    let paid = after_ns / before_ns - 1.0;
    assert!((paid / ceiling - 1.0).abs() < 0.02, "{paid} against {ceiling}");
    let counters = drive.counters().unwrap();
    assert_eq!(counters.gc_pages_moved, 0, "{counters:?}");
}

#[test]
fn the_papers_figures_at_4_mib() {
    for (blocks, reserve_pct, min_free_pct, expected_ms) in [
        (2048, 15, 5, 41.50),
        (256, 15, 5, 43.54),
        (2048, 51, 50, 43.77),
        (2048, 91, 90, 43.77),
        (256, 51, 50, 44.49),
    ] {
        let mut drive = drive(blocks, reserve_pct, min_free_pct);
        let done = closed_loop(&mut drive, sequential(Request::write, 300, 4 << 20)).unwrap();
        let ours_ms = mean(&latencies(&done)) / 1e6;
        assert!((ours_ms - expected_ms).abs() < 0.006, "{ours_ms} ms, not {expected_ms} ms");
    }
}

#[test]
fn parallel_units_shorten_large_writes() {
    // 2 or 4 units per element: the spot checks made on the original.
    for (parallel_units, expected_ms) in [(1, 41.50), (2, 29.00), (4, 22.60)] {
        let params = MsrParams { parallel_units, ..sample(2048, 15, 5) };
        let mut drive = MsrDrive::new(params, 1).unwrap();
        let done = closed_loop(&mut drive, sequential(Request::write, 300, 4 << 20)).unwrap();
        let ours_ms = mean(&latencies(&done)) / 1e6;
        println!("{parallel_units} units: {ours_ms:.4} ms");
        assert!((ours_ms - expected_ms).abs() < 0.006, "{ours_ms} ms, not {expected_ms} ms");
    }
}

#[test]
fn a_queue_waits_for_elements_and_for_the_bus() {
    let mut drive = drive(2048, 15, 5);
    let mut done = Vec::new();
    // Two reads of the same page: the second waits for the first on the element. Then both
    // cross the bus, 8 x 238.4 ns each, long apart.
    drive.submit(Nanos(0), Request::read(0, Lba(0), Sectors(8))).unwrap();
    drive.submit(Nanos(0), Request::read(1, Lba(0), Sectors(8))).unwrap();
    // A read of another element ends with the first one and waits for the bus.
    drive.submit(Nanos(0), Request::read(2, Lba(8), Sectors(8))).unwrap();
    while drive.in_flight() > 0 {
        drive.advance(Nanos::MAX, &mut done).unwrap();
    }
    let order: Vec<_> = done.iter().map(|one| (one.id, one.completed.0)).collect();
    assert_eq!(order, [(0, 132_507), (2, 134_414), (1, 263_107)]);
    assert_eq!(done[1].attribution[Cause::HostQueue], 1_907);
    assert_eq!(done[2].attribution[Cause::DieWait], 130_600);
    for one in &done {
        assert_eq!(one.attribution.total(), one.latency());
    }
}

#[test]
fn a_write_on_the_bus_delays_what_arrives_and_what_is_done() {
    let mut drive = drive(2048, 15, 5);
    let mut done = Vec::new();
    // The read starts at once and would be done at 130,600; by then the 4 MiB write holds the
    // bus until 1,952,973. The last read arrives meanwhile and starts when the bus is free,
    // after what is done has gone out.
    drive.submit(Nanos(0), Request::read(0, Lba(0), Sectors(8))).unwrap();
    drive.submit(Nanos(0), Request::write(1, Lba(0), Sectors(8192))).unwrap();
    drive.submit(Nanos(500_000), Request::read(2, Lba(1 << 20), Sectors(8))).unwrap();
    while drive.in_flight() > 0 {
        drive.advance(Nanos::MAX, &mut done).unwrap();
    }
    assert_eq!(done[0].completed.0, 1_952_973 + 1_907);
    assert_eq!(done[0].attribution[Cause::HostQueue], 1_952_973 - 130_600);
    // Element 0 has 128 pages of the write to do first; none of them fills a block.
    let written_ns = 1_952_973 + 128 * 305_600;
    assert_eq!((done[1].id, done[1].completed.0), (1, written_ns));
    assert_eq!((done[2].id, done[2].completed.0), (2, written_ns + 130_600 + 1_907));
    assert_eq!(done[2].attribution[Cause::HostQueue], 1_952_973 + 1_907 - 500_000);
    assert_eq!(done[2].attribution[Cause::DieWait], written_ns - (1_952_973 + 1_907));
}
