//! Random disks under random requests: every request is served once, every nanosecond is
//! told, and a fork goes on like its original. A failure prints the seed that repeats it.

use super::device::HardDisk;
use crate::config::{DriveConfig, Firmware, State};
use ssdscope_io::rng::Stream;
use ssdscope_io::{Attribution, Completion, Device, Lba, Nanos, Op, Request, Sectors};

/// A disk drawn from `random`.
fn draw(random: &mut Stream, seed: u64) -> HardDisk {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let segments = pick(&[1, 3, 16]);
    let segment_bytes = pick(&[0, 512, 7 * 512, 65_536]);
    let text = format!(
        "[disk]\nrpm = {}\nsurfaces = {}\ncylinders = {}\nzones = {}\n\
         outer_sectors_per_track = {}\ninner_sectors_per_track = {}\n\
         seek_track_ns = {}\nseek_average_ns = 4000000\nseek_full_ns = 9000000\n\
         head_switch_ns = {}\nwrite_settle_ns = {}\nqueue_order = \"{}\"\n\
         read_cache_bytes = {}\nread_cache_segments = {segments}\nread_ahead_bytes = {}\n\
         write_cache_bytes = {}\n\
         [host]\ninterface = \"{}\"\nbytes_per_second = {}\ncommand_ns = {}\nqueue_depth = {}\n\
         firmware_ns = {}\n",
        pick(&[5400, 7200, 7201, 15_000]),
        pick(&[1, 2, 5]),
        pick(&[16, 40, 333]),
        pick(&[1, 3, 16]),
        pick(&[61, 100, 777]),
        pick(&[8, 37, 61]),
        pick(&[0, 1_000_000]),
        pick(&[0, 600_000, 2_000_000]),
        pick(&[0, 300_000]),
        ["position", "arrival"][pick(&[0, 1]) as usize],
        segments * segment_bytes,
        segment_bytes / pick(&[1, 2]),
        pick(&[0, 512, 20 * 512, 65_536, 1 << 20]),
        ["simple", "nvme", "sata"][pick(&[0, 1, 2]) as usize],
        pick(&[50_000_000, 300_000_000, 1_000_000_000_000_000]),
        pick(&[0, 20_000]),
        pick(&[1, 4, 32]),
        pick(&[0, 100_000]),
    );
    let config = DriveConfig::parse(&text, "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
    match config.firmware {
        Firmware::Disk(disk) => HardDisk::open(&disk, State::Fresh, seed).unwrap(),
        _ => panic!("not a disk"),
    }
}

/// Keeps random requests in flight until `count` were served.
fn run(disk: &mut HardDisk, random: &mut Stream, count: u64) -> Vec<Completion> {
    let depth = 1 + random.below(40) as usize;
    let capacity = disk.info().capacity_bytes / 512;
    let window = capacity / [1, 1, 4][random.below(3) as usize];
    let writes_in_ten = [0, 3, 7, 9][random.below(4) as usize];
    let runs = random.below(2) == 0;
    let (mut completions, mut next, mut behind) = (Vec::new(), 0, 0);
    while completions.len() < count as usize {
        while disk.in_flight() < depth && next < count {
            let op = match random.below(10) {
                draw if draw < writes_in_ten => Op::Write,
                9 if random.below(5) == 0 => Op::Flush,
                _ => Op::Read,
            };
            let sectors = 1 + random.below(40.min(window));
            let follow = runs && random.below(4) > 0 && behind + sectors <= window;
            let lba = if follow { behind } else { random.below(window - sectors + 1) };
            behind = lba + sectors;
            let fua = op == Op::Write && random.below(8) == 0;
            let sectors = Sectors(if op == Op::Flush { 0 } else { sectors });
            let request = Request { fua, ..Request::new(next, op, Lba(lba), sectors) };
            disk.submit(disk.now(), request).unwrap();
            next += 1;
        }
        disk.advance(Nanos::MAX, &mut completions).unwrap();
        if random.below(20) == 0 {
            let to = disk.now() + Nanos(random.below(50_000_000));
            disk.advance(to, &mut completions).unwrap();
        }
    }
    completions
}

#[test]
fn random_disks_serve_every_request_and_tell_every_nanosecond() {
    let first_seed = std::env::var("SSDSCOPE_SWARM_SEED").ok().map(|seed| seed.parse().unwrap());
    let seeds = first_seed.map_or(0..150, |seed: u64| seed..seed + 1);
    for seed in seeds {
        println!("SSDSCOPE_SWARM_SEED={seed}");
        let mut random = Stream::new(seed, "swarm");
        let mut disk = draw(&mut random, seed);
        let completions = run(&mut disk, &mut random, 800);
        let mut ids: Vec<u64> = completions.iter().map(|completion| completion.id).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..800), "every request is served once");
        let in_order = completions.is_sorted_by_key(|completion| completion.completed);
        assert!(in_order, "completions come in order");
        for completion in &completions {
            assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
        }
        // At rest everything that was written is on the medium, and nothing is left to do.
        disk.advance(disk.now() + Nanos(600_000_000_000), &mut Vec::new()).unwrap();
        assert!(disk.dirty.is_clean() && disk.work.is_none() && disk.ahead.is_none());
        assert!(disk.waiting.is_empty() && disk.no_room.is_empty() && disk.flush.is_none());
        assert_eq!(
            (disk.in_flight(), disk.front.requests.in_use(), disk.next_event()),
            (0, 0, None)
        );
    }
}

#[test]
fn a_fork_goes_on_exactly_like_its_original_and_a_snapshot_comes_back() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, "fork");
        let mut disk = draw(&mut random, seed);
        run(&mut disk, &mut random, 100);
        let saved = disk.snapshot().unwrap();
        let mut fork = disk.clone();
        let left = run(&mut disk, &mut random.clone(), 200);
        let right = run(&mut fork, &mut random.clone(), 200);
        assert_eq!(left, right, "seed {seed}");
        disk.restore(&saved).unwrap();
        assert_eq!(run(&mut disk, &mut random.clone(), 200), left, "seed {seed}");
        let mut stranger = draw(&mut Stream::new(seed, "fork"), seed);
        assert!(stranger.restore(&saved).is_err());
    }
}

/// FNV-1a over everything that the host saw.
fn digest(completions: &[Completion]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut feed = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for Completion { id, submitted, completed, attribution, .. } in completions {
        [*id, submitted.0, completed.0].into_iter().for_each(&mut feed);
        let parts: &[u64; 14] = Attribution::parts_ns(attribution);
        parts.iter().for_each(|&part| feed(part));
    }
    hash
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_every_machine() {
    let mut all = Vec::new();
    for seed in 0..10 {
        let mut random = Stream::new(seed, "digest");
        let mut disk = draw(&mut random, seed);
        all.extend(run(&mut disk, &mut random, 300));
    }
    // Changes with every change of the rules, and then on purpose.
    assert_eq!(digest(&all), 0x87fe_7da2_c0f5_1ebb, "{:#x}", digest(&all));
}
