//! Small drives and how the tests drive them.
//!
//! The page-mapped one has a single plane of 16 blocks of 8 pages, half of them
//! exported. Its times differ in their last digits from each other's sums, so that a
//! wrong term shows. With nothing else at work, a page is in the drive after the
//! [`COMMAND`] (and its data), and
//!
//! * a read takes [`READ`] = command + array + transfer on top, then its data go out;
//! * a write takes [`WRITE`] = command + transfer + array.

use ssdscope_io::driver::Unobserved;
use ssdscope_io::{
    Completion, Counters, Device, Lba, Nanos, Op, Request, RunSummary, Sectors, Workload,
    run_workload,
};
use ssdscope_sim::{DriveConfig, State};

/// The page-mapped and the log-block drive, up to their firmware.
macro_rules! one_plane {
    () => {
        r#"
description = "one plane"
default_state = "fresh"
over_provisioning_ratio = 1.0
[nand]
channels = 1
blocks_per_plane = 16
pages_per_block = 8
page_bytes = 4096
read_ns = 50_000
program_ns = 600_000
erase_ns = 3_000_000
[channel]
ns_per_byte = 2.5
read_command_ns = 300
program_command_ns = 400
erase_command_ns = 200
[host]
bytes_per_second = 1e9
command_ns = 1_000
[ftl]
"#
    };
}

pub const PAGE_DRIVE: &str = concat!(
    one_plane!(),
    r#"kind = "page"
[gc]
min_free_blocks = 2
stop_writes_blocks = 1
"#
);

/// As the page-mapped one, with merge units of one block and three log blocks.
pub const LOG_DRIVE: &str = concat!(
    one_plane!(),
    r#"kind = "log-block"
merge_unit_bytes = 32_768
log_blocks = 3
"#
);

pub const MSR_DRIVE: &str = r#"
description = "one element"
default_state = "fresh"
[nand]
channels = 1
blocks_per_plane = 32
pages_per_block = 8
page_bytes = 4096
read_ns = 25_000
program_ns = 200_000
erase_ns = 1_500_000
[channel]
ns_per_byte = 25.0
[host]
bytes_per_second = 1e9
[ftl]
kind = "msr"
[msr]
reserve_ratio = 0.25
"#;

/// Revolutions of 10 ms; four zones of 10 cylinders with tracks of 100, 90, 80 and 70
/// sectors, so that an outer sector takes 100 us. No cache.
pub const DISK_DRIVE: &str = r#"
description = "one platter"
default_state = "fresh"
[disk]
rpm = 6000
surfaces = 2
cylinders = 40
zones = 4
outer_sectors_per_track = 100
inner_sectors_per_track = 70
seek_track_ns = 1_000_000
seek_average_ns = 3_500_000
seek_full_ns = 6_000_000
head_switch_ns = 500_000
[host]
bytes_per_second = 1e9
command_ns = 1_000
"#;

pub const PAGE: u64 = 4096;
pub const COMMAND: u64 = 1_000;
/// A page on the host link, at a nanosecond a byte.
pub const LINK: u64 = 4_096;
/// A page on the channel.
pub const TRANSFER: u64 = 10_240;
pub const READ_ARRAY: u64 = 50_000;
pub const READ_COMMAND: u64 = 300;
pub const READ: u64 = READ_COMMAND + READ_ARRAY + TRANSFER;
pub const PROGRAM_ARRAY: u64 = 600_000;
pub const PROGRAM_COMMAND: u64 = 400;
pub const WRITE: u64 = PROGRAM_COMMAND + TRANSFER + PROGRAM_ARRAY;
pub const ERASE: u64 = 200 + 3_000_000;

/// A link that takes no time, so that requests given together arrive together.
pub const NO_LINK: [&str; 2] = ["host.command_ns=0", "host.bytes_per_second=1e15"];

/// What to ask: operation, first byte, bytes.
pub type Ask = (Op, u64, u64);

/// A read of a whole page.
pub const fn read(page: u64) -> Ask {
    (Op::Read, page * PAGE, PAGE)
}

/// A write of a whole page.
pub const fn write(page: u64) -> Ask {
    (Op::Write, page * PAGE, PAGE)
}

pub const FLUSH: Ask = (Op::Flush, 0, 0);

/// A read of one sector.
pub const fn read_sector(sector: u64) -> Ask {
    (Op::Read, sector * 512, 512)
}

/// A write of one sector.
pub const fn write_sector(sector: u64) -> Ask {
    (Op::Write, sector * 512, 512)
}

pub fn config(text: &str, sets: &[&str]) -> DriveConfig {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    DriveConfig::parse(text, "drive.toml", &sets).unwrap_or_else(|faults| panic!("{faults}"))
}

/// A drive on the bench.
pub struct Rig {
    pub device: Box<dyn Device>,
    asked: u64,
}

impl Rig {
    pub fn open(text: &str, sets: &[&str], state: Option<State>) -> Self {
        let device = ssdscope_sim::open(&config(text, sets), state, 1).unwrap();
        Self { device, asked: 0 }
    }

    /// The page-mapped drive, never written.
    pub fn page(sets: &[&str]) -> Self {
        Self::open(PAGE_DRIVE, sets, None)
    }

    /// The page-mapped drive without a link and with every page written in order.
    pub fn filled(sets: &[&str]) -> Self {
        Self::open(PAGE_DRIVE, &[&NO_LINK, sets].concat(), Some(State::Sequential))
    }

    /// The log-block drive without a link and with every page written in order.
    pub fn logged(sets: &[&str]) -> Self {
        Self::open(LOG_DRIVE, &[&NO_LINK, sets].concat(), Some(State::Sequential))
    }

    /// The drive with the firmware of the SSD extension.
    pub fn msr(sets: &[&str]) -> Self {
        Self::open(MSR_DRIVE, sets, None)
    }

    /// The hard disk.
    pub fn disk(sets: &[&str]) -> Self {
        Self::open(DISK_DRIVE, sets, None)
    }

    /// The number of the last thing asked.
    pub const fn last_id(&self) -> u64 {
        self.asked - 1
    }

    /// An independent copy.
    pub fn fork(&self) -> Self {
        Self { device: self.device.fork().unwrap(), asked: self.asked }
    }

    pub fn capacity(&self) -> u64 {
        self.device.info().capacity_bytes
    }

    pub fn submit(&mut self, (op, offset, bytes): Ask) {
        let (lba, sectors) = (Lba(offset / 512), Sectors(bytes / 512));
        let request = Request::new(self.asked, op, lba, sectors);
        self.asked += 1;
        self.device.submit(self.device.now(), request).unwrap();
    }

    /// Asks and lets time pass, in which nothing is answered.
    pub fn then(&mut self, ask: Ask, ns: u64) -> &mut Self {
        self.submit(ask);
        self.idle(ns);
        self
    }

    /// Waits for all that is in flight; by order of asking.
    pub fn drain(&mut self) -> Vec<Completion> {
        let mut done = Vec::new();
        while self.device.in_flight() > 0 {
            self.device.advance(Nanos::MAX, &mut done).unwrap();
        }
        for completion in &done {
            assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
        }
        done.sort_unstable_by_key(|completion| completion.id);
        done
    }

    /// Asks all of it at the same instant.
    pub fn together(&mut self, asks: &[Ask]) -> Vec<Completion> {
        asks.iter().for_each(|&ask| self.submit(ask));
        self.drain()
    }

    /// When the last of what is asked at once has been served.
    pub fn span_ns(&mut self, asks: &[Ask]) -> u64 {
        let done = self.together(asks);
        done.iter().map(|completion| completion.latency().0).max().unwrap()
    }

    /// Asks one thing of the drive at rest.
    pub fn one(&mut self, ask: Ask) -> Completion {
        self.together(&[ask])[0]
    }

    /// Its latency.
    pub fn latency_ns(&mut self, ask: Ask) -> u64 {
        self.one(ask).latency().0
    }

    /// Writes pages one after the other.
    pub fn write_pages(&mut self, pages: impl IntoIterator<Item = u64>) {
        for page in pages {
            self.one(write(page));
        }
    }

    /// Reads pages one after the other.
    pub fn read_pages(&mut self, pages: impl IntoIterator<Item = u64>) {
        for page in pages {
            self.one(read(page));
        }
    }

    /// Lets time pass in which nothing is answered.
    pub fn idle(&mut self, ns: u64) {
        let mut none = Vec::new();
        self.device.advance(self.device.now() + Nanos(ns), &mut none).unwrap();
        assert!(none.is_empty());
    }

    /// Lets everything end that is under way.
    pub fn rest(&mut self) -> Counters {
        self.idle(3_000_000_000);
        self.counters()
    }

    pub fn counters(&mut self) -> Counters {
        self.device.counters().unwrap()
    }

    pub fn run(&mut self, workload: &str) -> RunSummary {
        let workload = Workload::from_json(workload).unwrap();
        run_workload(&mut *self.device, &workload, &mut Unobserved).unwrap()
    }
}

/// The spread of erase counts: standard deviation over all blocks.
pub fn wear_spread(counters: &Counters) -> f64 {
    let blocks: u64 = counters.erase_histogram.iter().sum();
    let moment = |power: i32| {
        let weighed = counters.erase_histogram.iter().enumerate();
        weighed.map(|(erases, &count)| (erases as f64).powi(power) * count as f64).sum::<f64>()
            / blocks as f64
    };
    (moment(2) - moment(1).powi(2)).max(0.0).sqrt()
}
