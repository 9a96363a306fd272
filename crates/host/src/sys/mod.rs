//! The system calls that the standard library lacks, behind safe functions.
#![allow(unsafe_code)]

pub(crate) mod locks;
pub(crate) mod loops;
pub(crate) mod visitors;

use ssdscope_io::Nanos;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

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

/// What the file system of a file does that a measurement must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// The file lives in memory only, so that no drive is behind it.
    pub(crate) memory_backed: bool,
    /// Its name, if every write goes to a new place, and may be compressed on the way.
    pub(crate) copies_on_write: Option<&'static str>,
    /// Other machines may use the file.
    pub(crate) is_on_a_server: bool,
}

/// Asks the kernel for the file system's number (linux/magic.h, and those of ZFS and bcachefs).
pub(crate) fn file_system(file: &File) -> FileSystem {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    const HUGETLBFS_MAGIC: i64 = 0x9584_58f6;
    /// NFS, CIFS, SMB 2 and later, Ceph, 9p.
    const ON_SERVERS: [i64; 5] = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x00c3_6400, 0x0102_1997];
    const COPYING: [(i64, &str); 4] = [
        (0x9123_683e, "btrfs"),
        (0x2fc1_2fc1, "ZFS"),
        (0xca45_1a4e, "bcachefs"),
        (0x3434, "NILFS2"),
    ];
    let mut stat = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `file` keeps the descriptor open, `stat` has room for the answer and
    // zero is valid for it.
    let (result, stat) =
        unsafe { (libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()), stat.assume_init()) };
    if result != 0 {
        return FileSystem::default();
    }
    let copying = COPYING.iter().find(|(magic, _)| *magic == stat.f_type);
    FileSystem {
        memory_backed: [libc::TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC].contains(&stat.f_type),
        copies_on_write: copying.map(|(_, name)| *name),
        is_on_a_server: ON_SERVERS.contains(&stat.f_type),
    }
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

/// The size of an open block device, as the kernel has it now.
pub(crate) fn block_size_bytes(file: &File) -> io::Result<u64> {
    const BLKGETSIZE64: u64 = 0x8008_1272;
    let mut bytes = 0_u64;
    // SAFETY: BLKGETSIZE64 writes one 64-bit number, for which `bytes` has room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64 as _, &raw mut bytes) })?;
    Ok(bytes)
}

/// Whether the kernel refuses writes to an open block device.
pub(crate) fn is_read_only(file: &File) -> io::Result<bool> {
    const BLKROGET: u64 = 0x125e;
    let mut read_only: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int, for which `read_only` has room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKROGET as _, &raw mut read_only) })?;
    Ok(read_only != 0)
}

/// The number of the medium that an open block device has now; a later one has another.
pub(crate) fn disk_sequence(file: &File) -> io::Result<u64> {
    const BLKGETDISKSEQ: u64 = 0x8008_1280;
    let mut sequence = 0_u64;
    // SAFETY: BLKGETDISKSEQ writes one 64-bit number, for which `sequence` has room.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKGETDISKSEQ as _, &raw mut sequence) })?;
    Ok(sequence)
}

/// Opens what a descriptor has open once more, through the page cache.
pub(crate) fn reopen(file: &File, write: bool) -> io::Result<File> {
    reopen_with(file, write, 0)
}

/// Opens what a descriptor has open once more. No name is looked up, so it is the same object.
pub(crate) fn reopen_with(file: &File, write: bool, flags: libc::c_int) -> io::Result<File> {
    File::options().read(true).write(write).custom_flags(flags).open(link_of(file))
}

/// The name by which the kernel knows what a descriptor has open, now.
pub(crate) fn name_of(file: &File) -> io::Result<PathBuf> {
    std::fs::read_link(link_of(file))
}

fn link_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Sends an NVMe admin command that only reads: Get Log Page (2) or Identify (6).
pub(crate) fn nvme_admin(
    file: &File,
    opcode: u8,
    namespace: u32,
    word_10: u32,
    answer: &mut [u8],
) -> io::Result<()> {
    const NVME_IOCTL_ADMIN_CMD: u64 = 0xc048_4e41;
    const TIMEOUT_MS: u32 = 5000;
    assert!(matches!(opcode, 2 | 6), "opcode {opcode} might change the drive");
    let mut command = NvmeCommand {
        opcode,
        namespace,
        data: answer.as_mut_ptr() as u64,
        data_bytes: u32::try_from(answer.len()).map_err(io::Error::other)?,
        words_10_15: [word_10, 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: the command has the kernel's layout (72 bytes, as the request number says) and
    // names memory that `answer` owns, which the drive fills; the call waits for it.
    let status = check(unsafe {
        libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command)
    })?;
    if status == 0 { Ok(()) } else { Err(io::Error::other(format!("NVMe status {status:#x}"))) }
}

/// The number of the namespace that an open NVMe device is.
pub(crate) fn nvme_namespace(file: &File) -> io::Result<u32> {
    const NVME_IOCTL_ID: u64 = 0x4e40;
    // SAFETY: NVME_IOCTL_ID takes no argument and gives a number.
    let number = check(unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ID as _) })?;
    Ok(number.unsigned_abs())
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
    allocate(file, PUNCH_HOLE, offset_bytes, len_bytes)
}

/// Makes the span read as zeros without sending them; of a block device by its own command, where
/// it has one.
pub(crate) fn zero_range(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    allocate(file, ZERO_RANGE, offset_bytes, len_bytes)
}

fn allocate(file: &File, mode: libc::c_int, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    let offset = libc::off_t::try_from(offset_bytes).map_err(io::Error::other)?;
    let len = libc::off_t::try_from(len_bytes).map_err(io::Error::other)?;
    // SAFETY: takes integers only; `file` keeps the descriptor open.
    check(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, len) })?;
    Ok(())
}

/// Lets the kernel begin to read the span into the page cache, and does not wait for it.
pub(crate) fn begin_reading(file: &File, offset_bytes: u64, len_bytes: u64) {
    let (Ok(offset), Ok(len)) =
        (libc::off_t::try_from(offset_bytes), libc::off_t::try_from(len_bytes))
    else {
        return;
    };
    // SAFETY: takes integers only. It is advice: where it fails the read that follows takes longer.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), offset, len, libc::POSIX_FADV_WILLNEED) };
}

/// Tells an open block device that it may forget the span.
pub(crate) fn discard_block(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
    const BLKDISCARD: u64 = 0x1277;
    let span = [offset_bytes, len_bytes];
    // SAFETY: BLKDISCARD reads two 64-bit numbers, which `span` holds.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as _, span.as_ptr()) })?;
    Ok(())
}

/// The `fallocate` mode of a discard: the size stays.
pub(crate) const PUNCH_HOLE: libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// The `fallocate` mode of zeros: the size stays.
pub(crate) const ZERO_RANGE: libc::c_int = libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE;

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

/// Whether this process may look at everybody's.
pub(crate) fn is_root() -> bool {
    // SAFETY: takes and changes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// Nanoseconds of `CLOCK_REALTIME`, which somebody may set.
pub(crate) fn realtime_now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    Nanos(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Nanoseconds of core time that this process has used.
pub(crate) fn own_core_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// How often the calling thread was made to give up its core.
pub(crate) fn involuntary_switches() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` has room for the answer, and zero is valid for it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_nivcsw.unsigned_abs()
}
