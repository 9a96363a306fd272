//! What others read and write on a block device while we measure it: the kernel's count less ours.

use crate::sysfs::SysBlock;

/// Who else uses the disk.
pub(crate) struct Neighbours {
    disk: SysBlock,
    at_open_bytes: u64,
    ours_bytes: u64,
}

impl Neighbours {
    /// Those of a device number, if the kernel counts for it.
    pub(crate) fn of(device: u64) -> Option<Self> {
        let disk = SysBlock::find(device)?;
        let at_open_bytes = disk.moved_bytes()?;
        Some(Self { disk, at_open_bytes, ours_bytes: 0 })
    }

    /// Counts what was read or written for us.
    pub(crate) const fn count(&mut self, bytes: u64) {
        self.ours_bytes += bytes;
    }

    /// What others read and wrote since the device was opened.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let all_bytes = self.disk.moved_bytes()? - self.at_open_bytes;
        Some(all_bytes.saturating_sub(self.ours_bytes))
    }
}
