//! What was written, read back and compared.

use crate::observer::PyObserver;
use serde::Serialize;
use ssdscope_host::Contents;
use ssdscope_host::contents::Verdict;
use ssdscope_io::driver::{self, RequestList, RunError};
use ssdscope_io::summary::RunSummary;
use ssdscope_io::{Device, Nanos};

/// What came of it.
#[derive(Serialize)]
pub struct ReadBack {
    #[serde(flatten)]
    verdict: Verdict,
    /// How much was written, each place once.
    written_bytes: u64,
    /// Reads that failed.
    failed_requests: u64,
    elapsed_ns: u64,
    interrupted: bool,
    /// Why it did not come to its end.
    broken: Option<String>,
}

/// Reads every place that was written, in order, in requests of at most `request_bytes`.
pub fn read_back(
    device: &mut dyn Device,
    contents: &Contents,
    request_bytes: u64,
    iodepth: u32,
    observer: &mut PyObserver,
) -> ReadBack {
    let (offsets, lengths): (Vec<u64>, Vec<u64>) =
        contents.spans(request_bytes).into_iter().unzip();
    let list = RequestList {
        ops: &vec![0; offsets.len()],
        offsets_bytes: &offsets,
        lengths_bytes: &lengths,
        arrivals_ns: None,
        pauses_ns: None,
    };
    drop(contents.take_verdict());
    contents.compare(true);
    let result = driver::run_list(device, &list, iodepth, Nanos::ZERO, observer);
    contents.compare(false);
    let (summary, broken) = parted(result);
    let summary = summary.as_deref();
    ReadBack {
        verdict: contents.take_verdict(),
        written_bytes: lengths.iter().sum(),
        failed_requests: summary.map_or(0, |summary| summary.failed_requests),
        elapsed_ns: summary.map_or(0, |summary| summary.elapsed_ns),
        interrupted: summary.is_some_and(|summary| summary.interrupted),
        broken,
    }
}

fn parted(result: Result<RunSummary, RunError>) -> (Option<Box<RunSummary>>, Option<String>) {
    match result {
        Ok(summary) => (Some(Box::new(summary)), None),
        Err(RunError::Broken { failure, partial }) => (Some(partial), Some(failure.to_string())),
        Err(refused) => (None, Some(refused.to_string())),
    }
}
