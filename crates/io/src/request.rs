//! What a host asks of a drive, and what comes back.

use crate::attribution::Attribution;
use crate::units::{Bytes, Lba, Nanos, Sectors};
use serde::{Deserialize, Serialize};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Read the span.
    Read = 0,
    /// Write the span.
    Write = 1,
    /// Make everything that was acknowledged durable; the span is empty.
    Flush = 2,
    /// Forget the span (TRIM, UNMAP).
    Discard = 3,
}

/// One command of the host. The caller picks `id`, which comes back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The caller's own number, returned in the completion.
    pub id: u64,
    /// What to do.
    pub op: Op,
    /// First sector.
    pub lba: Lba,
    /// Length; zero only for a flush.
    pub sectors: Sectors,
    /// Force unit access: a write is acknowledged only when it is durable.
    pub fua: bool,
}

impl Request {
    /// A read of `sectors` from `lba`.
    #[must_use]
    pub const fn read(id: u64, lba: Lba, sectors: Sectors) -> Self {
        Self { id, op: Op::Read, lba, sectors, fua: false }
    }

    /// A write of `sectors` at `lba`.
    #[must_use]
    pub const fn write(id: u64, lba: Lba, sectors: Sectors) -> Self {
        Self { id, op: Op::Write, lba, sectors, fua: false }
    }

    /// The length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> Bytes {
        self.sectors.bytes()
    }

    /// The sector after the last one.
    #[must_use]
    pub fn end(&self) -> Lba {
        self.lba + self.sectors
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was served whole.
    Done,
    /// The drive or the kernel failed it; the number is the errno (5 = EIO).
    Failed(i32),
}

/// A served request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The id of the request.
    pub id: u64,
    /// When it was submitted, on the device's clock.
    pub submitted: Nanos,
    /// When the host saw it end, on the same clock.
    pub completed: Nanos,
    /// How it ended.
    pub outcome: Outcome,
    /// Where the time went; all zero on a drive that cannot say
    /// ([`DeviceInfo::attribution`](crate::DeviceInfo::attribution)).
    pub attribution: Attribution,
}

impl Completion {
    /// Completion minus submission.
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.completed - self.submitted
    }
}
