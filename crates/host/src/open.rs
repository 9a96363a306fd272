//! What may be opened, how, and every reason to refuse.

use crate::buffer::BufferPool;
use crate::consent::Consent;
use crate::engine::EngineChoice;
use crate::error::HostError;
use crate::file::HostFile;
use crate::pinned::Pinned;
use crate::safety;
use crate::safety::refusal::Refusal;
use crate::sys::{self, DirectAlignment, FileSystem, locks};
use crate::sysfs::SysBlock;
use ssdscope_io::SECTOR_BYTES;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// An open drive or file, before an engine is put on it.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) real_path: PathBuf,
    pub(crate) is_block: bool,
    /// The size, as the kernel has it.
    pub(crate) size_bytes: u64,
    pub(crate) logical_block_bytes: u64,
    /// Why the page cache is in between, where it is.
    pub(crate) buffered_because: Option<String>,
    pub(crate) file_system: FileSystem,
}

impl Opened {
    /// The whole blocks of it.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.size_bytes - self.size_bytes % self.logical_block_bytes
    }

    /// How much of it no drive stores: holes and extents that were never written.
    pub(crate) fn holes_bytes(&self) -> io::Result<u64> {
        let (mut data_bytes, mut position) = (0, 0);
        while let Some((start, end)) = sys::next_data(&self.file, position)? {
            data_bytes += end - start;
            position = end;
        }
        Ok(self.size_bytes.saturating_sub(data_bytes))
    }
}

/// Opens a block device or a regular file for reading only.
///
/// # Errors
/// If it is something else, holds no whole block, or the kernel refuses.
pub fn open_read(path: &Path, engine: EngineChoice) -> Result<HostFile, HostError> {
    let opened = open_target(&Pinned::find(path)?, 0, false)?;
    check_size(path, &opened)?;
    HostFile::new(path, opened, None, engine)
}

/// Opens a block device or a regular file for reading and writing.
///
/// # Errors
/// As [`open_read`]; and whatever [`crate::safety`] refuses.
pub fn open_write(
    path: &Path,
    consent: &Consent<'_>,
    engine: EngineChoice,
) -> Result<HostFile, HostError> {
    let pinned = Pinned::find(path)?;
    let admitted = if pinned.is_block() {
        safety::admit(&pinned, consent)
    } else {
        safety::files::admit(&pinned, consent)
    }?;
    HostFile::new(path, admitted.opened, Some(admitted.writing), engine)
}

pub(crate) fn check_size(path: &Path, opened: &Opened) -> Result<(), HostError> {
    if opened.capacity_bytes() > 0 {
        return Ok(());
    }
    Err(HostError::TooSmall {
        path: path.to_owned(),
        size_bytes: opened.size_bytes,
        logical_block_bytes: opened.logical_block_bytes,
    })
}

/// Opens and measures what was found, around the page cache where the file system allows it.
/// `flags` are the kernel's, beside those.
pub(crate) fn open_target(
    pinned: &Pinned,
    flags: libc::c_int,
    write: bool,
) -> Result<Opened, HostError> {
    let (path, is_block) = (&pinned.path, pinned.is_block());
    // Somebody's lease on a file would hold up the opening for the better part of a minute.
    let patience = if is_block { 0 } else { libc::O_NONBLOCK };
    let open = |more| pinned.open(write, flags | patience | more);
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            HostError::Refused { path: path.clone(), why: Refusal::Leased }
        }
        _ => pinned.refusal(write, error),
    };
    let direct = match open(libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => None,
        result => Some(result.map_err(refused)?),
    };
    let found = direct.as_ref().and_then(|file| direct_block_bytes(file, is_block));
    let (file, logical_block_bytes, buffered_because) = match (direct, found) {
        (Some(file), Some(bytes)) => (file, bytes, None),
        (direct, _) => {
            drop(direct); // what is claimed is not given twice
            let reason = "the file system refuses direct I/O, so the page cache is in between";
            (open(0).map_err(refused)?, SECTOR_BYTES, Some(reason.to_owned()))
        }
    };
    let size_bytes = if is_block {
        sys::block_size_bytes(&file)
    } else {
        locks::let_block(&file).and_then(|()| file.metadata()).map(|stat| stat.size())
    }
    .map_err(|error| HostError::os(path, "read its size", error))?;
    let file_system = if is_block { FileSystem::default() } else { sys::file_system(&file) };
    Ok(Opened {
        file,
        real_path: pinned.real_path.clone(),
        is_block,
        size_bytes,
        logical_block_bytes,
        buffered_because,
        file_system,
    })
}

/// The smallest direct request; `None` if none works.
fn direct_block_bytes(file: &File, is_block: bool) -> Option<u64> {
    if is_block {
        return sys::block_logical_bytes(file).ok();
    }
    match sys::direct_alignment(file) {
        DirectAlignment::Bytes(bytes) => Some(bytes.max(SECTOR_BYTES)),
        DirectAlignment::Refused => None,
        DirectAlignment::Unknown => {
            // Before Linux 6.1, and on file systems that do not say: ask the drive
            // beneath, then try.
            let beneath = SysBlock::find(file.metadata().ok()?.dev())
                .and_then(|block| block.queue().get("logical_block_size")?.parse().ok());
            [beneath.unwrap_or(SECTOR_BYTES), 4096].into_iter().find(|&bytes| can_read(file, bytes))
        }
    }
}

/// Whether a direct read of one block of this size is accepted (at the end of the file too).
fn can_read(file: &File, block_bytes: u64) -> bool {
    let len = block_bytes as usize;
    let mut buffer = BufferPool::default().take(len, |_| {});
    file.read_at(&mut buffer.as_mut_slice()[..len], 0).is_ok()
}
