//! The firmware of DiskSim's SSD extension (Agrawal et al., USENIX ATC 2008) as
//! a simulated drive: same rules, same response times, integer nanoseconds.
//!
//! A drive is a number of *elements* (flash packages), each with planes, each
//! plane with blocks. Pages go round robin over the elements; inside an element
//! a write goes to the plane with the most free pages, and the old copy becomes
//! invalid. When a plane runs low on free blocks its element cleans, before
//! anything else, until no plane is low.
//!
//! In reading order:
//!
//! * [`params`]: [`MsrParams`], plain integers, checked; what each operation costs;
//! * `geometry`: where a logical page lies at first, numbers that cannot be mixed up;
//! * `plane`: one plane's free blocks, write position and victim index;
//! * `element`: the tables of one element, programming and erasing;
//! * `placement`: which plane a write goes to;
//! * `clean`: when to clean, which block, and when cleaning is futile;
//! * `stuck`: what is said of a plane that can make no progress;
//! * `wear`: what the wear-aware policy does differently;
//! * `server`: an element in time: its queue and who it is busy for;
//! * `rounds`: several pages at once in an element with parallel units;
//! * `link`: who holds the bus to the host;
//! * `drive`: [`MsrDrive`], the [`Device`](ssdscope_io::Device);
//! * `prepare`, `open`: writing in no time, and the states built of it; `counters`: what was done.
//!
//! # Where it departs from the original, on purpose
//!
//! * The original's addresses reach past what is exported, into undefined
//!   behaviour; here such requests are refused.
//! * Cleaning that can never succeed spins in the original until blocks wear out
//!   and an assertion fails. Here it is proved to be futile (`clean`), and the
//!   drive reports the plane as stuck while serving the same request.
//! * Migration of cold data in the original takes any block that holds data, even
//!   the one being written or one without life, and then corrupts itself or
//!   aborts. Here only full blocks with life left are taken (`wear`).
//! * Blocks remember the order of their erasures instead of the time, so that
//!   preparing a drive, which takes no time, leaves a usable order.

mod clean;
mod counters;
mod drive;
mod element;
mod geometry;
mod link;
mod open;
pub mod params;
mod placement;
mod plane;
mod prepare;
mod rounds;
mod server;
mod stuck;
#[cfg(test)]
mod swarm;
mod wear;

pub use drive::MsrDrive;
pub use params::{MsrParams, ParamsError, Policy};
