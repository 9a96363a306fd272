//! Why a simulated drive could not be opened or cannot go on.

use crate::config::Faults;

/// An error of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The drive file is at fault.
    #[error("{0}")]
    Config(#[from] Faults),
    /// The state does not fit the drive.
    #[error("{0}")]
    State(String),
    /// More blocks are bad than the drive can spare.
    #[error("{0}")]
    BadBlocks(String),
    /// Collection can free nothing in a plane that must be written.
    #[error(
        "channel {channel}, way {way}, die {die}, plane {plane} is stuck: {free_blocks} free blocks, \
         writes need {stop_writes_blocks}, and no block holds an invalid page, so collection frees \
         nothing (raise over_provisioning_ratio, or spread the writes)"
    )]
    #[expect(missing_docs, reason = "the message names each field")]
    Stuck {
        channel: u32,
        way: u32,
        die: u32,
        plane: u32,
        free_blocks: u32,
        stop_writes_blocks: u32,
    },
    /// So much was written that the blocks left cannot take more.
    #[error(
        "the drive reaches its end of life before it is in that state: too many blocks were erased \
         nand.endurance_erases = {endurance_erases} times (raise it, or open the drive in a state \
         that writes less)"
    )]
    #[expect(missing_docs, reason = "the message names it")]
    WornOut { endurance_erases: u32 },
    /// The firmware of the SSD extension can make no progress, in its own words.
    #[error("{0}")]
    Livelock(String),
}
