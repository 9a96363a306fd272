//! Values of keys by type.

use super::parse::{Entries, Value};

/// Typed access to entries that parsing has already checked and completed: a
/// missing one cannot happen, and would be a fault of the table, so it panics.
pub(super) struct Getter<'a> {
    pub entries: &'a Entries,
}

impl Getter<'_> {
    fn value(&self, path: &str) -> &Value {
        &self.entries.get(path).unwrap_or_else(|| panic!("{path} was not resolved")).value
    }

    pub fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    pub fn long(&self, path: &str) -> u64 {
        match self.value(path) {
            Value::Int(number) => *number,
            other => panic!("{path} is {other:?}, not a whole number"),
        }
    }

    pub fn int(&self, path: &str) -> u32 {
        u32::try_from(self.long(path))
            .unwrap_or_else(|_| panic!("{path} is not bounded to 32 bits"))
    }

    pub fn float(&self, path: &str) -> f64 {
        match self.value(path) {
            Value::Float(number) => *number,
            other => panic!("{path} is {other:?}, not a number"),
        }
    }

    pub fn list(&self, path: &str) -> &[u64] {
        match self.value(path) {
            Value::List(numbers) => numbers,
            other => panic!("{path} is {other:?}, not a list"),
        }
    }

    pub fn flag(&self, path: &str) -> bool {
        matches!(self.value(path), Value::Bool(true))
    }

    pub fn word(&self, path: &str) -> &str {
        match self.value(path) {
            Value::Word(word) => word,
            other => panic!("{path} is {other:?}, not a word"),
        }
    }
}
