//! The time to copy data into the drive's memory and out of it.

use crate::rounding::nearest;

/// A port to memory that copies for one request at a time.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    ns_per_byte: f64,
    /// When it has copied all it was asked to.
    free_ns: u64,
}

impl Memory {
    pub const fn new(ns_per_byte: f64) -> Self {
        Self { ns_per_byte, free_ns: 0 }
    }

    /// When so many sectors are copied that are ready now.
    pub fn copy(&mut self, now_ns: u64, sectors: u32) -> u64 {
        let span_ns = nearest(f64::from(sectors) * 512.0 * self.ns_per_byte);
        self.free_ns = now_ns.max(self.free_ns) + span_ns;
        self.free_ns
    }
}
