//! The requests of another user of the drive.

use crate::config::Disturbance;
use ssdscope_io::arrivals::Arrivals;
use ssdscope_io::rng::Stream;
use ssdscope_io::{Lba, Moved, Op, Request, SECTOR_BYTES, Sectors};

/// Requests that the other user has under way at most: who waits for so many asks no more.
const MOST_IN_FLIGHT: u32 = 128;

/// Another user: requests at random times, over the whole drive.
#[derive(Clone, Debug)]
pub struct Foreign {
    arrivals: Arrivals,
    next_ns: u64,
    choices: Stream,
    write_ratio: f64,
    sectors: u64,
    /// Places on the drive where a request can begin.
    places: u64,
    on_ns: u64,
    off_ns: u64,
    in_flight: u32,
    served: Moved,
}

impl Foreign {
    /// The user of a drive of so many bytes; none if nobody else asks.
    pub fn new(config: &Disturbance, capacity_bytes: u64, seed: u64) -> Option<Self> {
        if config.foreign_iops == 0 {
            return None;
        }
        let arrivals = Stream::new(seed, "foreign arrivals");
        let mut user = Self {
            arrivals: Arrivals::poisson(config.foreign_iops, arrivals),
            next_ns: 0,
            choices: Stream::new(seed, "foreign requests"),
            write_ratio: config.foreign_write_ratio,
            sectors: config.foreign_bytes / SECTOR_BYTES,
            places: capacity_bytes / config.foreign_bytes,
            on_ns: config.foreign_on_ns,
            off_ns: config.foreign_off_ns,
            in_flight: 0,
            served: Moved::default(),
        };
        user.await_next();
        Some(user)
    }

    /// When the next request arrives.
    pub const fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The request that arrives now; none if too many of them are still under way.
    pub fn ask(&mut self, id: u64) -> Option<Request> {
        self.await_next();
        let lba = Lba(self.choices.below(self.places) * self.sectors);
        let writes = self.choices.unit() < self.write_ratio;
        if self.in_flight == MOST_IN_FLIGHT {
            return None;
        }
        self.in_flight += 1;
        let op = if writes { Op::Write } else { Op::Read };
        Some(Request::new(id, op, lba, Sectors(self.sectors)))
    }

    /// Leaves out what would have arrived before `now_ns`.
    pub fn skip_to(&mut self, now_ns: u64) {
        while self.next_ns < now_ns {
            self.await_next();
        }
    }

    /// A request was served, or failed: it is the same to us.
    pub const fn answered(&mut self, op: Op) {
        self.in_flight -= 1;
        self.served.count(op, self.sectors * SECTOR_BYTES);
    }

    /// What was read and written so far.
    pub const fn moved(&self) -> Moved {
        self.served
    }

    /// Arrivals go on in the time in which the user asks; pauses come between.
    fn await_next(&mut self) {
        let asking_ns = self.arrivals.next_time().0;
        let pauses = asking_ns.checked_div(self.on_ns).unwrap_or(0);
        self.next_ns = asking_ns.saturating_add(pauses.saturating_mul(self.off_ns));
    }
}
