//! Check 6: no other process has the target open, or a relative of it, as far as this user may
//! look: by descriptor (`/proc/*/fd`) or by mapping (`/proc/*/maps`), whatever the name.
//!
//! udev looks at a device for a moment after somebody has closed it: who is gone soon does
//! not count.

use super::refusal::Refusal;
use super::stack::Stack;
use crate::sys;
use crate::sysfs::device_numbers;
use ssdscope_io::shown::Shown;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Two seconds, as a busy machine takes its time.
const LOOKS_AFTER_THE_DEAD: u32 = 40;
/// How a process ends in messages that is there no more.
const NAMELESS: &str = "(?)";

/// Looks until nobody has it open, and gives up after half a second.
pub(super) fn check(look: impl Fn() -> Vec<String>) -> Result<(), Refusal> {
    let mut openers = look();
    for _ in 1..LOOKS {
        if openers.is_empty() {
            return Ok(());
        }
        std::thread::sleep(BETWEEN_LOOKS);
        openers = look();
    }
    if openers.is_empty() { Ok(()) } else { Err(Refusal::OpenElsewhere(openers)) }
}

/// Which other processes have a device open, or what shares its blocks, and by which name if by
/// another.
pub(super) fn of(stack: &Stack) -> Vec<String> {
    let devices: BTreeMap<_, _> = stack
        .beside
        .iter()
        .map(|(numbers, device)| (numbers.clone(), stack.name_of(device)))
        .collect();
    openers(
        Path::new("/proc"),
        &Wanted { devices, files: named_files(stack), writers_only: false },
        &stack.target.name(),
    )
}

fn named_files(stack: &Stack) -> Vec<FileIdentity> {
    let name = "the file beneath";
    let file = |&(device, inode)| FileIdentity { devices: vec![device], inode, name: name.into() };
    stack.files.iter().map(file).collect()
}

/// Which other processes have a file open or mapped; or only those that may write to it.
pub(crate) fn of_file(file: &File, writers_only: bool) -> Vec<String> {
    let Ok(identity) = FileIdentity::of(file) else { return Vec::new() };
    let wanted = Wanted { devices: BTreeMap::new(), files: vec![identity], writers_only };
    openers(Path::new("/proc"), &wanted, "")
}

/// Whether this process has a file open more than once, not counting who may only ask.
pub(crate) fn is_open_twice(file: &File) -> bool {
    let Ok(identity) = FileIdentity::of(file) else { return false };
    let links = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let is_it = |link: &fs::DirEntry| {
        fs::metadata(link.path()).is_ok_and(|stat| identity.is(&stat))
            && flags_of(&Path::new("/proc/self/fdinfo").join(link.file_name()))
                .is_some_and(|flags| flags & libc::O_PATH == 0)
    };
    links.filter(is_it).count() > 1
}

/// Tries until it succeeds, for as long as a process that was killed may take to let go: the kernel
/// takes its rings apart in the background, and with them what it had open. `is_somebodys` ends it.
pub(super) fn after_the_dead<T>(
    mut attempt: impl FnMut() -> Option<T>,
    is_somebodys: impl Fn() -> bool,
) -> Option<T> {
    for _ in 0..LOOKS_AFTER_THE_DEAD {
        if let Some(done) = attempt() {
            return Some(done);
        }
        if is_somebodys() {
            return None;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    attempt()
}

/// Takes the writer's lock, and false if a living process has it.
pub(super) fn lock(file: &File) -> std::io::Result<bool> {
    let attempt = || match sys::try_lock(file) {
        Ok(false) => None,
        result => Some(result),
    };
    after_the_dead(attempt, || lockers(file).iter().any(|who| !who.ends_with(NAMELESS)))
        .unwrap_or(Ok(false))
}

/// Says who locks a file, as far as the kernel tells.
pub(super) fn locked(file: &File) -> Refusal {
    let lockers = lockers(file);
    Refusal::Locked(if lockers.is_empty() { vec!["another process".to_owned()] } else { lockers })
}

/// Who locks a file by the kernel's table, which holds leases, too, and hides the processes of
/// other namespaces.
fn lockers(file: &File) -> Vec<String> {
    let Ok(identity) = FileIdentity::of(file) else { return Vec::new() };
    let table = fs::read_to_string("/proc/locks").unwrap_or_default();
    let own = std::process::id();
    let others = table.lines().filter_map(|line| locker(line, &identity));
    let others: BTreeSet<_> = others.filter(|&process| process != Some(own)).collect();
    others.into_iter().map(|process| process.map_or("a process".to_owned(), described)).collect()
}

/// The process of a line of `/proc/locks`, if it is about the file: none for a lock that belongs
/// to a descriptor. `1: POSIX  ADVISORY  WRITE 4711 fe:00:12345 0 EOF`.
fn locker(line: &str, file: &FileIdentity) -> Option<Option<u32>> {
    let fields: Vec<_> = line.split_whitespace().filter(|&field| field != "->").collect();
    let mut place = fields.get(5)?.split(':');
    let mut hexadecimal = || u32::from_str_radix(place.next()?, 16).ok();
    let device = libc::makedev(hexadecimal()?, hexadecimal()?);
    let inode: u64 = fields.get(5)?.rsplit(':').next()?.parse().ok()?;
    let is_it = inode == file.inode && file.devices.contains(&device);
    is_it.then(|| fields[4].parse().ok().filter(|&process| process > 0))
}

/// A file, however it is reached.
struct FileIdentity {
    /// Its file system's device as `stat` and as mappings have it: btrfs shows each another.
    devices: Vec<u64>,
    inode: u64,
    /// What it is called in messages; nothing for the target itself.
    name: String,
}

impl FileIdentity {
    fn of(file: &File) -> std::io::Result<Self> {
        let stat = file.metadata()?;
        let devices = [Some(stat.dev()), mount_device(file)].into_iter().flatten().collect();
        Ok(Self { devices, inode: stat.ino(), name: String::new() })
    }

    fn is(&self, stat: &Metadata) -> bool {
        self.inode == stat.ino() && self.devices.contains(&stat.dev())
    }
}

/// The device of a file's mount by the table of mounts.
fn mount_device(file: &File) -> Option<u64> {
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = about.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().to_owned();
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let line = table.lines().find(|line| line.split(' ').next() == Some(mount.as_str()))?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    Some(libc::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// What is looked for.
struct Wanted {
    /// Names of devices, by number.
    devices: BTreeMap<String, String>,
    files: Vec<FileIdentity>,
    /// Whether who only reads does not count.
    writers_only: bool,
}

impl Wanted {
    /// What of it this is, by name.
    fn name_of(&self, stat: &Metadata) -> Option<String> {
        if stat.file_type().is_block_device() {
            let (major, minor) = device_numbers(stat.rdev());
            return self.devices.get(&format!("{major}:{minor}")).cloned();
        }
        self.files.iter().find(|file| file.is(stat)).map(|file| file.name.clone())
    }

    /// What of it a line of `/proc/*/maps` is of.
    fn mapped(&self, line: &str) -> Option<String> {
        let mut fields = line.split_whitespace().skip(1);
        let allowed = fields.next()?;
        if self.writers_only && !(allowed.contains('w') && allowed.ends_with('s')) {
            return None;
        }
        let mut fields = fields.skip(1);
        let (major, minor) = fields.next()?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let device = libc::makedev(number(major)?, number(minor)?);
        let inode: u64 = fields.next()?.parse().ok()?;
        let file = |file: &&FileIdentity| file.inode == inode && file.devices.contains(&device);
        self.files.iter().find(file).map(|file| file.name.clone())
    }
}

fn openers(processes: &Path, wanted: &Wanted, name: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (process, path) in other_processes(processes) {
        found.extend(opened_by(&path, wanted).into_iter().map(|what| (process, what)));
    }
    let in_words = |(process, what): (u32, String)| {
        let by = if what == name { String::new() } else { format!(" as {what}") };
        format!("{}{by}", described(process))
    };
    found.into_iter().map(in_words).collect()
}

/// What of the wanted a process has open or mapped, by name.
fn opened_by(process: &Path, wanted: &Wanted) -> Vec<String> {
    let links = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    let counts = |link: &fs::DirEntry| {
        !wanted.writers_only || is_for_writing(&process.join("fdinfo").join(link.file_name()))
    };
    let open = links.filter_map(|link| {
        wanted.name_of(&fs::metadata(link.path()).ok()?).filter(|_| counts(&link))
    });
    let mappings = if wanted.files.is_empty() {
        String::new()
    } else {
        fs::read_to_string(process.join("maps")).unwrap_or_default()
    };
    open.chain(mappings.lines().filter_map(|line| wanted.mapped(line))).collect()
}

fn is_for_writing(about: &Path) -> bool {
    flags_of(about).is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

/// The flags of a descriptor, which the kernel shows in octal.
fn flags_of(about: &Path) -> Option<libc::c_int> {
    let text = fs::read_to_string(about).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    libc::c_int::from_str_radix(flags.trim(), 8).ok()
}

/// All processes but this one, with their folders.
fn other_processes(processes: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let folders = fs::read_dir(processes).into_iter().flatten().flatten();
    folders.filter_map(|entry| {
        let process = entry.file_name().to_string_lossy().parse::<u32>().ok()?;
        (process != std::process::id()).then(|| (process, entry.path()))
    })
}

fn described(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm"));
    let name = name.map_or_else(
        |_| NAMELESS.to_owned(),
        |name| format!("({})", Shown(Path::new(name.trim()))),
    );
    format!("process {process} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> FileIdentity {
        FileIdentity { devices: vec![libc::makedev(0xfe, 0)], inode: 12345, name: String::new() }
    }

    #[test]
    fn locks_and_leases_are_read_off_the_kernels_table() {
        let process = |line| locker(line, &identity());
        assert_eq!(process("1: POSIX  ADVISORY  WRITE 4711 fe:00:12345 0 EOF"), Some(Some(4711)));
        assert_eq!(process("2: -> FLOCK  ADVISORY  READ 8 fe:00:12345 0 EOF"), Some(Some(8)));
        assert_eq!(process("3: OFDLCK ADVISORY  READ -1 fe:00:12345 0 9"), Some(None));
        assert_eq!(process("4: LEASE  ACTIVE    READ 3 fe:00:12345 0 EOF"), Some(Some(3)));
        assert_eq!(process("5: POSIX  ADVISORY  WRITE 4711 fe:01:12345 0 EOF"), None);
        assert_eq!(process("6: POSIX  ADVISORY  WRITE 4711 fe:00:1234 0 EOF"), None);
        assert_eq!(process("a line of tomorrow"), None);
    }

    #[test]
    fn mappings_are_found_by_inode() {
        let wanted = |writers_only| Wanted {
            devices: BTreeMap::new(),
            files: vec![identity()],
            writers_only,
        };
        let mapped = |line| wanted(false).mapped(line).is_some();
        assert!(wanted(true).mapped("7f00-7f01 r--s 00000000 fe:00 12345    /a/name").is_none());
        assert!(wanted(true).mapped("7f00-7f01 rw-s 00000000 fe:00 12345    /a/name").is_some());
        assert!(mapped("7f00-7f01 rw-s 00000000 fe:00 12345    /a/name (deleted)"));
        assert!(!mapped("7f00-7f01 rw-s 00000000 fe:00 12346    /a/name"));
        assert!(!mapped("7f00-7f01 rw-p 00000000 00:00 0"));
        assert!(!mapped("ffff-ffff --xp 00000000 00:00 0    [vsyscall]"));
    }
}
