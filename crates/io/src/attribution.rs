//! Where the time of a request went.
//!
//! The parts follow the critical path: the chain of waits and work that ends in
//! the completion of the request's last page. Their integer sum is the latency.

use crate::units::Nanos;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::ops::{AddAssign, Index, IndexMut};

/// A part of a latency. The order is that of the columns in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Waiting in the host's queue: for the link, or for a free slot in the drive.
    HostQueue = 0,
    /// Commands and data on the host link.
    Link = 1,
    /// The controller's processor.
    Firmware = 2,
    /// The write buffer or read cache.
    Buffer = 3,
    /// Loading or storing a part of the mapping table.
    Map = 4,
    /// The die was free but its channel was busy.
    ChannelWait = 5,
    /// Command and data cycles on the flash channel; on a hard disk the sectors under the head.
    Transfer = 6,
    /// The die was busy with another request of the host.
    DieWait = 7,
    /// The array: reading, programming, erasing for this request.
    Nand = 8,
    /// Reading what a small write does not overwrite.
    Rmw = 9,
    /// Waiting for garbage collection.
    Gc = 10,
    /// Waiting for a merge of log blocks.
    Merge = 11,
    /// Waiting for a die to suspend a program or erase, or suspended oneself.
    Suspend = 12,
    /// Seek, head switch and rotation of a hard disk.
    Mechanical = 13,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 14;

    /// All of them, in column order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::HostQueue,
        Self::Link,
        Self::Firmware,
        Self::Buffer,
        Self::Map,
        Self::ChannelWait,
        Self::Transfer,
        Self::DieWait,
        Self::Nand,
        Self::Rmw,
        Self::Gc,
        Self::Merge,
        Self::Suspend,
        Self::Mechanical,
    ];

    /// The name in files and on pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostQueue => "host_queue",
            Self::Link => "link",
            Self::Firmware => "firmware",
            Self::Buffer => "buffer",
            Self::Map => "map",
            Self::ChannelWait => "channel_wait",
            Self::Transfer => "transfer",
            Self::DieWait => "die_wait",
            Self::Nand => "nand",
            Self::Rmw => "rmw",
            Self::Gc => "gc",
            Self::Merge => "merge",
            Self::Suspend => "suspend",
            Self::Mechanical => "mechanical",
        }
    }
}

/// Nanoseconds per [`Cause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    parts_ns: [u64; Cause::COUNT],
}

impl Attribution {
    /// No time at all.
    pub const ZERO: Self = Self { parts_ns: [0; Cause::COUNT] };

    /// The sum over all causes: the latency of a served request.
    #[must_use]
    pub fn total(&self) -> Nanos {
        Nanos(self.parts_ns.iter().sum())
    }

    /// Nanoseconds by cause, in column order.
    #[must_use]
    pub const fn parts_ns(&self) -> &[u64; Cause::COUNT] {
        &self.parts_ns
    }
}

impl Index<Cause> for Attribution {
    type Output = u64;
    fn index(&self, cause: Cause) -> &u64 {
        &self.parts_ns[cause as usize]
    }
}

impl IndexMut<Cause> for Attribution {
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.parts_ns[cause as usize]
    }
}

impl AddAssign for Attribution {
    fn add_assign(&mut self, other: Self) {
        for (part, more) in self.parts_ns.iter_mut().zip(other.parts_ns) {
            *part += more;
        }
    }
}

impl Serialize for Attribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Cause::COUNT))?;
        for cause in Cause::ALL {
            map.serialize_entry(cause.name(), &self[cause])?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_order_is_declaration_order() {
        for (column, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, column, "{}", cause.name());
        }
    }

    #[test]
    fn parts_add_up() {
        let mut one = Attribution::ZERO;
        one[Cause::Nand] += 75_000;
        one[Cause::Link] += 8;
        assert_eq!(one.total(), Nanos(75_008));
    }
}
