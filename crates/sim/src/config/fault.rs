//! What is wrong with a drive file, in words.

use super::near;
use ssdscope_io::shown::Shown;
use std::fmt;
use std::path::Path;

/// How many faults a message names; the rest are counted.
const NAMED_MAX: usize = 50;
/// How much of a key a message repeats.
const KEY_CHARS: usize = 120;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line in the file, where there is one.
    pub line: Option<usize>,
    /// The dotted key, where there is one.
    pub key: String,
    /// What is wrong and what is expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it came from `--set` rather than the file.
    pub from_set: bool,
}

/// All faults of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The file's name.
    pub label: String,
    /// In the order found.
    pub faults: Vec<Fault>,
    /// A key or table is unknown, so that what was meant by the file is not known either.
    pub(super) unread: bool,
}

impl Faults {
    pub(super) fn new(label: &str) -> Self {
        Self { label: label.to_owned(), faults: Vec::new(), unread: false }
    }

    pub(super) fn add(
        &mut self,
        line: Option<usize>,
        key: &str,
        message: &str,
        hint: Option<String>,
    ) {
        self.faults.push(Fault {
            line,
            key: key.to_owned(),
            message: message.to_owned(),
            hint,
            from_set: false,
        });
    }

    pub(super) fn add_set(&mut self, key: &str, message: &str) {
        self.add(None, key, message, None);
        self.mark_set();
    }

    pub(super) fn add_unknown(&mut self, line: Option<usize>, path: &str) {
        let hint = self.near(near::nearest, path).map(|near| format!("did you mean {near}?"));
        self.unread = true;
        self.add(line, path, "unknown key", hint);
    }

    pub(super) fn add_unknown_table(&mut self, line: Option<usize>, path: &str, known: &[&str]) {
        let near =
            self.near(near::nearest_table, path).map(|near| format!("did you mean [{near}]? "));
        let all = format!("the tables of a drive file are {}", known.join(", "));
        self.unread = true;
        self.add(line, path, "unknown table", Some(near.unwrap_or_default() + &all));
    }

    /// What may have been meant, as long as it will be said and is cheap to find.
    fn near(&self, find: fn(&str) -> Option<&'static str>, path: &str) -> Option<&'static str> {
        (self.faults.len() < NAMED_MAX && path.len() <= KEY_CHARS).then(|| find(path)).flatten()
    }

    pub(super) fn add_unknown_set(&mut self, path: &str) {
        self.add_unknown(None, path);
        self.mark_set();
    }

    /// Adds those of `others` that do not speak of a key that is at fault already: such a key
    /// stands at its default, and what follows from that says nothing about the file.
    pub(super) fn add_independent(&mut self, others: Self) {
        let at_fault: Vec<_> = self.faults.iter().map(|fault| fault.key.clone()).collect();
        let about = |fault: &Fault, key: &String| {
            !key.is_empty() && (fault.key == *key || fault.message.contains(key.as_str()))
        };
        self.faults.extend(
            others.faults.into_iter().filter(|fault| !at_fault.iter().any(|key| about(fault, key))),
        );
    }

    fn mark_set(&mut self) {
        if let Some(fault) = self.faults.last_mut() {
            fault.from_set = true;
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// One line of text per fault, and one for those that are too many to name.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let more = self.faults.len().saturating_sub(NAMED_MAX);
        let rest = (more > 0).then(|| format!("{}: and {more} more", self.label));
        self.faults.iter().take(NAMED_MAX).map(|fault| self.line_of(fault)).chain(rest).collect()
    }

    fn line_of(&self, fault: &Fault) -> String {
        let place = match (fault.from_set, fault.line) {
            (true, _) => "--set".to_owned(),
            (false, Some(line)) => format!("{}:{line}", self.label),
            (false, None) => self.label.clone(),
        };
        let cut: String = fault.key.chars().take(KEY_CHARS).collect();
        let key = if cut.is_empty() { cut } else { format!("{}: ", Shown(Path::new(&cut))) };
        let hint = fault.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{place}: {key}{}{hint}", fault.message)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for Faults {}
