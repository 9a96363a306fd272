//! What a drive counts, and the end of its preparation, which counts for nothing.

use super::{Drive, Scheme};
use crate::error::SimError;
use crate::ftl::Translation;
use crate::prepare::{self, RunIn};
use ssdscope_io::counters::{Merges, Simulated};
use ssdscope_io::{Counters, Upkeep};
use std::sync::Arc;

/// What the drive itself counts; the flash array counts its pages.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub host_bytes_read: u64,
    pub host_bytes_written: u64,
    pub host_bytes_discarded: u64,
    pub block_erases: u64,
    pub gc_runs: u64,
    pub gc_pages_moved: u64,
    pub wear_pages_moved: u64,
    pub pslc_pages_folded: u64,
    pub rmw_reads: u64,
    pub merges: Merges,
    pub map_loads: u64,
    pub map_write_backs: u64,
    pub pages_freed: u64,
}

impl<S: Scheme> Drive<S> {
    /// All that was ever counted.
    pub(super) fn counted(&self) -> Counters {
        let mut counters = Counters {
            host_bytes_read: self.tally.host_bytes_read,
            host_bytes_written: self.tally.host_bytes_written,
            host_bytes_discarded: self.tally.host_bytes_discarded,
            block_erases: self.tally.block_erases,
            gc_runs: self.tally.gc_runs,
            gc_pages_moved: self.tally.gc_pages_moved,
            wear_pages_moved: self.tally.wear_pages_moved,
            pslc_pages_folded: self.tally.pslc_pages_folded,
            rmw_reads: self.tally.rmw_reads,
            merges: self.tally.merges,
            map_loads: self.tally.map_loads,
            map_write_backs: self.tally.map_write_backs,
            simulated: Simulated {
                table_pieces: self.ftl.pieces_made(),
                pages_freed: self.tally.pages_freed,
                ..Simulated::default()
            },
            erase_histogram: self.ftl.erase_histogram(),
            retired_blocks: self.ftl.retired_blocks(),
            read_only: self.read_only,
            ..Counters::default()
        };
        self.flash.count(self.now_ns, &mut counters);
        if let Some(buffer) = &self.buffer {
            buffer.count(&mut counters);
        }
        if let Some(cache) = &self.cache {
            cache.count(&mut counters);
        }
        counters
    }

    /// What it does beside serving requests, and how full it is.
    pub(super) fn at_work(&self) -> Upkeep {
        let (pslc_parts_full, pslc_parts) = self.ftl.region_parts();
        Upkeep {
            gc_pages_moved: self.tally.gc_pages_moved,
            pslc_pages_folded: self.tally.pslc_pages_folded,
            wear_pages_moved: self.tally.wear_pages_moved,
            merges: self.tally.merges.partial + self.tally.merges.full,
            map_loads: self.tally.map_loads,
            waiting_for_buffer: self.buffer.as_ref().map_or(0, |buffer| buffer.waiting()),
            pslc_parts_full,
            pslc_parts,
        }
    }

    /// Ends the preparation of a steady state in time. What it does is not counted, and the
    /// drive is opened at the instant at which it ends.
    pub(super) fn run_in(
        &mut self,
        window_bytes: Option<u64>,
        seed: u64,
        enough: RunIn,
        endurance_erases: u32,
    ) -> Result<(), SimError> {
        let ran = prepare::run_in(self, window_bytes, seed, enough);
        if self.read_only {
            return Err(SimError::WornOut { endurance_erases });
        }
        ran?;
        self.before = Arc::new(self.counted());
        Ok(())
    }
}
