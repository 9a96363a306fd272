//! What a drive counted since it was opened.

use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::ops::AddAssign;

/// Merges of a log-block drive, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Merges {
    /// The log block became the data block: no copy.
    pub switch: u64,
    /// The rest of the data block was copied behind the log.
    pub partial: u64,
    /// Both blocks were copied into a new one.
    pub full: u64,
}

impl AddAssign for Merges {
    fn add_assign(&mut self, other: Self) {
        self.switch += other.switch;
        self.partial += other.partial;
        self.full += other.full;
    }
}

/// What simulating a drive took: it says nothing of the drive. Of a run, with its ramp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Simulated {
    /// Commands of the flash that were simulated one by one. Work that goes as other work did is
    /// taken as done, so there may be fewer than pages.
    pub flash_steps: u64,
    /// Pieces of the simulator's tables that were first written, which takes room for them.
    pub table_pieces: u64,
    /// Pages that discards freed.
    pub pages_freed: u64,
    /// Units that a write buffer took in.
    pub units_buffered: u64,
}

impl Simulated {
    /// What it took since an `earlier` reading.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            flash_steps: self.flash_steps - earlier.flash_steps,
            table_pieces: self.table_pieces - earlier.table_pieces,
            pages_freed: self.pages_freed - earlier.pages_freed,
            units_buffered: self.units_buffered - earlier.units_buffered,
        }
    }
}

impl AddAssign for Simulated {
    fn add_assign(&mut self, other: Self) {
        self.flash_steps += other.flash_steps;
        self.table_pieces += other.table_pieces;
        self.pages_freed += other.pages_freed;
        self.units_buffered += other.units_buffered;
    }
}

/// Cumulative counts. A run reports the difference of two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes the host asked to read.
    pub host_bytes_read: u64,
    /// Bytes the host asked to write.
    pub host_bytes_written: u64,
    /// Bytes the host discarded.
    pub host_bytes_discarded: u64,
    /// Whole pages sensed, for the host or for the drive itself, in bytes.
    pub flash_bytes_read: u64,
    /// Whole pages programmed, for the host or for the drive itself, in bytes.
    pub flash_bytes_programmed: u64,
    /// The same in pages.
    pub flash_pages_read: u64,
    /// The same in pages.
    pub flash_pages_programmed: u64,
    /// What simulating it took.
    pub simulated: Simulated,
    /// Blocks erased.
    pub block_erases: u64,
    /// Blocks collected.
    pub gc_runs: u64,
    /// Valid pages moved by collection.
    pub gc_pages_moved: u64,
    /// Pages moved to even out wear.
    pub wear_pages_moved: u64,
    /// Pages moved from blocks with one bit per cell to others.
    pub pslc_pages_folded: u64,
    /// Pages read because a write covered only a part of them.
    pub rmw_reads: u64,
    /// Commands that worked on several planes at once.
    pub multi_plane_commands: u64,
    /// Programs and erases suspended for a read, as often as they were.
    pub suspends: u64,
    /// Merges by kind.
    pub merges: Merges,
    /// Parts of the mapping table loaded.
    pub map_loads: u64,
    /// Changed parts of the mapping table written back.
    pub map_write_backs: u64,
    /// Bytes overwritten in the write buffer, and so never written to flash.
    pub buffer_coalesced_bytes: u64,
    /// Bytes that reads took from the write buffer.
    pub buffer_read_bytes: u64,
    /// Bytes that reads took from the read cache.
    pub cache_read_bytes: u64,
    /// Bytes read ahead into the read cache.
    pub read_ahead_bytes: u64,
    /// Blocks retired since the drive was made; a state, so never a difference.
    pub retired_blocks: u64,
    /// Whether the drive has reached its end of life and can only be read; a state.
    pub read_only: bool,
    /// Time each channel was busy.
    pub channel_busy_ns: Vec<u64>,
    /// Time each die was busy.
    pub die_busy_ns: Vec<u64>,
    /// Number of blocks by how often each was erased since it was made
    /// (index = erase count); a state, so never a difference.
    pub erase_histogram: Vec<u64>,
}

impl Counters {
    /// Flash bytes programmed per host byte written; `None` before the first write.
    #[must_use]
    pub fn waf(&self) -> Option<f64> {
        (self.host_bytes_written > 0)
            .then(|| self.flash_bytes_programmed as f64 / self.host_bytes_written as f64)
    }

    /// Adds numbers of blocks by how often they were erased, as of a part of the drive.
    pub fn add_erase_histogram(&mut self, part: &[u64]) {
        let longest = self.erase_histogram.len().max(part.len());
        self.erase_histogram.resize(longest, 0);
        for (sum, blocks) in self.erase_histogram.iter_mut().zip(part) {
            *sum += blocks;
        }
    }

    /// What was counted since an `earlier` reading of the same drive.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_bytes_read: self.host_bytes_read - earlier.host_bytes_read,
            host_bytes_written: self.host_bytes_written - earlier.host_bytes_written,
            host_bytes_discarded: self.host_bytes_discarded - earlier.host_bytes_discarded,
            flash_bytes_read: self.flash_bytes_read - earlier.flash_bytes_read,
            flash_bytes_programmed: self.flash_bytes_programmed - earlier.flash_bytes_programmed,
            flash_pages_read: self.flash_pages_read - earlier.flash_pages_read,
            flash_pages_programmed: self.flash_pages_programmed - earlier.flash_pages_programmed,
            simulated: self.simulated.since(earlier.simulated),
            block_erases: self.block_erases - earlier.block_erases,
            gc_runs: self.gc_runs - earlier.gc_runs,
            gc_pages_moved: self.gc_pages_moved - earlier.gc_pages_moved,
            wear_pages_moved: self.wear_pages_moved - earlier.wear_pages_moved,
            pslc_pages_folded: self.pslc_pages_folded - earlier.pslc_pages_folded,
            rmw_reads: self.rmw_reads - earlier.rmw_reads,
            multi_plane_commands: self.multi_plane_commands - earlier.multi_plane_commands,
            suspends: self.suspends - earlier.suspends,
            merges: Merges {
                switch: self.merges.switch - earlier.merges.switch,
                partial: self.merges.partial - earlier.merges.partial,
                full: self.merges.full - earlier.merges.full,
            },
            map_loads: self.map_loads - earlier.map_loads,
            map_write_backs: self.map_write_backs - earlier.map_write_backs,
            buffer_coalesced_bytes: self.buffer_coalesced_bytes - earlier.buffer_coalesced_bytes,
            buffer_read_bytes: self.buffer_read_bytes - earlier.buffer_read_bytes,
            cache_read_bytes: self.cache_read_bytes - earlier.cache_read_bytes,
            read_ahead_bytes: self.read_ahead_bytes - earlier.read_ahead_bytes,
            retired_blocks: self.retired_blocks,
            read_only: self.read_only,
            channel_busy_ns: differences(&self.channel_busy_ns, &earlier.channel_busy_ns),
            die_busy_ns: differences(&self.die_busy_ns, &earlier.die_busy_ns),
            erase_histogram: self.erase_histogram.clone(),
        }
    }
}

fn differences(later: &[u64], earlier: &[u64]) -> Vec<u64> {
    later
        .iter()
        .enumerate()
        .map(|(index, value)| value - earlier.get(index).copied().unwrap_or(0))
        .collect()
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Counters", 29)?;
        out.serialize_field("host_bytes_read", &self.host_bytes_read)?;
        out.serialize_field("host_bytes_written", &self.host_bytes_written)?;
        out.serialize_field("host_bytes_discarded", &self.host_bytes_discarded)?;
        out.serialize_field("flash_bytes_read", &self.flash_bytes_read)?;
        out.serialize_field("flash_bytes_programmed", &self.flash_bytes_programmed)?;
        out.serialize_field("flash_pages_read", &self.flash_pages_read)?;
        out.serialize_field("flash_pages_programmed", &self.flash_pages_programmed)?;
        out.serialize_field("simulated", &self.simulated)?;
        out.serialize_field("waf", &self.waf())?;
        out.serialize_field("block_erases", &self.block_erases)?;
        out.serialize_field("gc_runs", &self.gc_runs)?;
        out.serialize_field("gc_pages_moved", &self.gc_pages_moved)?;
        out.serialize_field("wear_pages_moved", &self.wear_pages_moved)?;
        out.serialize_field("pslc_pages_folded", &self.pslc_pages_folded)?;
        out.serialize_field("rmw_reads", &self.rmw_reads)?;
        out.serialize_field("multi_plane_commands", &self.multi_plane_commands)?;
        out.serialize_field("suspends", &self.suspends)?;
        out.serialize_field("merges", &self.merges)?;
        out.serialize_field("map_loads", &self.map_loads)?;
        out.serialize_field("map_write_backs", &self.map_write_backs)?;
        out.serialize_field("buffer_coalesced_bytes", &self.buffer_coalesced_bytes)?;
        out.serialize_field("buffer_read_bytes", &self.buffer_read_bytes)?;
        out.serialize_field("cache_read_bytes", &self.cache_read_bytes)?;
        out.serialize_field("read_ahead_bytes", &self.read_ahead_bytes)?;
        out.serialize_field("retired_blocks", &self.retired_blocks)?;
        out.serialize_field("read_only", &self.read_only)?;
        out.serialize_field("channel_busy_ns", &self.channel_busy_ns)?;
        out.serialize_field("die_busy_ns", &self.die_busy_ns)?;
        out.serialize_field("erase_histogram", &self.erase_histogram)?;
        out.end()
    }
}
