//! The drive with the firmware of DiskSim's SSD extension, seen from outside.
//!
//! * `reference`: against what the original printed, where that is at hand;
//! * `closed_form`: against formulas one can check with a pencil;
//! * `naive`, `against_naive`: against a second implementation without any cleverness;
//! * `wear`: what wear-aware cleaning does that greedy does not;
//! * `contract`: what every `Device` owes its host.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and says what it skipped or measured"
)]

mod against_naive;
mod closed_form;
mod contract;
mod naive;
mod reference;
mod wear;

use ssdscope_io::{Completion, Device, DeviceError, Lba, Nanos, Request, Sectors};
use ssdscope_sim::msr::{MsrDrive, MsrParams, Policy};

/// The original's sample configuration with so many blocks per plane (2048 is the
/// paper's 32 GB drive, 256 the 4 GB one) and percentages in reserve and kept free.
fn sample(blocks_per_plane: u32, reserve_pct: u32, min_free_pct: u32) -> MsrParams {
    MsrParams {
        elements: 8,
        planes: 8,
        blocks_per_plane,
        pages_per_block: 64,
        page_bytes: 4096,
        reserve_blocks: blocks_per_plane * reserve_pct / 100,
        low_water_blocks: blocks_per_plane * min_free_pct / 100,
        policy: Policy::Greedy,
        background: true,
        parallel_units: 1,
        read_ns: 25_000,
        program_ns: 200_000,
        erase_ns: 1_500_000,
        transfer_ps_per_byte: 25_000,
        link_ps_per_sector: 238_400,
        endurance_erases: 50,
    }
}

/// Requests of `size_bytes` one after the other in the address space.
fn sequential(
    make: fn(u64, Lba, Sectors) -> Request,
    count: u64,
    size_bytes: u64,
) -> impl Iterator<Item = Request> {
    let sectors = size_bytes / 512;
    (0..count).map(move |id| make(id, Lba(id * sectors), Sectors(sectors)))
}

/// Serves one request on an idle drive.
fn serve(drive: &mut MsrDrive, request: Request) -> Result<Completion, DeviceError> {
    let mut completions = Vec::new();
    drive.submit(drive.now(), request)?;
    drive.advance(Nanos::MAX, &mut completions)?;
    let [done] = completions[..] else { panic!("one completion, not {}", completions.len()) };
    assert_eq!(done.attribution.total(), done.latency(), "{done:?}");
    Ok(done)
}

/// Completions of requests issued one after the other, or how many were issued when the
/// drive got stuck, and what it said.
fn closed_loop(
    drive: &mut MsrDrive,
    requests: impl IntoIterator<Item = Request>,
) -> Result<Vec<Completion>, (u64, String)> {
    let mut done = Vec::new();
    for request in requests {
        match serve(drive, request) {
            Ok(completion) => done.push(completion),
            Err(DeviceError::Stuck(message)) => return Err((done.len() as u64 + 1, message)),
            Err(other) => panic!("{other}"),
        }
    }
    Ok(done)
}

fn latencies(done: &[Completion]) -> Vec<u64> {
    done.iter().map(|completion| completion.latency().0).collect()
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}
