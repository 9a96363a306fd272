//! Real Linux drives.
