//! What of a drive depends on how it maps.

use super::Drive;
use crate::ftl::Translation;
use crate::geometry::{Lpn, Ppn};
use ssdscope_io::Cause;
use std::fmt::Debug;

/// How a drive places writes and frees space, in time. It keeps what is under way
/// (blocks being collected, writes that wait for them); the functions act on the drive.
pub trait Scheme: Sized + Clone + Debug + Send + Sync + 'static {
    /// Its translation layer.
    type Ftl: Translation;

    /// What a request waits for when it waits for the drive to free space.
    const UPKEEP: Cause;

    /// Finds a host program its place, or lets it wait for one.
    fn write(drive: &mut Drive<Self>, slot: u32);

    /// Finds whole pages of a write of the host their places in one go and lets them wait for their
    /// units, from `first` on at most `count`: as [`Scheme::write`] would, one after the other.
    /// Says how many it did that for; the others are for [`Scheme::write`].
    fn write_run(_drive: &mut Drive<Self>, _request: u32, _first: Lpn, _count: u32) -> u32 {
        0
    }

    /// A host program of `page` has ended.
    fn written(drive: &mut Drive<Self>, page: Ppn);

    /// A command has ended that was not the host's.
    fn end_upkeep(drive: &mut Drive<Self>, slot: u32);

    /// Whether a read gives what was never written a place.
    fn places_reads(&self) -> bool {
        false
    }

    /// Gives what a read of the host asks for, and was never written, its place, if there is
    /// room for it.
    fn place_read(_drive: &mut Drive<Self>, _slot: u32) -> Option<Ppn> {
        None
    }

    /// Pages were discarded, which may let waiting writes go on.
    fn discarded(_drive: &mut Drive<Self>) {}

    /// The host asks for something.
    fn wake(&mut self) {}

    /// The last request in the drive has been answered.
    fn fall_quiet(_drive: &mut Drive<Self>) {}

    /// The idle timer has run out.
    fn idle_timer(_drive: &mut Drive<Self>) {}

    /// What was foreseen has come to pass.
    fn foreseen(_drive: &mut Drive<Self>) {}

    /// Whether what the flash does now shows only when it is over.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Something else may concern the flash from now on: what was foreseen before and has not
    /// come to pass goes on step by step, from where it is now.
    fn interfere(_drive: &mut Drive<Self>) {}

    /// Something else does concern the flash, in the same breath in which it was looked ahead.
    fn not_alone(_drive: &mut Drive<Self>) {}

    /// The drive has become read-only: the programs that wait for a place.
    fn give_up(drive: &mut Drive<Self>) -> Vec<u32>;

    /// Why writes can make no progress, if any wait.
    fn why_stuck(drive: &Drive<Self>) -> Option<String>;
}
