//! Units as types. A number of sectors, an address and a time never mix.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// The unit of addressing everywhere: 512 bytes, whatever a drive's logical block is.
pub const SECTOR_BYTES: u64 = 512;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);
            /// The largest value that can be written.
            pub const MAX: Self = Self(u64::MAX);

            /// The difference, or zero where `other` is larger.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                Self(parts.map(|part| part.0).sum())
            }
        }
    };
}

quantity! {
    /// Integer nanoseconds: a span, or an instant on a device's own clock.
    Nanos
}
quantity! {
    /// A number of bytes.
    Bytes
}
quantity! {
    /// A number of 512-byte sectors.
    Sectors
}

/// The address of a 512-byte sector.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Lba(pub u64);

impl Lba {
    /// The byte that this sector starts at.
    #[must_use]
    pub const fn byte_offset(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Add<Sectors> for Lba {
    type Output = Self;
    fn add(self, span: Sectors) -> Self {
        Self(self.0 + span.0)
    }
}

impl Sub for Lba {
    type Output = Sectors;
    fn sub(self, start: Self) -> Sectors {
        Sectors(self.0 - start.0)
    }
}

impl Sectors {
    /// The same span in bytes.
    #[must_use]
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Bytes {
    /// The same span in sectors, or `None` where it is not a whole number of them.
    #[must_use]
    pub const fn whole_sectors(self) -> Option<Sectors> {
        if self.0.is_multiple_of(SECTOR_BYTES) {
            Some(Sectors(self.0 / SECTOR_BYTES))
        } else {
            None
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(out, "{} {unit}", self.0 >> shift);
            }
        }
        write!(out, "{} B", self.0)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_and_bytes_convert_exactly() {
        assert_eq!(Bytes(4096).whole_sectors(), Some(Sectors(8)));
        assert_eq!(Bytes(4097).whole_sectors(), None);
        assert_eq!(Sectors(8).bytes(), Bytes(4096));
        assert_eq!(Lba(3) + Sectors(5) - Lba(1), Sectors(7));
    }

    #[test]
    fn sizes_read_like_sizes() {
        assert_eq!(Bytes(256 << 10).to_string(), "256 KiB");
        assert_eq!(Bytes(1000).to_string(), "1000 B");
    }
}
