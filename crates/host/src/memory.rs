//! Whether this process can have so much more memory: by its own limit, those of its control
//! groups, and what the machine has left.

use std::fs;
use std::path::{Path, PathBuf};

const KIB: u64 = 1 << 10;

/// More memory is needed than there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "needs {needed_bytes} bytes of memory for its tables, and {left_bytes} can be had ({limit})"
)]
pub struct Short {
    /// What is needed.
    pub needed_bytes: u64,
    /// What there is.
    pub left_bytes: u64,
    /// What sets the limit.
    pub limit: &'static str,
}

/// Asks whether so much more memory can be had. Where the system does not say, it can.
///
/// # Errors
/// If it cannot.
pub fn require(needed_bytes: u64) -> Result<(), Short> {
    let limits = [
        (own_limit(), "ulimit -v"),
        (group_limit(Path::new("/sys/fs/cgroup")), "the limit of its control group"),
        (machine(&read("/proc/meminfo")), "what the machine has free"),
    ];
    let known = limits.into_iter().filter_map(|(left, limit)| Some((left?, limit)));
    match known.min() {
        Some((left_bytes, limit)) if left_bytes < needed_bytes => {
            Err(Short { needed_bytes, left_bytes, limit })
        }
        _ => Ok(()),
    }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What the limit of the address space leaves.
fn own_limit() -> Option<u64> {
    let limits = read("/proc/self/limits");
    let line = limits.lines().find(|line| line.starts_with("Max address space"))?;
    let most: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
    Some(most.saturating_sub(in_kib(&read("/proc/self/status"), "VmSize:")?))
}

/// What the machine can give without taking it from others.
fn machine(meminfo: &str) -> Option<u64> {
    let swap = in_kib(meminfo, "SwapFree:").unwrap_or(0);
    Some(in_kib(meminfo, "MemAvailable:")? + swap)
}

fn in_kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * KIB)
}

/// The least that this process's control group, or one above it, leaves. Pages of files count as
/// free: the kernel takes those first.
fn group_limit(root: &Path) -> Option<u64> {
    let groups = read("/proc/self/cgroup");
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let place: PathBuf = root.join(own);
    place.ancestors().take_while(|each| each.starts_with(root)).filter_map(left_in).min()
}

fn left_in(group: &Path) -> Option<u64> {
    let number = |name: &str| read(group.join(name)).trim().parse::<u64>().ok();
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let stat = read(group.join("memory.stat"));
    let files = stat.lines().find_map(|line| line.strip_prefix("file "));
    let files = files.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(files)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_both_figures() {
        require(0).expect("nothing is always there");
        let short = require(1 << 60).expect_err("an exbibyte");
        assert!(short.left_bytes < 1 << 60);
        assert!(short.to_string().contains("1152921504606846976 bytes"), "{short}");
    }

    #[test]
    fn a_machine_has_free_what_it_can_give_and_its_swap() {
        let text = "MemTotal: 900 kB\nMemAvailable:  100 kB\nSwapFree:   20 kB\n";
        assert_eq!(machine(text), Some(120 * KIB));
        assert_eq!(machine("MemTotal: 900 kB\n"), None);
    }

    #[test]
    fn the_narrowest_of_a_group_and_those_above_it_holds() {
        let root = std::env::temp_dir().join(format!("ssdscope-group-{}", std::process::id()));
        let group = root.join("a");
        fs::create_dir_all(&group).unwrap();
        let put = |place: &Path, name: &str, text: &str| fs::write(place.join(name), text).unwrap();
        put(&group, "memory.max", "1000\n");
        put(&group, "memory.current", "900\n");
        put(&group, "memory.stat", "anon 500\nfile 400\n");
        put(&root, "memory.max", "max\n");
        assert_eq!(left_in(&group), Some(500));
        assert_eq!(left_in(&root), None, "no limit");
        fs::remove_dir_all(&root).unwrap();
    }
}
