//! Sets attributes of one disk, and sets them back when it ends, however it ends.

use super::AttributeError;
use super::disk::{Disk, Places};
use super::journal::Journal;
use super::restore::{self, Outcome, Restored};
use super::setting::Setting;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Attributes that are set for a while. Dropping it sets them back.
#[derive(Debug)]
pub struct Session {
    places: Places,
    disk: Disk,
    journal: Journal,
    ended: bool,
}

impl Session {
    /// Takes the disk's journal; one that a dead process has left is worked off first.
    ///
    /// # Errors
    /// If another process has the disk, or the journal cannot be written or trusted.
    pub fn begin(places: Places, disk: Disk) -> Result<Self, AttributeError> {
        let journal = Journal::begin(&places, &disk)?;
        Ok(Self { places, disk, journal, ended: false })
    }

    /// The disk.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Sets an attribute; gives what it was, or `None` if it had that value already.
    ///
    /// # Errors
    /// If it is not there, the value is none of its, or the kernel refuses.
    pub fn set(&mut self, setting: Setting, value: &str) -> Result<Option<String>, AttributeError> {
        let disk = self.disk.name();
        let original = self
            .disk
            .read(setting)
            .ok_or_else(|| AttributeError::NotOffered { disk: disk.into(), setting })?;
        if original == value {
            return Ok(None);
        }
        // What could not be set back must not be set.
        if let Some(wrong) = [value, &original].into_iter().find(|each| !setting.accepts(each)) {
            return Err(AttributeError::Value {
                disk: disk.into(),
                setting,
                value: wrong.into(),
                expected: setting.expected(),
            });
        }
        let mut lines = vec![format!("set\t{setting}\t{original}\t{value}")];
        for dragged in setting.drags() {
            if let Some(now) = self.disk.read(*dragged).filter(|now| dragged.accepts(now)) {
                lines.push(format!("drag\t{dragged}\t{now}"));
            }
        }
        self.journal.append(&lines)?;
        let what = format!("cannot set {setting} of {disk} to '{value}'");
        self.disk.write(setting, value).map_err(AttributeError::os(what))?;
        // What the kernel rounds is known as ours, too.
        match self.disk.read(setting) {
            Some(now) if now != value && setting.accepts(&now) => {
                self.journal.append(&[format!("set\t{setting}\t{original}\t{now}")])?;
            }
            _ => {}
        }
        Ok(Some(original))
    }

    /// Sets everything back, and says what became of it.
    ///
    /// # Errors
    /// If the journal cannot be read or removed any more.
    pub fn restore(&mut self) -> Result<Vec<Restored>, AttributeError> {
        if self.ended {
            return Ok(Vec::new());
        }
        let done = match self.journal.read()? {
            Some(record) => restore::by_record(&self.places, &record, &mut self.journal)?,
            None => Vec::new(),
        };
        if done.iter().all(|each| each.outcome != Outcome::Failed) {
            self.journal.end(&self.places)?;
        }
        self.ended = true;
        Ok(done)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What fails here stays in the journal, for `doctor --restore`.
        let _ = self.restore();
    }
}

/// A session that several parts of this process hold; it ends with the last of them.
pub type Shared = Arc<Mutex<Session>>;

/// Joins this process's session on a disk, or begins one.
///
/// # Errors
/// As [`Session::begin`].
pub fn share(places: &Places, disk: &Disk) -> Result<Shared, AttributeError> {
    /// By the folder of journals and the disk's name.
    type Held = Vec<(PathBuf, String, Weak<Mutex<Session>>)>;
    static HELD: Mutex<Held> = Mutex::new(Vec::new());
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.retain(|(_, _, session)| session.strong_count() > 0);
    let known = held
        .iter()
        .find(|(journals, name, _)| *journals == places.journals && name == disk.name())
        .and_then(|(_, _, session)| session.upgrade());
    if let Some(session) = known {
        return Ok(session);
    }
    let session = Arc::new(Mutex::new(Session::begin(places.clone(), disk.clone())?));
    held.push((places.journals.clone(), disk.name().to_owned(), Arc::downgrade(&session)));
    Ok(session)
}
