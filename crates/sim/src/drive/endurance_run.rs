//! A long run: ten million mixed requests at depth 256 while collection is always at work,
//! with the naive books of [`shadow`](super::shadow) kept beside. Other simulators abort
//! here, or lose requests (`MQSim` does with pre-emptible collection).

use super::shadow::check_blocks;
use super::swarm::open;
use crate::config::State;
use ssdscope_io::rng::Stream;
use ssdscope_io::{Device, Lba, Nanos, Op, Outcome, Request, Sectors};

const REQUESTS: u64 = 10_000_000;
const DEPTH: usize = 256;

const DRIVE: &str = r#"
over_provisioning_ratio = 0.5
[nand]
channels = 4
planes = 2
blocks_per_plane = 64
pages_per_block = 64
page_bytes = 4096
read_ns = 50_000
program_ns = 600_000
erase_ns = 3_000_000
[channel]
ns_per_byte = 2.5
[host]
interface = "nvme"
[ftl]
kind = "page"
[gc]
preemptible = true
"#;

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes in a debug build; make test runs it in release")]
fn ten_million_mixed_requests_under_collection_are_served() {
    let mut drive = open(DRIVE, State::Random, 1);
    let mut random = Stream::new(1, "endurance");
    let sectors = drive.info().capacity_bytes / 512;
    let mut served = vec![false; REQUESTS as usize];
    let (mut asked, mut answered, mut written) = (0_u64, 0_u64, 0_u64);
    let mut completions = Vec::new();
    while answered < REQUESTS {
        while drive.in_flight() < DEPTH && asked < REQUESTS {
            let op = if random.below(2) == 0 { Op::Read } else { Op::Write };
            // Whole pages; of every eighth request a part, read and written back.
            let length = if random.below(8) == 0 { 3 } else { 8 };
            let lba = Lba(8 * random.below(sectors / 8));
            written += u64::from(op == Op::Write);
            let request = Request::new(asked, op, lba, Sectors(length));
            drive.submit(drive.now(), request).unwrap();
            asked += 1;
        }
        drive.advance(Nanos::MAX, &mut completions).unwrap();
        for completion in completions.drain(..) {
            let before = std::mem::replace(&mut served[completion.id as usize], true);
            assert!(!before, "{completion:?} is answered twice");
            assert_eq!(completion.outcome, Outcome::Done);
            assert_eq!(completion.attribution.total(), completion.latency(), "{completion:?}");
            answered += 1;
        }
    }
    assert!(served.into_iter().all(|one| one));
    drive.advance(drive.now() + Nanos(60_000_000_000), &mut completions).unwrap();
    assert!(completions.is_empty() && drive.flash.is_idle() && drive.work.jobs.in_use() == 0);
    drive.shadow.check_at_rest(&drive.ftl);
    check_blocks(&drive.ftl);
    let counters = drive.counters().unwrap();
    assert_eq!(counters.flash_pages_programmed, written + counters.gc_pages_moved);
    println!("{written} writes, {} blocks collected, WAF {:?}", counters.gc_runs, counters.waf());
    assert!(counters.gc_runs > written / 64, "collection never rested");
}
