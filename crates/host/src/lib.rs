//! Real Linux drives behind the [`Device`](ssdscope_io::Device) door.
//!
//! In reading order:
//!
//! * [`identity`]: what a path is, before anything is sent to it (sysfs, mounts, token);
//! * [`open`]: what may be opened, how, and every reason to refuse;
//! * [`consent`]: when a file may be overwritten (token, contents, mark);
//! * [`payload`]: what is written: incompressible, never twice the same, recognisable as ours;
//! * [`mod@file`]: [`HostFile`], the device on the wall clock;
//! * [`engine`]: how requests reach the kernel: `io_uring`, or threads where it is off;
//! * `buffer`: aligned memory, lent to one request at a time;
//! * `sys`: the system calls that the standard library lacks;
//! * `neighbours`: what others do on the same disk;
//! * [`error`]: why not, with a hint.
//! * [`nbd`]: drives served to other programs, and served drives as targets.
//!
//! Block devices are only ever opened for reading here. `unsafe` stays in `sys`,
//! `buffer` and `engine::uring`, each block with the reason why it is sound.

mod buffer;
pub mod consent;
pub mod engine;
pub mod error;
pub mod file;
pub mod identity;
pub mod nbd;
mod neighbours;
pub mod open;
pub mod payload;
mod sys;
mod sysfs;

pub use consent::Consent;
pub use engine::{EngineChoice, EngineKind};
pub use error::HostError;
pub use file::{Access, HostFile};
pub use identity::{Identity, IdentityKind, identify};
pub use open::{open_read, open_write};
