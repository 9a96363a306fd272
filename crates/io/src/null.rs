//! A device that completes everything at once: what it shows is our own overhead.
//!
//! Its clock is the wall's, because the overhead of a driver is wall time: a
//! virtual null device would report latencies of zero and infinite rates.

use crate::attribution::Attribution;
use crate::caches::Caches;
use crate::device::{ClockKind, Device, DeviceError, DeviceInfo, DeviceKind, check_request};
use crate::request::{Completion, Outcome, Request};
use crate::units::Nanos;
use std::time::{Duration, Instant};

/// Completes every request at the next [`Device::advance`]; stores nothing.
#[derive(Debug)]
pub struct NullDevice {
    info: DeviceInfo,
    opened: Instant,
    pending: Vec<(Nanos, u64)>,
}

impl NullDevice {
    /// A null device of this capacity, which is cut to whole 512-byte sectors.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        let info = DeviceInfo {
            kind: DeviceKind::Null,
            capacity_bytes: capacity_bytes - capacity_bytes % crate::units::SECTOR_BYTES,
            logical_block_bytes: crate::units::SECTOR_BYTES,
            clock: ClockKind::Wall,
            writable: true,
            discard: true,
            attribution: false,
            snapshot: false,
            caches: Caches::ABSENT,
        };
        Self::in_place_of(info)
    }

    /// A null device that looks like another one, where somebody else does the work.
    #[must_use]
    pub fn in_place_of(info: DeviceInfo) -> Self {
        Self { info, opened: Instant::now(), pending: Vec::new() }
    }
}

impl Device for NullDevice {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn now(&self) -> Nanos {
        Nanos(self.opened.elapsed().as_nanos() as u64)
    }

    fn submit(&mut self, _now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info, &request)?;
        self.pending.push((self.now(), request.id));
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        (!self.pending.is_empty()).then(|| self.now())
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        let completed = self.now();
        if self.pending.is_empty() && to < Nanos::MAX {
            std::thread::sleep(Duration::from_nanos(to.saturating_sub(completed).0));
        }
        let done = |(submitted, id)| Completion {
            id,
            submitted,
            completed,
            outcome: Outcome::Done,
            attribution: Attribution::ZERO,
        };
        completions.extend(self.pending.drain(..).map(done));
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Unobserved, run_workload};
    use crate::workload::{Pattern, Workload};

    #[test]
    fn a_run_shows_our_own_overhead_and_nothing_else() {
        let mut device = NullDevice::new((1 << 20) + 100);
        let mut workload = Workload::new(Pattern::RandRead);
        workload.iodepth = 4;
        workload.requests = Some(1_000);
        let summary = run_workload(&mut device, &workload, &mut Unobserved).unwrap();
        assert_eq!(summary.requests, 1_000);
        let read = summary.read.unwrap();
        assert!(read.latency_ns.p50 < 1_000_000, "{:?}", read.latency_ns);
        assert_eq!(read.attribution_ns, None);
        assert_eq!(summary.counters, None);
    }

    #[test]
    fn idle_takes_its_time() {
        let mut device = NullDevice::new(4096);
        let before = device.now();
        device.advance(before + Nanos(3_000_000), &mut Vec::new()).unwrap();
        assert!(device.now() - before >= Nanos(3_000_000));
    }
}
