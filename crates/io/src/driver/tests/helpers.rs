//! What the tests of the drivers share.

use crate::driver::{LogKeeper, run_flows, run_workload};
use crate::flow::Flows;
use crate::log::LogChunk;
use crate::mock::MockDevice;
use crate::summary::{RunSummary, SectionSummary};
use crate::workload::{Pattern, Workload};

pub const US: u64 = 1_000;

/// A workload of so many requests.
pub fn workload(rw: Pattern, requests: u64) -> Workload {
    Workload { requests: Some(requests), ..Workload::new(rw) }
}

/// Runs a workload and keeps its log, which must agree with its summary.
pub fn run(device: &mut MockDevice, workload: &Workload) -> (RunSummary, LogChunk) {
    let mut keeper = LogKeeper::default();
    let summary = run_workload(device, workload, &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    (summary, keeper.log)
}

/// Runs flows and keeps the log, which must agree with the summary and with that of each.
pub fn run_together(device: &mut MockDevice, flows: &Flows) -> (RunSummary, LogChunk) {
    let mut keeper = LogKeeper::default();
    let summary = run_flows(device, flows, &mut keeper).unwrap();
    check_against_log(&summary, &keeper.log);
    for (place, flow) in (0..).zip(summary.flows.as_ref().unwrap()) {
        let log = of_flow(&keeper.log, place);
        let elapsed_ns = elapsed_ns(&log);
        assert_eq!(flow.elapsed_ns, elapsed_ns, "{}", flow.name);
        for (op, section) in [&flow.read, &flow.write, &flow.flush].into_iter().enumerate() {
            check_section(section.as_ref(), &log, op as u8, elapsed_ns);
        }
        let failed = log.error.iter().filter(|&&errno| errno != 0).count();
        assert_eq!(flow.failed_requests, failed as u64);
        let flushes = flow.flush.as_ref().map_or(0, |flush| flush.requests);
        assert_eq!(flow.requests + flushes + flow.failed_requests, log.len() as u64);
    }
    (summary, keeper.log)
}

/// The rows of one flow.
pub fn of_flow(log: &LogChunk, flow: u16) -> LogChunk {
    let mut some = LogChunk::new(log.attribution_ns.is_some());
    let whose = |row: usize| log.flow.as_ref().map_or(0, |flows| flows[row]);
    for row in (0..log.len()).filter(|&row| whose(row) == flow) {
        some.index.push(log.index[row]);
        some.op.push(log.op[row]);
        some.offset_bytes.push(log.offset_bytes[row]);
        some.bytes.push(log.bytes[row]);
        some.submit_ns.push(log.submit_ns[row]);
        some.complete_ns.push(log.complete_ns[row]);
        some.error.push(log.error[row]);
        if let (Some(ours), Some(all)) = (&mut some.attribution_ns, &log.attribution_ns) {
            ours.iter_mut().zip(all.iter()).for_each(|(ours, all)| ours.push(all[row]));
        }
    }
    some
}

fn elapsed_ns(log: &LogChunk) -> u64 {
    match (log.submit_ns.iter().min(), log.complete_ns.iter().max()) {
        (Some(first), Some(last)) => last - first,
        _ => 0,
    }
}

/// Recomputes every rate, moment and percentile of a summary from the log.
pub fn check_against_log(summary: &RunSummary, log: &LogChunk) {
    let elapsed_ns = elapsed_ns(log);
    assert_eq!(summary.elapsed_ns, elapsed_ns);
    let sections = [&summary.read, &summary.write, &summary.flush, &summary.discard];
    for (op, section) in sections.into_iter().enumerate() {
        check_section(section.as_ref(), log, op as u8, elapsed_ns);
    }
    let failed = log.error.iter().filter(|&&errno| errno != 0).count();
    assert_eq!(summary.failed_requests, failed as u64);
    let flushes = summary.flush.as_ref().map_or(0, |flush| flush.requests);
    assert_eq!(summary.requests + flushes + summary.failed_requests, log.len() as u64);
}

fn check_section(section: Option<&SectionSummary>, log: &LogChunk, op: u8, elapsed_ns: u64) {
    let rows: Vec<usize> =
        (0..log.len()).filter(|&row| log.op[row] == op && log.error[row] == 0).collect();
    let Some(section) = section else {
        assert!(rows.is_empty());
        return;
    };
    let mut latencies: Vec<u64> =
        rows.iter().map(|&row| log.complete_ns[row] - log.submit_ns[row]).collect();
    latencies.sort_unstable();
    let count = latencies.len();
    let bytes: u64 = rows.iter().map(|&row| log.bytes[row]).sum();
    assert_eq!((section.requests, section.bytes), (count as u64, bytes));
    if elapsed_ns > 0 {
        assert_eq!(section.iops, Some(count as f64 * 1e9 / elapsed_ns as f64));
        let bandwidth = bytes as f64 * 1e9 / elapsed_ns as f64;
        assert_eq!(section.bandwidth_bytes_per_s, Some(bandwidth));
    }
    let stats = &section.latency_ns;
    assert_eq!(stats.mean, latencies.iter().sum::<u64>() as f64 / count as f64);
    let rank = |thousandths: usize| latencies[(count * thousandths).div_ceil(1000).max(1) - 1];
    assert_eq!(
        [stats.min, stats.p50, stats.p90, stats.p95, stats.p99, stats.p99_9, stats.max],
        [rank(0), rank(500), rank(900), rank(950), rank(990), rank(999), rank(1000)]
    );
    if let (Some(columns), Some(means)) = (&log.attribution_ns, &section.attribution_ns) {
        for (column, mean) in columns.iter().zip(means.0) {
            let sum: u64 = rows.iter().map(|&row| column[row]).sum();
            assert_eq!(mean, sum as f64 / count as f64);
        }
        for &row in &rows {
            let parts: u64 = columns.iter().map(|column| column[row]).sum();
            assert_eq!(parts, log.complete_ns[row] - log.submit_ns[row]);
        }
    }
}
