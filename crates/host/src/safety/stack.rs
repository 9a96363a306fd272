//! What shares blocks with a device: what it is made of, what is made of it, and other ways to it.
//!
//! ```text
//!   on top         what is made of the target or of its relatives: always a use
//!   target         what the user named
//!   beneath        what the target is made of, down to disks: devices and files of loops
//!   beside         the disks of all these with their partitions, and second paths to them
//! ```
//!
//! Devices are compared by number and files by inode, because names change, hide and lie.

use super::refusal::Refusal;
use crate::sys::loops::Backing;
use crate::sysfs::{SysBlock, device_numbers};
use std::collections::BTreeMap;

/// A target with all that shares its blocks, by number.
pub(crate) struct Stack {
    pub(super) target: SysBlock,
    /// The target, and the devices that it is made of; of a partition its disk, too.
    pub(super) beneath: BTreeMap<String, SysBlock>,
    /// Those, their whole disks and partitions, and the same of second paths.
    pub(super) beside: BTreeMap<String, SysBlock>,
    /// Files that loop devices beneath are made of: number of the file system's device, and inode.
    pub(super) files: Vec<(u64, u64)>,
}

impl Stack {
    /// Walks down from a device.
    ///
    /// # Errors
    /// If something on the way cannot be asked what it is made of.
    pub(crate) fn of(target: &SysBlock) -> Result<Self, Refusal> {
        let mut stack = Self {
            target: target.clone(),
            beneath: BTreeMap::new(),
            beside: BTreeMap::new(),
            files: Vec::new(),
        };
        let mut open = vec![target.clone()];
        while let Some(next) = open.pop() {
            if stack.beneath.insert(next.numbers(), next.clone()).is_some() {
                continue;
            }
            open.extend(next.slaves().into_iter().chain([next.whole()]));
            match next.backing().map_err(|error| unasked(&next, &error.to_string()))? {
                Some(Backing::Block(device)) => {
                    let block = SysBlock::find(device);
                    open.push(block.ok_or_else(|| unasked(&next, "it is made of nothing known"))?);
                }
                Some(Backing::File { device, inode }) => stack.files.push((device, inode)),
                None => {}
            }
        }
        stack.add_what_is_beside();
        Ok(stack)
    }

    fn add_what_is_beside(&mut self) {
        let disks: Vec<_> = self.beneath.values().map(SysBlock::whole).collect();
        let names: Vec<_> = disks.iter().filter_map(SysBlock::wwn).collect();
        let is_second_path = |other: &SysBlock| other.wwn().is_some_and(|wwn| names.contains(&wwn));
        let others = if names.is_empty() { Vec::new() } else { SysBlock::all() };
        for disk in disks.into_iter().chain(others.into_iter().filter(is_second_path)) {
            for part in disk.partitions() {
                self.beside.insert(part.numbers(), part);
            }
            self.beside.insert(disk.numbers(), disk);
        }
    }

    /// What is made of a device, and not on the way up to the target.
    pub(super) fn foreign_holders(&self, device: &SysBlock) -> Vec<SysBlock> {
        let holders = device.holders().into_iter();
        holders.filter(|holder| !self.beneath.contains_key(&holder.numbers())).collect()
    }

    /// Whether a device is held by what lies on the way up to the target, so that nobody else
    /// can hold it.
    pub(super) fn is_held_from_above(&self, device: &SysBlock) -> bool {
        let holders = device.holders();
        !holders.is_empty()
            && holders.iter().all(|holder| self.beneath.contains_key(&holder.numbers()))
    }

    /// How a device is called beside the target; its kernel's name, with what makes it a relative.
    pub(super) fn name_of(&self, device: &SysBlock) -> String {
        let name = device.name();
        let disks = self.beneath.values().map(|each| each.whole().numbers());
        let is_second_path = !disks.into_iter().any(|numbers| numbers == device.whole().numbers());
        if is_second_path { format!("{name} (a second path to the same disk)") } else { name }
    }
}

fn unasked(device: &SysBlock, reason: &str) -> Refusal {
    Refusal::Unasked(format!("{}: {reason}", device.name()))
}

/// What the loop devices of this machine are made of, those that cannot be asked apart.
pub(crate) struct Attachments {
    known: Vec<(SysBlock, Backing)>,
    /// Names of those that cannot be asked, each with the reason.
    pub(crate) unasked: Vec<String>,
}

impl Attachments {
    pub(crate) fn of_this_machine() -> Self {
        let mut attachments = Self { known: Vec::new(), unasked: Vec::new() };
        for device in SysBlock::all_loops() {
            match device.backing() {
                Ok(Some(backing)) => attachments.known.push((device, backing)),
                Ok(None) => {}
                Err(error) => attachments.unasked.push(format!("{}: {error}", device.name())),
            }
        }
        attachments
    }

    /// Names of the loop devices that are made of a file.
    pub(crate) fn on_file(&self, file: (u64, u64)) -> Vec<String> {
        self.on(
            |backing| matches!(backing, Backing::File { device, inode } if (device, inode) == file),
        )
        .map(SysBlock::name)
        .collect()
    }

    /// Names of the loop devices that are made of a relative, and not on the way up to the target.
    pub(super) fn on_stack(&self, stack: &Stack) -> Vec<String> {
        let is_on = |backing| match backing {
            Backing::Block(device) => {
                let (major, minor) = device_numbers(device);
                stack.beside.contains_key(&format!("{major}:{minor}"))
            }
            Backing::File { device, inode } => stack.files.contains(&(device, inode)),
        };
        self.on(is_on)
            .filter(|other| !stack.beneath.contains_key(&other.numbers()))
            .map(SysBlock::name)
            .collect()
    }

    fn on(&self, is_on: impl Fn(Backing) -> bool) -> impl Iterator<Item = &SysBlock> {
        self.known.iter().filter(move |(_, backing)| is_on(*backing)).map(|(device, _)| device)
    }
}
