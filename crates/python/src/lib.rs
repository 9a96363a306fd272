//! Glue between Rust and Python.
