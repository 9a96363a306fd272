//! Where the loops get their requests from.

use crate::request::Op;
use crate::summary::StopReason;
use crate::units::{Lba, Nanos, Sectors};
use std::error::Error;

/// A request that is about to be issued.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// Not to be issued before this instant on the device's clock.
    pub due: Nanos,
    pub op: Op,
    pub lba: Lba,
    pub sectors: Sectors,
    pub fua: bool,
    /// Whether it counts: it comes after the ramp.
    pub measured: bool,
    /// To which flow it belongs, in a run of several.
    pub flow: u16,
}

/// What a source answers.
pub enum Next {
    /// Issue this.
    Request(Planned),
    /// Not before all requests of this lane were served: its slot is offered again with
    /// [`Source::resume`] as soon as another one of the lane gets a request.
    Hold,
    /// This lane makes no more requests, and why.
    End(StopReason),
    /// The source itself is broken.
    Broken(Box<dyn Error + Send + Sync>),
}

/// Requests in order. A closed loop asks once for every slot that becomes free.
pub trait Source {
    /// The next request of `lane` (a job), whose slot is free from `free_at` on.
    fn next(&mut self, lane: u32, free_at: Nanos) -> Next;

    /// The next request of a slot that was held, from `free_at` on.
    fn resume(&mut self, lane: u32, free_at: Nanos) -> Next {
        self.next(lane, free_at)
    }
}
