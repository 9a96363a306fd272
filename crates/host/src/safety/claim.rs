//! Check 3: the kernel gives the device to us alone; "busy" is final.

use super::openers;
use super::refusal::Refusal;
use crate::error::HostError;
use crate::open::{self, Opened, Purpose};
use crate::sysfs::SysBlock;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Opens with `O_RDWR | O_DIRECT | O_EXCL` what was checked until now: `block`, whose number
/// is `device`. A link may lead elsewhere by now.
pub(super) fn open(path: &Path, block: &SysBlock, device: u64) -> Result<Opened, HostError> {
    let opened = open::open_target(path, Purpose::Alone).map_err(|error| match error {
        HostError::Os { source, .. } if source.kind() == io::ErrorKind::ResourceBusy => {
            let why = Refusal::Claimed(openers::of(block));
            HostError::Refused { path: path.to_owned(), why }
        }
        other => other,
    })?;
    let stat = opened.file.metadata().map_err(|error| HostError::os(path, "describe it", error))?;
    check_same(path, stat.rdev(), device)?;
    Ok(opened)
}

fn check_same(path: &Path, opened: u64, checked: u64) -> Result<(), HostError> {
    if opened == checked { Ok(()) } else { Err(HostError::Replaced(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_elsewhere_by_now_is_refused() {
        let (path, loop_0, loop_1) =
            (Path::new("/dev/x"), libc::makedev(7, 0), libc::makedev(7, 1));
        assert!(check_same(path, loop_0, loop_0).is_ok());
        let refused = check_same(path, loop_1, loop_0);
        assert!(matches!(refused, Err(HostError::Replaced(_))));
    }
}
