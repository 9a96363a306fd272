//! Check 1: a whole disk, unless the user says that a virtual device is meant.

use super::refusal::Refusal;
use crate::sysfs::SysBlock;

/// A partition, or a device that the kernel makes of files, other drives or the network.
pub(super) fn is_virtual(block: &SysBlock) -> bool {
    block.device_type() != "disk"
}

pub(super) fn check(block: &SysBlock, allow_virtual: bool) -> Result<(), Refusal> {
    if let Some(zoned) = block.queue().remove("zoned").filter(|zoned| zoned != "none") {
        return Err(Refusal::Zoned(zoned));
    }
    if is_virtual(block) && !allow_virtual {
        return Err(Refusal::Virtual(in_words(block.device_type())));
    }
    Ok(())
}

fn in_words(device_type: &str) -> &'static str {
    match device_type {
        "partition" => "a partition",
        "loop" => "a loop device",
        "dm" => "a device-mapper volume",
        "md" => "an md array",
        "nbd" => "a network block device",
        "zram" => "a zram device, which is memory",
        _ => "a virtual device",
    }
}
