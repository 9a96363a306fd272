//! Bringing a drive into a state, in no time: the only white-box preparation.

use crate::config::State;
use crate::error::SimError;
use ssdscope_io::rng::Stream;

/// Rounds of writing after which a drive that has not settled is left as it is.
const STEADY_ROUNDS_MAX: u32 = 60;
/// Rounds whose write amplification must agree.
const STEADY_WINDOW: usize = 5;
/// Rounds before the first look, a tenth of the window each: looked at earlier, a
/// drive may seem settled that has not begun to collect.
const STEADY_GATE_ROUNDS: u32 = 20;
/// Largest spread of write amplification over the window, relative to its mean.
const STEADY_SPREAD: f64 = 0.02;

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
}

/// Brings a drive that was never written into `state`.
///
/// # Errors
/// If the state's window is larger than the drive, or collection can free nothing.
pub fn bring(drive: &mut impl Prepare, state: State, seed: u64) -> Result<(), SimError> {
    let capacity_bytes = u64::from(drive.pages()) * u64::from(drive.page_bytes());
    check_window(capacity_bytes, state)?;
    if state != State::Fresh {
        drive.fill()?;
        write_on(drive, state, seed)?;
    }
    Ok(())
}

/// Brings a drive, all of whose pages are written, from `sequential` into `state`.
///
/// # Errors
/// If the state's window is larger than the drive, or collection can free nothing.
pub fn write_on(drive: &mut impl Prepare, state: State, seed: u64) -> Result<(), SimError> {
    let all = drive.pages();
    match state {
        State::Fresh | State::Sequential => Ok(()),
        State::Random => {
            let mut random = Stream::new(seed, "state.random");
            (0..all).try_for_each(|_| overwrite_one(drive, all, &mut random).map(drop))
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

fn overwrite_one(
    drive: &mut impl Prepare,
    pages: u32,
    random: &mut Stream,
) -> Result<u32, SimError> {
    drive.write_page(random.below(u64::from(pages)) as u32)
}

/// Overwrites the first `pages` pages at random until write amplification agrees
/// over several rounds.
fn settle(drive: &mut impl Prepare, pages: u32, seed: u64) -> Result<(), SimError> {
    let mut random = Stream::new(seed, "state.steady");
    // What is written must pass through the spare space too, however small the window.
    let round = (pages.max(drive.spare_pages()) / 10).max(1);
    let mut recent: Vec<f64> = Vec::new();
    for done in 1..=STEADY_ROUNDS_MAX {
        let mut moved = 0_u64;
        for _ in 0..round {
            moved += u64::from(overwrite_one(drive, pages, &mut random)?);
        }
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
