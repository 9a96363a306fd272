//! A disturbed drive keeps the contract of a device, whatever drive it is.
//!
//! * the same seed gives the same completions, also of forks and of states returned to;
//! * every completion comes once, in order, at its instant, and its parts sum to its latency;
//! * time passes as asked, and a drive that can make no progress says so.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and says its seeds")]

use ssdscope_io::driver::{LogKeeper, RunError};
use ssdscope_io::log::LogChunk;
use ssdscope_io::rng::Stream;
use ssdscope_io::{
    Attribution, Caches, ClockKind, Completion, Device, DeviceError, DeviceInfo, DeviceKind, Lba,
    Nanos, Op, Outcome, Raid0, Request, Sectors, Workload, run_workload,
};
use ssdscope_sim::disturbance::Disturbed;
use ssdscope_sim::{DriveConfig, State};
use std::collections::BTreeSet;

/// Presets small enough to be opened often, one of each kind.
const DRIVES: [&str; 4] = [
    "examples/drives/log-block.toml",
    "python/ssdscope/drives/mqsim-8g.toml",
    "python/ssdscope/drives/msr-4gb.toml",
    "python/ssdscope/drives/huang-hdd-s.toml",
];

const PAGE: u64 = 4096;

fn open(drive: &str, sets: &[String], seed: u64) -> Box<dyn Device> {
    let path = format!("{}/../../{drive}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let config = DriveConfig::parse(&text, drive, sets).unwrap();
    ssdscope_sim::open(&config, Some(State::Sequential), seed).unwrap()
}

fn sets(pairs: &[(&str, String)]) -> Vec<String> {
    pairs.iter().map(|(key, value)| format!("disturbance.{key}={value}")).collect()
}

/// Some of the disturbances, at random.
fn drawn(random: &mut Stream) -> Vec<String> {
    let share = |random: &mut Stream, most: f64| (random.unit() * most).to_string();
    let all = [
        ("noise_sigma", share(random, 0.3)),
        ("spike_ratio", share(random, 0.1)),
        ("drift_ratio", share(random, 1.0)),
        ("drift_period_ns", (1 + random.below(1 << 24)).to_string()),
        ("foreign_iops", random.below(2000).to_string()),
        ("foreign_write_ratio", share(random, 1.0)),
        ("foreign_bytes", (PAGE << random.below(4)).to_string()),
        ("fault_bytes", (random.below(1 << 28)).to_string()),
        ("flush", ["honoured", "ignored", "refused"][random.below(3) as usize].to_owned()),
    ];
    let mut chosen = sets(&all.into_iter().filter(|_| random.below(3) > 0).collect::<Vec<_>>());
    if random.below(2) == 0 {
        chosen.extend(sets(&[
            ("foreign_on_ns", random.below(1 << 22).max(1).to_string()),
            ("foreign_off_ns", random.below(1 << 24).max(1).to_string()),
        ]));
    }
    chosen
}

/// A host that keeps some requests in flight, at random.
#[derive(Clone)]
struct Host {
    random: Stream,
    asked: u64,
    open: BTreeSet<u64>,
    log: Vec<Completion>,
}

impl Host {
    fn new(seed: u64) -> Self {
        let random = Stream::new(seed, "host");
        Self { random, asked: 0, open: BTreeSet::new(), log: Vec::new() }
    }

    fn ask(&mut self, device: &mut dyn Device) {
        let pages = device.info().capacity_bytes / PAGE;
        let op =
            [Op::Read, Op::Write, Op::Read, Op::Write, Op::Flush][self.random.below(5) as usize];
        let (page, count) = (self.random.below(pages - 8), 1 + self.random.below(8));
        let sectors = if op == Op::Flush { 0 } else { count * 8 };
        let request = Request::new(self.asked, op, Lba(page * 8), Sectors(sectors));
        device.submit(device.now(), request).unwrap();
        self.open.insert(self.asked);
        self.asked += 1;
    }

    /// A number of steps, each of which asks, waits or rests.
    fn play(&mut self, device: &mut dyn Device, steps: u64) {
        for _ in 0..steps {
            match self.random.below(8) {
                0..4 if self.open.len() < 16 => self.ask(device),
                0..7 => self.wait(device, Nanos::MAX),
                _ => {
                    let end = device.now() + Nanos(self.random.below(1 << 23));
                    self.wait(device, end);
                }
            }
            assert_eq!(device.in_flight(), self.open.len());
        }
    }

    fn wait(&mut self, device: &mut dyn Device, to: Nanos) {
        let (before, from) = (device.now(), self.log.len());
        device.advance(to, &mut self.log).unwrap();
        let (now, came) = (device.now(), &self.log[from..]);
        assert!(now >= before && now <= to);
        if came.is_empty() {
            let rests = to == Nanos::MAX && self.open.is_empty();
            assert_eq!(now, if rests { before } else { to }, "it waits as long as it should");
        }
        for done in came {
            assert!(self.open.remove(&done.id), "{done:?} was not asked for, or came twice");
            assert_eq!(done.completed, now, "all of one instant, and at it");
            assert_eq!(done.attribution.total(), done.latency(), "{done:?}");
        }
    }
}

#[test]
fn disturbed_drives_keep_the_contract_and_repeat_themselves() {
    for seed in 0..24 {
        let mut random = Stream::new(seed, "disturbances");
        let (drive, sets) = (DRIVES[(seed % 4) as usize], drawn(&mut random));
        println!("seed {seed}: {drive} {sets:?}");
        let mut device = open(drive, &sets, seed);
        let mut host = Host::new(seed);
        host.play(&mut *device, 150);
        let (saved, mut fork, mut other) =
            (device.snapshot().unwrap(), device.fork().unwrap(), host.clone());
        host.play(&mut *device, 150);
        other.play(&mut *fork, 150);
        assert_eq!(host.log, other.log, "a fork goes on like what it is of");
        fork.restore(&saved).unwrap();
        let mut whole = Host::new(seed);
        let mut second = open(drive, &sets, seed);
        whole.play(&mut *second, 150);
        let mut back = whole.clone();
        whole.play(&mut *second, 150);
        assert_eq!(host.log, whole.log, "the same seed, the same completions");
        back.play(&mut *fork, 150);
        assert_eq!(host.log, back.log, "and after a return");
    }
}

fn log(device: &mut dyn Device, workload: &str) -> LogChunk {
    let mut keeper = LogKeeper::default();
    run_workload(device, &Workload::from_json(workload).unwrap(), &mut keeper).unwrap();
    keeper.log
}

const MIXED: &str = r#"{"rw": "randrw", "iodepth": 8, "requests": 2000}"#;

#[test]
fn a_table_that_disturbs_nothing_changes_nothing() {
    let quiet = sets(&[("spike_ns", "7".into()), ("foreign_write_ratio", "1".into())]);
    // A flush refused costs nothing where nobody flushes.
    let around = sets(&[("flush", "refused".into())]);
    for drive in DRIVES {
        let [plain, quiet, around] =
            [&[][..], &quiet, &around].map(|sets| log(&mut *open(drive, sets, 1), MIXED));
        assert_eq!(plain, quiet);
        assert_eq!(plain, around, "a drive with nothing before it but a door");
    }
}

#[test]
fn one_disturbance_does_not_shift_another() {
    // Where the spikes fall does not depend on whether there is noise.
    let reads = r#"{"rw": "randread", "requests": 3000}"#;
    let spikes = [("spike_ratio", "0.05".to_owned()), ("spike_ns", "900000000".to_owned())];
    let alone = log(&mut *open(DRIVES[1], &sets(&spikes), 1), reads);
    let noisy = [&spikes[..], &[("noise_sigma", "0.1".to_owned())]].concat();
    let both = log(&mut *open(DRIVES[1], &sets(&noisy), 1), reads);
    let slow = |log: &LogChunk| -> Vec<usize> {
        let took = |&row: &usize| log.complete_ns[row] - log.submit_ns[row] > 900_000_000;
        (0..log.len()).filter(took).collect()
    };
    assert_eq!(slow(&alone), slow(&both));
    assert!(slow(&alone).len() > 100);
}

#[test]
fn requests_of_others_are_not_those_of_a_run() {
    let sets = sets(&[("foreign_iops", "1000".into()), ("foreign_write_ratio", "0.5".into())]);
    for drive in DRIVES {
        let mut device = open(drive, &sets, 1);
        let mut keeper = LogKeeper::default();
        let workload = Workload::from_json(MIXED).unwrap();
        let summary = run_workload(&mut *device, &workload, &mut keeper).unwrap();
        assert_eq!((summary.requests, keeper.log.len()), (2000, 2000));
        if let Some(counters) = summary.counters {
            // The drive counts everybody's.
            assert!(counters.host_bytes_read + counters.host_bytes_written > 2000 * PAGE);
        }
    }
}

#[test]
fn a_run_on_a_drive_that_goes_breaks_and_says_why() {
    let mut device = open(DRIVES[1], &sets(&[("gone_after_requests", "500".into())]), 1);
    let workload = Workload::from_json(MIXED).unwrap();
    match run_workload(&mut *device, &workload, &mut LogKeeper::default()) {
        Err(RunError::Broken { failure, partial }) => {
            let said = "101 requests in a row failed, the last with errno 19; gave up";
            assert_eq!(failure.to_string(), said);
            assert_eq!(partial.requests, 500);
        }
        other => panic!("{other:?}"),
    }
}

/// A drive that reads in a microsecond and never ends a write.
struct Stalled {
    now: Nanos,
    reads: Vec<Completion>,
    writes: usize,
}

impl Device for Stalled {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: 1 << 20,
            logical_block_bytes: 512,
            clock: ClockKind::Virtual,
            writable: true,
            discard: false,
            attribution: false,
            snapshot: false,
            caches: Caches::ABSENT,
        }
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, submitted: Nanos, request: Request) -> Result<(), DeviceError> {
        if request.op == Op::Write {
            self.writes += 1;
            return Ok(());
        }
        self.reads.push(Completion {
            id: request.id,
            submitted,
            completed: submitted + Nanos(1000),
            outcome: Outcome::Done,
            attribution: Attribution::ZERO,
        });
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.reads.first().map(|read| read.completed)
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        match self.next_event() {
            Some(at) if at <= to => {
                self.now = at;
                completions.push(self.reads.remove(0));
            }
            None if to == Nanos::MAX => return Err(DeviceError::Stuck("nothing moves".into())),
            _ => self.now = to,
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.reads.len() + self.writes
    }
}

#[test]
fn a_drive_without_progress_says_so_although_others_ask() {
    let text = "disturbance.foreign_iops = 1000\n";
    let path = format!("{}/../../{}", env!("CARGO_MANIFEST_DIR"), DRIVES[2]);
    let text = text.to_owned() + &std::fs::read_to_string(path).unwrap();
    let config = DriveConfig::parse(&text, "drive.toml", &[]).unwrap().disturbance;
    let stalled = Stalled { now: Nanos(0), reads: Vec::new(), writes: 0 };
    let mut device = Disturbed::new(Box::new(stalled), &config, 1);
    let mut done = Vec::new();
    device.submit(Nanos(0), Request::read(7, Lba(0), Sectors(8))).unwrap();
    device.advance(Nanos::MAX, &mut done).unwrap();
    assert_eq!((done[0].id, done[0].completed), (7, Nanos(1000)), "reads go on");
    device.submit(device.now(), Request::write(8, Lba(0), Sectors(8))).unwrap();
    let error = device.advance(Nanos::MAX, &mut done).unwrap_err();
    assert_eq!(error.to_string(), "nothing moves");
}

#[test]
fn a_cache_can_be_switched_while_others_ask() {
    let sets = sets(&[("foreign_iops", "20000".into()), ("foreign_write_ratio", "0.2".into())]);
    let mut device = open(DRIVES[3], &sets, 1);
    let mut host = Host::new(1);
    host.play(&mut *device, 60);
    while device.in_flight() > 0 {
        host.wait(&mut *device, Nanos::MAX);
    }
    for on in [false, true] {
        device.set_write_cache(on).unwrap();
        assert_eq!(device.info().caches.write.on, on);
        host.play(&mut *device, 60);
        while device.in_flight() > 0 {
            host.wait(&mut *device, Nanos::MAX);
        }
    }
}

#[test]
fn disturbed_drives_can_be_members_of_an_array() {
    let sets = sets(&[
        ("foreign_iops", "3000".into()),
        ("noise_sigma", "0.1".into()),
        ("spike_ratio", "0.02".into()),
    ]);
    let run = || {
        let members = [1, 2].map(|seed| open(DRIVES[2], &sets, seed)).into();
        let mut array = Raid0::new(members, 65_536).unwrap();
        log(&mut array, r#"{"rw": "randrw", "block_bytes": 131072, "iodepth": 4, "requests": 500}"#)
    };
    let first = run();
    assert_eq!(first, run());
    assert!(first.error.iter().all(|&errno| errno == 0));
    assert_eq!(first.len(), 500);
}
