//! Check 1: a whole disk, unless the user says that a virtual device is meant.

use super::refusal::Refusal;
use crate::sysfs::SysBlock;

/// A partition, or a device that the kernel makes of files, other drives or the network.
pub(super) fn is_virtual(block: &SysBlock) -> bool {
    block.device_type() != "disk"
}

pub(super) fn check(block: &SysBlock, allow_virtual: bool) -> Result<(), Refusal> {
    check_zones(block.queue().remove("zoned"))?;
    if is_virtual(block) && !allow_virtual {
        return Err(Refusal::Virtual(in_words(block.device_type())));
    }
    Ok(())
}

/// A kernel that knows no zones says nothing of them.
fn check_zones(zoned: Option<String>) -> Result<(), Refusal> {
    match zoned.filter(|zoned| zoned != "none") {
        Some(zoned) => Err(Refusal::Zoned(zoned)),
        None => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_refused() {
        assert_eq!(check_zones(None), Ok(()));
        assert_eq!(check_zones(Some("none".to_owned())), Ok(()));
        for zoned in ["host-managed", "host-aware"] {
            let refused = check_zones(Some(zoned.to_owned())).expect_err("zoned");
            assert!(refused.to_string().contains(zoned), "{refused}");
        }
    }
}
