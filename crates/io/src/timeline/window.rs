//! One window: what its requests came to, and what the drive and the machine did meanwhile.

use super::{MachineReading, Reading, Served};
use crate::attribution::Attribution;
use crate::histogram::Histogram;
use crate::request::Op;
use crate::upkeep::Upkeep;

/// Latencies of a window: 2^8 buckets per power of two, an error of 2^-9 (0.2 %) at most.
pub type Latencies = Histogram<8>;

/// The requests of one kind in a window.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub requests: u64,
    pub bytes: u64,
    pub latency_sum_ns: u128,
    pub max_ns: u64,
    pub attribution: Attribution,
    pub latencies: Latencies,
}

impl Section {
    fn extend(&mut self, later: &Self) {
        self.requests += later.requests;
        self.bytes += later.bytes;
        self.latency_sum_ns += later.latency_sum_ns;
        self.max_ns = self.max_ns.max(later.max_ns);
        self.attribution += later.attribution;
        self.latencies.merge(&later.latencies);
    }
}

/// What the columns of a series are of: an operation, of all flows or of one.
pub type Series = (Option<u16>, u8);

/// A window.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// What was served, by series; of few series nothing is quicker than looking through them.
    pub sections: Vec<(Series, Section)>,
    pub failed: u64,
    pub upkeep: Option<Upkeep>,
    pub others_bytes: Option<u64>,
    pub machine: Option<MachineReading>,
}

impl Window {
    /// Adds a request, to those of all flows or of one.
    pub fn add(&mut self, served: &Served<'_>, flow: Option<u16>, attributes: bool) {
        let section = self.section((flow, served.op as u8));
        section.requests += 1;
        section.bytes += served.bytes;
        section.latency_sum_ns += u128::from(served.latency_ns);
        section.max_ns = section.max_ns.max(served.latency_ns);
        section.latencies.record(served.latency_ns);
        if attributes {
            section.attribution += *served.attribution;
        }
    }

    fn section(&mut self, series: Series) -> &mut Section {
        let place = self.sections.iter().position(|(each, _)| *each == series);
        let place = place.unwrap_or_else(|| {
            self.sections.push((series, Section::default()));
            self.sections.len() - 1
        });
        &mut self.sections[place].1
    }

    /// How many requests were served or failed.
    pub fn served(&self) -> u64 {
        let of_all = self.sections.iter().filter(|((flow, _), _)| flow.is_none());
        of_all.map(|(_, section)| section.requests).sum::<u64>() + self.failed
    }

    /// What was served of a series.
    pub fn of(&self, series: Series) -> Option<&Section> {
        self.sections.iter().find(|(each, _)| *each == series).map(|(_, section)| section)
    }

    /// Adds what was read at its end, less what was read before.
    pub fn surround(&mut self, now: &Reading, before: &Reading) {
        let surroundings = Self {
            upkeep: now.upkeep.zip(before.upkeep).map(|(now, then)| now.since(&then)),
            others_bytes: now
                .others_bytes
                .zip(before.others_bytes)
                .map(|(now, then)| now.saturating_sub(then)),
            machine: now.machine.zip(before.machine).map(|(now, then)| now.since(&then)),
            ..Self::default()
        };
        self.extend(&surroundings);
    }

    /// Takes in the window behind it.
    pub fn extend(&mut self, later: &Self) {
        for (series, section) in &later.sections {
            self.section(*series).extend(section);
        }
        self.failed += later.failed;
        match (&mut self.upkeep, &later.upkeep) {
            (Some(ours), Some(theirs)) => ours.extend(theirs),
            (ours, theirs) => *ours = ours.or(*theirs),
        }
        match (&mut self.machine, &later.machine) {
            (Some(ours), Some(theirs)) => ours.extend(theirs),
            (ours, theirs) => *ours = ours.or(*theirs),
        }
        self.others_bytes = match (self.others_bytes, later.others_bytes) {
            (Some(ours), Some(theirs)) => Some(ours + theirs),
            (ours, theirs) => ours.or(theirs),
        };
    }
}

/// The operations that a summary has sections of, with their names.
pub const OPS: [(Op, &str); 5] = [
    (Op::Read, "read"),
    (Op::Write, "write"),
    (Op::Flush, "flush"),
    (Op::Discard, "discard"),
    (Op::WriteZeroes, "write_zeroes"),
];
