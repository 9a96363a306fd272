//! How a job of fio walks its region, pass after pass.

use serde::{Deserialize, Serialize};

/// The rules of fio 3.33 for a job that its files describe.
///
/// A pass ends where a request in order does not fit, or where every place was visited. The next
/// one begins at the start of the region. `io_bytes` is reached, if need be by a
/// request that goes over it, and counts what a timed ramp transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passes {
    /// Passes that are made in any case; 0 = without end.
    pub count: u64,
    /// Whether passes go on until as many bytes are transferred, as long as a whole request is
    /// missing.
    pub until_bytes: Option<u64>,
    /// Whether a request in order that does not fit starts over within the pass.
    pub wraps: bool,
    /// Whether random requests visit each place once in a pass.
    pub once: bool,
}
