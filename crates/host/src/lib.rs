//! Real Linux drives behind the [`Device`](ssdscope_io::Device) door.
//!
//! In reading order:
//!
//! * [`identity`]: what a path is, before anything is sent to it (sysfs, mounts, token);
//! * [`open`]: what may be opened, how, and every reason to refuse;
//! * `pinned`: what a path led to, from where on nothing is asked of the path;
//! * [`consent`]: what the user has to say before anything is written;
//! * [`safety`]: when a device or a file may be written: every check, in order;
//! * `vetted`, `guard`: no block is written that was not read before, nor where somebody is by now;
//! * [`health`], `nvme`, `ata`: wear, temperature and spare, where the kernel gives them;
//! * [`payload`]: what is written: incompressible, never twice the same, recognisable as ours;
//! * [`contents`]: what was written where, so that it can be checked;
//! * [`mod@file`]: [`HostFile`], the device on the wall clock;
//! * [`engine`]: how requests reach the kernel: `io_uring`, or threads where it is off;
//! * `buffer`: aligned memory, lent to one request at a time;
//! * `sys`: the system calls that the standard library lacks;
//! * `neighbours`: what others do on the same disk;
//! * [`attributes`]: what may be set on a disk for a measurement, and how it comes back;
//! * [`quiet`]: how quiet the machine was meanwhile;
//! * [`memory`]: whether so much memory can be had;
//! * [`error`]: why not, with a hint.
//! * [`nbd`]: drives served to other programs, and served drives as targets.
//!
//! Everything is opened for reading only, unless the user names the target by its token.
//! `unsafe` stays in `sys`, `buffer`, `attributes::drive_cache`, `engine::uring` and
//! `safety::blkid`, each block with the reason why it is sound.

mod ata;
pub mod attributes;
mod buffer;
pub mod consent;
pub mod contents;
pub mod engine;
pub mod error;
pub mod file;
mod guard;
pub mod health;
pub mod identity;
pub mod memory;
pub mod nbd;
mod neighbours;
mod nvme;
pub mod open;
pub mod payload;
mod pinned;
pub mod quiet;
pub mod safety;
mod sys;
mod sysfs;
mod vetted;

pub use consent::Consent;
pub use contents::Contents;
pub use engine::{EngineChoice, EngineKind};
pub use error::HostError;
pub use file::{Access, HostFile, Lender};
pub use health::Health;
pub use identity::{Identity, IdentityKind, identify};
pub use nvme::{Controller, Namespace};
pub use open::{open_read, open_write};
