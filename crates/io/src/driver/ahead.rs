//! What a run will write, told to a device that looks at it before the time counts.
//!
//! Nothing of somebody's may be lost on a real drive, and looking takes it time. A run that says how
//! much it does is made once beforehand, without the drive; of any other its whole region is looked
//! at.

use super::{Progress, RunError, RunObserver};
use crate::device::Device;
use crate::generator::Generator;
use crate::request::Op;
use crate::units::{Lba, SECTOR_BYTES, Sectors};
use crate::workload::Plan;
use std::ops::{ControlFlow, Range};

/// More requests than this are not made beforehand: their region is looked at whole.
const LISTED_MAX: usize = 1 << 22;
/// As is a region of which a larger part than one in so many would be written at random.
const PART_MAX: u64 = 8;

/// Tells a device what will be written; false if the observer called it off.
///
/// # Errors
/// [`RunError::Device`] with what would be lost; nothing was done then.
pub fn expect_writes(
    device: &mut dyn Device,
    spans: impl FnOnce() -> Vec<Range<u64>>,
    observer: &mut dyn RunObserver,
) -> Result<bool, RunError> {
    if !device.vets_writes() {
        return Ok(true);
    }
    let mut go_on = |fraction| {
        let progress = Progress { fraction: Some(fraction), looking: true, ..Progress::NONE };
        observer.progress(&progress) == ControlFlow::Continue(())
    };
    let goes_on = device.expect_writes(&spans(), &mut go_on)?;
    observer.begins();
    Ok(goes_on)
}

/// The bytes that some requests lose.
pub fn of_requests(
    requests: impl Iterator<Item = (Op, Lba, Sectors)>,
) -> impl Iterator<Item = Range<u64>> {
    requests
        .filter(|(op, ..)| matches!(op, Op::Write | Op::Discard | Op::WriteZeroes))
        .map(|(_, lba, sectors)| span(lba, sectors))
}

fn span(lba: Lba, sectors: Sectors) -> Range<u64> {
    lba.0 * SECTOR_BYTES..(lba.0 + sectors.0) * SECTOR_BYTES
}

/// The bytes that some workloads lose.
pub(super) fn of_plans<'a>(plans: impl Iterator<Item = &'a Plan>) -> Vec<Range<u64>> {
    plans.filter(|plan| plan.read_percent < 100).flat_map(of_plan).collect()
}

fn of_plan(plan: &Plan) -> Vec<Range<u64>> {
    let region = span(plan.region.start, plan.region.sectors);
    let limit_bytes = (region.end - region.start) / PART_MAX;
    let ahead = |job| plan.workload.offset_increment_bytes * job;
    let jobs = 0..plan.workload.numjobs;
    listed(plan, limit_bytes).unwrap_or_else(|| {
        jobs.map(|job| region.start + ahead(job)..region.end + ahead(job)).collect()
    })
}

/// Every write of a workload that ends by itself, if there are few.
fn listed(plan: &Plan, limit_bytes: u64) -> Option<Vec<Range<u64>>> {
    let full = &plan.workload;
    let rates = [full.read_rate_bytes, full.write_rate_bytes];
    if plan.read_percent > 0 && rates.iter().any(Option::is_some) {
        return None; // what is written when depends on how fast the drive is
    }
    let mut spans: Vec<Range<u64>> = Vec::new();
    let (mut requests, mut bytes) = (0, 0);
    for job in 0..plan.workload.numjobs {
        let mut generator = Generator::new(plan, job);
        while let Ok(request) = generator.next_request() {
            requests += 1;
            if requests > LISTED_MAX {
                return None;
            }
            if request.op != Op::Write {
                continue;
            }
            let next = span(request.lba, request.sectors);
            match spans.last_mut() {
                Some(last) if last.end == next.start => last.end = next.end,
                _ => {
                    bytes += next.end - next.start;
                    spans.push(next);
                }
            }
            if bytes > limit_bytes {
                return None;
            }
        }
    }
    Some(spans)
}
