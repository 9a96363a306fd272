//! The medium in time: when a span of sectors has passed under the head.
//!
//! The angle of the spindle is the time modulo a revolution, plus a phase drawn from the
//! seed: the disks of an array do not turn in step.

use super::geometry::{Geometry, Spot};
use super::seek::SeekCurve;
use std::ops::Range;

/// Where the head is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arm {
    cylinder: u32,
    head: u32,
}

impl Arm {
    /// The cylinder it stands on.
    pub const fn cylinder(self) -> u32 {
        self.cylinder
    }
}

/// What it took to bring a span under the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub end_ns: u64,
    /// Seeking, switching, waiting for the sector.
    pub mechanical_ns: u64,
    /// Sectors under the head.
    pub transfer_ns: u64,
}

/// The moving parts.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    pub geometry: Geometry,
    pub seek: SeekCurve,
    pub head_switch_ns: u64,
    pub write_settle_ns: u64,
    /// The spindle's angle at time 0, as a time.
    pub phase_ns: u64,
}

impl Medium {
    /// When the first sector of `spot` comes under the head, from `arm` at `now_ns` on.
    fn start_ns(&self, arm: Arm, now_ns: u64, spot: &Spot, write: bool) -> u64 {
        let distance = arm.cylinder.abs_diff(spot.cylinder);
        let switched = arm.head != spot.head;
        let mut move_ns = self.seek.time_ns(distance);
        if switched {
            move_ns = move_ns.max(self.head_switch_ns);
        }
        if write && (switched || distance > 0) {
            move_ns += self.write_settle_ns;
        }
        let rotation_ns = self.geometry.rotation_ns();
        let there_ns = now_ns + move_ns;
        let angle_ns = (there_ns + self.phase_ns) % rotation_ns;
        let wanted_ns = self.slot_ns(spot, 0);
        there_ns + (wanted_ns + rotation_ns - angle_ns) % rotation_ns
    }

    /// The time from the index mark to the `count`-th sector behind `spot`.
    fn slot_ns(&self, spot: &Spot, count: u64) -> u64 {
        (u64::from(spot.slot) + count) * self.geometry.rotation_ns()
            / u64::from(spot.sectors_per_track)
    }

    /// How long until `sector` comes under the head.
    pub fn access_ns(&self, arm: Arm, now_ns: u64, sector: u64, write: bool) -> u64 {
        self.start_ns(arm, now_ns, &self.geometry.locate(sector), write) - now_ns
    }

    /// Passes over `span` from `from_ns` on, moving `arm`; what happened before `since_ns`
    /// is not told.
    pub fn pass(
        &self,
        arm: &mut Arm,
        from_ns: u64,
        span: Range<u64>,
        write: bool,
        since_ns: u64,
    ) -> Pass {
        let mut pass = Pass { end_ns: from_ns, ..Pass::default() };
        let mut sector = span.start;
        while sector < span.end {
            let spot = self.geometry.locate(sector);
            let count = u64::from(spot.left).min(span.end - sector);
            let start_ns = self.start_ns(*arm, pass.end_ns, &spot, write);
            pass.end_ns = start_ns + self.slot_ns(&spot, count) - self.slot_ns(&spot, 0);
            pass.transfer_ns += pass.end_ns.saturating_sub(start_ns.max(since_ns));
            *arm = Arm { cylinder: spot.cylinder, head: spot.head };
            sector += count;
        }
        pass.mechanical_ns = pass.end_ns.saturating_sub(since_ns) - pass.transfer_ns;
        pass
    }

    /// How far a pass over `span` from `from_ns` on has come at `now_ns`: the first sector
    /// not read, and when the one before it was.
    pub fn progress(
        &self,
        arm: &mut Arm,
        from_ns: u64,
        span: Range<u64>,
        now_ns: u64,
    ) -> (u64, u64) {
        let (mut sector, mut at_ns) = (span.start, from_ns);
        while sector < span.end {
            let spot = self.geometry.locate(sector);
            let start_ns = self.start_ns(*arm, at_ns, &spot, false);
            if start_ns >= now_ns {
                break;
            }
            let whole = u64::from(spot.left).min(span.end - sector);
            let read = |count| start_ns + self.slot_ns(&spot, count) - self.slot_ns(&spot, 0);
            let rate = u64::from(spot.sectors_per_track);
            // At most one sector off, for the rounding of instants.
            let mut count =
                ((now_ns - start_ns) * rate / self.geometry.rotation_ns() + 1).min(whole);
            while count > 0 && read(count) > now_ns {
                count -= 1;
            }
            if count == 0 {
                break;
            }
            *arm = Arm { cylinder: spot.cylinder, head: spot.head };
            at_ns = read(count);
            sector += count;
            if count < whole {
                break;
            }
        }
        (sector, at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::tests::disk;
    use super::*;

    fn medium() -> Medium {
        let disk = disk();
        Medium {
            geometry: Geometry::new(&disk),
            seek: SeekCurve::new(
                disk.seek_track_ns,
                disk.seek_average_ns,
                disk.seek_full_ns,
                disk.cylinders,
            )
            .unwrap(),
            head_switch_ns: disk.head_switch_ns,
            write_settle_ns: 0,
            phase_ns: 0,
        }
    }

    #[test]
    fn a_cylinder_takes_its_revolutions_and_skews() {
        let medium = medium();
        let mut arm = Arm::default();
        // Revolutions of 10 ms, a head switch of 6 sectors of 100 us.
        let pass = medium.pass(&mut arm, 0, 0..200, false, 0);
        assert_eq!((pass.transfer_ns, pass.mechanical_ns), (20_000_000, 600_000));
        assert_eq!(arm, Arm { cylinder: 0, head: 1 });
        let pass = medium.pass(&mut arm, pass.end_ns, 200..210, false, pass.end_ns);
        assert_eq!((pass.transfer_ns, pass.mechanical_ns), (1_000_000, 1_100_000));
    }

    #[test]
    fn a_sector_just_missed_is_a_revolution_away() {
        let medium = medium();
        assert_eq!(medium.access_ns(Arm::default(), 0, 0, false), 0);
        assert_eq!(medium.access_ns(Arm::default(), 1, 0, false), 9_999_999);
        assert_eq!(medium.access_ns(Arm::default(), 1, 1, false), 99_999);
    }

    #[test]
    fn progress_and_pass_agree_at_every_instant() {
        let medium = medium();
        let whole = medium.pass(&mut Arm::default(), 3, 95..420, false, 3);
        let (mut arm, mut sector, mut at_ns) = (Arm::default(), 95, 3);
        for now_ns in (0..whole.end_ns).step_by(77_777).chain([whole.end_ns]) {
            (sector, at_ns) = medium.progress(&mut arm, at_ns, sector..420, now_ns);
            let rest = medium.pass(&mut arm.clone(), at_ns, sector..420, false, at_ns);
            assert_eq!(rest.end_ns, whole.end_ns, "at {now_ns}");
            assert!(at_ns <= now_ns.max(3));
        }
        assert_eq!((sector, at_ns), (420, whole.end_ns));
    }
}
