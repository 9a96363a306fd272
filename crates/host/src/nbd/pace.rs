//! The drive's clock and the wall's: a drive served with a slow-down of 20 lives a twentieth as
//! fast, so a request that takes it 50 us is answered after 1 ms.

use ssdscope_io::Nanos;

/// How instants of the wall become instants of the drive, and back.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    wall_origin: Nanos,
    drive_origin: Nanos,
    slow_down: f64,
}

impl Pace {
    /// Both clocks start here; `slow_down` is positive.
    #[must_use]
    pub fn new(wall: Nanos, drive: Nanos, slow_down: f64) -> Self {
        Self { wall_origin: wall, drive_origin: drive, slow_down }
    }

    /// How much slower the drive lives.
    #[must_use]
    pub fn slow_down(&self) -> f64 {
        self.slow_down
    }

    /// What the drive's clock shows at an instant of the wall; early by less than 1 ns.
    #[must_use]
    pub fn drive_at(&self, wall: Nanos) -> Nanos {
        let since = wall.saturating_sub(self.wall_origin).0;
        if self.slow_down == 1.0 {
            return Nanos(self.drive_origin.0 + since);
        }
        Nanos(self.drive_origin.0 + whole(since as f64 / self.slow_down))
    }

    /// The first instant of the wall at which the drive's clock has reached `drive`.
    #[must_use]
    pub fn wall_at(&self, drive: Nanos) -> Nanos {
        let since = drive.saturating_sub(self.drive_origin).0;
        if self.slow_down == 1.0 {
            return Nanos(self.wall_origin.0.saturating_add(since));
        }
        Nanos(self.wall_origin.0.saturating_add(whole((since as f64 * self.slow_down).ceil())))
    }

    /// A span of the drive's time on the wall's clock, rounded up.
    #[must_use]
    pub fn span(&self, drive: Nanos) -> Nanos {
        if self.slow_down == 1.0 {
            drive
        } else {
            Nanos(whole((drive.0 as f64 * self.slow_down).ceil()))
        }
    }
}

/// The whole nanoseconds of a span.
#[expect(clippy::cast_sign_loss, reason = "spans and slow-downs are not negative")]
fn whole(span_ns: f64) -> u64 {
    span_ns as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_is_never_early() {
        for slow_down in [1.0, 20.0, 0.37, 1.5] {
            let pace = Pace::new(Nanos(1_000), Nanos(77), slow_down);
            for since in [0, 1, 999, 123_456_789, 3_600_000_000_000] {
                let drive = Nanos(77 + since);
                let wall = pace.wall_at(drive);
                assert!((wall.0 - 1_000) as f64 >= since as f64 * slow_down);
                assert!(pace.drive_at(wall).0.abs_diff(drive.0) <= 3);
            }
        }
    }
}
