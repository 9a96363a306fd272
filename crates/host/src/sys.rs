//! The system calls that the standard library lacks, behind safe functions.
#![allow(unsafe_code)]

use ssdscope_io::Nanos;
use std::cell::Cell;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// Direct I/O alignments of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectAlignment {
    /// Offsets and lengths must be multiples of this many bytes.
    Bytes(u64),
    /// The file system refuses direct I/O on this file.
    Refused,
    /// The kernel does not say.
    Unknown,
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub(crate) fn monotonic_now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to. The call cannot fail for
    // this clock, and both fields are never negative.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Lets the calling thread wake on time: by default Linux may add 50 us to every sleep.
/// Cheap after the first call of a thread.
pub(crate) fn sharpen_timers() {
    thread_local! {
        static SHARP: Cell<bool> = const { Cell::new(false) };
    }
    if !SHARP.replace(true) {
        // SAFETY: takes an integer only and changes this thread's own timer slack.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    }
}

/// The kernel's answer about direct I/O on an open file.
pub(crate) fn direct_alignment(file: &File) -> DirectAlignment {
    let mut stat = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: an empty path with AT_EMPTY_PATH means the descriptor itself, which
    // `file` keeps open; `stat` has room for the answer and zero is valid for it.
    let (result, stat) = unsafe {
        let flags = libc::AT_EMPTY_PATH;
        let (mask, room) = (libc::STATX_DIOALIGN, stat.as_mut_ptr());
        (libc::statx(file.as_raw_fd(), c"".as_ptr(), flags, mask, room), stat.assume_init())
    };
    if result < 0 || stat.stx_mask & libc::STATX_DIOALIGN == 0 {
        DirectAlignment::Unknown
    } else if stat.stx_dio_offset_align == 0 {
        DirectAlignment::Refused
    } else {
        DirectAlignment::Bytes(u64::from(stat.stx_dio_offset_align))
    }
}

/// Whether the file lives in memory only, so that no drive is behind it.
pub(crate) fn is_memory_backed(file: &File) -> bool {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    const HUGETLBFS_MAGIC: i64 = 0x9584_58f6;
    let mut stat = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `file` keeps the descriptor open, `stat` has room for the answer and
    // zero is valid for it.
    let (result, stat) =
        unsafe { (libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()), stat.assume_init()) };
    result == 0 && [libc::TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC].contains(&stat.f_type)
}

/// The logical block size of an open block device.
pub(crate) fn block_logical_bytes(file: &File) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: BLKSSZGET writes one int, for which `bytes` has room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::BLKSSZGET, &raw mut bytes) })?;
    Ok(u64::from(bytes.unsigned_abs()))
}

/// The physical block size of an open block device.
pub(crate) fn block_physical_bytes(file: &File) -> io::Result<u64> {
    let mut bytes: libc::c_uint = 0;
    // SAFETY: BLKPBSZGET writes one unsigned int, for which `bytes` has room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::BLKPBSZGET, &raw mut bytes) })?;
    Ok(u64::from(bytes))
}

/// The next stretch of data at or after `from`: `None` where only a hole follows.
pub(crate) fn next_data(file: &File, from: u64) -> io::Result<Option<(u64, u64)>> {
    let seek = |offset: u64, whence| -> io::Result<u64> {
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        // SAFETY: takes integers only; it moves the file position, which nobody here uses.
        let found = unsafe { libc::lseek(file.as_raw_fd(), offset, whence) };
        u64::try_from(found).map_err(|_| io::Error::last_os_error())
    };
    match seek(from, libc::SEEK_DATA) {
        Ok(start) => Ok(Some((start, seek(start, libc::SEEK_HOLE)?))),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        // A file system without holes does not know the question: all of it is data.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let size = file.metadata()?.len();
            Ok((from < size).then_some((from, size)))
        }
        Err(error) => Err(error),
    }
}

/// Gives the span back to the file system; reads of it return zeros from then on.
pub(crate) fn punch_hole(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    let offset = libc::off_t::try_from(offset_bytes).map_err(io::Error::other)?;
    let len = libc::off_t::try_from(len_bytes).map_err(io::Error::other)?;
    // SAFETY: takes integers only; `file` keeps the descriptor open.
    check(unsafe { libc::fallocate(file.as_raw_fd(), PUNCH_HOLE, offset, len) })?;
    Ok(())
}

/// The `fallocate` mode of a discard: the size stays.
pub(crate) const PUNCH_HOLE: libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Writes `data` so that it is durable on return (the file form of FUA).
pub(crate) fn write_durable(file: &File, data: &[u8], offset_bytes: u64) -> io::Result<usize> {
    let offset = libc::off_t::try_from(offset_bytes).map_err(io::Error::other)?;
    let part = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    // SAFETY: `part` describes `data`, which outlives the call and is only read by a write.
    let written =
        unsafe { libc::pwritev2(file.as_raw_fd(), &raw const part, 1, offset, libc::RWF_DSYNC) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Takes the writer's lock without waiting; false if another process has it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: takes integers only; the lock ends with the descriptor.
    match check(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the writer's lock back now, and not only when the last reference to the file goes.
pub(crate) fn unlock(file: &File) {
    // SAFETY: takes integers only; there is nothing to do about a failure.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// The value of an extended attribute; `None` where it is missing or not understood.
pub(crate) fn get_xattr(file: &File, name: &CStr) -> Option<Vec<u8>> {
    let mut value = vec![0_u8; 128];
    // SAFETY: `name` ends in zero, `value` has the room that is passed along.
    let len = unsafe {
        let room = value.as_mut_ptr().cast();
        libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), room, value.len())
    };
    value.truncate(usize::try_from(len).ok()?);
    Some(value)
}

/// Sets an extended attribute.
pub(crate) fn set_xattr(file: &File, name: &CStr, value: &[u8]) -> io::Result<()> {
    let (data, len) = (value.as_ptr().cast(), value.len());
    // SAFETY: `name` ends in zero, `data` and `len` describe `value`.
    check(unsafe { libc::fsetxattr(file.as_raw_fd(), name.as_ptr(), data, len, 0) })?;
    Ok(())
}
