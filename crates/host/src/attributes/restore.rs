//! Sets back what a killed process has left: `ssdscope doctor --restore`.

use super::AttributeError;
use super::disk::{Disk, Places};
use super::journal::{self, Entry, Journal, Record};
use super::setting::Setting;
use serde::Serialize;
use std::path::Path;

/// What became of one attribute, or of a whole journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has its original value again.
    Restored,
    /// It had its original value already.
    Unchanged,
    /// Somebody else has changed it since, so it stays.
    LeftAlone,
    /// The kernel refused; the journal is kept for another try.
    Failed,
    /// A running process has the disk's journal, and restores by itself.
    InUse,
    /// The disk is gone, another has its name, or the machine was started again.
    Obsolete,
    /// The journal cannot be trusted; it is left where it is.
    Refused,
}

/// One line of what was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The disk.
    pub disk: String,
    /// The attribute; `None` where it is about the whole journal.
    pub setting: Option<Setting>,
    /// What became of it.
    pub outcome: Outcome,
    /// The values, or the reason, in words.
    pub detail: String,
}

impl Restored {
    fn of_journal(disk: &str, outcome: Outcome, detail: impl Into<String>) -> Self {
        Self { disk: disk.into(), setting: None, outcome, detail: detail.into() }
    }
}

/// Sets back what every journal of a dead process says. Calling it again does nothing more.
///
/// # Errors
/// If the folder of journals cannot be trusted or read.
pub fn restore_all(places: &Places) -> Result<Vec<Restored>, AttributeError> {
    let paths = journal::all(places)?;
    Ok(paths.iter().flat_map(|path| one(places, path)).collect())
}

fn one(places: &Places, path: &Path) -> Vec<Restored> {
    let disk = journal::disk_of(path);
    let done = Journal::take_over(places, path).and_then(|mut journal| {
        let done = match journal.read()? {
            Some(record) => by_record(places, &record, &mut journal)?,
            None => Vec::new(),
        };
        if done.iter().all(|each| each.outcome != Outcome::Failed) {
            journal.end(places)?;
        }
        Ok(done)
    });
    done.unwrap_or_else(|error| {
        let outcome = match error {
            AttributeError::InUse(_) => Outcome::InUse,
            _ => Outcome::Refused,
        };
        vec![Restored::of_journal(&disk, outcome, error.to_string())]
    })
}

/// Sets back what a record says, if it is about the disk that has its name now.
pub(crate) fn by_record(
    places: &Places,
    record: &Record,
    journal: &mut Journal,
) -> Result<Vec<Restored>, AttributeError> {
    let obsolete = |why: &str| vec![Restored::of_journal(&record.disk, Outcome::Obsolete, why)];
    if record.boot != places.boot {
        return Ok(obsolete("the machine was started since, which reset the attributes"));
    }
    let Ok(disk) = Disk::find(places, &record.disk) else {
        return Ok(obsolete("the disk is gone"));
    };
    if disk.identity() != (&record.number, &record.sequence) {
        return Ok(obsolete("another disk has this name now"));
    }
    let mut done = Vec::new();
    // What the kernel resets with another goes last.
    let (dragged, own): (Vec<_>, Vec<_>) = record.entries.iter().partition(|each| each.dragged);
    for entry in own {
        done.push(own_back(&disk, entry, journal)?);
    }
    for entry in dragged {
        let reset = |each: &&Restored| {
            let drags = |by: Setting| by.drags().contains(&entry.setting);
            let before = record.entries.iter().any(|own| own.going_back && drags(own.setting));
            each.setting.is_some_and(drags) && (before || each.outcome == Outcome::Restored)
        };
        if done.iter().find(reset).is_some() {
            done.push(write_back(&disk, entry, &disk.read(entry.setting).unwrap_or_default()));
        }
    }
    Ok(done)
}

fn own_back(disk: &Disk, entry: &Entry, journal: &mut Journal) -> Result<Restored, AttributeError> {
    let now = disk.read(entry.setting).unwrap_or_default();
    if now != entry.original && !entry.ours.contains(&now) {
        return Ok(Restored {
            disk: disk.name().into(),
            setting: Some(entry.setting),
            outcome: Outcome::LeftAlone,
            detail: format!("somebody has set it to '{now}' since"),
        });
    }
    if now != entry.original {
        journal.append(&[format!("back\t{}", entry.setting)])?;
    }
    Ok(write_back(disk, entry, &now))
}

fn write_back(disk: &Disk, entry: &Entry, now: &str) -> Restored {
    let original = &entry.original;
    let (outcome, detail) = if now == original {
        (Outcome::Unchanged, format!("'{original}'"))
    } else {
        match disk.write(entry.setting, original) {
            Ok(()) => (Outcome::Restored, format!("'{now}' -> '{original}'")),
            Err(error) => (Outcome::Failed, format!("'{now}' -> '{original}': {error}")),
        }
    };
    Restored { disk: disk.name().into(), setting: Some(entry.setting), outcome, detail }
}
