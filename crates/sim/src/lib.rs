//! A deterministic, exact simulator of solid-state drives, and of a hard disk to compare
//! them with.
//!
//! The same drive file, state and seed give the same completions, to the
//! nanosecond, on every machine. No clock, no I/O, no unsafe code.
//!
//! In reading order:
//!
//! * [`config`]: drive files (TOML), every key in one table, errors for people;
//! * [`geometry`]: channels, ways, dies, planes, blocks, pages and their numbers;
//! * [`layout`]: where the translation layer's pages lie on physical ones;
//! * [`events`], [`ring`], [`slab`], [`cow`], [`divisor`], [`rounding`]: pending events, queues,
//!   reusable slots, arrays that are cheap to copy, quick division, whole numbers;
//! * [`link`], [`clock`]: the host's link, and how time passes behind it;
//! * [`ftl`], [`gc`]: the page-mapped translation layer, and which block to collect;
//! * [`logblock`]: the log-block translation layer: data blocks, log blocks, merges;
//! * [`mapping`]: which part of the mapping table is in RAM;
//! * [`cache`]: write buffer, read cache, read-ahead: what is in the drive's memory;
//! * [`flash`]: the array in time: dies, channels, commands;
//! * [`prepare`]: the states a drive is opened in;
//! * [`drive`]: a page-mapped or log-block drive put together;
//! * [`msr`]: the firmware of `DiskSim`'s SSD extension, a drive of its own;
//! * [`hdd`]: a hard disk;
//! * [`disturbance`]: noise, other users and faults around any of these.
//!
//! Everything outside sees only [`open`], which gives a
//! [`Device`](ssdscope_io::Device).

pub mod cache;
pub mod clock;
pub mod config;
pub mod cow;
pub mod disturbance;
pub mod divisor;
pub mod drive;
pub mod error;
pub mod events;
pub mod flash;
pub mod front;
pub mod ftl;
pub mod gc;
pub mod geometry;
pub mod hdd;
pub mod layout;
pub mod link;
pub mod logblock;
pub mod mapping;
pub mod msr;
pub mod prepare;
pub mod ring;
pub mod rounding;
pub mod slab;

pub use config::{DriveConfig, State};
pub use error::SimError;

use config::Firmware;
use disturbance::Disturbed;
use hdd::HardDisk;
use msr::MsrDrive;
use ssdscope_io::Device;

/// Opens a drive in a state (its own default if none is given).
///
/// # Errors
/// If the state does not fit the drive or cannot be reached.
pub fn open(
    config: &DriveConfig,
    state: Option<State>,
    seed: u64,
) -> Result<Box<dyn Device>, SimError> {
    let state = state.unwrap_or(config.default_state);
    prepare::check_window(config.firmware.capacity_bytes(), state)?;
    let drive: Box<dyn Device> = match &config.firmware {
        Firmware::Page(page) => Box::new(drive::PageDrive::new(page, state, seed)?),
        Firmware::LogBlock(log) => Box::new(drive::LogBlockDrive::new(log, state, seed)?),
        Firmware::Msr(msr) => Box::new(MsrDrive::open(msr.params(), state, seed)?),
        Firmware::Disk(disk) => Box::new(HardDisk::open(disk, state, seed)?),
    };
    if config.disturbance.is_none() {
        return Ok(drive);
    }
    Ok(Box::new(Disturbed::new(drive, &config.disturbance, seed)))
}
