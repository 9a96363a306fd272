//! What can be wrong with a trace, and what to do about it.
//!
//! Each message says what, where and what was expected; where an option helps,
//! a `hint:` after a blank line names it.

/// Why a trace cannot be read or cannot run on this drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be opened or read; the kernel's reason.
    #[error("cannot read trace {path}: {reason}")]
    Unreadable {
        /// The trace.
        path: String,
        /// Why.
        reason: String,
    },
}
