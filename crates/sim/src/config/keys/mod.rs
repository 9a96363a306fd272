//! Every key a drive file may hold: the one table that parsing, `drives show`,
//! the documentation and the "no dead knobs" test read. What a key is stands here; the keys
//! themselves stand in a file for each group of tables.

mod cache;
mod disk;
mod disturbance;
mod ftl;
mod gc;
mod host;
mod map;
mod nand;
mod pslc;
mod wear;

pub use super::scope::{FIRMWARES, KINDS, Scope};
use serde::Serialize;

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A whole number within bounds, both included.
    Count(u64, u64),
    /// A whole number of bytes within bounds, both included.
    Bytes(u64, u64),
    /// Whole nanoseconds.
    Nanos,
    /// A list of at most so many times in whole nanoseconds.
    NanosList(usize),
    /// A number within bounds above zero, both included: so that the time of a request stays
    /// far below the end of the clock.
    Rate(f64, f64),
    /// A share within bounds, both included.
    Ratio(f64, f64),
    /// `true` or `false`.
    Flag,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// The letters C, W, D, P in any order.
    PlaneOrder,
    /// `fresh`, `sequential`, `random`, `steady` or `steady:SIZE`.
    State,
    /// Free text.
    Text,
}

impl Kind {
    /// The expected form, for error messages.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Count(low, high) => format!("a whole number from {low} to {high}"),
            Self::Bytes(low, high) => format!("whole bytes from {low} to {high}"),
            Self::Nanos => "whole nanoseconds, 0 or more".into(),
            Self::NanosList(most) => {
                format!("a list of at most {most} times in whole nanoseconds, as [60000, 90000]")
            }
            Self::Rate(low, high) => format!("a number from {low} to {high:e}"),
            Self::Ratio(low, high) => format!("a share from {low} to {high}"),
            Self::Flag => "true or false".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::PlaneOrder => "the letters C, W, D and P in some order, as \"CWDP\"".into(),
            Self::State => "fresh, sequential, random, steady or steady:SIZE".into(),
            Self::Text => "text in quotes".into(),
        }
    }
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fallback {
    /// The file must say.
    Required,
    /// A whole number.
    Int(u64),
    /// A fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A word.
    Word(&'static str),
    /// A list of whole numbers.
    List(&'static [u64]),
    /// The value of another key, which stands before it in the table.
    SameAs(&'static str),
}

/// A key of a drive file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Dotted path.
    pub path: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What it is if the file is silent.
    pub default: Fallback,
    /// Who reads it.
    pub scope: Scope,
    /// One line for people.
    pub doc: &'static str,
}

const fn key(
    path: &'static str,
    kind: Kind,
    default: Fallback,
    scope: Scope,
    doc: &'static str,
) -> Key {
    Key { path, kind, default, scope, doc }
}

/// The parts of the table, in the order in which they are shown.
const PARTS: &[&[Key]] = &[
    GENERAL,
    nand::KEYS,
    host::KEYS,
    ftl::KEYS,
    map::KEYS,
    gc::KEYS,
    wear::KEYS,
    pslc::KEYS,
    cache::KEYS,
    disk::KEYS,
    disturbance::KEYS,
];

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

/// The table.
pub const KEYS: &[Key] = &joined();

const fn joined() -> [Key; COUNT] {
    let mut all = [GENERAL[0]; COUNT];
    let (mut at, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut index = 0;
        while index < PARTS[part].len() {
            all[at] = PARTS[part][index];
            at += 1;
            index += 1;
        }
        part += 1;
    }
    all
}

/// What belongs to no table.
const GENERAL: &[Key] = &[
    key("description", Kind::Text, Fallback::Word(""), Scope::All, "what this drive is, in a line"),
    key(
        "default_state",
        Kind::State,
        Fallback::Word("sequential"),
        Scope::All,
        "the state it is opened in",
    ),
    key(
        "over_provisioning_ratio",
        Kind::Ratio(0.0, 100.0),
        Fallback::Float(0.07),
        Scope::Array,
        "raw capacity / exported capacity - 1",
    ),
];

/// The key at `path`, if there is one.
#[must_use]
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_stands_twice() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(!KEYS[..index].iter().any(|other| other.path == key.path), "{}", key.path);
        }
    }
}
