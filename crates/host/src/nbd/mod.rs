//! Network block devices: a drive served to any program, and a served drive as a target.
//!
//! In reading order:
//!
//! * [`protocol`]: the numbers of the NBD protocol, and its messages as bytes; no sockets;
//! * [`handshake`]: the server's half of the negotiation, bytes in and bytes out;
//! * [`session`]: one connection of the server after that, bytes in and commands out;
//! * [`error`]: why not, with a hint;
//! * [`store`]: where the data of a served drive lies: sparse memory or a backing file;
//! * [`pace`]: the drive's clock and the wall's;
//! * [`listen`]: sockets that only their owner reaches;
//! * `sync`: makes a backing file durable beside the loop;
//! * `connection`: a session with its socket and what waits to be sent;
//! * [`server`]: the loop that serves a drive; `jobs`: what it has under way;
//! * [`statistics`]: what a server has seen;
//! * [`client`]: a served drive as a [`Device`](ssdscope_io::Device); `negotiate`: how it begins;
//! * `poll`: the system calls behind all that.

pub mod client;
mod connection;
pub mod error;
pub mod handshake;
mod jobs;
pub mod listen;
mod negotiate;
pub mod pace;
mod poll;
pub mod protocol;
pub mod server;
pub mod session;
pub mod statistics;
pub mod store;
mod sync;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod fuzz_sockets;

pub use client::{ExportFacts, NbdAddress, NbdClient, NbdTarget, Patience, identify_export};
pub use error::NbdError;
pub use server::{ServeObserver, ServeOptions, serve};
pub use statistics::ServeSummary;
