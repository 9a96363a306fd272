//! How quiet the machine was while something was measured: a reading before, and one after.
//!
//! Every count is the kernel's own. Stalls are what it cannot count: a thread that sleeps for 2 ms
//! at a time and wakes far too late, without having waited for a core, was on a machine that stood
//! still, as a virtual one does while its host gives the core to others.

use crate::attributes::{Disk, Places};
use crate::sys;
use serde::Serialize;
use ssdscope_io::timeline::MachineReading;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the watching thread sleeps at a time.
const WATCH: Duration = Duration::from_millis(2);
/// Later than this, less the wait for a core, is a stall.
const STALL_NS: u64 = 10_000_000;

/// The column of a disk's `stat` that counts flushes, from zero.
const FLUSH_COLUMN: usize = 15;

/// How quiet the machine was during one call. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quiet {
    /// How long the call took.
    pub wall_ns: u64,
    /// How long our threads waited for a core that others had (scheduling delay), all together.
    pub waited_ns: u64,
    /// How often the measuring thread was made to give up its core.
    pub involuntary_switches: u64,
    /// Time that the host of this virtual machine gave to others, of all cores together.
    pub steal_ns: u64,
    /// What other processes used of all cores, 0 to 1.
    pub others_cpu_share: f64,
    /// How far the wall clock was moved against the monotonic one, either way.
    pub clock_step_ns: u64,
    /// How often the machine stood still for 10 ms or longer.
    pub stalls: u64,
    /// The longest of them.
    pub longest_stall_ns: u64,
    /// What the disk beneath served, for anyone; `None` where the kernel does not count.
    pub disk: Option<DiskCounts>,
}

/// What a whole disk served (the kernel's Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiskCounts {
    /// Requests as they reached the drive: after splitting and merging.
    pub read_requests: u64,
    /// As above. The kernel counts a flush as a write of nothing, too.
    pub write_requests: u64,
    /// Requests that the kernel put together with another.
    pub merges: u64,
    /// Bytes.
    pub read_bytes: u64,
    /// Bytes.
    pub written_bytes: u64,
    /// Flushes that reached the drive. `None` where the kernel does not count them: before Linux
    /// 5.5, and of devices that it makes of others without queues of their own (dm, md).
    pub flush_requests: Option<u64>,
}

impl DiskCounts {
    /// Reads a disk's `stat`.
    fn read(stat: &Path) -> Option<Self> {
        let counts = Self::parse(&fs::read_to_string(stat).ok()?)?;
        let has_queues = stat.with_file_name("mq").exists();
        Some(Self { flush_requests: counts.flush_requests.filter(|_| has_queues), ..counts })
    }

    /// Reads the text of it.
    fn parse(text: &str) -> Option<Self> {
        let all: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [
            read_requests,
            read_merges,
            read_sectors,
            _,
            write_requests,
            write_merges,
            written,
            ..,
        ] = all[..]
        else {
            return None;
        };
        Some(Self {
            read_requests,
            write_requests,
            merges: read_merges + write_merges,
            read_bytes: read_sectors * ssdscope_io::SECTOR_BYTES,
            written_bytes: written * ssdscope_io::SECTOR_BYTES,
            flush_requests: all.get(FLUSH_COLUMN).copied(),
        })
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            read_requests: self.read_requests.saturating_sub(earlier.read_requests),
            write_requests: self.write_requests.saturating_sub(earlier.write_requests),
            merges: self.merges.saturating_sub(earlier.merges),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            flush_requests: self
                .flush_requests
                .zip(earlier.flush_requests)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// Core time of the whole machine, from the first line of `/proc/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CoreTime {
    busy_ns: u64,
    idle_ns: u64,
    steal_ns: u64,
}

impl CoreTime {
    /// Fields: user nice system idle iowait irq softirq steal (guests are part of user).
    fn parse(text: &str) -> Option<Self> {
        const TICK_NS: u64 = 10_000_000; // USER_HZ is 100 on every platform of Linux we build for
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, wait, irq, soft, steal, ..] = ticks[..] else { return None };
        Some(Self {
            busy_ns: (user + nice + system + irq + soft) * TICK_NS,
            idle_ns: (idle + wait) * TICK_NS,
            steal_ns: steal * TICK_NS,
        })
    }
}

/// The second field of a thread's `schedstat`: nanoseconds that it was ready and had no core.
fn waited(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

fn waited_by(thread: &Path) -> u64 {
    fs::read_to_string(thread.join("schedstat")).ok().and_then(|text| waited(&text)).unwrap_or(0)
}

/// Of each thread of ours: io_uring's workers are threads of ours, too.
fn waits() -> Vec<(String, u64)> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .map(|each| (each.file_name().to_string_lossy().into_owned(), waited_by(&each.path())))
        .collect()
}

struct Reading {
    at_ns: u64,
    wall_clock_ns: u64,
    waits: Vec<(String, u64)>,
    switches: u64,
    cores: Option<CoreTime>,
    own_core_ns: u64,
    disk: Option<DiskCounts>,
}

impl Reading {
    fn take(stat: Option<&Path>) -> Self {
        let cores = fs::read_to_string("/proc/stat").ok();
        Self {
            waits: waits(),
            switches: sys::involuntary_switches(),
            cores: cores.as_deref().and_then(CoreTime::parse),
            own_core_ns: sys::own_core_ns(),
            disk: stat.and_then(DiskCounts::read),
            wall_clock_ns: sys::realtime_now().0,
            at_ns: sys::monotonic_now().0,
        }
    }

    fn until(&self, end: &Self) -> Quiet {
        let wall_ns = end.at_ns.saturating_sub(self.at_ns);
        let before = |name: &str| {
            self.waits.iter().find(|(each, _)| each == name).map_or(0, |(_, waited)| *waited)
        };
        let waits = end.waits.iter().map(|(name, waited)| waited.saturating_sub(before(name)));
        let cores = self.cores.zip(end.cores);
        let (steal_ns, others_cpu_share) = cores.map_or((0, 0.0), |(first, last)| {
            let [busy, idle, steal] = [
                last.busy_ns.saturating_sub(first.busy_ns),
                last.idle_ns.saturating_sub(first.idle_ns),
                last.steal_ns.saturating_sub(first.steal_ns),
            ];
            let others = busy.saturating_sub(end.own_core_ns.saturating_sub(self.own_core_ns));
            (steal, others as f64 / (busy + idle + steal).max(1) as f64)
        });
        let moved = end.wall_clock_ns.saturating_sub(self.wall_clock_ns);
        Quiet {
            wall_ns,
            waited_ns: waits.sum(),
            involuntary_switches: end.switches.saturating_sub(self.switches),
            steal_ns,
            others_cpu_share,
            clock_step_ns: moved.abs_diff(wall_ns),
            disk: self.disk.zip(end.disk).map(|(first, last)| last.since(first)),
            ..Quiet::default()
        }
    }
}

/// What the watching thread has seen so far.
#[derive(Debug, Default)]
struct Stalls {
    end: AtomicBool,
    count: AtomicU64,
    longest_ns: AtomicU64,
    total_ns: AtomicU64,
    /// The number of the watching thread among those of this process, as the kernel names it.
    thread: OnceLock<String>,
}

/// Counts the stalls of the machine on a thread of its own.
struct Watcher {
    stalls: Arc<Stalls>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    fn start() -> Self {
        let stalls = Arc::new(Stalls::default());
        let told = Arc::clone(&stalls);
        // Where no thread can be had, stalls are not counted.
        let thread = std::thread::Builder::new().spawn(move || count_stalls(&told)).ok();
        Self { stalls, thread }
    }

    fn stop(&mut self) {
        self.stalls.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // what it has counted stands
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop();
    }
}

fn count_stalls(stalls: &Stalls) {
    let own = Path::new("/proc/thread-self");
    if let Some(name) = fs::read_link(own).ok().as_deref().and_then(Path::file_name) {
        let _ = stalls.thread.set(name.to_string_lossy().into_owned());
    }
    let mut waited_ns = waited_by(own);
    while !stalls.end.load(Ordering::Relaxed) {
        let began_ns = sys::monotonic_now().0;
        std::thread::park_timeout(WATCH);
        let late_ns = (sys::monotonic_now().0 - began_ns).saturating_sub(WATCH.as_nanos() as u64);
        if late_ns < STALL_NS {
            continue;
        }
        let now_ns = waited_by(own);
        let stall_ns = late_ns.saturating_sub(now_ns - waited_ns);
        waited_ns = now_ns;
        if stall_ns >= STALL_NS {
            stalls.count.fetch_add(1, Ordering::Relaxed);
            stalls.longest_ns.fetch_max(stall_ns, Ordering::Relaxed);
            stalls.total_ns.fetch_add(stall_ns, Ordering::Relaxed);
        }
    }
}

/// Watches the machine from its start to [`Watch::end`].
pub struct Watch {
    stat: Option<std::path::PathBuf>,
    before: Reading,
    watcher: Watcher,
}

impl Watch {
    /// Takes the first reading.
    #[must_use]
    pub fn start(disk: Option<&str>) -> Self {
        let stat = disk.map(|name| Path::new("/sys/block").join(name).join("stat"));
        let watcher = Watcher::start();
        Self { before: Reading::take(stat.as_deref()), stat, watcher }
    }

    /// Takes the first reading anew: what was until now does not count.
    pub fn restart(&mut self) {
        self.watcher = Watcher::start();
        self.before = Reading::take(self.stat.as_deref());
    }

    /// What the machine did so far. It is less than [`Watch::end`] says, and cheaper.
    #[must_use]
    pub fn so_far(&self) -> MachineReading {
        let mut waits = waits();
        // The watching thread is none that measures.
        waits.retain(|(name, _)| self.watcher.stalls.thread.get() != Some(name));
        let cores = fs::read_to_string("/proc/stat").ok();
        MachineReading {
            waited_ns: waits.iter().map(|(_, waited_ns)| waited_ns).sum(),
            steal_ns: cores.as_deref().and_then(CoreTime::parse).map_or(0, |each| each.steal_ns),
            stalled_ns: self.watcher.stalls.total_ns.load(Ordering::Relaxed),
        }
    }

    /// Takes the last reading.
    #[must_use]
    pub fn end(mut self) -> Quiet {
        // First, so that what the watching thread waited for a core is not counted.
        self.watcher.stop();
        let quiet = self.before.until(&Reading::take(self.stat.as_deref()));
        let stalls = &self.watcher.stalls;
        Quiet {
            stalls: stalls.count.load(Ordering::Relaxed),
            longest_stall_ns: stalls.longest_ns.load(Ordering::Relaxed),
            ..quiet
        }
    }
}

/// The name of the disk that a file lies on, or that a device is or is a part of.
#[must_use]
pub fn disk_beneath(path: &Path) -> Option<String> {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let stat = fs::metadata(path).ok()?;
    let device = if stat.file_type().is_block_device() { stat.rdev() } else { stat.dev() };
    Disk::beneath(&Places::system(), device).map(|disk| disk.name().to_owned())
}

/// Nanoseconds that reading the clock takes, which every latency holds once: the median of 1,001.
#[must_use]
pub fn clock_overhead_ns() -> f64 {
    const READS: u64 = 100;
    let mut spans: Vec<u64> = (0..1_001)
        .map(|_| {
            let began = sys::monotonic_now().0;
            let last = (0..READS).fold(0, |_, _| std::hint::black_box(sys::monotonic_now().0));
            last - began
        })
        .collect();
    spans.sort_unstable();
    spans[spans.len() / 2] as f64 / READS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_the_kernels_texts() {
        let text = "  10 2 80 5 20 3 160 7 0 9 12 0 0 0 0\n";
        let counts = DiskCounts::parse(text).unwrap();
        assert_eq!((counts.read_requests, counts.write_requests, counts.merges), (10, 20, 5));
        assert_eq!((counts.read_bytes, counts.written_bytes), (40_960, 81_920));
        assert_eq!(counts.flush_requests, None, "older kernels have no such column");
        let newer =
            DiskCounts::parse(&format!("{} 20 7\n", text.replace(" 0 0 0 0\n", " 0 0 0 0")));
        assert_eq!(newer.unwrap().flush_requests, Some(20));
        let folder = std::env::temp_dir().join(format!("ssdscope-stat-{}", std::process::id()));
        let stat = folder.join("stat");
        fs::create_dir(&folder).unwrap();
        fs::write(&stat, "10 2 80 5 20 3 160 7 0 9 12 0 0 0 0 20 7\n").unwrap();
        assert_eq!(DiskCounts::read(&stat).unwrap().flush_requests, None, "as of dm-0");
        fs::create_dir(folder.join("mq")).unwrap();
        assert_eq!(DiskCounts::read(&stat).unwrap().flush_requests, Some(20));
        fs::remove_dir_all(folder).unwrap();
        assert_eq!(DiskCounts::parse("1 2 3"), None);
        let cores = CoreTime::parse("cpu  1 2 3 40 5 6 7 8 0 0\ncpu0 1\n").unwrap();
        assert_eq!((cores.busy_ns, cores.idle_ns), (190_000_000, 450_000_000));
        assert_eq!(cores.steal_ns, 80_000_000);
        assert_eq!(CoreTime::parse("cpu0 1 2"), None);
        assert_eq!(waited("123 456 7\n"), Some(456));
        assert_eq!(waited(""), None);
    }

    #[test]
    fn a_stretch_is_what_lies_between_two_readings() {
        let first = Reading {
            at_ns: 1_000,
            wall_clock_ns: 5_000,
            waits: vec![("1".into(), 10)],
            switches: 3,
            cores: Some(CoreTime { busy_ns: 100, idle_ns: 100, steal_ns: 0 }),
            own_core_ns: 50,
            disk: None,
        };
        let last = Reading {
            at_ns: 2_000,
            wall_clock_ns: 9_000,
            waits: vec![("1".into(), 30), ("2".into(), 7)],
            switches: 5,
            cores: Some(CoreTime { busy_ns: 160, idle_ns: 130, steal_ns: 10 }),
            own_core_ns: 80,
            disk: None,
        };
        let quiet = first.until(&last);
        assert_eq!((quiet.wall_ns, quiet.waited_ns, quiet.involuntary_switches), (1_000, 27, 2));
        assert_eq!((quiet.steal_ns, quiet.clock_step_ns), (10, 3_000));
        assert!((quiet.others_cpu_share - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_watch_of_this_machine_ends() {
        let watch = Watch::start(None);
        std::thread::sleep(Duration::from_millis(5));
        let (first, second) = (watch.so_far(), watch.so_far());
        assert!(second.waited_ns >= first.waited_ns && second.steal_ns >= first.steal_ns);
        let quiet = watch.end();
        assert!(quiet.wall_ns >= 5_000_000 && quiet.disk.is_none());
        assert!(clock_overhead_ns() > 0.0);
    }
}
