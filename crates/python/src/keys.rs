//! A key of a drive file as a record for Python.

use serde::Serialize;
use ssdscope_sim::config::keys::{Fallback, Key, Kind};

/// A key under the names that the front uses.
#[derive(Serialize)]
pub struct KeyRecord {
    key: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    unit: Option<&'static str>,
    /// What a value must look like, in words.
    expected: String,
    /// Absent where the file must say.
    default: Fallback,
    required: bool,
    /// The kinds of drive that read it: `ftl.kind`, or `disk`.
    kinds: &'static [&'static str],
    doc: &'static str,
}

impl From<&Key> for KeyRecord {
    fn from(key: &Key) -> Self {
        let (kind, unit) = match key.kind {
            Kind::Count(..) => ("count", None),
            Kind::Bytes(..) => ("bytes", Some("bytes")),
            Kind::Nanos => ("time", Some("ns")),
            Kind::NanosList(_) => ("times", Some("ns")),
            Kind::Rate(..) => ("rate", None),
            Kind::Ratio(..) => ("ratio", None),
            Kind::Flag => ("flag", None),
            Kind::Choice(_) => ("choice", None),
            Kind::PlaneOrder => ("plane_order", None),
            Kind::State => ("state", None),
            Kind::Text => ("text", None),
        };
        Self {
            key: key.path,
            kind,
            unit,
            expected: key.kind.expected(),
            default: key.default,
            required: key.default == Fallback::Required,
            kinds: key.scope.kinds(),
            doc: key.doc,
        }
    }
}
