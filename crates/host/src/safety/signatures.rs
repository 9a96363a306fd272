//! Check 4: no file system, partition table, volume or array member that libblkid knows,
//! on the device or on any of its partitions. What is ambiguous or damaged counts as found.

use super::blkid::Library;
use super::refusal::Refusal;
use crate::sys;
use crate::sysfs::SysBlock;
use std::fs::File;

pub(super) fn check(file: &File, block: &SysBlock) -> Result<(), Refusal> {
    let library = Library::load().map_err(Refusal::NoLibrary)?;
    // The library reads odd lengths into memory of its own, which direct I/O refuses.
    let plain = sys::reopen(file, false).map_err(|error| Refusal::Unreadable(error.to_string()))?;
    let mut found = library.signatures(&plain, 0, 0).map_err(Refusal::Unreadable)?;
    for part in block.partitions() {
        let (Some(start_bytes), Some(size_bytes)) = (part.start_bytes(), part.size_bytes()) else {
            continue;
        };
        let name = part.name();
        let inside = library.signatures(&plain, start_bytes, size_bytes);
        let inside = inside.map_err(Refusal::Unreadable)?;
        found.extend(inside.into_iter().map(|what| format!("{what} on {name}")));
    }
    if found.is_empty() { Ok(()) } else { Err(Refusal::Signatures(found)) }
}
