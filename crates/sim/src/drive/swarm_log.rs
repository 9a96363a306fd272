//! Swarm tests of log-block drives: as [`swarm`](super::swarm), with their own books.

use super::LogBlockDrive;
use super::swarm::{Run, check_served, draw_array, draw_caches, draw_link, draw_map, run};
use super::swarm_units::{Hardware, draw_units};
use crate::config::{DriveConfig, Firmware, State};
use crate::ftl::Translation;
use crate::geometry::Ppn;
use crate::logblock::LogBlockFtl;
use crate::logblock::units::{Role, UnitId};
use ssdscope_io::rng::Stream;
use ssdscope_io::{Device, Nanos, Op};
use std::fmt::Write as _;

/// A drive file drawn from `random`.
pub(super) fn draw_drive(random: &mut Stream, endurance: u64) -> String {
    let read_first = random.below(3) > 0;
    let [nand, scheduler] = draw_array(random, read_first);
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let (channels, planes) = (pick(&[1, 2, 3]), pick(&[1, 2]));
    let (pages, page_bytes) = (pick(&[4, 8, 15]), pick(&[1024, 2048, 4096, 6144]));
    let shape =
        Hardware { channels, planes: channels * planes, pages_per_block: pages, page_bytes };
    // A block, the blocks of the same place on all channels, or on all planes.
    let merged = pick(&[1, channels, channels * planes]);
    let (units, unit_width) = match pick(&[0, 1]) {
        0 => (String::new(), 1),
        _ => draw_units(random, shape),
    };
    let width = if unit_width > merged { unit_width } else { merged };
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let spare = pick(&[100, 200]);
    let bad = if spare == 100 { 0.0 } else { pick(&[0, 2]) as f64 / 100.0 };
    let (blocks, logs) = (pick(&[20, 24, 33]), pick(&[2, 3, 8]));
    let unit_bytes = width * pages * page_bytes;
    // Two zones, the spare blocks of each enough for its own log blocks.
    let exported = channels * planes / width * blocks * 100 / (100 + spare);
    let map = match (logs, random.below(2)) {
        (2 | 3, 0) => format!(
            "[map]\nkind = \"zones\"\nzone_bytes = {}\nload_ns = 40000\nprivate_pools = true\n",
            exported.div_ceil(2) * unit_bytes
        ),
        _ => draw_map(random, unit_bytes),
    };
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let mut text = String::new();
    let _ = write!(
        text,
        "over_provisioning_ratio = {}\n[nand]\nchannels = {channels}\nways = 1\ndies = 1\n\
         planes = {planes}\nblocks_per_plane = {blocks}\npages_per_block = {pages}\n\
         page_bytes = {page_bytes}\nread_ns = 50000\nprogram_ns = 200000\nerase_ns = 1500000\n\
         bad_block_ratio = {bad}\nendurance_erases = {endurance}\n{nand}\
         [channel]\nns_per_byte = {}\n[host]\n{}queue_depth = {}\n\
         firmware_ns = {}\n\
         [ftl]\nkind = \"log-block\"\nmerge_unit_bytes = {unit_bytes}\nlog_blocks = {logs}\n\
         log_association = \"{}\"\nlog_victim = \"{}\"\nplane_order = \"{}\"\n{units}\
         [gc]\nbackground = {}\nidle_ns = 3000000\n\
         [scheduler]\nread_first = {read_first}\nhost_first = {}\nmulti_plane = {}\n{scheduler}",
        spare as f64 / 100.0,
        pick(&[3, 25]),
        draw_link(&mut pick),
        pick(&[1, 4, 32]),
        pick(&[0, 700]),
        ["one-to-one", "many-to-one"][pick(&[0, 1]) as usize],
        ["lru", "fifo"][pick(&[0, 1]) as usize],
        ["CWDP", "PDWC"][pick(&[0, 1]) as usize],
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
        pick(&[0, 1]) == 1,
    );
    text + &map + &draw_caches(random, page_bytes)
}

fn open(text: &str, state: State) -> LogBlockDrive {
    let config = DriveConfig::parse(text, "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
    match config.firmware {
        Firmware::LogBlock(log) => LogBlockDrive::new(&log, state, 1).unwrap(),
        _ => panic!("no log blocks"),
    }
}

/// Checks the books of every unit of a drive at rest.
fn check_units(ftl: &LogBlockFtl) {
    let units = ftl.units();
    let mut used = vec![0_u32; units.count() as usize];
    for page in (0..ftl.geometry().page_count).map(Ppn) {
        let (unit, slot) = units.place_of(page);
        assert_eq!(units.page(unit, slot), page);
        let holds = ftl.holds(page);
        used[unit.0 as usize] += u32::from(holds.is_some());
        if let Some(logical) = holds {
            assert!(slot < units.next(unit), "{page:?}");
            // A page in a data block is at its own place.
            assert!(units.role(unit) == Role::Log || logical.0 % units.pages() == slot);
        }
    }
    let mut roles = [0; 4];
    for unit in (0..units.count()).map(UnitId) {
        assert_eq!(units.valid(unit), used[unit.0 as usize], "{unit:?}");
        roles[units.role(unit) as usize] += 1;
    }
    let [free, data, logs, retired] = roles;
    let pools = units.division().pools();
    assert_eq!(free, (0..pools).map(|pool| units.free_count(pool)).sum::<usize>());
    assert_eq!((data, logs), (ftl.data_blocks(), ftl.logs_in_use()), "every unit has its use");
    assert_eq!(retired, units.retired_count() as usize);
    let least = (0..pools).map(|pool| units.free_count(pool)).min();
    assert!(least > Some(0) || ftl.is_exhausted(), "one is left to merge into");
}

#[test]
fn random_log_block_drives_keep_every_page_and_every_nanosecond() {
    let first_seed = std::env::var("SSDSCOPE_SWARM_SEED").ok().map(|seed| seed.parse().unwrap());
    let seeds = first_seed.map_or(0..60, |seed: u64| seed..seed + 1);
    let (mut switch, mut partial, mut full, mut worn_out) = (0, 0, 0, 0);
    for seed in seeds {
        println!("SSDSCOPE_SWARM_SEED={seed}");
        let mut random = Stream::new(seed, "swarm.log");
        let endurance = [6, 40, 3000, 3000][random.below(4) as usize];
        let text = draw_drive(&mut random, endurance);
        let states = [State::Fresh, State::Sequential, State::Random];
        // A drive that will not live long is not aged beforehand.
        let state = states[if endurance < 3000 { 0 } else { random.below(3) as usize }];
        let mut run = run(open(&text, state), &mut random, 1500);
        check_served(&run, 1500);
        let counters = run.drive.counters().unwrap();
        let drive = &run.drive;
        assert!(drive.flash.is_idle() && drive.work.is_idle(), "work is left over");
        drive.shadow.check_at_rest(&drive.ftl);
        check_units(&drive.ftl);
        let written = run.pages_asked(Op::Write, drive.ftl.geometry().sectors_per_page);
        let programmed = counters.flash_pages_programmed;
        let members = u64::from(drive.ftl.layout().shape().pages);
        worn_out += u32::from(counters.read_only);
        if drive.buffer.is_none() && !counters.read_only {
            assert_eq!(programmed, written + counters.gc_pages_moved / members);
        }
        switch += counters.merges.switch;
        partial += counters.merges.partial;
        full += counters.merges.full;
    }
    println!("{switch} switch, {partial} partial, {full} full merges, {worn_out} worn out");
    assert!(first_seed.is_some() || worn_out > 5);
}

#[test]
fn a_fork_of_a_log_block_drive_goes_on_exactly_like_its_original() {
    for seed in 0..10 {
        let mut random = Stream::new(seed, "fork.log");
        let text = draw_drive(&mut random, 3000);
        let mut drive = open(&text, State::Random);
        let saved = drive.snapshot().unwrap();
        let (mut other, mut again) = (random.clone(), random.clone());
        let mut left = run(drive.clone(), &mut random, 300);
        let mut right = run(drive.clone(), &mut other, 300);
        assert_eq!(left.completions, right.completions, "seed {seed}");
        assert_eq!(left.drive.counters(), right.drive.counters());
        drive.advance(Nanos(5), &mut Vec::new()).unwrap();
        drive.restore(&saved).unwrap();
        let Run { completions, .. } = run(drive, &mut again, 300);
        assert_eq!(left.completions, completions, "seed {seed}");
    }
}
