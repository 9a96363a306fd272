//! What a path is, before anything is sent to it.

use crate::consent::file_token;
use crate::engine::{self, EngineKind};
use crate::error::HostError;
use crate::health::Health;
use crate::nvme::{self, Controller, Namespace};
use crate::open::{self, Opened};
use crate::pinned::Pinned;
use crate::safety::files::{self, Readers};
use crate::safety::stack::Stack;
use crate::safety::{self, token, usage};
use crate::sys;
use crate::sysfs::SysBlock;
use serde::Serialize;
use ssdscope_io::shown::Shown;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The two things that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentityKind {
    /// A block device.
    Block,
    /// A regular file.
    File,
}

/// Identity and declared geometry of a target. What is declared is a hint, never truth.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// The path as given.
    pub path: String,
    /// The path with all links followed.
    pub real_path: String,
    /// Drive or file.
    pub kind: IdentityKind,
    /// Whole blocks, in bytes.
    pub capacity_bytes: u64,
    /// Smallest request.
    pub logical_block_bytes: u64,
    /// The block that the drive says it works with.
    pub physical_block_bytes: Option<u64>,
    /// The kernel's name of the device; of a file: of the device that it is stored on.
    pub device: Option<String>,
    /// `disk`, `partition`, `loop`, `dm`, `md`, `nbd` or `zram`.
    pub device_type: Option<&'static str>,
    /// The drive's model.
    pub model: Option<String>,
    /// The drive's serial number.
    pub serial: Option<String>,
    /// The drive's world wide name.
    pub wwn: Option<String>,
    /// The revision of its firmware.
    pub firmware: Option<String>,
    /// What an NVMe controller says of itself, where it may be asked.
    pub nvme: Option<Controller>,
    /// How much of an NVMe namespace is in use, where its controller may be asked.
    pub namespace: Option<Namespace>,
    /// What the drive says of its health.
    pub health: Option<Health>,
    /// Whether the kernel thinks that it spins.
    pub rotational: Option<bool>,
    /// The queue's attributes in `/sys`.
    pub queue: BTreeMap<&'static str, String>,
    /// Mounts, swap and devices on top of a block device.
    pub in_use: Vec<String>,
    /// Bytes of a file that no drive stores, so that reading them measures nothing.
    pub holes_bytes: u64,
    /// Whether the file lives in memory only.
    pub memory_backed: bool,
    /// What `--destroy-data` needs; `None` where nothing identifies the target.
    pub token: Option<String>,
    /// Why it cannot be opened for writing, as far as a look shows, where it cannot.
    pub write_refusal: Option<String>,
    /// Options that writing needs beside the token.
    pub write_needs: Vec<&'static str>,
    /// First byte and size of what is written without `--offset` and `--size`.
    pub write_window: Option<(u64, u64)>,
    /// How requests would reach the kernel.
    pub engine: EngineKind,
    /// Why it is not `io_uring`, where it is not.
    pub engine_note: Option<String>,
    /// Whether requests go around the page cache.
    pub direct_io: bool,
    /// Why they do not, where they do not.
    pub direct_io_note: Option<String>,
}

/// Describes a path. The target is opened for reading and nothing is sent to it.
///
/// # Errors
/// If it is neither a block device nor a regular file, or may not be opened.
pub fn identify(path: &Path) -> Result<Identity, HostError> {
    let opened = open::open_target(&Pinned::find(path)?, 0, false)?;
    let os = |source| HostError::os(path, "describe it", source);
    let stat = opened.file.metadata().map_err(os)?;
    let block = SysBlock::find(if opened.is_block { stat.rdev() } else { stat.dev() });
    let queue = block.as_ref().map(SysBlock::queue).unwrap_or_default();
    let holes_bytes = if opened.is_block { 0 } else { opened.holes_bytes().map_err(os)? };
    let (engine, engine_note) = engine::available();
    let device = block.as_ref().filter(|_| opened.is_block);
    let (write_refusal, write_needs) = match device {
        Some(block) => safety::outlook(&opened, block),
        None => (files::check_users(&opened.file, Readers::Count, false).err(), Vec::new()),
    };
    let window = device.and_then(|_| safety::limits::window(&opened, None).ok());
    Ok(Identity {
        path: Shown(path).to_string(),
        real_path: Shown(&opened.real_path).to_string(),
        kind: if opened.is_block { IdentityKind::Block } else { IdentityKind::File },
        capacity_bytes: opened.capacity_bytes(),
        logical_block_bytes: opened.logical_block_bytes,
        physical_block_bytes: physical_block_bytes(&opened, &queue),
        device: block.as_ref().map(SysBlock::name),
        device_type: block.as_ref().map(SysBlock::device_type),
        model: block.as_ref().and_then(SysBlock::model),
        serial: block.as_ref().and_then(SysBlock::serial),
        wwn: block.as_ref().and_then(SysBlock::wwn),
        firmware: block.as_ref().and_then(SysBlock::firmware),
        nvme: device
            .filter(|block| block.is_nvme())
            .and_then(|_| nvme::controller(&opened.file).ok()),
        namespace: device
            .filter(|block| block.is_nvme())
            .and_then(|_| nvme::namespace(&opened.file).ok()),
        health: device.map(|block| Health::of(&opened.file, block)),
        rotational: queue.get("rotational").map(|value| value == "1"),
        in_use: device.map_or_else(Vec::new, in_use),
        queue,
        holes_bytes,
        memory_backed: opened.file_system.memory_backed,
        token: if opened.is_block {
            block.as_ref().and_then(token::of)
        } else {
            Some(file_token(&opened.real_path))
        },
        write_refusal: write_refusal.map(|why| why.to_string()),
        write_needs,
        write_window: window.map(|window| (window.start, window.end - window.start)),
        engine,
        engine_note,
        direct_io: opened.buffered_because.is_none(),
        direct_io_note: opened.buffered_because,
    })
}

/// Who uses a device, or that this cannot be found out.
fn in_use(device: &SysBlock) -> Vec<String> {
    match Stack::of(device) {
        Ok(stack) => usage::users(&stack),
        Err(refusal) => vec![refusal.to_string()],
    }
}

fn physical_block_bytes(opened: &Opened, queue: &BTreeMap<&str, String>) -> Option<u64> {
    if opened.is_block {
        sys::block_physical_bytes(&opened.file).ok()
    } else {
        queue.get("physical_block_size")?.parse().ok()
    }
}
