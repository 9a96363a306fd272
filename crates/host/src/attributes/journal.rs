//! What is written down before the first change, and read back by whoever sets it back.
//!
//! One file per disk, text, a line per step, fields between tabs:
//!
//! ```text
//! ssdscope attributes 1   loop0   7:0   91   7c4844b8-...      disk, number, diskseq, boot
//! set    scheduler     mq-deadline   none                      attribute, original, new value
//! drag   nr_requests   256                                     what the kernel resets with it
//! back   scheduler                                             about to be set back
//! ```
//!
//! A line is on disk before what it announces is done. So a last line without its end announces
//! what was never done, and is left out. Everything else that is not exactly as above is refused.

use super::disk::{Disk, Places, is_name};
use super::restore::Outcome;
use super::setting::Setting;
use super::{AttributeError, restore};
use crate::sys;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const FIRST_WORDS: &str = "ssdscope attributes 1";
const SUFFIX: &str = ".journal";
/// Of a journal: a few lines for each of a few attributes.
const BYTES_MAX: u64 = 1 << 20;

/// What one attribute was, and everything that it was set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) setting: Setting,
    pub(crate) original: String,
    /// What it was set to, one after the other; none for what the kernel reset.
    pub(crate) ours: Vec<String>,
    /// Whether the kernel resets it with another.
    pub(crate) dragged: bool,
    /// Whether somebody has begun to set it back.
    pub(crate) going_back: bool,
}

/// A journal as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) disk: String,
    pub(crate) number: String,
    pub(crate) sequence: String,
    pub(crate) boot: String,
    pub(crate) entries: Vec<Entry>,
}

impl Record {
    /// Reads a journal; `None` if nothing was announced in it.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.split('\n');
        let Some(head) = lines.next().filter(|line| !line.is_empty()) else { return Ok(None) };
        let [FIRST_WORDS, disk, number, sequence, boot] = head.split('\t').collect::<Vec<_>>()[..]
        else {
            return Err("its first line is not that of a journal of ssdscope".into());
        };
        if !is_name(disk) {
            return Err(format!("'{disk}' is no name of a disk"));
        }
        let mut record = Self {
            disk: disk.into(),
            number: number.into(),
            sequence: sequence.into(),
            boot: boot.into(),
            entries: Vec::new(),
        };
        for (index, line) in lines.enumerate() {
            record.take(line).map_err(|why| format!("line {}: {why}", index + 2))?;
        }
        Ok(Some(record))
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let fields: Vec<_> = line.split('\t').collect();
        let name = *fields.get(1).ok_or("has no name of an attribute")?;
        let setting = Setting::named(name)
            .ok_or_else(|| format!("'{name}' is no attribute that ssdscope may set"))?;
        let values = &fields[2..];
        if let Some(value) = values.iter().find(|value| !setting.accepts(value)) {
            return Err(format!("'{value}' is no value of '{name}'"));
        }
        let known = self.entries.iter().position(|entry| entry.setting == setting);
        match (fields[0], values, known) {
            ("set", [_, new], Some(at)) => {
                self.entries[at].ours.push((*new).into());
                self.entries[at].dragged = false;
            }
            ("set", [original, new], None) => {
                self.entries.push(Entry::new(setting, original, Some(new)));
            }
            ("drag", [_], Some(_)) => {}
            ("drag", [original], None) => self.entries.push(Entry::new(setting, original, None)),
            ("back", [], Some(at)) => self.entries[at].going_back = true,
            _ => return Err(format!("'{line}' is no step of a journal")),
        }
        Ok(())
    }
}

impl Entry {
    fn new(setting: Setting, original: &str, new: Option<&str>) -> Self {
        Self {
            setting,
            original: original.into(),
            ours: new.map(Into::into).into_iter().collect(),
            dragged: new.is_none(),
            going_back: false,
        }
    }
}

/// A journal that this process has locked.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

fn refused(path: &Path, reason: impl Into<String>) -> AttributeError {
    AttributeError::Journal { path: path.to_owned(), reason: reason.into() }
}

impl Journal {
    /// Locks the journal of a disk for new entries, and sets back what a dead process has left.
    pub(crate) fn begin(places: &Places, disk: &Disk) -> Result<Self, AttributeError> {
        make_folder(places)?;
        let path = places.journals.join(format!("{}{SUFFIX}", disk.name()));
        let mut journal = Self::open(places, &path, true)?;
        if let Some(record) = journal.read()? {
            let done = restore::by_record(places, &record, &mut journal)?;
            if let Some(failed) = done.iter().find(|each| each.outcome == Outcome::Failed) {
                let what = failed.setting.map_or("", Setting::name);
                return Err(refused(&path, format!("cannot set {what} back: {}", failed.detail)));
            }
        }
        let (number, sequence) = disk.identity();
        let head = format!("{FIRST_WORDS}\t{}\t{number}\t{sequence}\t{}", disk.name(), places.boot);
        journal.restart(&head)?;
        sync_folder(places)?;
        Ok(journal)
    }

    /// Locks a journal that is there.
    pub(crate) fn take_over(places: &Places, path: &Path) -> Result<Self, AttributeError> {
        Self::open(places, path, false)
    }

    fn open(places: &Places, path: &Path, create: bool) -> Result<Self, AttributeError> {
        let os = |what: &str| AttributeError::os(format!("cannot {what} {}", path.display()));
        // Whoever ends in between removes the file under the lock: then there is a new one to take.
        for _ in 0..100 {
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create(create)
                .truncate(false)
                .mode(0o600)
                // Without waiting: what lies there may be a pipe.
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
                .open(path);
            let file = match opened {
                Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                    return Err(refused(path, "is a symbolic link"));
                }
                other => other.map_err(os("open"))?,
            };
            check_file(places, path, &file)?;
            if !sys::try_lock(&file).map_err(os("lock"))? {
                return Err(AttributeError::InUse(disk_of(path)));
            }
            let (held, there) = (file.metadata(), fs::symlink_metadata(path));
            if let (Ok(held), Ok(there)) = (held, there)
                && (held.dev(), held.ino()) == (there.dev(), there.ino())
            {
                return Ok(Self { path: path.to_owned(), file });
            }
        }
        Err(AttributeError::InUse(disk_of(path)))
    }

    /// What stands in it.
    pub(crate) fn read(&mut self) -> Result<Option<Record>, AttributeError> {
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&self.file).take(BYTES_MAX + 1).read_to_end(&mut bytes))
            .map_err(AttributeError::os(format!("cannot read {}", self.path.display())))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(refused(&self.path, "is larger than any journal"));
        }
        let text = String::from_utf8(bytes).map_err(|_| refused(&self.path, "is not text"))?;
        let record = Record::parse(&text).map_err(|reason| refused(&self.path, reason))?;
        match record {
            Some(record) if record.disk != disk_of(&self.path) => {
                Err(refused(&self.path, format!("names the disk {}", record.disk)))
            }
            other => Ok(other),
        }
    }

    fn restart(&mut self, head: &str) -> Result<(), AttributeError> {
        self.file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .map_err(AttributeError::os(format!("cannot empty {}", self.path.display())))?;
        self.append(&[head.to_owned()])
    }

    /// Writes lines down; they are on disk when this returns.
    pub(crate) fn append(&mut self, lines: &[String]) -> Result<(), AttributeError> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.file
            .seek(SeekFrom::End(0))
            .and_then(|_| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.sync_all())
            .map_err(AttributeError::os(format!("cannot write {}", self.path.display())))
    }

    /// Removes it: everything is as it was.
    pub(crate) fn end(&self, places: &Places) -> Result<(), AttributeError> {
        fs::remove_file(&self.path)
            .map_err(AttributeError::os(format!("cannot remove {}", self.path.display())))?;
        sync_folder(places)
    }
}

/// The journals that are there.
pub(crate) fn all(places: &Places) -> Result<Vec<PathBuf>, AttributeError> {
    match fs::symlink_metadata(&places.journals) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        _ => check_folder(places)?,
    }
    let entries = fs::read_dir(&places.journals)
        .map_err(AttributeError::os(format!("cannot read {}", places.journals.display())))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(SUFFIX));
    paths.sort();
    Ok(paths)
}

/// The disk that a journal's name says.
pub(crate) fn disk_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

fn make_folder(places: &Places) -> Result<(), AttributeError> {
    let folder = &places.journals;
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(AttributeError::Os {
            what: format!("cannot make {}", folder.display()),
            source: error,
        }),
        _ => check_folder(places),
    }
}

fn check_folder(places: &Places) -> Result<(), AttributeError> {
    let folder = &places.journals;
    let stat = fs::symlink_metadata(folder)
        .map_err(AttributeError::os(format!("cannot look at {}", folder.display())))?;
    if !stat.is_dir() {
        return Err(refused(folder, "is not a folder"));
    }
    if stat.uid() != places.owner {
        return Err(refused(folder, "belongs to another user"));
    }
    if stat.mode() & 0o022 != 0 {
        return Err(refused(folder, "can be written by others"));
    }
    Ok(())
}

fn check_file(places: &Places, path: &Path, file: &File) -> Result<(), AttributeError> {
    let stat = file
        .metadata()
        .map_err(AttributeError::os(format!("cannot look at {}", path.display())))?;
    if !stat.is_file() {
        return Err(refused(path, "is not a regular file"));
    }
    if stat.uid() != places.owner {
        return Err(refused(path, "belongs to another user"));
    }
    if stat.mode() & 0o077 != 0 {
        return Err(refused(path, "can be used by others (expected mode 0600)"));
    }
    if stat.nlink() > 1 {
        return Err(refused(path, "has a second name"));
    }
    Ok(())
}

fn sync_folder(places: &Places) -> Result<(), AttributeError> {
    File::open(&places.journals)
        .and_then(|folder| folder.sync_all())
        .map_err(AttributeError::os(format!("cannot sync {}", places.journals.display())))
}
