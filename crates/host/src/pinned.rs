//! What a path led to, held fast: from here on nothing is asked of the path.
//!
//! A name can change its meaning between two looks: a link flips, a folder is renamed, a file is
//! replaced. So the kernel follows the path once, to a descriptor that allows nothing but asking
//! (`O_PATH`). Kind, token, size, users and contents are asked of that descriptor, and it is
//! opened for reading or writing through it (`/proc/self/fd`), which looks up no name.

use crate::error::HostError;
use crate::sys;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A drive or a file, found and not yet opened.
pub(crate) struct Pinned {
    handle: File,
    stat: Metadata,
    /// As the user wrote it, for messages.
    pub(crate) path: PathBuf,
    /// As the kernel has it, with all links followed.
    pub(crate) real_path: PathBuf,
}

impl Pinned {
    /// Follows a path, and refuses what is neither a drive nor a file.
    ///
    /// # Errors
    /// If there is nothing, or something else.
    pub(crate) fn find(path: &Path) -> Result<Self, HostError> {
        let refused = |error| refusal(path, "reading", false, error);
        let handle =
            OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path).map_err(refused)?;
        let stat = handle.metadata().map_err(refused)?;
        if let Some(what) = other_kind(stat.file_type()) {
            return Err(HostError::NotADrive { path: path.to_owned(), what });
        }
        let real_path = sys::name_of(&handle)
            .map_err(|error| HostError::os(path, "find its name in /proc", error))?;
        Ok(Self { handle, stat, path: path.to_owned(), real_path })
    }

    pub(crate) fn is_block(&self) -> bool {
        self.stat.file_type().is_block_device()
    }

    /// Whether the name that the kernel has for it leads to it: it does not where the file was
    /// deleted, and another one may have that name.
    pub(crate) fn has_its_name(&self) -> bool {
        let same =
            |other: Metadata| (other.dev(), other.ino()) == (self.stat.dev(), self.stat.ino());
        std::fs::symlink_metadata(&self.real_path).is_ok_and(same)
    }

    /// The number of the device, if it is one.
    pub(crate) fn device(&self) -> u64 {
        self.stat.rdev()
    }

    /// Opens it.
    ///
    /// # Errors
    /// What the kernel answers.
    pub(crate) fn open(&self, write: bool, flags: libc::c_int) -> io::Result<File> {
        sys::reopen_with(&self.handle, write, flags)
    }

    /// Turns the kernel's refusal to open it into the fitting error.
    pub(crate) fn refusal(&self, write: bool, error: io::Error) -> HostError {
        let access = if write { "writing" } else { "reading" };
        refusal(&self.path, access, self.is_block(), error)
    }
}

fn refusal(path: &Path, access: &'static str, block: bool, error: io::Error) -> HostError {
    if error.kind() == io::ErrorKind::PermissionDenied {
        HostError::Permission { path: path.to_owned(), access, block }
    } else {
        HostError::os(path, "open it", error)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_found_stays_found_whatever_happens_to_its_name() {
        let folder = std::env::temp_dir().join(format!("ssdscope-pinned-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (scratch, precious, link) =
            (folder.join("scratch"), folder.join("precious"), folder.join("link"));
        fs::write(&scratch, "scratch").unwrap();
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&scratch, &link).unwrap();
        let pinned = Pinned::find(&link).unwrap();
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        fs::rename(&scratch, folder.join("renamed")).unwrap();
        fs::rename(&precious, &scratch).unwrap();
        let text = io::read_to_string(pinned.open(false, 0).unwrap()).unwrap();
        assert_eq!(text, "scratch");
        assert!(pinned.real_path.ends_with("scratch"), "as it was called when it was found");
        fs::remove_dir_all(folder).unwrap();
    }
}
