//! From TOML text to resolved values: every fault found, each with file, line
//! and key, and for an unknown key the nearest valid one.

use super::Faults;
use super::keys::{self, Fallback, KEYS, Key, Kind, Scope};
use super::state::{State, parse_size};
use ssdscope_io::shown::Shown;
use std::collections::BTreeMap;
use std::path::Path;
use toml_edit::{Document, Item, Table, Value as TomlValue};

/// How much of a line a message repeats.
const QUOTED_CHARS: usize = 60;
/// Commands that ATA can queue: their tags are five bits.
pub(super) const NCQ_TAGS: u64 = 32;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Int(u64),
    Float(f64),
    Bool(bool),
    Word(String),
    List(Vec<u64>),
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub value: Value,
    pub line: Option<usize>,
}

/// The values of all keys that apply to the drive's firmware.
pub(super) type Entries = BTreeMap<&'static str, Entry>;

/// Reads `text`, applies `sets` (`KEY=VALUE`), fills in defaults, also where a value is refused,
/// so that the rest can be checked; without values where too much is missing for that.
pub(super) fn read(text: &str, sets: &[String], faults: &mut Faults) -> Option<Entries> {
    let mut entries = Entries::new();
    if let Err((line, why)) = super::check_shape(text) {
        faults.add(Some(line), "", &why, None);
        return None;
    }
    match Document::parse(text) {
        Ok(document) => {
            let lines = Lines::new(text);
            read_table(document.as_table(), "", &lines, &mut entries, faults);
        }
        Err(error) => {
            let line = error.span().map(|span| Lines::new(text).line(span.start));
            let written = line.and_then(|line| text.lines().nth(line - 1)).map_or("", str::trim);
            let message = format!("not TOML: {}: `{}`", error.message(), quoted(written));
            faults.add(line, "", &message, None);
            return None;
        }
    }
    for set in sets {
        apply_set(set, &mut entries, faults);
    }
    let whole = complete(&mut entries, faults);
    (whole && !faults.unread).then_some(entries)
}

/// The beginning of a text, for a message.
fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS).flat_map(char::escape_debug).collect()
}

fn read_table(
    table: &Table,
    prefix: &str,
    lines: &Lines,
    entries: &mut Entries,
    faults: &mut Faults,
) {
    for (name, item) in table {
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        let span = table.get_key_value(name).and_then(|(key, _)| key.span()).or(item.span());
        let line = span.map(|span| lines.line(span.start));
        match item {
            Item::Table(inner) => read_section(&path, inner, lines, entries, faults, line),
            Item::Value(value) => read_value(&path, value, line, entries, faults),
            _ => faults.add(line, &path, "is a list of tables", Some("write one [table]".into())),
        }
    }
}

fn read_section(
    path: &str,
    inner: &Table,
    lines: &Lines,
    entries: &mut Entries,
    faults: &mut Faults,
    line: Option<usize>,
) {
    let known = KEYS.iter().any(|key| key.path.starts_with(&format!("{path}.")));
    if known {
        read_table(inner, path, lines, entries, faults);
    } else {
        faults.add_unknown_table(line, path, &sections().collect::<Vec<_>>());
    }
}

fn sections() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    KEYS.iter().filter_map(move |key| {
        let (section, _) = key.path.split_once('.')?;
        (section != last).then(|| {
            last = section;
            section
        })
    })
}

fn read_value(
    path: &str,
    value: &TomlValue,
    line: Option<usize>,
    entries: &mut Entries,
    faults: &mut Faults,
) {
    let Some(key) = keys::find(path) else {
        faults.add_unknown(line, path);
        return;
    };
    match convert(key, value) {
        Ok(value) => {
            entries.insert(key.path, Entry { value, line });
        }
        Err(found) => {
            let message = format!("is {found}; expected {}", key.kind.expected());
            faults.add(line, path, &message, None);
        }
    }
}

fn apply_set(set: &str, entries: &mut Entries, faults: &mut Faults) {
    let parts = set.split_once('=').map(|(path, text)| (path.trim(), text.trim()));
    let Some((path, text)) = parts.filter(|(path, _)| !path.is_empty()) else {
        faults.add_set(set, "expected KEY=VALUE");
        return;
    };
    let Some(key) = keys::find(path) else {
        faults.add_unknown_set(path);
        return;
    };
    // A bare word is text, and a size may carry a suffix: shells make quoting tedious.
    let parsed = super::check_shape(text).ok().and_then(|()| text.parse::<TomlValue>().ok());
    let parsed = parsed.unwrap_or_else(|| TomlValue::from(text));
    let value = match (key.kind, parse_size(text)) {
        (Kind::Bytes(..), Some(bytes)) => i64::try_from(bytes).map_or(parsed, TomlValue::from),
        _ => parsed,
    };
    match convert(key, &value) {
        Ok(value) => {
            entries.insert(key.path, Entry { value, line: None });
        }
        Err(found) => {
            let message = format!("is {found}; expected {}", key.kind.expected());
            faults.add_set(path, &message);
        }
    }
}

/// Checks one value against its key; the error says what was found instead.
fn convert(key: &Key, value: &TomlValue) -> Result<Value, String> {
    let found = || {
        let cut: String = value.to_string().trim().chars().take(QUOTED_CHARS).collect();
        Shown(Path::new(&cut)).to_string()
    };
    match key.kind {
        Kind::Count(low, high) | Kind::Bytes(low, high) => whole(value)
            .filter(|number| (low..=high).contains(number))
            .map(Value::Int)
            .ok_or_else(found),
        Kind::Nanos => nanos(value).map(Value::Int).ok_or_else(found),
        Kind::NanosList(most) => value
            .as_array()
            .filter(|list| list.len() <= most)
            .and_then(|list| list.iter().map(nanos).collect())
            .map(Value::List)
            .ok_or_else(found),
        Kind::Rate(low, high) | Kind::Ratio(low, high) => number(value)
            .filter(|number| (low..=high).contains(number))
            .map(Value::Float)
            .ok_or_else(found),
        Kind::Flag => value.as_bool().map(Value::Bool).ok_or_else(found),
        Kind::Choice(words) => word(value)
            .filter(|word| words.contains(&word.as_str()))
            .map(Value::Word)
            .ok_or_else(found),
        Kind::PlaneOrder => {
            word(value).filter(|word| is_plane_order(word)).map(Value::Word).ok_or_else(found)
        }
        Kind::State => match word(value).map(|word| word.parse::<State>()) {
            Some(Ok(state)) => Ok(Value::Word(state.to_string())),
            _ => Err(found()),
        },
        Kind::Text => word(value).map(Value::Word).ok_or_else(found),
    }
}

fn whole(value: &TomlValue) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(number).ok())
}

/// An hour is longer than anything a drive does; more would overflow a long run.
fn nanos(value: &TomlValue) -> Option<u64> {
    whole(value).filter(|&number| number <= 3_600_000_000_000)
}

fn number(value: &TomlValue) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64))?;
    number.is_finite().then_some(number)
}

fn word(value: &TomlValue) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn is_plane_order(word: &str) -> bool {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters == ['C', 'D', 'P', 'W']
}

/// What kind of drive it is: `disk` with a table `[disk]`, else what `ftl.kind` says. Where
/// both are given the array decides, which only one of them has.
pub(super) fn kind_of(entries: &Entries) -> Option<&str> {
    let has = |table: &str| entries.keys().any(|path| path.starts_with(table));
    match entries.get("ftl.kind").map(|entry| &entry.value) {
        Some(Value::Word(kind)) if has("nand.") || !has("disk.") => Some(kind),
        _ => has("disk.").then_some("disk"),
    }
}

/// Adds defaults, and refuses what the drive does not read and what is missing; tells whether
/// everything is there.
fn complete(entries: &mut Entries, faults: &mut Faults) -> bool {
    let Some(kind) = kind_of(entries).map(str::to_owned) else {
        let hint = format!(
            "add [ftl] with kind = \"...\", one of {}, or for a hard disk a table [disk]",
            keys::FIRMWARES.join(", ")
        );
        // A key that was refused or misspelt has been told of, and is not missing besides.
        if faults.is_empty() {
            faults.add(None, "ftl.kind", "is missing", Some(hint));
        }
        return false;
    };
    let drive = match kind.as_str() {
        "disk" => "a hard disk (a file with a table [disk])".to_owned(),
        _ => format!("a drive of ftl.kind = \"{kind}\""),
    };
    let high_given = entries.contains_key("gc.high_water_ratio");
    let depth_given = entries.contains_key("host.queue_depth");
    let (sound, mut whole) = (faults.is_empty(), true);
    for key in KEYS {
        let applies = key.scope.kinds().contains(&kind.as_str());
        match (applies, entries.get(key.path)) {
            (true, Some(_)) | (false, None) => {}
            (false, Some(entry)) => {
                let message = format!("means nothing on {drive}");
                faults.add(entry.line, key.path, &message, Some("remove it".into()));
            }
            (true, None) => {
                if sound && key.default == Fallback::Required {
                    faults.add(None, key.path, &format!("is missing: {}", key.doc), None);
                }
                match default_value(key.default, entries).or_else(|| stand_in(key)) {
                    Some(value) => drop(entries.insert(key.path, Entry { value, line: None })),
                    None => whole = false,
                }
            }
        }
    }
    if !high_given {
        raise_high_water(entries);
    }
    if !depth_given {
        lower_queue_depth(entries);
    }
    whole
}

/// A high-water mark nobody asked for is no lower than the low-water mark somebody did.
fn raise_high_water(entries: &mut Entries) {
    let low = entries.get("gc.low_water_ratio").map(|entry| entry.value.clone());
    if let (Some(Value::Float(low)), Some(high)) = (low, entries.get_mut("gc.high_water_ratio"))
        && let Value::Float(high) = &mut high.value
    {
        *high = high.max(low);
    }
}

/// A queue depth nobody asked for is what the link can queue.
fn lower_queue_depth(entries: &mut Entries) {
    let interface = entries.get("host.interface").map(|entry| entry.value.clone());
    if interface == Some(Value::Word("sata".into()))
        && let Some(depth) = entries.get_mut("host.queue_depth")
    {
        depth.value = Value::Int(NCQ_TAGS);
    }
}

fn default_value(default: Fallback, entries: &Entries) -> Option<Value> {
    match default {
        Fallback::Required => None,
        Fallback::Int(number) => Some(Value::Int(number)),
        Fallback::Float(number) => Some(Value::Float(number)),
        Fallback::Bool(flag) => Some(Value::Bool(flag)),
        Fallback::Word(word) => Some(Value::Word(word.into())),
        Fallback::List(numbers) => Some(Value::List(numbers.to_vec())),
        Fallback::SameAs(path) => entries.get(path).map(|entry| entry.value.clone()),
    }
}

/// What stands for a value that must be given and was not, or was refused, so that the rest can
/// be checked: on a drive with flash no time contradicts anything.
fn stand_in(key: &Key) -> Option<Value> {
    match key.kind {
        Kind::Nanos if key.scope != Scope::Disk => Some(Value::Int(1)),
        Kind::Rate(low, _) => Some(Value::Float(low)),
        _ => None,
    }
}

/// Byte offsets to line numbers.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self { starts: newlines.map(|(index, _)| index).collect() }
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&newline| newline < offset) + 1
    }
}
