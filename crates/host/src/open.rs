//! What may be opened, how, and every reason to refuse.

use crate::buffer::BufferPool;
use crate::consent::{self, Consent};
use crate::engine::EngineChoice;
use crate::error::HostError;
use crate::file::{HostFile, Writing};
use crate::safety::{self, usage};
use crate::sys::{self, DirectAlignment, FileSystem};
use crate::sysfs::SysBlock;
use ssdscope_io::SECTOR_BYTES;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
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

/// What a target is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Reading only.
    Reading,
    /// Reading and writing.
    Writing,
    /// Reading and writing, if the kernel gives it to us alone.
    Alone,
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
    let opened = open_target(path, Purpose::Reading)?;
    check_size(path, &opened)?;
    HostFile::new(path, opened, None, engine)
}

/// Opens a block device or a regular file for reading and writing. `keep_going` is asked
/// now and then while a file is searched for data that would be lost.
///
/// # Errors
/// As [`open_read`]; and for a file a wrong token, data that is not ours without the leave
/// to lose it, or another writer (see [`crate::consent`]); for a block device whatever
/// [`crate::safety`] refuses.
pub fn open_write(
    path: &Path,
    consent: &Consent<'_>,
    engine: EngineChoice,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<HostFile, HostError> {
    let (real_path, stat) = resolve(path)?;
    if stat.file_type().is_block_device() {
        let (opened, window) = safety::admit(path, &stat, consent)?;
        return HostFile::new(path, opened, Some(writing_in(window, consent)), engine);
    }
    let loops = usage::loops_of_file(&real_path);
    if !loops.is_empty() {
        return Err(HostError::Attached { path: path.to_owned(), loops });
    }
    consent::check_token(path, &real_path, consent.token)?;
    let opened = open_target(path, Purpose::Writing)?;
    check_size(path, &opened)?;
    if !sys::try_lock(&opened.file).map_err(|error| HostError::os(path, "lock it", error))? {
        return Err(HostError::Locked(path.to_owned()));
    }
    consent::check(&opened.file, path, opened.capacity_bytes(), consent, keep_going)?;
    let window = 0..opened.capacity_bytes();
    HostFile::new(path, opened, Some(writing_in(window, consent)), engine)
}

fn writing_in(window: Range<u64>, consent: &Consent<'_>) -> Writing {
    Writing { window, limit_bytes: consent.write_limit_bytes, preserves: consent.preserve_content }
}

fn check_size(path: &Path, opened: &Opened) -> Result<(), HostError> {
    if opened.capacity_bytes() > 0 {
        return Ok(());
    }
    Err(HostError::TooSmall {
        path: path.to_owned(),
        size_bytes: opened.size_bytes,
        logical_block_bytes: opened.logical_block_bytes,
    })
}

/// Follows links and refuses what is neither a drive nor a file, before anything is opened.
pub(crate) fn resolve(path: &Path) -> Result<(PathBuf, Metadata), HostError> {
    let refused = |error| refusal(path, "reading", false, error);
    let real_path = fs::canonicalize(path).map_err(refused)?;
    let stat = fs::metadata(&real_path).map_err(refused)?;
    match other_kind(stat.file_type()) {
        Some(what) => Err(HostError::NotADrive { path: path.to_owned(), what }),
        None => Ok((real_path, stat)),
    }
}

fn other_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_file() || kind.is_block_device() {
        None
    } else if kind.is_dir() {
        Some("a directory")
    } else if kind.is_char_device() {
        Some("a character device")
    } else if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("something else")
    }
}

fn refusal(path: &Path, access: &'static str, block: bool, error: io::Error) -> HostError {
    if error.kind() == io::ErrorKind::PermissionDenied {
        HostError::Permission { path: path.to_owned(), access, block }
    } else {
        HostError::os(path, "open it", error)
    }
}

/// Opens and measures the target, around the page cache where the file system allows it.
pub(crate) fn open_target(path: &Path, purpose: Purpose) -> Result<Opened, HostError> {
    let (real_path, expected) = resolve(path)?;
    let is_block = expected.file_type().is_block_device();
    let write = purpose != Purpose::Reading;
    let access = if write { "writing" } else { "reading" };
    let alone = if purpose == Purpose::Alone { libc::O_EXCL } else { 0 };
    let open = |flags| {
        OpenOptions::new().read(true).write(write).custom_flags(flags | alone).open(&real_path)
    };
    let refused = |error| refusal(path, access, is_block, error);

    let direct = match open(libc::O_DIRECT) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => None,
        result => Some(result.map_err(refused)?),
    };
    let found = direct.as_ref().and_then(|file| direct_block_bytes(file, is_block, &expected));
    let (file, logical_block_bytes, buffered_because) = match (direct, found) {
        (Some(file), Some(bytes)) => (file, bytes, None),
        _ => {
            let reason = "the file system refuses direct I/O, so the page cache is in between";
            (open(0).map_err(refused)?, SECTOR_BYTES, Some(reason.to_owned()))
        }
    };

    let stat = file.metadata().map_err(|error| HostError::os(path, "describe it", error))?;
    let same = |a: &Metadata, b: &Metadata| {
        (a.dev(), a.ino(), a.rdev(), a.mode() & libc::S_IFMT)
            == (b.dev(), b.ino(), b.rdev(), b.mode() & libc::S_IFMT)
    };
    if !same(&stat, &expected) {
        return Err(HostError::Replaced(path.to_owned()));
    }
    let size_bytes = if is_block { block_size(&file, &stat) } else { Ok(stat.size()) }
        .map_err(|error| HostError::os(path, "read its size", error))?;
    let file_system = if is_block { FileSystem::default() } else { sys::file_system(&file) };
    Ok(Opened {
        file,
        real_path,
        is_block,
        size_bytes,
        logical_block_bytes,
        buffered_because,
        file_system,
    })
}

fn block_size(file: &File, stat: &Metadata) -> io::Result<u64> {
    use std::io::{Seek as _, SeekFrom};
    match SysBlock::find(stat.rdev()).and_then(|block| block.size_bytes()) {
        Some(bytes) => Ok(bytes),
        None => (&*file).seek(SeekFrom::End(0)),
    }
}

/// The smallest direct request; `None` if none works.
fn direct_block_bytes(file: &File, is_block: bool, stat: &Metadata) -> Option<u64> {
    if is_block {
        return sys::block_logical_bytes(file).ok();
    }
    match sys::direct_alignment(file) {
        DirectAlignment::Bytes(bytes) => Some(bytes.max(SECTOR_BYTES)),
        DirectAlignment::Refused => None,
        DirectAlignment::Unknown => {
            // Before Linux 6.1, and on file systems that do not say: ask the drive
            // beneath, then try.
            let beneath = SysBlock::find(stat.dev())
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
