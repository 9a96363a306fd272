//! A deterministic, exact simulator of solid-state drives.
