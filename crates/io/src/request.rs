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
    /// Make the span read as zeros, without their being sent (WRITE ZEROES). 4 is what lists call
    /// a write with forced unit access.
    #[serde(rename = "write_zeroes")]
    WriteZeroes = 5,
}

impl Op {
    /// How many numbers there are, for tables by operation.
    pub const COUNT: usize = 6;
}

/// How urgent the commands of a submission queue are, as NVMe's weighted round robin has it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Priority {
    /// Before all others.
    Urgent = 0,
    /// Four commands in a round.
    High = 1,
    /// Two commands in a round.
    #[default]
    Medium = 2,
    /// One command in a round.
    Low = 3,
}

/// The submission queue of a command. A device with one queue ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its number; devices count modulo the queues they have.
    pub index: u16,
    /// Its class, where the device tells classes apart.
    pub priority: Priority,
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
    /// Through which queue it comes.
    pub queue: Queue,
}

impl Request {
    /// A request through the first queue.
    #[must_use]
    pub const fn new(id: u64, op: Op, lba: Lba, sectors: Sectors) -> Self {
        let queue = Queue { index: 0, priority: Priority::Medium };
        Self { id, op, lba, sectors, fua: false, queue }
    }

    /// A read of `sectors` from `lba`.
    #[must_use]
    pub const fn read(id: u64, lba: Lba, sectors: Sectors) -> Self {
        Self::new(id, Op::Read, lba, sectors)
    }

    /// A write of `sectors` at `lba`.
    #[must_use]
    pub const fn write(id: u64, lba: Lba, sectors: Sectors) -> Self {
        Self::new(id, Op::Write, lba, sectors)
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
