//! A synthetic workload: what to ask of a drive, for how long, how hard.
//!
//! Names and meanings are those of fio, whose `--rw --bs --iodepth …` they mirror:
//! every limit and rate is per job. [`Workload`] is what a user writes, with
//! everything but `rw` optional; [`Workload::plan`] checks it against a drive,
//! reports all faults at once, and fills every gap.

mod check;
mod passes;
mod plan;
mod shapes;

pub(crate) use check::{LONGEST_SPAN, MOST_IN_FLIGHT};
pub use passes::Passes;
pub use plan::{JobLimits, Plan, Region, Shape};
pub use shapes::{BlockShare, Distribution, Zone};

use crate::arrivals::Arrival;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A run that only an interval stops ends after so many requests per job at the latest.
pub const MOST_REQUESTS_UNTIL_CI: u64 = 10_000_000;

/// The access pattern, by fio's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential reads mixed with sequential writes.
    Rw,
    /// Random reads mixed with random writes.
    RandRw,
}

impl Pattern {
    /// Whether requests are at random places unless `percentage_random` says otherwise.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// Whether both reads and writes are asked for.
    #[must_use]
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Rw | Self::RandRw)
    }

    /// Whether anything is read.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandRead) || self.is_mixed()
    }

    /// Whether anything is written.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite) || self.is_mixed()
    }
}

/// A workload as it is written down. `None` means the default, which
/// [`Workload::resolve`] fills in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The access pattern.
    pub rw: Pattern,
    /// Bytes per request.
    #[serde(default = "default_block_bytes")]
    pub block_bytes: u64,
    /// Bytes per read, where different.
    #[serde(default)]
    pub read_block_bytes: Option<u64>,
    /// Bytes per write, where different.
    #[serde(default)]
    pub write_block_bytes: Option<u64>,
    /// Several sizes with their shares, instead of one.
    #[serde(default)]
    pub block_split: Option<Vec<BlockShare>>,
    /// The same of the reads, where different.
    #[serde(default)]
    pub read_block_split: Option<Vec<BlockShare>>,
    /// The same of the writes, where different.
    #[serde(default)]
    pub write_block_split: Option<Vec<BlockShare>>,
    /// Reads in a hundred requests of a mixed pattern.
    #[serde(default = "default_read_percent")]
    pub read_percent: u64,
    /// Requests each job keeps in flight.
    #[serde(default = "one")]
    pub iodepth: u64,
    /// Jobs that run side by side.
    #[serde(default = "one")]
    pub numjobs: u64,
    /// Where the region starts.
    #[serde(default)]
    pub offset_bytes: u64,
    /// How far the region of each job begins behind that of the one before.
    #[serde(default)]
    pub offset_increment_bytes: u64,
    /// How long the region is; default: to the end of the drive, from the last job's start.
    #[serde(default)]
    pub size_bytes: Option<u64>,
    /// Bytes each job transfers; default, where nothing else ends the run: the region once.
    #[serde(default)]
    pub io_bytes: Option<u64>,
    /// Requests each job makes.
    #[serde(default)]
    pub requests: Option<u64>,
    /// After so long nothing new is issued.
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    /// Stop once the 95 % interval of each direction's mean latency is within this share of it.
    #[serde(default)]
    pub until_ci: Option<f64>,
    /// Pause between a completion and the request that takes its place.
    #[serde(default)]
    pub thinktime_ns: u64,
    /// Requests of a job between two pauses.
    #[serde(default = "one")]
    pub thinktime_every: u64,
    /// Most requests per second of each job; with arrivals of their own, how many.
    #[serde(default)]
    pub rate_iops: Option<u64>,
    /// Most bytes per second of each job, of reads and of writes apart.
    #[serde(default)]
    pub rate_bytes: Option<u64>,
    /// The same of the reads, where different.
    #[serde(default)]
    pub read_rate_bytes: Option<u64>,
    /// The same of the writes, where different.
    #[serde(default)]
    pub write_rate_bytes: Option<u64>,
    /// What makes a job ask.
    #[serde(default)]
    pub arrival: Arrival,
    /// A flush after so many writes of a job; 0 = never.
    #[serde(default)]
    pub fsync_every: u64,
    /// Writes are acknowledged only when durable.
    #[serde(default)]
    pub fua: bool,
    /// Random requests in a hundred; default: 100 for random patterns, else 0.
    #[serde(default)]
    pub percentage_random: Option<u64>,
    /// The same of the reads, where different.
    #[serde(default)]
    pub read_percentage_random: Option<u64>,
    /// The same of the writes, where different.
    #[serde(default)]
    pub write_percentage_random: Option<u64>,
    /// Where random requests fall; default: anywhere alike.
    #[serde(default)]
    pub random_distribution: Option<Distribution>,
    /// Gap from the end of a sequential request to the start of the next of its direction; minus
    /// its size for requests in one place, less than that for requests that go backwards.
    #[serde(default)]
    pub stride_bytes: i64,
    /// The gap between reads, where different.
    #[serde(default)]
    pub read_stride_bytes: Option<i64>,
    /// The gap between writes, where different.
    #[serde(default)]
    pub write_stride_bytes: Option<i64>,
    /// Equal parts of the region that take sequential requests in turn, each in order.
    #[serde(default = "one")]
    pub partitions: u64,
    /// Sequential reads and writes begin at a random block of the region, not at its start.
    #[serde(default)]
    pub random_start: bool,
    /// Requests each job makes before those that count.
    #[serde(default)]
    pub ramp_requests: u64,
    /// How long the run goes on before requests count; with `ramp_requests`, whichever ends first.
    #[serde(default)]
    pub ramp_ns: Option<u64>,
    /// What random offsets are multiples of, from the start of the region; default: the smallest
    /// request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// How long after the run each job begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_delay_ns: u64,
    /// How it begins its region anew and ends, where that is fio's way; default: a request in order
    /// that would leave the region starts over, and none goes over `io_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// The seed of all random choices.
    #[serde(default = "one")]
    pub seed: u64,
}

const fn default_block_bytes() -> u64 {
    4096
}

const fn default_read_percent() -> u64 {
    50
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Workload {
    /// The workload of one pattern with every default.
    #[must_use]
    pub const fn new(rw: Pattern) -> Self {
        Self {
            rw,
            block_bytes: default_block_bytes(),
            read_block_bytes: None,
            write_block_bytes: None,
            block_split: None,
            read_block_split: None,
            write_block_split: None,
            read_percent: default_read_percent(),
            iodepth: one(),
            numjobs: one(),
            offset_bytes: 0,
            offset_increment_bytes: 0,
            size_bytes: None,
            io_bytes: None,
            requests: None,
            runtime_ns: None,
            until_ci: None,
            thinktime_ns: 0,
            thinktime_every: one(),
            rate_iops: None,
            rate_bytes: None,
            read_rate_bytes: None,
            write_rate_bytes: None,
            arrival: Arrival::Closed,
            fsync_every: 0,
            fua: false,
            percentage_random: None,
            read_percentage_random: None,
            write_percentage_random: None,
            random_distribution: None,
            stride_bytes: 0,
            read_stride_bytes: None,
            write_stride_bytes: None,
            partitions: one(),
            random_start: false,
            ramp_requests: 0,
            ramp_ns: None,
            align_bytes: None,
            start_delay_ns: 0,
            passes: None,
            seed: one(),
        }
    }

    /// Reads a workload from JSON, where `null` stands for the default.
    ///
    /// # Errors
    /// If the text is no JSON object, `rw` is missing, or a key is unknown or of
    /// the wrong type.
    pub fn from_json(text: &str) -> Result<Self, WorkloadError> {
        let mut value: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| WorkloadError::one("workload", format!("not valid JSON: {error}")))?;
        if let Some(object) = value.as_object_mut() {
            object.retain(|_, value| !value.is_null());
        }
        serde_json::from_value(value)
            .map_err(|error| WorkloadError::one("workload", error.to_string()))
    }
}

/// One thing that is wrong with a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadFault {
    /// The key at fault.
    pub field: &'static str,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// Everything that is wrong with a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError {
    /// At least one fault, in the order of the keys.
    pub faults: Vec<WorkloadFault>,
}

impl WorkloadError {
    fn one(field: &'static str, message: String) -> Self {
        Self { faults: vec![WorkloadFault { field, message }] }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, WorkloadFault { field, message }) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(out, "{separator}{field}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for WorkloadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_absent_keys_are_defaults() {
        let workload = Workload::from_json(r#"{"rw": "randread", "size_bytes": null}"#).unwrap();
        assert_eq!(workload, Workload::new(Pattern::RandRead));
        let text = serde_json::to_string(&workload).unwrap();
        assert_eq!(Workload::from_json(&text).unwrap(), workload);
    }

    #[test]
    fn bad_json_is_refused_with_the_reason() {
        for (text, expected) in [
            ("{", "not valid JSON"),
            ("{}", "missing field `rw`"),
            (r#"{"rw": "randread", "blok_bytes": 1}"#, "unknown field `blok_bytes`"),
            (r#"{"rw": "sideways"}"#, "unknown variant `sideways`"),
            (r#"{"rw": "read", "iodepth": -1}"#, "invalid value"),
        ] {
            let error = Workload::from_json(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
