//! Drives and workloads drawn at random, the drive against the naive one: every
//! completion at the same nanosecond.
//!
//! Times are drawn odd and large, so that two things at one instant are rare, but for
//! pages that end together; then the request that went to the elements first is first.

use super::naive::Naive;
use ssdscope_io::rng::Stream;
use ssdscope_io::{Completion, Device, DeviceError, Lba, Nanos, Request, Sectors};
use ssdscope_sim::msr::{MsrDrive, MsrParams, Policy};

fn draw(random: &mut Stream) -> MsrParams {
    let mut between = |least: u64, most: u64| least + random.below(most - least + 1);
    let blocks_per_plane = between(5, 24) as u32;
    let reserve_blocks = between(2, u64::from(blocks_per_plane) * 2 / 3) as u32;
    MsrParams {
        elements: between(1, 5) as u32,
        planes: between(1, 4) as u32,
        blocks_per_plane,
        pages_per_block: between(2, 12) as u32,
        page_bytes: 512 << between(0, 4),
        reserve_blocks,
        low_water_blocks: between(0, u64::from(reserve_blocks) / 2) as u32,
        policy: if between(0, 1) == 0 { Policy::Greedy } else { Policy::WearAware },
        background: between(0, 1) == 0,
        parallel_units: 1,
        read_ns: between(1_000, 90_000),
        program_ns: between(10_000, 900_000),
        erase_ns: between(100_000, 3_000_000),
        transfer_ps_per_byte: between(1_000, 50_000),
        link_ps_per_sector: between(1_000, 9_000_000),
        endurance_erases: between(5, 150) as u32,
    }
}

fn request(random: &mut Stream, params: &MsrParams, id: u64) -> Request {
    let page_sectors = u64::from(params.page_bytes) / 512;
    let all = params.capacity_bytes() / u64::from(params.page_bytes);
    let span = if random.below(3) > 0 { all.div_ceil(4) } else { all };
    let pages = 1 + random.below(span.min(12));
    let first = random.below(span - pages + 1);
    let make = if random.below(4) == 0 { Request::read } else { Request::write };
    make(id, Lba(first * page_sectors), Sectors(pages * page_sectors))
}

/// Feeds both the same, at `depth`; completions of ours, and whether each got stuck.
fn run_both(
    ours: &mut MsrDrive,
    naive: &mut Naive,
    random: &mut Stream,
    (depth, count): (usize, u64),
) -> (Vec<Completion>, bool, bool) {
    let params = *ours.params();
    let (mut done, mut id) = (Vec::new(), 0);
    while (done.len() as u64) < count {
        while ours.in_flight() < depth && id < count {
            let at = ours.now().0 + random.below(3) * random.below(3_000_000);
            let request = request(random, &params, id);
            ours.submit(Nanos(at), request).unwrap();
            naive.submit(at, request);
            id += 1;
        }
        let before = done.len();
        match ours.advance(Nanos::MAX, &mut done) {
            Ok(()) => {
                assert!(naive.advance(), "the naive drive is stuck, ours is not");
                assert_eq!(naive.now, ours.now().0);
                let mut same: Vec<_> =
                    done[before..].iter().map(|one| (one.id, one.completed.0)).collect();
                let mut theirs = naive.done[before..].to_vec();
                same.sort_unstable();
                theirs.sort_unstable();
                assert_eq!(same, theirs);
            }
            Err(DeviceError::Stuck(_)) => {
                while naive.advance() {}
                return (done, true, (naive.done.len() as u64) < id);
            }
            Err(other) => panic!("{other}"),
        }
    }
    (done, false, false)
}

#[test]
fn every_completion_at_the_same_nanosecond() {
    let (mut stuck_drives, mut migrated, mut waited) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Stream::new(seed, "msr.against_naive");
        let params = draw(&mut random);
        let depth = if seed % 2 == 0 { 1 } else { 2 + random.below(6) as usize };
        println!("seed {seed}, depth {depth}: {params:?}");
        let mut ours = MsrDrive::new(params, seed).unwrap();
        let mut naive = Naive::new(params, seed);
        let (done, stuck, naive_stuck) = run_both(&mut ours, &mut naive, &mut random, (depth, 600));
        assert_eq!(stuck, naive_stuck);
        if stuck && depth == 1 {
            assert_eq!(done.len(), naive.done.len(), "stuck at another request");
        }
        for one in &done {
            assert_eq!(one.attribution.total(), one.latency());
            waited += one.attribution[ssdscope_io::Cause::DieWait];
        }
        stuck_drives += u32::from(stuck);
        migrated += ours.counters().unwrap().wear_pages_moved;
    }
    println!("{stuck_drives} of 300 got stuck, {migrated} pages migrated");
    assert!((20..150).contains(&stuck_drives) && migrated > 100 && waited > 0);
}
