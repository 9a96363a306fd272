//! Where units are: which one a plane belongs to, and on which channel it is.

use super::Flash;
use crate::geometry::PlaneId;

impl Flash {
    /// The unit of a plane.
    #[inline]
    #[must_use]
    pub const fn unit_of(&self, plane: PlaneId) -> u32 {
        self.planes_per_unit.quotient(plane.0)
    }

    /// The channel of a unit.
    #[inline]
    #[must_use]
    pub fn channel_of(&self, unit: u32) -> u32 {
        self.units[unit as usize].channel
    }
}
