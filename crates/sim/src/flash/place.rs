//! Where units are: on which channel, and which bit of it they have.

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
    pub const fn channel_of(&self, unit: u32) -> u32 {
        self.units_per_channel.quotient(unit)
    }

    /// The bit of a unit among those of its channel.
    #[inline]
    #[must_use]
    pub(super) const fn bit_of(&self, unit: u32) -> u64 {
        1 << self.units_per_channel.remainder(unit)
    }
}
