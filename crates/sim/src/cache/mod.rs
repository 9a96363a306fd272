//! What a drive keeps in its memory between firmware and flash. It knows no time;
//! `drive` adds that.
//!
//! * [`spans`]: sets of sectors;
//! * [`write`](mod@write): the write buffer: what is in it, and what goes to flash next.

pub mod spans;
pub mod write;

pub use spans::Spans;
pub use write::{Run, WriteBuffer};
