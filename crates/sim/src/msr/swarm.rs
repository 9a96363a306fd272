//! Small drives and workloads drawn at random, every table checked against the others.
//!
//! The owners of pages are what stands in the flash: written once per program and
//! never looked at when a host's page is found. So a page whose owner is not who the
//! map says, or two pages with one owner, is data lost.

use super::element::{BlockState, Element};
use super::geometry::Lpn;
use super::{MsrDrive, MsrParams, Policy};
use ssdscope_io::rng::Stream;
use ssdscope_io::{Completion, Device, DeviceError, Lba, Nanos, Request, SECTOR_BYTES, Sectors};

/// A drive small enough to look at, with the sample's times.
pub(super) fn small() -> MsrParams {
    MsrParams {
        elements: 2,
        planes: 3,
        blocks_per_plane: 40,
        pages_per_block: 16,
        page_bytes: 4096,
        reserve_blocks: 10,
        low_water_blocks: 3,
        policy: Policy::Greedy,
        background: true,
        parallel_units: 1,
        read_ns: 25_000,
        program_ns: 200_000,
        erase_ns: 1_500_000,
        transfer_ps_per_byte: 25_000,
        link_ps_per_sector: 238_400,
        endurance_erases: 100_000,
    }
}

fn draw(random: &mut Stream) -> MsrParams {
    let pick = |random: &mut Stream, from: &[u32]| from[random.below(from.len() as u64) as usize];
    let parallel_units = pick(random, &[1, 1, 1, 2, 4]);
    let blocks_per_plane = 6 + random.below(80) as u32;
    let reserve_blocks = 2 + random.below(u64::from(blocks_per_plane) / 2) as u32;
    let background = random.below(2) == 0;
    let policy = if random.below(2) == 0 { Policy::Greedy } else { Policy::WearAware };
    MsrParams {
        elements: 1 + random.below(4) as u32,
        planes: parallel_units * (1 + random.below(3) as u32),
        blocks_per_plane,
        pages_per_block: pick(random, &[2, 3, 7, 16, 64, 65, 130]),
        page_bytes: pick(random, &[512, 1024, 4096, 8192]),
        reserve_blocks,
        low_water_blocks: random.below(u64::from(reserve_blocks)) as u32,
        policy,
        background,
        parallel_units,
        read_ns: random.below(100_000),
        program_ns: random.below(400_000),
        erase_ns: random.below(3_000_000),
        transfer_ps_per_byte: random.below(50_000),
        link_ps_per_sector: random.below(2_000_000),
        endurance_erases: pick(random, &[5, 50, 100_000]),
    }
}

/// Every claim that the tables of an element make about each other.
fn audit(element: &Element) {
    let shape = element.shape;
    let mut owned = vec![0_u32; shape.blocks() as usize];
    for lpn in (0..shape.logical_pages()).map(Lpn) {
        let home = element.locate(lpn);
        let (block, page) = shape.split(home);
        assert_eq!(element.owner(home), lpn, "the page at {home:?} is another's");
        assert!(page < shape.data_pages());
        assert!(
            element.valid_bits(block, page / 64) >> (page % 64) & 1 == 1,
            "{home:?} is invalid"
        );
        owned[block.at()] += 1;
    }
    let mut erasures = vec![0; element.histogram.len()];
    for (number, plane) in (0..).zip(&element.planes) {
        let (mut free, mut erased, mut cheapest) = (0, 0, None);
        for index in 0..shape.blocks_per_plane {
            let id = shape.block(number, index);
            let block = element.blocks.get(id.at());
            assert_eq!(u32::from(block.valid), owned[id.at()], "valid pages of {id:?}");
            erasures[block.erases as usize] += 1;
            erased += u64::from(block.erases);
            assert!(block.erases <= element.endurance);
            free += u32::from(block.state == BlockState::Free);
            assert!(block.state != BlockState::Free || (block.valid == 0 && block.bsn == 0));
            if block.state == BlockState::Full && block.erases < element.endurance {
                // Fewest valid pages; of equals the highest number.
                if cheapest.is_none_or(|(least, _)| block.valid <= least) {
                    cheapest = Some((block.valid, index));
                }
            }
        }
        assert_eq!((plane.free_blocks, plane.erasures), (free, erased), "plane {number}");
        let claimed = plane.cheapest().map(|block| (block.valid as u16, block.index));
        assert_eq!(claimed, cheapest, "the block to clean in plane {number}");
    }
    assert_eq!(element.histogram, erasures);
    let low = element.planes.iter().filter(|plane| plane.free_blocks <= element.low_water).count();
    assert_eq!(element.low_planes as usize, low);
    let erased: u64 = element.planes.iter().map(|plane| plane.erasures).sum();
    assert_eq!(element.work.erases, erased);
}

fn request(random: &mut Stream, params: &MsrParams, id: u64) -> Request {
    let page_sectors = u64::from(params.page_bytes) / SECTOR_BYTES;
    let all = params.capacity_bytes() / u64::from(params.page_bytes);
    // Most of it in the lower fifth, so that some blocks wear more than others.
    let span = if random.below(4) > 0 { all.div_ceil(5) } else { all };
    let pages = 1 + random.below(span.min(40));
    let first = random.below(span - pages + 1);
    let make = if random.below(4) == 0 { Request::read } else { Request::write };
    make(id, Lba(first * page_sectors), Sectors(pages * page_sectors))
}

/// Runs requests at a random depth with random pauses; whether the drive got stuck.
fn run(drive: &mut MsrDrive, random: &mut Stream, count: u64) -> (Vec<Completion>, bool) {
    let params = *drive.params();
    let depth = 1 + random.below(6) as usize;
    let (mut done, mut id) = (Vec::new(), 0);
    while done.len() < count as usize {
        while drive.in_flight() < depth && id < count {
            let at = Nanos(drive.now().0 + random.below(3) * random.below(2_000_000));
            drive.submit(at, request(random, &params, id)).unwrap();
            id += 1;
        }
        match drive.advance(Nanos::MAX, &mut done) {
            Ok(()) => {}
            Err(DeviceError::Stuck(_)) => return (done, true),
            Err(other) => panic!("{other}"),
        }
    }
    (done, false)
}

#[test]
fn tables_agree_on_drives_drawn_at_random() {
    let (mut stuck_drives, mut cleaned, mut migrated) = (0, 0, 0);
    for seed in 0..150 {
        let mut random = Stream::new(seed, "msr.swarm");
        let params = draw(&mut random);
        println!("seed {seed}: {params:?}");
        let mut drive = MsrDrive::new(params, seed).unwrap();
        drive.servers.iter().for_each(|server| audit(&server.element));
        let (done, stuck) = run(&mut drive, &mut random, 400);
        for one in &done {
            assert_eq!(one.attribution.total(), one.latency(), "{one:?}");
        }
        stuck_drives += u32::from(stuck);
        if !stuck {
            drive.servers.iter().for_each(|server| audit(&server.element));
            assert_eq!(drive.in_flight(), 0);
        }
        let counters = drive.counters().unwrap();
        cleaned += counters.gc_runs;
        migrated += counters.wear_pages_moved;
    }
    println!("{stuck_drives} of 150 got stuck, {cleaned} cleanings, {migrated} pages migrated");
    assert!(stuck_drives < 75 && cleaned > 10_000 && migrated > 100);
}

#[test]
fn forks_go_on_alike_and_apart() {
    for seed in 0..20 {
        let mut random = Stream::new(seed, "msr.forks");
        let params = draw(&mut random);
        let mut drive = MsrDrive::new(params, seed).unwrap();
        if run(&mut drive, &mut random, 50).1 {
            continue;
        }
        let kept = drive.snapshot().unwrap();
        let mut fork = drive.clone();
        let ours = run(&mut drive, &mut random.clone(), 100);
        assert_eq!(run(&mut fork, &mut random.clone(), 100), ours, "seed {seed}");
        run(&mut drive, &mut random.clone(), 30);
        drive.restore(&kept).unwrap();
        assert_eq!(run(&mut drive, &mut random.clone(), 100), ours, "seed {seed}");
    }
}

#[test]
fn preparing_places_pages_as_a_run_does_but_leaves_no_trace() {
    let params = small();
    let pages = params.capacity_bytes() / 4096;
    let mut prepared = MsrDrive::new(MsrParams { endurance_erases: 50, ..params }, 1).unwrap();
    let mut run = MsrDrive::new(params, 1).unwrap();
    let mut random = Stream::new(1, "msr.prepare");
    let mut done = Vec::new();
    for id in 0..100 * pages {
        let page = random.below(pages);
        prepared.write_untimed(page).unwrap();
        run.submit(run.now(), Request::write(id, Lba(page * 8), Sectors(8))).unwrap();
        run.advance(Nanos::MAX, &mut done).unwrap();
        done.clear();
    }
    // More erasures than a life of 50 would allow, and none of them counted.
    assert!(run.counters().unwrap().block_erases > 60 * 2 * 3 * 40);
    assert_eq!(prepared.counters().unwrap(), MsrDrive::new(params, 1).unwrap().counters().unwrap());
    assert_eq!(prepared.now(), Nanos(0));
    for (prepared, run) in prepared.servers.iter().zip(&run.servers) {
        audit(&prepared.element);
        for lpn in (0..prepared.element.shape.logical_pages()).map(Lpn) {
            assert_eq!(prepared.element.locate(lpn), run.element.locate(lpn));
        }
    }
    assert!(matches!(prepared.write_untimed(pages), Err(DeviceError::OutOfRange { .. })));
}
