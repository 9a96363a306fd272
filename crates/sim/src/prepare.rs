//! Bringing a drive into a state: the only white-box preparation. Where pages are is found out
//! in no time. What else a drive remembers of what was written last (its write buffer, what is
//! under way, which log blocks are in use) is what [`run_in`] leaves behind, in time.

use crate::config::State;
use crate::error::SimError;
use ssdscope_io::driver::{RunError, Unobserved};
use ssdscope_io::rng::Stream;
use ssdscope_io::workload::Pattern;
use ssdscope_io::{Device, Workload, run_workload};

/// Rounds of writing after which a drive that has not settled is left as it is.
const STEADY_ROUNDS_MAX: u32 = 60;
/// Rounds whose write amplification must agree.
const STEADY_WINDOW: usize = 5;
/// Rounds before the first look, a tenth of the window each: looked at earlier, a
/// drive may seem settled that has not begun to collect.
const STEADY_GATE_ROUNDS: u32 = 20;
/// Largest spread of write amplification over the window, relative to its mean.
const STEADY_SPREAD: f64 = 0.02;
/// Pages that are drawn at a time: many, since planes written one after the other each have
/// their map fetched into the cache again.
const PAGES_AT_A_TIME: u32 = 1 << 23;
/// Bytes of a write of the run-in.
const RUN_IN_BYTES: u64 = 4096;
/// So many windows are enough, whatever a drive remembers.
const RUN_IN_WINDOWS: u64 = 2;
/// Writes between two looks at what has passed.
const RUN_IN_PIECE: u64 = 256;

/// A drive whose pages can be written without time passing.
pub trait Prepare {
    /// Logical pages.
    fn pages(&self) -> u32;
    /// Physical pages beyond those.
    fn spare_pages(&self) -> u32;
    /// Bytes of a page.
    fn page_bytes(&self) -> u32;
    /// Writes every page once, in order, on a drive that was never written.
    ///
    /// # Errors
    /// If collection can free nothing.
    fn fill(&mut self) -> Result<(), SimError> {
        (0..self.pages()).try_for_each(|page| self.write_page(page).map(drop))
    }
    /// Writes one whole page again; returns how many pages collection moved for it.
    ///
    /// # Errors
    /// If collection can free nothing.
    fn write_page(&mut self, page: u32) -> Result<u32, SimError>;
    /// Writes whole pages again, one after the other; returns how many pages collection moved
    /// for them.
    ///
    /// # Errors
    /// If collection can free nothing.
    fn write_pages(&mut self, pages: &[u32]) -> Result<u64, SimError> {
        pages.iter().try_fold(0, |moved, &page| Ok(moved + u64::from(self.write_page(page)?)))
    }
    /// Does what the drive does when nobody asks for anything.
    ///
    /// # Errors
    /// If collection can free nothing.
    fn rest(&mut self) -> Result<(), SimError> {
        Ok(())
    }
}

/// Brings a drive that was never written into `state`.
///
/// # Errors
/// If collection can free nothing.
pub fn bring(drive: &mut impl Prepare, state: State, seed: u64) -> Result<(), SimError> {
    if state != State::Fresh {
        drive.fill()?;
        drive.rest()?;
        write_on(drive, state, seed)?;
    }
    Ok(())
}

/// Brings a drive, all of whose pages are written, from `sequential` into `state`.
///
/// # Errors
/// If collection can free nothing.
pub fn write_on(drive: &mut impl Prepare, state: State, seed: u64) -> Result<(), SimError> {
    let all = drive.pages();
    match state {
        State::Fresh | State::Sequential => Ok(()),
        State::Random => {
            let mut random = Stream::new(seed, "state.random");
            overwrite(drive, all, all, &mut random)?;
            drive.rest()
        }
        State::Steady { window_bytes } => {
            let pages = window_bytes.map_or(all, |bytes| {
                let pages = bytes.div_ceil(u64::from(drive.page_bytes()));
                u32::try_from(pages).unwrap_or(all).min(all)
            });
            settle(drive, pages, seed)
        }
    }
}

/// Refuses a state whose window does not fit.
///
/// # Errors
/// With both sizes.
pub fn check_window(capacity_bytes: u64, state: State) -> Result<(), SimError> {
    match state {
        State::Steady { window_bytes: Some(window) } if window > capacity_bytes => {
            Err(SimError::State(format!(
                "the steady window of {window} bytes is larger than the drive ({capacity_bytes})"
            )))
        }
        _ => Ok(()),
    }
}

/// How much must be written, at random, until a drive remembers nothing of what came before
/// but where pages are.
#[derive(Clone, Copy, Debug)]
pub struct RunIn {
    /// So many bytes.
    pub bytes: u64,
    /// And as long as it takes to collect so many blocks, or to merge so many log blocks.
    pub upkeep_runs: u64,
}

/// Ends the preparation of a steady state: overwrites its window at random in time, 4 KiB
/// after 4 KiB, one at a time as the writes that take no time.
///
/// # Errors
/// If the drive gets stuck, or reaches its end of life.
pub fn run_in(
    device: &mut dyn Device,
    window_bytes: Option<u64>,
    seed: u64,
    enough: RunIn,
) -> Result<(), SimError> {
    let info = device.info();
    let window = window_bytes.unwrap_or(info.capacity_bytes).max(RUN_IN_BYTES);
    let mut seeds = Stream::new(seed, "state.run-in");
    let mut written = 0;
    let mut upkeep_runs = 0;
    while written < RUN_IN_WINDOWS * window
        && (written < enough.bytes || upkeep_runs < enough.upkeep_runs)
    {
        let left = enough.bytes.saturating_sub(written) / RUN_IN_BYTES;
        let workload = Workload {
            block_bytes: RUN_IN_BYTES.max(info.logical_block_bytes),
            size_bytes: Some(window.min(info.capacity_bytes)),
            requests: Some(left.max(RUN_IN_PIECE)),
            // No run of the user's has this seed, and so not the same places in the same order.
            seed: seeds.next_u64(),
            ..Workload::new(Pattern::RandWrite)
        };
        let ran = run_workload(device, &workload, &mut Unobserved);
        written += ran.map_err(|why| broken(&why))?.write.map_or(0, |writes| writes.bytes);
        upkeep_runs = device.counters().map_or(u64::MAX, |counters| counters.gc_runs);
    }
    Ok(())
}

fn broken(why: &RunError) -> SimError {
    SimError::Livelock(format!("the steady state cannot be reached: {why}"))
}

/// Overwrites `count` of the first `pages` pages at random; returns how many pages collection
/// moved.
fn overwrite(
    drive: &mut impl Prepare,
    count: u32,
    pages: u32,
    random: &mut Stream,
) -> Result<u64, SimError> {
    let mut moved = 0;
    let mut left = count;
    while left > 0 {
        let now = left.min(PAGES_AT_A_TIME);
        let drawn: Vec<u32> = (0..now).map(|_| random.below(u64::from(pages)) as u32).collect();
        moved += drive.write_pages(&drawn)?;
        left -= now;
    }
    Ok(moved)
}

/// Overwrites the first `pages` pages at random until write amplification agrees
/// over several rounds.
fn settle(drive: &mut impl Prepare, pages: u32, seed: u64) -> Result<(), SimError> {
    let mut random = Stream::new(seed, "state.steady");
    // What is written must pass through the spare space too, however small the window.
    let round = (pages.max(drive.spare_pages()) / 10).max(1);
    let mut recent: Vec<f64> = Vec::new();
    for done in 1..=STEADY_ROUNDS_MAX {
        let moved = overwrite(drive, round, pages, &mut random)?;
        recent.push(1.0 + moved as f64 / f64::from(round));
        if done >= STEADY_GATE_ROUNDS && has_settled(&recent) {
            break;
        }
    }
    Ok(())
}

fn has_settled(amplification: &[f64]) -> bool {
    let Some(window) = amplification.last_chunk::<STEADY_WINDOW>() else { return false };
    let mean = window.iter().sum::<f64>() / STEADY_WINDOW as f64;
    let most = window.iter().copied().fold(f64::MIN, f64::max);
    let least = window.iter().copied().fold(f64::MAX, f64::min);
    most - least <= STEADY_SPREAD * mean
}
