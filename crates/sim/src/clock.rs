//! How time passes in a drive behind a host link: one loop for every kind of drive.

use crate::link::{Delivery, Link};
use ssdscope_io::{Completion, DeviceError, Nanos};

/// A drive that talks to its host over a [`Link`].
pub trait Linked {
    /// The link.
    fn link(&mut self) -> &mut Link;

    /// The drive's present.
    fn now_ns(&mut self) -> &mut u64;

    /// Requests submitted and not answered.
    fn unanswered(&self) -> usize;

    /// When the drive itself does something next; `u64::MAX` if nothing will happen.
    fn next_time_ns(&self) -> u64;

    /// Does what the drive itself does at one instant.
    fn happen(&mut self, time_ns: u64);

    /// All that the drive itself does up to an instant, that included, has been done.
    fn settle(&mut self, _until_ns: u64) {}

    /// The link has brought something.
    fn delivered(&mut self, delivery: Delivery, completions: &mut Vec<Completion>);

    /// Why requests wait although nothing will happen.
    fn why_stuck(&self) -> DeviceError;
}

/// [`Device::advance`](ssdscope_io::Device::advance) of such a drive.
///
/// # Errors
/// If the drive can make no progress.
#[inline]
pub fn advance(
    drive: &mut impl Linked,
    to: Nanos,
    completions: &mut Vec<Completion>,
) -> Result<(), DeviceError> {
    if to == Nanos::MAX && drive.unanswered() == 0 {
        return Ok(());
    }
    let before = completions.len();
    let mut until_ns = to.0.min(u64::MAX - 1);
    loop {
        let time_ns = drive.next_time_ns();
        // Messages of an instant come before what the drive does at it.
        if let Some((at_ns, delivery)) = drive.link().deliver(time_ns.min(until_ns)) {
            *drive.now_ns() = at_ns;
            drive.delivered(delivery, completions);
            if completions.len() > before {
                until_ns = at_ns;
            }
        } else if time_ns <= until_ns {
            drive.happen(time_ns);
        } else {
            break;
        }
    }
    drive.settle(until_ns);
    if completions.len() > before {
        return Ok(());
    }
    if to == Nanos::MAX {
        return Err(drive.why_stuck());
    }
    let now_ns = drive.now_ns();
    *now_ns = to.0.max(*now_ns);
    Ok(())
}
