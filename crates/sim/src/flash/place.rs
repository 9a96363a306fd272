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

    /// The die of a plane, of all dies.
    #[must_use]
    pub(super) const fn die_of(&self, plane: PlaneId) -> u32 {
        plane.0 / self.geometry.planes_per_die
    }

    /// The channel of a unit.
    #[inline]
    #[must_use]
    pub fn channel_of(&self, unit: u32) -> u32 {
        self.units[unit as usize].channel
    }
}
