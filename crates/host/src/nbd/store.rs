//! Where the data of a served drive lies. The drive says when a request is done; the store
//! says what the bytes are.
//!
//! Zeros take no room: memory is allocated in chunks by the first write that is not all zeros,
//! and a trim gives it back. A backing file stays sparse in the same way.

use super::error::NbdError;
use super::protocol::error;
use crate::guard::Guard;
use crate::safety::files::{self, Readers};
use crate::sys::{self, locks};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// What memory is allocated in.
const CHUNK_BYTES: usize = 64 << 10;

type Chunk = Box<[u8; CHUNK_BYTES]>;

/// The data of a drive. Errors are numbers of the protocol.
pub enum Store {
    /// Reads return zeros, writes are forgotten: the `null:` target.
    Nothing,
    /// Sparse memory.
    Memory(Memory),
    /// A sparse file.
    File(File),
    /// A real drive or file with its own data.
    Region(Region),
}

/// The part of a real drive or file that is served.
pub struct Region {
    file: Arc<File>,
    /// Where the export begins on it.
    base_bytes: u64,
    /// How much may still be written.
    writes_left_bytes: Option<u64>,
    /// What stands before each write, if there may be any.
    guard: Option<Box<Guard>>,
}

impl Region {
    /// The part from `base_bytes` on, of which so many bytes may be written.
    pub(crate) fn new(
        file: Arc<File>,
        base_bytes: u64,
        writes_left_bytes: Option<u64>,
        guard: Option<Guard>,
    ) -> Self {
        Self { file, base_bytes, writes_left_bytes, guard: guard.map(Box::new) }
    }

    /// Where something of that length goes that loses what is there, if it may.
    fn pass(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<u64, u32> {
        let at = self.base_bytes + offset_bytes;
        if let Some(guard) = &mut self.guard {
            let span = at..at + len_bytes;
            guard.pass(sys::monotonic_now(), &span).map_err(|_| error::PERM)?;
        }
        Ok(at)
    }

    /// Where a write of that length goes, if it may.
    fn admit(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<u64, u32> {
        let at = self.pass(offset_bytes, len_bytes)?;
        if let Some(left) = &mut self.writes_left_bytes {
            *left = left.checked_sub(len_bytes).ok_or(error::NOSPC)?;
        }
        Ok(at)
    }
}

/// Chunks of memory by their number, as many as the limit allows.
pub struct Memory {
    chunks: HashMap<u64, Chunk>,
    chunks_max: usize,
}

impl Memory {
    /// Memory of at most so many bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        let chunks_max = usize::try_from(bytes_max / CHUNK_BYTES as u64).unwrap_or(usize::MAX);
        Self { chunks: HashMap::new(), chunks_max }
    }

    fn read(&self, offset_bytes: u64, data: &mut [u8]) {
        for (number, start, part) in parts_mut(offset_bytes, data) {
            match self.chunks.get(&number) {
                Some(chunk) => part.copy_from_slice(&chunk[start..start + part.len()]),
                None => part.fill(0),
            }
        }
    }

    fn write(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), u32> {
        for (number, start, part) in parts(offset_bytes, data) {
            if let Some(chunk) = self.chunks.get_mut(&number) {
                chunk[start..start + part.len()].copy_from_slice(part);
            } else if part.iter().any(|&byte| byte != 0) {
                if self.chunks.len() >= self.chunks_max {
                    return Err(error::NOSPC);
                }
                let mut chunk = Chunk::new([0; CHUNK_BYTES]);
                chunk[start..start + part.len()].copy_from_slice(part);
                self.chunks.insert(number, chunk);
            }
        }
        Ok(())
    }

    fn zero(&mut self, offset_bytes: u64, len_bytes: u64) {
        let size = CHUNK_BYTES as u64;
        let end = offset_bytes + len_bytes;
        let whole = offset_bytes.div_ceil(size)..end / size;
        if whole.is_empty() {
            return self.blank(offset_bytes, end);
        }
        self.blank(offset_bytes, whole.start * size);
        self.blank(whole.end * size, end);
        if whole.end - whole.start > self.chunks.len() as u64 {
            self.chunks.retain(|number, _| !whole.contains(number));
        } else {
            whole.for_each(|number| drop(self.chunks.remove(&number)));
        }
    }

    /// Zeros in parts of chunks that exist.
    fn blank(&mut self, from: u64, to: u64) {
        let mut at = from;
        while at < to {
            let (number, start) = place(at);
            let len = (CHUNK_BYTES - start).min((to - at) as usize);
            if let Some(chunk) = self.chunks.get_mut(&number) {
                chunk[start..start + len].fill(0);
            }
            at += len as u64;
        }
    }
}

impl Store {
    /// A file as the store of a drive, made if it is missing. It must be empty or as large as
    /// the drive, and nobody else may serve it.
    ///
    /// # Errors
    /// If it is something else, or the kernel refuses.
    pub fn backing_file(
        path: &Path,
        capacity_bytes: u64,
        read_only: bool,
    ) -> Result<Self, NbdError> {
        let os = |action| move |source| NbdError::os(path, action, source);
        let mut options = OpenOptions::new();
        options.read(true).write(!read_only).create(!read_only).truncate(false);
        // Neither a pipe nor somebody's lease holds it up; what it is, is asked of what was opened.
        let opened = options.custom_flags(libc::O_NONBLOCK).open(path);
        let file = match opened {
            Err(_) if path.is_dir() => return Err(NbdError::NotABackingFile(path.to_owned())),
            result => result.map_err(os("open it"))?,
        };
        if !file.metadata().map_err(os("describe it"))?.is_file() {
            return Err(NbdError::NotABackingFile(path.to_owned()));
        }
        locks::let_block(&file).map_err(os("set it up"))?;
        if !sys::try_lock(&file).map_err(os("lock it"))? {
            return Err(NbdError::Locked(path.to_owned()));
        }
        if !read_only {
            let used = files::check_users(&file, Readers::Count, true);
            used.map_err(|why| NbdError::InUse { path: path.to_owned(), why })?;
        }
        let size_bytes = file.metadata().map_err(os("describe it"))?.len();
        if size_bytes == 0 && !read_only {
            file.set_len(capacity_bytes).map_err(os("make it as large as the drive"))?;
        } else if size_bytes != capacity_bytes {
            let path = path.to_owned();
            return Err(NbdError::BackingSize { path, size_bytes, capacity_bytes });
        }
        Ok(Self::File(file))
    }

    /// Reads.
    ///
    /// # Errors
    /// If the backing file fails.
    pub fn read(&self, offset_bytes: u64, data: &mut [u8]) -> Result<(), u32> {
        match self {
            Self::Nothing => data.fill(0),
            Self::Memory(memory) => memory.read(offset_bytes, data),
            Self::File(file) => file.read_exact_at(data, offset_bytes).map_err(|e| number(&e))?,
            Self::Region(Region { file, base_bytes, .. }) => {
                file.read_exact_at(data, base_bytes + offset_bytes).map_err(|e| number(&e))?;
            }
        }
        Ok(())
    }

    /// A read that has arrived will be asked for. The data of a real drive set out then, so that the
    /// drive works on all that clients have in flight.
    pub(crate) fn expect(&self, offset_bytes: u64, len_bytes: u64) {
        if let Self::Region(Region { file, base_bytes, .. }) = self {
            sys::begin_reading(file, base_bytes + offset_bytes, len_bytes);
        }
    }

    /// Whether a write may come, before its data do: none of it is written if not.
    pub(crate) fn admit(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), u32> {
        match self {
            Self::Region(region) => region.pass(offset_bytes, len_bytes).map(drop),
            Self::Nothing | Self::Memory(_) | Self::File(_) => Ok(()),
        }
    }

    /// Writes.
    ///
    /// # Errors
    /// If there is no room, or the backing file fails.
    pub fn write(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), u32> {
        match self {
            Self::Nothing => Ok(()),
            Self::Memory(memory) => memory.write(offset_bytes, data),
            Self::File(file) => file.write_all_at(data, offset_bytes).map_err(|e| number(&e)),
            Self::Region(region) => {
                let at = region.admit(offset_bytes, data.len() as u64)?;
                region.file.write_all_at(data, at).map_err(|e| number(&e))
            }
        }
    }

    /// The file that must be on the disk before a flush is answered.
    pub(crate) fn file(&self) -> Option<&File> {
        match self {
            Self::Nothing | Self::Memory(_) => None,
            Self::File(file) => Some(file),
            Self::Region(Region { file, .. }) => Some(file),
        }
    }

    /// Whether the data lie on the drive that is served, so that to serve them is the work.
    pub(crate) fn is_the_drive(&self) -> bool {
        matches!(self, Self::Region(_))
    }

    /// Gives room back; reads return zeros from then on.
    ///
    /// # Errors
    /// If the backing file fails.
    pub fn zero(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), u32> {
        match self {
            Self::Nothing => Ok(()),
            Self::Memory(memory) => {
                memory.zero(offset_bytes, len_bytes);
                Ok(())
            }
            Self::File(file) => zero_file(file, offset_bytes, len_bytes),
            // Zeros that are written count as all else; giving room back writes nothing.
            Self::Region(region) => {
                let at = region.pass(offset_bytes, len_bytes)?;
                if sys::punch_hole(&region.file, at, len_bytes).is_ok() {
                    return Ok(());
                }
                let at = region.admit(offset_bytes, len_bytes)?;
                zero_file(&region.file, at, len_bytes)
            }
        }
    }

    /// Bytes of memory or of the disk that the data take.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Memory(memory) => (memory.chunks.len() * CHUNK_BYTES) as u64,
            Self::File(file) => allocated_bytes(file),
            Self::Region(Region { file, .. }) => allocated_bytes(file),
        }
    }
}

fn allocated_bytes(file: &File) -> u64 {
    file.metadata().map_or(0, |stat| stat.blocks() * 512)
}

/// Punches a hole, or writes zeros where the file system has no holes.
fn zero_file(file: &File, offset_bytes: u64, len_bytes: u64) -> Result<(), u32> {
    if sys::punch_hole(file, offset_bytes, len_bytes).is_ok() {
        return Ok(());
    }
    let zeros = vec![0; CHUNK_BYTES];
    let mut done = 0;
    while done < len_bytes {
        let len = (len_bytes - done).min(CHUNK_BYTES as u64);
        let part = &zeros[..len as usize];
        file.write_all_at(part, offset_bytes + done).map_err(|error| number(&error))?;
        done += len;
    }
    Ok(())
}

/// What the kernel's answer is called in the protocol.
pub(crate) fn number(failure: &io::Error) -> u32 {
    match failure.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => error::NOSPC,
        _ => error::IO,
    }
}

fn place(offset_bytes: u64) -> (u64, usize) {
    let size = CHUNK_BYTES as u64;
    (offset_bytes / size, (offset_bytes % size) as usize)
}

/// The chunks behind a span: number, start inside it, and the data for it.
fn parts(offset_bytes: u64, data: &[u8]) -> impl Iterator<Item = (u64, usize, &[u8])> {
    let (mut at, mut rest) = (offset_bytes, data);
    std::iter::from_fn(move || {
        let (number, start) = place(at);
        let len = rest.len().min(CHUNK_BYTES - start);
        let (part, behind) = rest.split_at(len);
        (at, rest) = (at + len as u64, behind);
        (len > 0).then_some((number, start, part))
    })
}

fn parts_mut(offset_bytes: u64, data: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let (mut at, mut rest) = (offset_bytes, data);
    std::iter::from_fn(move || {
        let (number, start) = place(at);
        let len = rest.len().min(CHUNK_BYTES - start);
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(len);
        (at, rest) = (at + len as u64, behind);
        (len > 0).then_some((number, start, part))
    })
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Nothing => "nothing",
            Self::Memory(_) => "memory",
            Self::File(_) => "file",
            Self::Region(_) => "drive",
        };
        write!(f, "Store of {kind}, {} bytes", self.stored_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    /// Every way to store holds what a plain array holds, whatever is written where.
    #[test]
    fn stores_hold_what_an_array_holds() {
        const BYTES: usize = 5 * CHUNK_BYTES + 512;
        let path = std::env::temp_dir().join(format!("ssdscope-store-{}", std::process::id()));
        let file = Store::backing_file(&path, BYTES as u64, false).unwrap();
        for mut store in [Store::Memory(Memory::new(1 << 30)), file] {
            let mut truth = vec![0_u8; BYTES];
            let mut stream = Stream::new(5, "store");
            for step in 0..2_000_u64 {
                let at = stream.below(BYTES as u64) as usize;
                let len = (stream.below(3 * CHUNK_BYTES as u64) as usize).min(BYTES - at);
                if step % 3 == 0 {
                    store.zero(at as u64, len as u64).unwrap();
                    truth[at..at + len].fill(0);
                } else {
                    let data = vec![(step % 5) as u8; len];
                    store.write(at as u64, &data).unwrap();
                    truth[at..at + len].copy_from_slice(&data);
                }
            }
            let mut found = vec![1; BYTES];
            store.read(0, &mut found).unwrap();
            assert!(found == truth, "{store:?}");
            store.zero(0, BYTES as u64).unwrap();
            store.read(0, &mut found).unwrap();
            assert!(found.iter().all(|&byte| byte == 0), "{store:?}");
            assert!(store.stored_bytes() <= CHUNK_BYTES as u64, "{store:?}");
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn memory_ends_at_its_limit_and_zeros_are_free() {
        let mut store = Store::Memory(Memory::new(2 * CHUNK_BYTES as u64));
        store.write(0, &vec![0; 9 * CHUNK_BYTES]).unwrap();
        assert_eq!(store.stored_bytes(), 0);
        assert_eq!(store.write(0, &vec![1; 3 * CHUNK_BYTES]), Err(error::NOSPC));
        store.zero(0, CHUNK_BYTES as u64).unwrap();
        store.write(8 * CHUNK_BYTES as u64, &[7]).unwrap();
    }

    #[test]
    fn a_file_of_another_size_or_kind_is_no_backing_file() {
        let path = std::env::temp_dir().join(format!("ssdscope-other-{}", std::process::id()));
        std::fs::write(&path, b"precious").unwrap();
        let refused = Store::backing_file(&path, 4096, false).unwrap_err();
        assert!(refused.to_string().contains("8 bytes"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        std::fs::remove_file(&path).unwrap();
        assert!(Store::backing_file(Path::new("/dev/null"), 4096, false).is_err());
    }
}
