//! The simulated drive against DiskSim itself, row by row.
//!
//! `shared/reference/disksim-results.csv` beside the project holds what the original
//! printed for 10 configurations x 4 patterns x 5 sizes, one request at a time, and
//! `disksim-traces` the random addresses. Where that folder is absent the test says so
//! and passes; formulas that need no file are in `closed_form`.

use super::{closed_loop, latencies, sample};
use ssdscope_io::{Device, Lba, Request, Sectors};
use ssdscope_sim::msr::{MsrDrive, MsrParams, Policy};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::PathBuf;

const REQUESTS: u64 = 300;
const TOLERANCE: f64 = 0.001;

type Row = HashMap<String, String>;

fn reference() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    if !folder.is_dir() {
        println!("skipped: no folder {}", folder.display());
        return None;
    }
    Some(folder)
}

fn rows(folder: &std::path::Path) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join("disksim-results.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let values = line.split(',').map(str::to_owned);
            names.iter().map(|name| (*name).to_owned()).zip(values).collect()
        })
        .collect()
}

/// First sectors of a random pattern, from the trace the original was fed.
fn random_sectors(folder: &std::path::Path, pattern: &str, size_bytes: u64) -> Vec<u64> {
    let name = format!("disksim-traces/{pattern}_{}k.trace.gz", size_bytes / 1024);
    let packed = std::fs::File::open(folder.join(name)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| line.split(' ').nth(2).unwrap().parse().unwrap()).collect()
}

fn params(row: &Row) -> MsrParams {
    let integer = |name: &str| row[name].parse::<u32>().unwrap();
    let policy = if row["cleaning_policy"] == "wear" { Policy::WearAware } else { Policy::Greedy };
    let sample =
        sample(integer("blocks_per_plane"), integer("reserve_pct"), integer("min_free_pct"));
    MsrParams { policy, ..sample }
}

fn requests(folder: &std::path::Path, pattern: &str, size_bytes: u64) -> Vec<Request> {
    let sectors = Sectors(size_bytes / 512);
    let first: Vec<u64> = if pattern.starts_with("seq") {
        (0..REQUESTS).map(|number| number * sectors.0).collect()
    } else {
        random_sectors(folder, pattern, size_bytes)
    };
    let make = if pattern.ends_with("read") { Request::read } else { Request::write };
    (0..).zip(first).map(|(id, sector)| make(id, Lba(sector), sectors)).collect()
}

/// Relative deviations of one row's statistics, and how many are exact to the nanosecond.
fn compare(row: &Row, drive: &mut MsrDrive, mut latencies: Vec<u64>) -> (f64, usize) {
    let count = latencies.len() as f64;
    let mean = latencies.iter().sum::<u64>() as f64 / count;
    let squares: f64 = latencies.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum();
    latencies.sort_unstable();
    let rank = |percent: usize| latencies[(percent * latencies.len()).div_ceil(100) - 1] as f64;
    let counters = drive.counters().unwrap();
    assert_eq!(counters.gc_runs.to_string(), row["n_cleans"]);
    assert_eq!(counters.block_erases.to_string(), row["n_erases"]);
    assert_eq!(counters.gc_pages_moved.to_string(), row["gc_pages_moved"]);
    let host_bytes = counters.host_bytes_read + counters.host_bytes_written;
    assert_eq!((host_bytes / 4096).to_string(), row["page_ops"]);
    let ours = [
        ("mean_response_ms", mean),
        ("std_ms", (squares / (count - 1.0)).sqrt()),
        ("min_ms", latencies[0] as f64),
        ("p50_ms", rank(50)),
        ("p95_ms", rank(95)),
        ("p99_ms", rank(99)),
        ("max_ms", latencies[latencies.len() - 1] as f64),
        ("gc_busy_ms", drive.cleaning_ns() as f64),
        ("sim_ms", drive.now().0 as f64),
    ];
    let (mut worst, mut exact) = (0.0_f64, 0);
    for (name, value_ns) in ours {
        let theirs_ns = row[name].parse::<f64>().unwrap() * 1e6;
        let apart = (value_ns - theirs_ns).abs();
        // A request's transfer is rounded once, so 300 of them are up to 150 ns off.
        exact += usize::from(apart <= if name == "sim_ms" { 150.0 } else { 0.5001 });
        let relative = if apart <= 1.0 { 0.0 } else { apart / theirs_ns };
        assert!(relative <= TOLERANCE, "{name}: {value_ns} ns, not {theirs_ns} ns\n{row:?}");
        worst = worst.max(relative);
    }
    (worst, exact)
}

#[test]
fn every_row_of_the_original() {
    let Some(folder) = reference() else { return };
    let rows = rows(&folder);
    assert_eq!(rows.len(), 200);
    let (mut worst, mut exact, mut exact_rows, mut stuck_rows) = (0.0_f64, 0, 0, 0);
    for row in &rows {
        let (pattern, size) = (&row["pattern"], row["size_bytes"].parse().unwrap());
        let mut drive = MsrDrive::new(params(row), 1).unwrap();
        match closed_loop(&mut drive, requests(&folder, pattern, size)) {
            Ok(done) => {
                assert_eq!(row["error"], "", "the original failed: {row:?}");
                let (apart, same) = compare(row, &mut drive, latencies(&done));
                worst = worst.max(apart);
                exact += same;
                exact_rows += usize::from(same == 9);
            }
            Err((issued, message)) => {
                assert_ne!(row["error"], "", "{message}\n{row:?}");
                assert_eq!(issued.to_string(), row["requests_done_at_error"]);
                assert!(message.starts_with("plane ") && message.contains("of element"));
                stuck_rows += 1;
            }
        }
    }
    assert_eq!(stuck_rows, 4);
    println!(
        "{} rows with results: {exact_rows} exact to the nanosecond in all 9 statistics \
         ({exact} of {} statistics), worst deviation {:.7} %; {stuck_rows} rows stuck alike",
        rows.len() - stuck_rows,
        9 * (rows.len() - stuck_rows),
        100.0 * worst
    );
}
