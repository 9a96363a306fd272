//! A hard disk, as the reference that solid-state drives are compared with.
//!
//! One actuator, several surfaces, one revolution at a time. In reading order:
//!
//! * `geometry`: zones of different sectors per track, skew, where a sector lies;
//! * `seek`: how long the arm takes, after Ruemmler & Wilkes (1994);
//! * `medium`: both together with the rotation: when a span of sectors has passed the head;
//! * `segments`: the read cache and what read-ahead put there;
//! * `dirty`: the write-back cache;
//! * `ahead`: reading on behind the last read while nobody else needs the arm;
//! * `queue`: which command the arm serves next;
//! * `serve`: commands on their way through the drive; `device`: what a host sees of it.
//!
//! # Where the time goes
//!
//! `mechanical` is seeking, switching heads and waiting for the sector to come round;
//! `transfer` is the sectors themselves passing under the head. `host_queue` is waiting
//! for the link, for a place in the drive, or while the arm served other commands of the
//! host; `buffer` is waiting while the arm emptied the write-back cache: for room in it,
//! for a flush, or behind it. Read-ahead gives way at once and is never waited for.
//!
//! # What is simpler than a real disk
//!
//! Every sector is good and every read succeeds at once; the spindle keeps its speed to
//! the nanosecond; a span is read from its first sector on, not from wherever the head
//! comes down; data cross the link after the last sector of a request was read. Which
//! part of the write-back cache goes out next is chosen among the 16 runs nearest by
//! address; how many a real firmware weighs is not published.

mod ahead;
mod device;
mod dirty;
mod geometry;
mod medium;
mod queue;
mod seek;
mod segments;
mod serve;
#[cfg(test)]
mod swarm;

pub use device::HardDisk;
pub use geometry::Geometry;
pub use seek::{SeekCurve, SeekError};
