//! The first pass: the trace as a whole, and every problem before anything runs.

use super::error::TraceError;
use super::fit::{Mapping, OVERLAY, Placement, Problems, Span, usable_bytes};
use super::format::{Format, Framing, Noted, Record};
use super::options::{Align, Fit, Target, TraceOptions, TraceStats, TracedLatency};
use super::order::{Sorter, WINDOW_REQUESTS};
use super::plausible::{Extent, Told, ambiguous};
use super::records::{KNOWN_VOLUMES, Records, Tally, Watch};
use super::regions::Regions;
use super::source::Source;
use super::volumes::{MAX_VOLUMES, VolumeMap, VolumeUse, region_bytes};
use crate::recorder::Recorder;
use crate::request::Op;
use crate::summary::LatencyStats;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// What the second pass needs to know.
pub struct Survey {
    pub stats: TraceStats,
    pub placement: Placement,
    /// The earliest arrival, which becomes zero.
    pub first: Nanos,
}

/// A trace and what is wanted of it.
pub struct Surveyor<'a> {
    pub source: &'a Source,
    pub format: &'static Format,
    pub options: &'a TraceOptions,
    pub target: Target,
}

impl Surveyor<'_> {
    /// Reads all of the trace and decides whether, and how, it runs.
    pub fn survey(&self, watch: Watch<'_>) -> Result<Survey, TraceError> {
        let mut records = self.records(watch)?;
        let mut totals = Totals::new(self.options, &self.target);
        let by_content = self.options.format.is_none() && self.options.columns.is_none();
        while let Some(record) = records.next()? {
            totals.add(&record);
            if totals.volumes.len() > MAX_VOLUMES {
                return Err(TraceError::TooManyVolumes { path: self.path(), limit: MAX_VOLUMES });
            }
        }
        let (tally, last_line) = (records.tally().clone(), records.line());
        let mut noted = records.noted();
        if !tally.overlaid.is_empty() {
            noted.insert("volumes_overlaid", tally.overlaid.len() as u64);
        }
        self.check_readable(&tally, last_line)?;
        self.check_not_empty(&tally)?;
        if by_content && !totals.extent.may_be_bytes(self.format).is_empty() {
            return Err(self.ambiguous(&totals, tally.kept));
        }
        if totals.reordered > 0 {
            self.check_sortable(watch)?;
        }
        let volumes = VolumeMap::end_to_end(&totals.volumes, region_bytes(self.target.unit))
            .ok_or_else(|| self.refusal("its volumes end to end exceed 16 EiB".to_owned()))?;
        let placement = Placement {
            target: self.target,
            align: self.options.align,
            volumes,
            mapping: Mapping::Straight,
        };
        self.fit(totals, &tally, noted, placement, watch)
    }

    fn path(&self) -> String {
        self.source.label.clone()
    }

    fn records<'w>(&self, watch: Watch<'w>) -> Result<Records<'w>, TraceError> {
        Records::new(self.source, self.format, self.options, Some(watch))
    }

    fn check_readable(&self, tally: &Tally, last_line: u64) -> Result<(), TraceError> {
        if self.options.skip_bad {
            return Ok(());
        }
        if let Some(bad) = tally.first_bad.first().cloned() {
            return Err(TraceError::Malformed {
                path: self.path(),
                line: bad.line,
                text: bad.text,
                expected: bad.expected,
                format: self.format.name,
                layout: self.format.layout,
                bad_lines: tally.bad_lines,
            });
        }
        match tally.damage.clone() {
            Some(reason) => Err(TraceError::Damaged {
                path: self.path(),
                line: last_line,
                requests: tally.kept,
                reason,
            }),
            None => Ok(()),
        }
    }

    fn check_not_empty(&self, tally: &Tally) -> Result<(), TraceError> {
        if tally.kept > 0 {
            return Ok(());
        }
        let path = self.path();
        if let Some(volume) = self.options.volume
            && tally.other_volumes > 0
        {
            let mut known: Vec<_> = tally.known_volumes.iter().map(u64::to_string).collect();
            if known.len() == KNOWN_VOLUMES {
                known.push("more".to_owned());
            }
            return Err(TraceError::NoSuchVolume { path, volume, known: known.join(", ") });
        }
        if tally.not_reads > 0 {
            let but = format!(" that read; --reads-only leaves out {}", tally.not_reads);
            return Err(TraceError::Empty { path, but });
        }
        let but = match (tally.bad_lines, tally.zero_size, self.options.limit) {
            (0, 0, Some(0)) => " within a limit of 0".to_owned(),
            (0, 0, _) => String::new(),
            (bad, zero, _) => {
                format!(" but {bad} lines that cannot be read and {zero} requests of no bytes")
            }
        };
        Err(TraceError::Empty { path, but })
    }

    fn ambiguous(&self, totals: &Totals, requests: u64) -> TraceError {
        let span = totals.last.saturating_sub(totals.first);
        let told = Told { format: self.format, requests, span, extent: &totals.extent };
        ambiguous(self.path(), &[told])
    }

    fn check_sortable(&self, watch: Watch<'_>) -> Result<(), TraceError> {
        let mut records = self.records(watch)?;
        let mut sorter = Sorter::new(WINDOW_REQUESTS);
        while sorter.next(&mut records)?.is_some() {}
        Ok(())
    }

    /// Chooses the mapping, or refuses with every count.
    fn fit(
        &self,
        mut totals: Totals,
        tally: &Tally,
        noted: Noted,
        mut placement: Placement,
        watch: Watch<'_>,
    ) -> Result<Survey, TraceError> {
        let (fit, align) = (self.options.fit, self.options.align);
        let volumes = placement.volumes.stats().len() as u64;
        let mut problems = Problems { requests: tally.kept, volumes, ..Problems::default() };
        if align == Align::Refuse {
            problems.misaligned = totals.misaligned;
        }
        let mut wrapped = 0;
        if let Some(regions) = totals.regions.take() {
            match regions.pack() {
                Ok(packed) => placement.mapping = Mapping::Packed(packed),
                Err(packed_bytes) => problems.packed_bytes = Some(packed_bytes),
            }
        } else if placement.volumes.reach_bytes() > usable_bytes(&self.target) {
            let (beyond, oversized) = self.count_beyond(&placement, watch)?;
            if fit == Fit::Wrap {
                (wrapped, problems.oversized) = (beyond, oversized);
                placement.mapping = Mapping::Wrapped;
            } else {
                problems.out_of_range = beyond;
            }
        }
        if problems.any() {
            return Err(self.does_not_fit(&problems, &placement));
        }
        let expanded = if align == Align::Expand { totals.misaligned } else { 0 };
        let stats = TraceStats {
            format: self.format,
            compression: self.source.compression,
            files: if self.format.framing == Framing::Events {
                self.source.files().len() as u64
            } else {
                1
            },
            requests: tally.kept,
            writes: totals.writes,
            skipped: tally.bad_lines + tally.zero_size,
            bad_lines: tally.bad_lines,
            first_bad_lines: tally.first_bad.clone(),
            noted,
            remark: tally.remark.clone(),
            zero_size: tally.zero_size,
            truncated: tally.damage.is_some(),
            damage: tally.damage.clone(),
            dropped: tally.dropped.clone(),
            expanded,
            wrapped,
            reordered: totals.reordered,
            other_volumes: tally.other_volumes,
            not_reads: tally.not_reads,
            volumes: placement.volumes.stats().len() as u64,
            volume_map: placement.volumes.stats().to_vec(),
            address_span_bytes: placement.volumes.reach_bytes(),
            packed_bytes: match &placement.mapping {
                Mapping::Packed(packed) => Some(packed.bytes()),
                Mapping::Straight | Mapping::Wrapped => None,
            },
            span_ns: totals.last.saturating_sub(totals.first),
            latency_ns: totals.latencies(),
        };
        Ok(Survey { stats, placement, first: totals.first })
    }

    /// A pass of its own, since where a volume starts is only known after the first.
    fn count_beyond(
        &self,
        placement: &Placement,
        watch: Watch<'_>,
    ) -> Result<(u64, u64), TraceError> {
        let usable = usable_bytes(&self.target);
        let mut records = self.records(watch)?;
        let (mut beyond, mut oversized) = (0, 0);
        while let Some(record) = records.next()? {
            if record.op == Op::Flush {
                continue;
            }
            let span = Span::of(&record).aligned(self.options.align, self.target.unit);
            let base = placement.volumes.base_bytes(record.volume, span.end);
            let base = base.ok_or(TraceError::Changed { path: self.path(), line: record.line })?;
            beyond += u64::from(base + span.end > usable);
            oversized += u64::from(span.len() > usable);
        }
        Ok((beyond, oversized))
    }

    fn does_not_fit(&self, problems: &Problems, placement: &Placement) -> TraceError {
        let (words, remedies) = problems.explain(&self.target, placement.volumes.reach_bytes());
        TraceError::DoesNotFit {
            path: self.path(),
            requests: problems.requests,
            misaligned: problems.misaligned,
            out_of_range: problems.out_of_range,
            problems: words,
            remedies,
        }
    }

    fn refusal(&self, problems: String) -> TraceError {
        TraceError::DoesNotFit {
            path: self.path(),
            requests: 0,
            misaligned: 0,
            out_of_range: 0,
            problems,
            remedies: format!("--volume chooses one of them; {OVERLAY}"),
        }
    }
}

/// What one reading of the trace adds up to.
struct Totals {
    align: Align,
    target: Target,
    volumes: BTreeMap<u64, VolumeUse>,
    regions: Option<Regions>,
    misaligned: u64,
    writes: u64,
    reordered: u64,
    first: Nanos,
    last: Nanos,
    extent: Extent,
    /// Latencies of reads and writes that the trace brought along.
    traced: [Recorder; 2],
}

impl Totals {
    fn new(options: &TraceOptions, target: &Target) -> Self {
        let region_bytes = region_bytes(target.unit);
        let packs = options.fit == Fit::Compact;
        Self {
            align: options.align,
            target: *target,
            volumes: BTreeMap::new(),
            regions: packs.then(|| Regions::new(region_bytes, target.capacity.0 / region_bytes)),
            misaligned: 0,
            writes: 0,
            reordered: 0,
            first: Nanos::MAX,
            last: Nanos::ZERO,
            extent: Extent::NONE,
            traced: [Recorder::default(), Recorder::default()],
        }
    }

    fn latencies(&mut self) -> Option<TracedLatency> {
        let [read, write] = self.traced.each_mut().map(LatencyStats::of);
        (read.is_some() || write.is_some()).then_some(TracedLatency { read, write })
    }

    #[inline]
    fn add(&mut self, record: &Record) {
        self.extent.add(record);
        let span = Span::of(record);
        self.misaligned += u64::from(!span.is_aligned(self.target.unit));
        let span = span.aligned(self.align, self.target.unit);
        let volume = self.volumes.entry(record.volume).or_default();
        volume.requests += 1;
        volume.end_bytes = volume.end_bytes.max(span.end);
        if let Some(regions) = &mut self.regions
            && record.op != Op::Flush
        {
            regions.touch(record.volume, span.start, span.end);
        }
        if let Some(latency) = record.latency
            && matches!(record.op, Op::Read | Op::Write)
        {
            self.traced[usize::from(record.op == Op::Write)].record(latency.0);
        }
        self.writes += u64::from(matches!(record.op, Op::Write | Op::Discard));
        self.reordered += u64::from(record.arrival < self.last);
        self.first = self.first.min(record.arrival);
        self.last = self.last.max(record.arrival);
    }
}
