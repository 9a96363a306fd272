//! The drivers against a drive whose every latency is known beforehand.

mod ahead;
mod closed;
mod copies;
mod faults;
mod flows;
mod helpers;
mod open;
mod swarm;
