//! What a drive counts and what a run reports, recomputed from the log.

use crate::rig::{MSR_DRIVE, PAGE, PAGE_DRIVE, Rig};
use ssdscope_io::{LogChunk, LogKeeper, RunSummary, Workload, run_workload};
use ssdscope_sim::State;

fn logged(rig: &mut Rig, workload: &str) -> (RunSummary, LogChunk) {
    let mut keeper = LogKeeper::default();
    let workload = Workload::from_json(workload).unwrap();
    let summary = run_workload(&mut *rig.device, &workload, &mut keeper).unwrap();
    (summary, keeper.log)
}

/// Sum over the rows of one direction.
fn total(log: &LogChunk, op: u8, value: impl Fn(usize) -> u64) -> u64 {
    (0..log.len()).filter(|&row| log.op[row] == op).map(value).sum()
}

/// Pages that a row touches.
fn pages(log: &LogChunk, row: usize) -> u64 {
    let end = log.offset_bytes[row] + log.bytes[row];
    end.div_ceil(PAGE) - log.offset_bytes[row] / PAGE
}

const MIXED: &str = r#"{"rw": "randrw", "block_bytes": 4096, "write_block_bytes": 3072,
    "read_block_bytes": 6144, "requests": 6000, "iodepth": 8}"#;

#[test]
fn rates_and_latencies_are_those_of_the_log() {
    let mut rig = Rig::open(PAGE_DRIVE, &["nand.channels=2"], "random".parse().ok());
    let (summary, log) = logged(&mut rig, MIXED);
    assert_eq!((summary.requests, log.len()), (6000, 6000));
    let first = log.submit_ns.iter().min().unwrap();
    let elapsed = log.complete_ns.iter().max().unwrap() - first;
    assert_eq!(summary.elapsed_ns, elapsed);
    for (op, section) in [(0, summary.read.unwrap()), (1, summary.write.unwrap())] {
        let rows: Vec<usize> = (0..log.len()).filter(|&row| log.op[row] == op).collect();
        let mut latencies: Vec<u64> =
            rows.iter().map(|&row| log.complete_ns[row] - log.submit_ns[row]).collect();
        let sum: u64 = latencies.iter().sum();
        latencies.sort_unstable();
        let count = latencies.len();
        assert_eq!(section.requests, count as u64);
        assert_eq!(section.bytes, total(&log, op, |row| log.bytes[row]));
        let per_second = |amount: u64| amount as f64 * 1e9 / elapsed as f64;
        assert!((section.iops.unwrap() / per_second(count as u64) - 1.0).abs() < 1e-12);
        let bandwidth = section.bandwidth_bytes_per_s.unwrap();
        assert!((bandwidth / per_second(section.bytes) - 1.0).abs() < 1e-12);
        let stats = section.latency_ns;
        assert!((stats.mean / (sum as f64 / count as f64) - 1.0).abs() < 1e-12);
        let nearest_rank = |per_mille: usize| latencies[(count * per_mille).div_ceil(1000) - 1];
        let ranks = [stats.p50, stats.p90, stats.p95, stats.p99, stats.p99_9];
        assert_eq!(ranks, [500, 900, 950, 990, 999].map(nearest_rank));
        assert_eq!((stats.min, stats.max), (latencies[0], latencies[count - 1]));
        let columns = log.attribution_ns.as_ref().unwrap();
        for (column, mean) in columns.iter().zip(section.attribution_ns.unwrap().0) {
            let part: u64 = rows.iter().map(|&row| column[row]).sum();
            assert!((mean * count as f64 - part as f64).abs() <= 1e-9 * sum as f64);
        }
        for row in rows {
            let parts: u64 = columns.iter().map(|column| column[row]).sum();
            assert_eq!(parts, log.complete_ns[row] - log.submit_ns[row]);
        }
    }
}

#[test]
fn a_page_mapped_drive_counts_what_the_log_makes_it_do() {
    for policy in ["gc.policy=greedy", "gc.policy=wear-aware"] {
        let sets = ["nand.channels=2", "nand.planes=2", "nand.endurance_erases=60", policy];
        let mut rig = Rig::open(PAGE_DRIVE, &sets, Some(State::Sequential));
        let (_, log) = logged(&mut rig, MIXED);
        let counters = rig.rest();
        let read = total(&log, 0, |row| pages(&log, row));
        let written = total(&log, 1, |row| pages(&log, row));
        assert_eq!(counters.host_bytes_read, total(&log, 0, |row| log.bytes[row]));
        assert_eq!(counters.host_bytes_written, total(&log, 1, |row| log.bytes[row]));
        let moved = counters.gc_pages_moved + counters.wear_pages_moved;
        assert!(counters.gc_pages_moved > 0 && counters.rmw_reads > 1000);
        assert_eq!(counters.flash_bytes_programmed, (written + moved) * PAGE);
        // A page that the host replaces while it is collected is read and not moved.
        let sensed = counters.flash_bytes_read / PAGE;
        let least = read + counters.rmw_reads + moved;
        assert!(sensed >= least && sensed < least + 200, "{sensed} against {least}");
        let waf = counters.flash_bytes_programmed as f64 / counters.host_bytes_written as f64;
        assert_eq!(counters.waf(), Some(waf));
        let worn = counters.erase_histogram.iter().zip(0..).map(|(blocks, erases)| blocks * erases);
        assert_eq!(worn.sum::<u64>(), counters.block_erases);
        assert_eq!(counters.erase_histogram.iter().sum::<u64>(), 4 * 16);
    }
}

#[test]
fn an_msr_drive_counts_what_the_log_makes_it_do() {
    let mut rig = Rig::open(MSR_DRIVE, &[], None);
    let workload = r#"{"rw": "randrw", "block_bytes": 8192, "requests": 3000, "iodepth": 4}"#;
    let (_, log) = logged(&mut rig, workload);
    let counters = rig.rest();
    let read = total(&log, 0, |row| pages(&log, row));
    let data = total(&log, 1, |row| pages(&log, row)) + counters.gc_pages_moved;
    assert!(counters.gc_pages_moved > 0);
    // Every seventh page of data closes a block with a summary.
    assert_eq!(counters.flash_bytes_programmed, (data + data / 7) * PAGE);
    assert_eq!(counters.flash_bytes_read, (read + counters.gc_pages_moved) * PAGE);
    assert_eq!(counters.block_erases, counters.gc_runs);
    let worn = counters.erase_histogram.iter().zip(0..).map(|(blocks, erases)| blocks * erases);
    assert_eq!(worn.sum::<u64>(), counters.block_erases);
}

#[test]
fn a_busy_die_is_busy_for_exactly_its_work() {
    let mut rig = Rig::page(&["gc.idle_ns=1000"]);
    rig.run(r#"{"rw": "randrw", "requests": 2000, "iodepth": 16}"#);
    let counters = rig.rest();
    let (read, programmed) =
        (counters.flash_bytes_read / PAGE, counters.flash_bytes_programmed / PAGE);
    let work = read * crate::rig::READ
        + programmed * crate::rig::WRITE
        + counters.block_erases * crate::rig::ERASE;
    assert_eq!(counters.die_busy_ns, [work]);
    let cycles = read * (crate::rig::READ - crate::rig::READ_ARRAY)
        + programmed * (crate::rig::WRITE - crate::rig::PROGRAM_ARRAY)
        + counters.block_erases * 200;
    assert_eq!(counters.channel_busy_ns, [cycles]);
}
