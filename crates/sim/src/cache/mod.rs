//! What a drive keeps in its memory between firmware and flash. It knows no time;
//! `drive` adds that.
//!
//! * [`spans`]: sets of sectors;
//! * [`write`](mod@write): the write buffer: what is in it, and what goes to flash next;
//! * [`order`], [`groups`], [`unstored`]: the lists it keeps;
//! * [`read`]: the read cache; [`ahead`]: what to read ahead into it.

pub mod ahead;
pub mod groups;
pub mod order;
pub mod read;
pub mod spans;
pub mod unstored;
pub mod write;

pub use ahead::ReadAhead;
pub use read::ReadCache;
pub use spans::Spans;
pub use write::{Run, WriteBuffer};
