//! What others read and write on a block device while we measure it: the kernel's count less ours.

use crate::sysfs::SysBlock;
use ssdscope_io::{Moved, Op};

/// Who else uses the disk.
pub(crate) struct Neighbours {
    disk: SysBlock,
    at_open: Moved,
    ours: Moved,
}

impl Neighbours {
    /// Those of a device number, if the kernel counts for it.
    pub(crate) fn of(device: u64) -> Option<Self> {
        let disk = SysBlock::find(device)?;
        let at_open = disk.moved()?;
        Some(Self { disk, at_open, ours: Moved::default() })
    }

    /// Counts what was read or written for us.
    pub(crate) const fn count(&mut self, op: Op, bytes: u64) {
        self.ours.count(op, bytes);
    }

    /// What others moved since the device was opened.
    pub(crate) fn moved(&self) -> Option<Moved> {
        Some(self.disk.moved()?.without(self.at_open).without(self.ours))
    }

    /// The kernel's count now.
    pub(crate) fn mark(&self) -> Option<Moved> {
        self.disk.moved()
    }

    /// Takes what was moved since a mark for ours: the looks of our own checks.
    pub(crate) fn forgive_since(&mut self, mark: Option<Moved>) {
        if let (Some(before), Some(now)) = (mark, self.disk.moved()) {
            let moved = now.without(before);
            self.ours.count(Op::Read, moved.read_bytes);
        }
    }
}
