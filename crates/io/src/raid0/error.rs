//! Why an array cannot be made.

use crate::device::{ClockKind, DeviceError};

/// Why devices cannot be striped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Raid0Error {
    /// There is nothing to stripe over.
    #[error("a RAID-0 needs at least one member")]
    NoMembers,
    /// Simulated time and real time cannot be one time.
    #[error(
        "member {member} lives in {} time and member 0 in {} time: a RAID-0 needs one clock",
        clock_name(*.clock), clock_name(*.first)
    )]
    MixedClocks {
        /// The first member that differs.
        member: usize,
        /// Its clock.
        clock: ClockKind,
        /// The clock of member 0.
        first: ClockKind,
    },
    /// The chunk is not a whole number of a member's blocks.
    #[error(
        "chunk of {chunk_bytes} bytes: must be a multiple of the {unit_bytes}-byte blocks of \
         member {member}"
    )]
    Chunk {
        /// The chunk asked for.
        chunk_bytes: u64,
        /// The member it does not suit.
        member: usize,
        /// That member's logical block.
        unit_bytes: u64,
    },
    /// A member cannot hold a single chunk.
    #[error("member {member} has {capacity_bytes} bytes, less than one chunk of {chunk_bytes}")]
    TooSmall {
        /// The member.
        member: usize,
        /// Its capacity.
        capacity_bytes: u64,
        /// The chunk asked for.
        chunk_bytes: u64,
    },
    /// A member holds requests of someone else, or failed to be brought to a common time.
    #[error("member {member}: {error}")]
    Member {
        /// The member.
        member: usize,
        /// What it said.
        error: DeviceError,
    },
}

const fn clock_name(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Virtual => "simulated",
        ClockKind::Wall => "real",
    }
}
