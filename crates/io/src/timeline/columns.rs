//! A timeline as columns of equal length, a value for each window.

use super::percentile::Group;
use super::window::{OPS, Section, Series, Window};
use crate::attribution::Cause;
use crate::units::Nanos;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// The requests of one kind over time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SeriesColumns {
    /// Requests that completed in the window.
    pub requests: Vec<u64>,
    /// Bytes they moved.
    pub bytes: Vec<u64>,
    /// Requests per second of the window; `None` if that took no time.
    pub iops: Vec<Option<f64>>,
    /// Bytes per second of the window; `None` if that took no time.
    pub bandwidth_bytes_per_s: Vec<Option<f64>>,
    /// Mean latency; `None` without requests, here and below.
    pub mean_ns: Vec<Option<f64>>,
    /// Median, of as many windows in a row as the next column says.
    pub p50_ns: Vec<Option<u64>>,
    /// Windows that the median is of; zero where there is none.
    pub p50_windows: Vec<u64>,
    /// 99th percentile, likewise.
    pub p99_ns: Vec<Option<u64>>,
    /// Windows that it is of.
    pub p99_windows: Vec<u64>,
    /// Largest latency.
    pub max_ns: Vec<Option<u64>>,
    /// Mean time by cause; `None` on a device that cannot say.
    pub attribution_ns: Option<CauseColumns>,
}

/// Mean nanoseconds by [`Cause`], a column each; causes that took no time are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseColumns(pub Vec<(Cause, Vec<Option<f64>>)>);

impl Serialize for CauseColumns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (cause, column) in &self.0 {
            map.serialize_entry(cause.name(), column)?;
        }
        map.end()
    }
}

/// What the drive did beside serving requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpkeepColumns {
    /// Valid pages moved by collection.
    pub gc_pages_moved: Vec<u64>,
    /// Pages folded.
    pub pslc_pages_folded: Vec<u64>,
    /// Pages moved to even out wear.
    pub wear_pages_moved: Vec<u64>,
    /// Merges that copied pages.
    pub merges: Vec<u64>,
    /// Parts of the mapping table loaded.
    pub map_loads: Vec<u64>,
    /// Requests that waited for room in the write buffer when the window ended.
    pub waiting_for_buffer: Vec<u64>,
    /// Parts of the region with one bit per cell that were full when it ended.
    pub pslc_parts_full: Vec<u64>,
    /// Parts that it has.
    pub pslc_parts: Vec<u64>,
}

/// What the machine of a real drive did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MachineColumns {
    /// How long our threads waited for a core.
    pub waited_ns: Vec<u64>,
    /// What the host of a virtual machine gave to others.
    pub steal_ns: Vec<u64>,
    /// How long the machine stood still.
    pub stalled_ns: Vec<u64>,
}

/// One flow over time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowColumns {
    /// What it is called.
    pub name: String,
    /// Its requests, by what they do.
    #[serde(flatten)]
    pub by_op: BTreeMap<&'static str, SeriesColumns>,
}

/// A run over time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TimelineSummary {
    /// When the first window begins, on the device's clock.
    pub start_ns: u64,
    /// How long a window is.
    pub interval_ns: u64,
    /// Whether the run went on behind the last window.
    pub cut_off: bool,
    /// When each window begins, from the start.
    pub begin_ns: Vec<u64>,
    /// How long each took: the last one is shorter or longer.
    pub duration_ns: Vec<u64>,
    /// Requests that failed.
    pub failed_requests: Vec<u64>,
    /// Requests, by what they do; only what was served.
    #[serde(flatten)]
    pub by_op: BTreeMap<&'static str, SeriesColumns>,
    /// The flows of a run of several; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowColumns>>,
    /// `None` of a drive that does not tell.
    pub upkeep: Option<UpkeepColumns>,
    /// Bytes that others moved on the drive; `None` where nobody counts.
    pub others_bytes: Option<Vec<u64>>,
    /// `None` of a drive in virtual time.
    pub machine: Option<MachineColumns>,
}

/// What columns are made of.
pub(super) struct Columns<'a> {
    pub windows: &'a [Window],
    pub percentiles: &'a BTreeMap<Series, [Vec<Group>; 2]>,
    pub width_ns: u64,
    pub end_ns: u64,
    pub attributes: bool,
}

impl Columns<'_> {
    pub fn summary(&self, start: Nanos, cut_off: bool, names: &[&str]) -> TimelineSummary {
        let flows = (names.len() > 1).then(|| {
            let flow = |(place, name): (u16, &&str)| FlowColumns {
                name: (*name).to_owned(),
                by_op: self.by_op(Some(place)),
            };
            (0..).zip(names).map(flow).collect()
        });
        TimelineSummary {
            start_ns: start.0,
            interval_ns: self.width_ns,
            cut_off,
            begin_ns: (0..self.windows.len() as u64).map(|place| place * self.width_ns).collect(),
            duration_ns: self.durations_ns(),
            failed_requests: self.windows.iter().map(|window| window.failed).collect(),
            by_op: self.by_op(None),
            flows,
            upkeep: self.upkeep(),
            others_bytes: self.every(|window| window.others_bytes),
            machine: self.machine(),
        }
    }

    /// The last window ends with the run.
    fn durations_ns(&self) -> Vec<u64> {
        let mut durations = vec![self.width_ns; self.windows.len()];
        if let Some(last) = durations.last_mut() {
            let begin_ns = self.width_ns * (self.windows.len() as u64 - 1);
            *last = self.end_ns.saturating_sub(begin_ns);
        }
        durations
    }

    fn by_op(&self, flow: Option<u16>) -> BTreeMap<&'static str, SeriesColumns> {
        let series = |(op, name)| Some((name, self.series((flow, op as u8))?));
        OPS.into_iter().filter_map(series).collect()
    }

    fn series(&self, series: Series) -> Option<SeriesColumns> {
        let sections: Vec<Option<&Section>> =
            self.windows.iter().map(|window| window.of(series)).collect();
        let [medians, tails] = self.percentiles.get(&series)?;
        let (p50_ns, p50_windows) = spread(medians, &sections);
        let (p99_ns, p99_windows) = spread(tails, &sections);
        let count = |of: fn(&Section) -> u64| -> Vec<u64> {
            sections.iter().map(|section| section.map_or(0, of)).collect()
        };
        let (requests, bytes) = (count(|each| each.requests), count(|each| each.bytes));
        Some(SeriesColumns {
            iops: self.per_second(&requests),
            bandwidth_bytes_per_s: self.per_second(&bytes),
            mean_ns: means(&sections, |each| each.latency_sum_ns as f64),
            p50_ns,
            p50_windows,
            p99_ns,
            p99_windows,
            max_ns: sections.iter().map(|each| Some((*each)?.max_ns)).collect(),
            attribution_ns: self.attributes.then(|| causes(&sections)),
            requests,
            bytes,
        })
    }

    fn per_second(&self, amounts: &[u64]) -> Vec<Option<f64>> {
        let rate = |(amount, duration): (&u64, u64)| {
            (duration > 0).then(|| *amount as f64 * 1e9 / duration as f64)
        };
        amounts.iter().zip(self.durations_ns()).map(rate).collect()
    }

    /// A value of each window; `None` if none has one.
    fn every<T: Default>(&self, value: impl Fn(&Window) -> Option<T>) -> Option<Vec<T>> {
        let values: Vec<Option<T>> = self.windows.iter().map(value).collect();
        let told = values.iter().any(Option::is_some);
        told.then(|| values.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn upkeep(&self) -> Option<UpkeepColumns> {
        let mut columns = UpkeepColumns::default();
        let mut state = self.windows.iter().find_map(|window| window.upkeep)?;
        for window in self.windows {
            // What is as it is stays so in windows in which nothing completed.
            state = window.upkeep.unwrap_or_else(|| state.since(&state));
            columns.gc_pages_moved.push(state.gc_pages_moved);
            columns.pslc_pages_folded.push(state.pslc_pages_folded);
            columns.wear_pages_moved.push(state.wear_pages_moved);
            columns.merges.push(state.merges);
            columns.map_loads.push(state.map_loads);
            columns.waiting_for_buffer.push(state.waiting_for_buffer);
            columns.pslc_parts_full.push(state.pslc_parts_full);
            columns.pslc_parts.push(state.pslc_parts);
        }
        Some(columns)
    }

    fn machine(&self) -> Option<MachineColumns> {
        let every = self.every(|window| window.machine)?;
        Some(MachineColumns {
            waited_ns: every.iter().map(|each| each.waited_ns).collect(),
            steal_ns: every.iter().map(|each| each.steal_ns).collect(),
            stalled_ns: every.iter().map(|each| each.stalled_ns).collect(),
        })
    }
}

/// Gives each window that has requests the percentile of its group.
fn spread(groups: &[Group], sections: &[Option<&Section>]) -> (Vec<Option<u64>>, Vec<u64>) {
    let mut values = vec![None; sections.len()];
    let mut windows = vec![0; sections.len()];
    for group in groups {
        for place in group.first..group.first + group.windows {
            if sections[place].is_some() {
                values[place] = Some(group.value_ns);
                windows[place] = group.windows as u64;
            }
        }
    }
    (values, windows)
}

fn means(sections: &[Option<&Section>], sum: impl Fn(&Section) -> f64) -> Vec<Option<f64>> {
    let mean = |section: &Option<&Section>| section.map(|each| sum(each) / each.requests as f64);
    sections.iter().map(mean).collect()
}

fn causes(sections: &[Option<&Section>]) -> CauseColumns {
    let took = |cause: &Cause| sections.iter().flatten().any(|each| each.attribution[*cause] > 0);
    let column = |cause| (cause, means(sections, |each| each.attribution[cause] as f64));
    CauseColumns(Cause::ALL.into_iter().filter(took).map(column).collect())
}
