//! Swarm tests: small drives and workloads drawn at random, each with some features
//! switched off, checked against the [`shadow`](super::shadow) and against what a
//! host must see. A failure prints the seed that repeats it.

use super::shadow::check_blocks;
use super::swarm_units::{Hardware, draw_lay, with_region};
use super::{Drive, PageDrive, Scheme};
use crate::config::{DriveConfig, Firmware, State};
use crate::error::SimError;
use ssdscope_io::rng::Stream;
use ssdscope_io::{
    Cache, CacheControl, Completion, Device, Lba, Nanos, Op, Outcome, Priority, Queue, Request,
    Sectors,
};
use std::fmt::Write as _;

/// Sectors of the largest request.
const LARGEST_REQUEST: u64 = 40;

/// More of the tables `[nand]` and `[scheduler]`, as any drive with an array may have it.
/// What is drawn of `[scheduler]` elsewhere comes first: whether reads do.
pub(super) fn draw_array(random: &mut Stream, reads_first: bool) -> [String; 2] {
    const SUSPEND: &[&str] = &["\"none\"", "\"erase\"", "\"program-and-erase\""];
    let mut pick = |values: &[&'static str]| values[random.below(values.len() as u64) as usize];
    let nand = format!(
        "read_by_type_ns = {}\nprogram_by_type_ns = {}\n",
        pick(&["[]", "[40000]", "[40000, 60001, 90000]"]),
        pick(&["[]", "[250000, 900001]"]),
    );
    let scheduler = format!(
        "multi_plane_erase = {}\nway_interleave = {}\ncached_read = {}\ncached_program = {}\n\
         suspend = {}\nsuspend_ns = {}\nresume_ns = {}\nsuspend_reads = {}\n",
        pick(&["true", "false"]),
        pick(&["true", "true", "false"]),
        pick(&["true", "false"]),
        pick(&["true", "false"]),
        if reads_first { pick(SUSPEND) } else { SUSPEND[0] },
        pick(&["0", "30000", "500000"]),
        pick(&["0", "20001"]),
        pick(&["1", "2", "16"]),
    );
    [nand, scheduler]
}

/// The tables of the caches drawn from `random`, a third of the time none of the one, or of
/// the other.
pub(super) fn draw_caches(random: &mut Stream, page_bytes: u64) -> String {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let unit_bytes = pick(&[512, 1536, 4096, 6144, page_bytes, 2 * page_bytes]);
    let cached = pick(&[0, 4, 50]);
    let units = pick(&[0, 0, 1, 3, 20, 60]) * page_bytes.div_ceil(unit_bytes);
    format!(
        "[write_buffer]\nbytes = {}\nunit_bytes = {unit_bytes}\ndrain = \"{}\"\norder = \"{}\"\n\
         high_water_ratio = {}\nidle_ns = {}\nconcurrent_drains = {}\nns_per_byte = {}\n\
         power_loss_protected = {}\n[read_cache]\nbytes = {}\nunit_bytes = {unit_bytes}\n\
         read_ahead_bytes = {}\nns_per_byte = {}\n",
        units * unit_bytes,
        ["eager", "high-water", "full", "idle"][pick(&[0, 1, 2, 3]) as usize],
        ["sequential-runs", "fifo", "lru"][pick(&[0, 1, 2]) as usize],
        pick(&[0, 5, 9]) as f64 / 10.0,
        pick(&[0, 100_000]),
        pick(&[1, 2, 50]),
        pick(&[0, 1, 7]),
        pick(&[0, 0, 1]) == 1,
        cached * unit_bytes,
        pick(&[0, cached / 2, cached]) * unit_bytes,
        pick(&[0, 3]),
    )
}

/// A link, one of each kind.
pub(super) fn draw_link(pick: &mut impl FnMut(&[u64]) -> u64) -> String {
    match pick(&[0, 1, 2, 3]) {
        0 => "interface = \"simple\"\n".to_owned(),
        1 => format!("interface = \"sata\"\nncq = {}\n", pick(&[0, 1]) == 1),
        2 => "interface = \"nvme\"\n".to_owned(),
        _ => format!(
            "interface = \"nvme\"\nqueues = {}\nfetch_size = {}\narbitration = \"{}\"\n",
            pick(&[2, 3, 8]),
            pick(&[0, 1, 5]),
            ["round-robin", "priority"][pick(&[0, 1]) as usize],
        ),
    }
}

/// Collection, wear and the head of the scheduler's table, which its own keys go on with.
fn draw_upkeep(random: &mut Stream, stop: u64, read_first: bool, suspends: bool) -> String {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let exclusive = !suspends && pick(&[0, 1]) == 1;
    format!(
        "[gc]\npolicy = \"{}\"\nstop_writes_blocks = {stop}\nmin_free_blocks = {}\n\
         max_victims = {}\nbackground = {}\ncopyback = {}\nidle_ns = 3000000\nhigh_water_ratio = 0.3\n\
         preemptible = {}\nurgent_blocks = {stop}\nexclusive = {exclusive}\nskip_every = {}\n\
         [wear]\ndynamic = {}\nstatic_spread_erases = {}\n\
         [scheduler]\nread_first = {read_first}\nhost_first = {}\nmulti_plane = {}\ndie_interleave = {}\n",
        ["greedy", "wear-aware", "cost-benefit", "fifo", "random", "d-choices"]
            [pick(&[0, 1, 2, 3, 4, 5]) as usize],
        (stop + pick(&[1, 2])).max(2),
        pick(&[1, 2, 5]),
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
        pick(&[0, 0, 2, 5]),
        pick(&[0, 1]) == 1,
        pick(&[0, 1, 5]),
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
    )
}

/// A drive file drawn from `random`.
fn draw_drive(random: &mut Stream, endurance: &[u64]) -> String {
    let read_first = random.below(3) > 0;
    let [nand, scheduler] = draw_array(random, read_first);
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let mut text = String::new();
    let page_bytes = pick(&[512, 2048, 4096, 6144, 16_384]);
    let stop = pick(&[1, 2, 3]);
    // Half as many blocks more than are exported leave none to be bad.
    let spare = pick(&[50, 100, 200]);
    let bad = if spare == 50 { 0.0 } else { pick(&[0, 2]) as f64 / 100.0 };
    let (channels, ways) = (pick(&[1, 2, 3]), pick(&[1, 2]));
    let (dies, planes) = (pick(&[1, 2]), pick(&[1, 2, 4]));
    let pages_per_block = pick(&[4, 8, 15]);
    let planes_in_all = channels * ways * dies * planes;
    let shape = Hardware { channels, planes: planes_in_all, pages_per_block, page_bytes };
    let _ = write!(
        text,
        "over_provisioning_ratio = {}\n[nand]\nchannels = {channels}\nways = {ways}\n\
         dies = {dies}\nplanes = {planes}\nblocks_per_plane = {}\n\
         pages_per_block = {pages_per_block}\npage_bytes = {page_bytes}\n\
         read_ns = 50000\nprogram_ns = {}\nerase_ns = 1500000\nendurance_erases = {}\n\
         bad_block_ratio = {bad}\n{nand}",
        spare as f64 / 100.0,
        pick(&[20, 24, 33]),
        pick(&[200_000, 700_000]),
        pick(endurance),
    );
    let _ = write!(
        text,
        "[channel]\nns_per_byte = {}\nread_command_ns = {}\nprogram_command_ns = 300\n\
         [host]\n{}queue_depth = {}\nfirmware_ns = {}\n\
         [ftl]\nkind = \"page\"\nallocation = \"{}\"\nplane_order = \"{}\"\n",
        pick(&[3, 25]),
        pick(&[0, 290]),
        draw_link(&mut pick),
        pick(&[1, 4, 32]),
        pick(&[0, 700]),
        ["address", "order"][pick(&[0, 1]) as usize],
        ["CWDP", "PDWC", "WPCD"][pick(&[0, 1, 2]) as usize],
    );
    text.push_str(&draw_lay(random, shape));
    text += &draw_upkeep(random, stop, read_first, !scheduler.contains("suspend = \"none\""));
    text += &scheduler;
    text += &draw_page_map(random, page_bytes);
    text += &draw_caches(random, page_bytes);
    with_region(random, text)
}

/// A table `[map]` drawn from `random`; zones are multiples of `step_bytes`.
pub(super) fn draw_map(random: &mut Stream, step_bytes: u64) -> String {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    format!(
        "[map]\nkind = \"{}\"\nzone_bytes = {}\nresident_zones = {}\nload_ns = {}\n\
         write_back_ns = {}\n",
        ["ram", "zones"][pick(&[0, 1]) as usize],
        step_bytes * pick(&[1, 2, 3]),
        pick(&[1, 2, 9]),
        pick(&[0, 40_000, 900_000]),
        pick(&[0, 300_000]),
    )
}

/// A table `[map]` of a page-mapped drive.
fn draw_page_map(random: &mut Stream, page_bytes: u64) -> String {
    if random.below(2) == 0 {
        let read_places = random.below(2) == 1;
        return draw_map(random, page_bytes * 4) + &format!("read_places = {read_places}\n");
    }
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    format!(
        "[map]\nkind = \"demand\"\ncache_bytes = {}\ncached_entry_bytes = 10\nentry_bytes = {}\n\
         load_bytes = {}\nread_places = {}\nprogram_map = {}\n",
        pick(&[10, 30, 100, 1_000_000]),
        pick(&[4, 8, 16]),
        pick(&[512, page_bytes]),
        pick(&[0, 1]) == 1,
        pick(&[0, 1, 1]) == 1,
    )
}

fn try_open(text: &str, state: State, seed: u64) -> Result<PageDrive, SimError> {
    let config = DriveConfig::parse(text, "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
    match config.firmware {
        Firmware::Page(page) => PageDrive::new(&page, state, seed),
        _ => panic!("not page-mapped"),
    }
}

pub(super) fn open(text: &str, state: State, seed: u64) -> PageDrive {
    try_open(text, state, seed).unwrap()
}

/// A drive drawn from `random`, and its file. Few that are drawn cannot be, because too many
/// of their blocks turn out to be bad, or do not hold the largest request: others take their place.
fn draw_and_open(
    random: &mut Stream,
    endurance: &[u64],
    state: State,
    seed: u64,
) -> (String, PageDrive) {
    for _ in 0..20 {
        let text = draw_drive(random, endurance);
        match try_open(&text, state, seed) {
            Ok(drive) if drive.info().capacity_bytes >= LARGEST_REQUEST * 512 => {
                return (text, drive);
            }
            Ok(_) | Err(SimError::BadBlocks(_)) => {}
            Err(error) => panic!("{error}\n{text}"),
        }
    }
    panic!("twenty drives in a row that cannot be");
}

/// What a run of random requests saw.
pub(super) struct Run<S: Scheme> {
    pub drive: Drive<S>,
    pub completions: Vec<Completion>,
    asked: Vec<Request>,
}

impl<S: Scheme> Run<S> {
    /// Pages, whole or in part, that were asked for by `op`.
    pub fn pages_asked(&self, op: Op, sectors_per_page: u32) -> u64 {
        let per_page = u64::from(sectors_per_page);
        let asked = self.asked.iter().filter(|request| request.op == op);
        let start = |request: &Request| (request.lba + self.drive.phase).0;
        let end = |request: &Request| start(request) + request.sectors.0;
        asked.map(|request| end(request).div_ceil(per_page) - start(request) / per_page).sum()
    }
}

/// Checks that every request was served once, and that its time was accounted for.
pub(super) fn check_served<S: Scheme>(run: &Run<S>, count: u64) {
    assert_eq!(run.completions.len() as u64, count);
    let mut ids: Vec<u64> = run.completions.iter().map(|completion| completion.id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..count), "every request is served once");
    for completion in &run.completions {
        assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
        let done = completion.outcome == Outcome::Done;
        assert!(done || run.drive.is_read_only(), "only at the end of its life does it fail");
    }
    assert!(run.drive.cache.as_ref().is_none_or(|cache| cache.is_at_rest()));
    if run.drive.buffer.as_ref().is_some_and(|buffer| buffer.is_empty_after_flush()) {
        run.drive.shadow.host.check_all_stored();
    }
}

/// Switches caches on and off, where there are any. A buffer that is off is empty, except
/// on a drive that has come to its end.
fn switch_caches<S: Scheme>(drive: &mut Drive<S>, random: &mut Stream) {
    for cache in [Cache::Write, Cache::Read] {
        let on = random.below(3) > 0;
        if drive.info.caches.get(cache).control == CacheControl::Switchable {
            let switched = drive.set_cache(cache, on);
            assert!(switched.is_ok() || drive.is_read_only(), "{switched:?}");
            assert_eq!(drive.info.caches.get(cache).on, on || switched.is_err());
        }
    }
    if !drive.is_buffered() && drive.buffer.is_some() {
        drive.shadow.host.check_all_stored();
    }
}

/// Keeps up to `depth` random requests in flight until `count` were served.
pub(super) fn run<S: Scheme>(mut drive: Drive<S>, random: &mut Stream, count: u64) -> Run<S> {
    let mut asked = Vec::new();
    let depth = 1 + random.below(40) as usize;
    let capacity = drive.info().capacity_bytes / 512;
    // A window, so that some pages are rewritten often and others never.
    let window = (capacity / [1, 2, 8][random.below(3) as usize]).max(LARGEST_REQUEST);
    let writes_in_ten = [0, 3, 7, 10][random.below(4) as usize];
    let discards = random.below(2) == 0;
    let mut completions = Vec::new();
    let mut next = 0;
    while completions.len() < count as usize {
        while drive.in_flight() < depth && next < count {
            let sectors = 1 + random.below(LARGEST_REQUEST);
            let lba = Lba(random.below(window - sectors + 1));
            let op = match random.below(10) {
                draw if draw < writes_in_ten => Op::Write,
                9 if discards => Op::Discard,
                8 if random.below(5) == 0 => Op::Flush,
                _ => Op::Read,
            };
            let sectors = Sectors(if op == Op::Flush { 0 } else { sectors });
            let fua = op == Op::Write && random.below(8) == 0;
            let index = random.below(5) as u16;
            let priority = [Priority::Urgent, Priority::High, Priority::Medium, Priority::Low]
                [usize::from(index) % 4];
            let queue = Queue { index, priority };
            let request = Request { fua, queue, ..Request::new(next, op, lba, sectors) };
            drive.submit(drive.now(), request).unwrap();
            asked.push(request);
            next += 1;
        }
        drive.advance(Nanos::MAX, &mut completions).unwrap();
        if random.below(20) == 0 {
            // A pause: background collection may run, and must stop for the next request.
            let to = drive.now() + Nanos(random.below(20_000_000));
            while drive.in_flight() > 0 {
                drive.advance(Nanos::MAX, &mut completions).unwrap();
            }
            drive.advance(to.max(drive.now()), &mut completions).unwrap();
            switch_caches(&mut drive, random);
        }
    }
    if drive.reads_memory() {
        let flush = Request::new(count, Op::Flush, Lba(0), Sectors(0));
        drive.submit(drive.now(), flush).unwrap();
        drive.advance(Nanos::MAX, &mut completions).unwrap();
        assert_eq!(completions.pop().map(|last| last.id), Some(count));
    }
    // Let background work end too.
    drive.advance(drive.now() + Nanos(60_000_000_000), &mut completions).unwrap();
    Run { drive, completions, asked }
}

#[test]
fn random_drives_keep_every_page_and_every_nanosecond() {
    let first_seed = std::env::var("SSDSCOPE_SWARM_SEED").ok().map(|seed| seed.parse().unwrap());
    let seeds = first_seed.map_or(0..60, |seed: u64| seed..seed + 1);
    let (mut worn_out, mut folded) = (0, 0);
    for seed in seeds {
        println!("SSDSCOPE_SWARM_SEED={seed}");
        let mut random = Stream::new(seed, "swarm");
        let (_, drive) = draw_and_open(&mut random, &[4, 20, 3000], State::Fresh, seed);
        let count = 2500;
        let run = run(drive, &mut random, count);
        check_served(&run, count);
        let drive = &run.drive;
        assert!(drive.flash.is_idle() && drive.work.jobs.in_use() == 0, "work is left over");
        drive.shadow.check_at_rest(&drive.ftl);
        check_blocks(&drive.ftl);
        worn_out += u32::from(drive.is_read_only());
        folded += drive.tally.pslc_pages_folded;
    }
    println!("{worn_out} worn out, {folded} pages folded");
    assert!(first_seed.is_some() || (worn_out > 5 && folded > 1000));
}

#[test]
fn a_fork_goes_on_exactly_like_its_original() {
    for seed in 0..10 {
        let mut random = Stream::new(seed, "fork");
        let (_, drive) = draw_and_open(&mut random, &[20, 3000], State::Random, seed);
        let fork = drive.clone();
        let mut other = random.clone();
        let mut left = run(drive, &mut random, 300);
        let mut right = run(fork, &mut other, 300);
        assert_eq!(left.completions, right.completions, "seed {seed}");
        assert_eq!(left.drive.counters(), right.drive.counters());
    }
}

#[test]
fn a_restored_drive_repeats_itself() {
    let mut random = Stream::new(5, "restore");
    let (text, mut drive) = draw_and_open(&mut random, &[20, 3000], State::Random, 5);
    let saved = drive.snapshot().unwrap();
    let first = run(drive.clone(), &mut random.clone(), 300).completions;
    drive = run(drive, &mut random.clone(), 500).drive;
    drive.restore(&saved).unwrap();
    let again = run(drive, &mut random.clone(), 300).completions;
    assert_eq!(first, again);
    let mut stranger = open(&text, State::Random, 5);
    assert!(stranger.restore(&saved).is_err());
}
