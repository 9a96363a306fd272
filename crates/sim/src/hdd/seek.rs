//! How long the arm takes from cylinder to cylinder.
//!
//! The form is that of Ruemmler & Wilkes, "An introduction to disk drive modeling", IEEE
//! Computer 27(3), 1994: `a + b sqrt(d)` for short seeks, where the arm only speeds up
//! and slows down, and `c + e d` for long ones, where it coasts. Data sheets give three
//! points: one cylinder, the average, the full stroke. The two branches meet at a third of
//! the stroke, at the height that makes the mean over all pairs of different cylinders,
//! equally likely, the average of the data sheet: the way in which makers define it.

use crate::rounding::nearest;

/// Why three seek times do not belong to one curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeekError {
    /// The full stroke is shorter than a single cylinder.
    #[error("is below disk.seek_track_ns = {track_ns}")]
    Falling {
        /// One cylinder.
        track_ns: u64,
    },
    /// No curve that rises from the one to the other has this average.
    #[error(
        "{average_ns} cannot be the average of a curve that rises from disk.seek_track_ns = \
         {track_ns} to disk.seek_full_ns = {full_ns}: expected {low_ns} to {high_ns}"
    )]
    Average {
        /// What was asked.
        average_ns: u64,
        /// One cylinder.
        track_ns: u64,
        /// All of them.
        full_ns: u64,
        /// The least average there is.
        low_ns: u64,
        /// The largest.
        high_ns: u64,
    },
}

/// Seek time by distance.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekCurve {
    /// Distance where the branches meet.
    knee: f64,
    /// `a`, `b` of the short branch.
    short: (f64, f64),
    /// `c`, `e` of the long branch.
    long: (f64, f64),
}

impl SeekCurve {
    /// The curve through the three times of a data sheet, for a disk of `cylinders`.
    ///
    /// # Errors
    /// If no rising curve has these times.
    pub fn new(
        track_ns: u64,
        average_ns: u64,
        full_ns: u64,
        cylinders: u32,
    ) -> Result<Self, SeekError> {
        if full_ns < track_ns {
            return Err(SeekError::Falling { track_ns });
        }
        let (track, full) = (track_ns as f64, full_ns as f64);
        let last = f64::from(cylinders - 1);
        let knee = last / 3.0;
        let [of_track, of_knee, of_full] = weights(cylinders, knee);
        let height = (average_ns as f64 - of_track * track - of_full * full) / of_knee;
        // The average is linear in the height; half a nanosecond is the rounding of both.
        if height < track - 0.5 || height > full + 0.5 {
            let average_of = |height: f64| of_track * track + of_knee * height + of_full * full;
            return Err(SeekError::Average {
                average_ns,
                track_ns,
                full_ns,
                low_ns: nearest(average_of(track).ceil()),
                high_ns: nearest(average_of(full).floor()),
            });
        }
        let b = (height - track) / (knee.sqrt() - 1.0);
        let e = (full - height) / (last - knee);
        Ok(Self { knee, short: (track - b, b), long: (height - e * knee, e) })
    }

    /// The time of a seek over `distance` cylinders.
    #[must_use]
    pub fn time_ns(&self, distance: u32) -> u64 {
        if distance == 0 {
            return 0;
        }
        let distance = f64::from(distance);
        let ns = if distance < self.knee {
            self.short.0 + self.short.1 * distance.sqrt()
        } else {
            self.long.0 + self.long.1 * distance
        };
        nearest(ns.max(0.0))
    }
}

/// How much the time of one cylinder, of the knee and of the full stroke weigh in the mean
/// over all pairs of different cylinders: distance `d` occurs `2 (C - d)` times in
/// `C (C - 1)`.
fn weights(cylinders: u32, knee: f64) -> [f64; 3] {
    let count = f64::from(cylinders);
    let last = count - 1.0;
    let mut weights = [0.0; 3];
    for distance in (1..cylinders).map(f64::from) {
        let share = 2.0 * (count - distance) / (count * last);
        if distance < knee {
            let part = (distance.sqrt() - 1.0) / (knee.sqrt() - 1.0);
            weights[0] += share * (1.0 - part);
            weights[1] += share * part;
        } else {
            let part = (distance - knee) / (last - knee);
            weights[1] += share * (1.0 - part);
            weights[2] += share * part;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_times_of_the_data_sheet_come_out() {
        for cylinders in [16, 1000, 140_000] {
            let curve = SeekCurve::new(1_000_000, 12_000_000, 20_000_000, cylinders).unwrap();
            assert_eq!(curve.time_ns(0), 0);
            assert_eq!(curve.time_ns(1), 1_000_000);
            assert_eq!(curve.time_ns(cylinders - 1), 20_000_000);
            let pairs = f64::from(cylinders) * f64::from(cylinders - 1);
            let mean: f64 = (1..cylinders)
                .map(|d| 2.0 * f64::from(cylinders - d) / pairs * curve.time_ns(d) as f64)
                .sum();
            assert!((mean - 12e6).abs() < 1.0, "{cylinders}: {mean}");
            assert!((2..cylinders).all(|d| curve.time_ns(d) >= curve.time_ns(d - 1)));
        }
    }

    #[test]
    fn the_mean_is_the_integral_of_the_two_branches() {
        // Over a stroke of length 1 distance x has density 2 (1 - x).
        let curve = SeekCurve::new(800_000, 8_500_000, 17_000_000, 100_000).unwrap();
        let (stroke, third) = (99_999.0, 1.0 / 3.0_f64);
        let short = curve.short.0 * (2.0 * third - third.powi(2))
            + curve.short.1
                * f64::sqrt(stroke)
                * (4.0 / 3.0 * third.powf(1.5) - 4.0 / 5.0 * third.powf(2.5));
        let moment = |x: f64| x.powi(2) - 2.0 / 3.0 * x.powi(3);
        let long = curve.long.0 * (1.0 - third).powi(2)
            + curve.long.1 * stroke * (moment(1.0) - moment(third));
        let mean = short + long;
        assert!((mean / 8.5e6 - 1.0).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn an_average_that_no_curve_has_is_refused_with_the_range() {
        let error = SeekCurve::new(1_000_000, 19_000_000, 20_000_000, 1000).unwrap_err();
        let SeekError::Average { low_ns, high_ns, .. } = error else { panic!("{error:?}") };
        assert!(SeekCurve::new(1_000_000, low_ns, 20_000_000, 1000).is_ok());
        assert!(SeekCurve::new(1_000_000, high_ns, 20_000_000, 1000).is_ok());
        assert!(SeekCurve::new(1_000_000, high_ns + 2, 20_000_000, 1000).is_err());
        assert!(SeekCurve::new(1_000_000, low_ns - 2, 20_000_000, 1000).is_err());
        let falling = SeekCurve::new(2_000, 1_500, 1_000, 1000);
        assert_eq!(falling, Err(SeekError::Falling { track_ns: 2_000 }));
    }
}
