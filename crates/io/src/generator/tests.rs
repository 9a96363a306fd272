//! The requests of single jobs.

use super::*;
use crate::caches::Caches;
use crate::device::{ClockKind, DeviceInfo, DeviceKind};
use crate::workload::{BlockShare, Passes, Pattern, Workload};

fn info() -> DeviceInfo {
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

fn generator(workload: &Workload, job: u64) -> Generator {
    Generator::new(&workload.plan(&info()).unwrap(), job)
}

fn all(workload: &Workload) -> Vec<Generated> {
    let mut generator = generator(workload, 0);
    std::iter::from_fn(|| generator.next_request().ok()).collect()
}

fn offsets(workload: &Workload) -> Vec<u64> {
    all(workload).iter().map(|request| request.lba.byte_offset().0).collect()
}

#[test]
fn sequential_wraps_at_the_end_of_the_region() {
    let mut workload = Workload::new(Pattern::Read);
    workload.offset_bytes = 8192;
    workload.size_bytes = Some(3 * 4096 + 512);
    workload.requests = Some(5);
    assert_eq!(offsets(&workload), [8192, 12288, 16384, 8192, 12288]);
    workload.requests = None;
    assert_eq!(offsets(&workload).len(), 3, "the region once, what does not fit left out");
}

#[test]
fn stride_is_the_gap_from_end_to_start() {
    let mut workload = Workload::new(Pattern::Write);
    workload.stride_bytes = 8192;
    workload.size_bytes = Some(32 * 1024);
    workload.requests = Some(4);
    assert_eq!(offsets(&workload), [0, 12288, 24576, 0]);
}

#[test]
fn jobs_each_have_a_region_of_their_own_if_asked() {
    let mut workload = Workload::new(Pattern::Write);
    workload.offset_bytes = 4096;
    workload.numjobs = 3;
    workload.offset_increment_bytes = 256 << 10;
    let first = |job| generator(&workload, job).next_request().unwrap().lba.byte_offset().0;
    assert_eq!([first(0), first(1), first(2)], [4096, 4096 + (256 << 10), 4096 + (512 << 10)]);
    let size_bytes = workload.plan(&info()).unwrap().workload.size_bytes;
    assert_eq!(size_bytes, Some((512 << 10) - 4096), "as much as the last job has");
}

#[test]
fn random_requests_are_whole_blocks_within_the_region_and_reach_all() {
    let mut workload = Workload::new(Pattern::RandRead);
    workload.offset_bytes = 512;
    workload.size_bytes = Some(10 * 4096 + 100 * 512);
    workload.requests = Some(2_000);
    let mut blocks: Vec<u64> = offsets(&workload)
        .into_iter()
        .map(|offset| {
            assert!((offset - 512).is_multiple_of(4096));
            (offset - 512) / 4096
        })
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks, (0..22).collect::<Vec<_>>());
}

#[test]
fn percentages_are_kept() {
    let mut workload = Workload::new(Pattern::RandRw);
    workload.read_percent = 70;
    workload.percentage_random = Some(25);
    workload.write_block_bytes = Some(8192);
    workload.requests = Some(20_000);
    let requests = all(&workload);
    let reads = requests.iter().filter(|request| request.op == Op::Read).count();
    assert!((13_700..14_300).contains(&reads), "{reads}");
    assert!(requests.iter().all(|request| {
        request.sectors == if request.op == Op::Read { Sectors(8) } else { Sectors(16) }
    }));
    // A sequential read starts where the last read, random or not, ended.
    let reads: Vec<u64> = requests.iter().filter(|r| r.op == Op::Read).map(|r| r.lba.0).collect();
    let sequential = reads.windows(2).filter(|pair| pair[1] == pair[0] + 8).count();
    assert!((10_100..11_000).contains(&sequential), "{sequential} of {}", reads.len());
}

#[test]
fn reads_and_writes_have_their_own_randomness_and_stride() {
    let mut workload = Workload::new(Pattern::Rw);
    workload.size_bytes = Some(1 << 20);
    workload.requests = Some(2_000);
    workload.read_percentage_random = Some(100);
    workload.write_stride_bytes = Some(12_288);
    let requests = all(&workload);
    let of = |op: Op| -> Vec<u64> {
        requests.iter().filter(|r| r.op == op).map(|r| r.lba.byte_offset().0).collect()
    };
    let expected: Vec<u64> = (0..64).map(|step| step * 16_384).cycle().take(1_000).collect();
    let writes = of(Op::Write);
    assert_eq!(writes[..900], expected[..900], "every write 12 KiB behind the one before");
    let in_order = of(Op::Read).windows(2).filter(|pair| pair[1] == pair[0] + 4096).count();
    assert!(in_order < 20, "{in_order} random reads in order");
    // The same for both is what the plain key says.
    workload.read_percentage_random = None;
    workload.read_stride_bytes = Some(0);
    workload.write_stride_bytes = None;
    workload.stride_bytes = 12_288;
    let requests = all(&workload);
    let reads = requests.iter().filter(|r| r.op == Op::Read).map(|r| r.lba.byte_offset().0);
    assert!(reads.enumerate().all(|(step, at)| at == step as u64 * 4096 % (1 << 20)));
}

#[test]
fn a_random_start_is_a_block_of_the_region_and_goes_on_in_order() {
    let mut workload = Workload::new(Pattern::Read);
    workload.offset_bytes = 8192;
    workload.size_bytes = Some(50 * 4096);
    workload.requests = Some(60);
    workload.random_start = true;
    let mut starts = std::collections::BTreeSet::new();
    for seed in 0..400 {
        workload.seed = seed;
        let offsets = offsets(&workload);
        starts.insert(offsets[0]);
        for pair in offsets.windows(2) {
            let wrapped = pair[0] == 8192 + 49 * 4096;
            assert_eq!(pair[1], if wrapped { 8192 } else { pair[0] + 4096 });
        }
    }
    assert_eq!(starts, (0..50).map(|block| 8192 + block * 4096).collect());
}

#[test]
fn a_flush_follows_every_n_writes() {
    let mut workload = Workload::new(Pattern::Write);
    workload.requests = Some(5);
    workload.fsync_every = 2;
    let ops: String = all(&workload)
        .iter()
        .map(|request| if request.op == Op::Flush { 'f' } else { 'w' })
        .collect();
    assert_eq!(ops, "wwfwwfw");
    workload.requests = Some(4);
    let last = all(&workload).last().unwrap().op;
    assert_eq!(last, Op::Write, "none after the last write");
}

#[test]
fn in_a_mix_a_flush_comes_before_every_read_until_the_next_write() {
    let mut workload = Workload::new(Pattern::Rw);
    (workload.requests, workload.fsync_every) = (Some(400), 2);
    let (mut writes, mut before) = (0_u64, None);
    for request in all(&workload) {
        let is_due = writes > 0 && writes.is_multiple_of(2) && before != Some(Op::Flush);
        assert_eq!(request.op == Op::Flush, is_due);
        writes += u64::from(request.op == Op::Write);
        before = Some(request.op);
    }
}

const ONE_PASS: Passes = Passes { count: 1, until_bytes: None, wraps: false, once: false };

#[test]
fn the_last_request_of_a_pass_may_go_over() {
    let mut workload = Workload::new(Pattern::Read);
    (workload.size_bytes, workload.io_bytes) = (Some(64 << 10), Some(10 << 10));
    workload.passes = Some(ONE_PASS);
    assert_eq!(offsets(&workload), [0, 4096, 8192]);
    (workload.stride_bytes, workload.io_bytes) = (4096, Some(64 << 10));
    let expected: Vec<u64> = (0..8).map(|step| step * 8192).collect();
    assert_eq!(offsets(&workload), expected, "a walk with gaps");
    workload.io_bytes = Some(40 << 10);
    workload.passes = Some(Passes { until_bytes: Some(40 << 10), ..ONE_PASS });
    assert_eq!(offsets(&workload)[7..], [7 * 8192, 0, 8192], "and again until all are read");
}

#[test]
fn a_flush_that_is_due_between_two_passes_comes_in_both() {
    let mut workload = Workload::new(Pattern::Write);
    (workload.size_bytes, workload.io_bytes) = (Some(16 << 10), Some(48 << 10));
    workload.fsync_every = 2;
    workload.passes = Some(Passes { count: 3, ..ONE_PASS });
    let ops: String = all(&workload)
        .iter()
        .map(|request| if request.op == Op::Flush { 'f' } else { 'w' })
        .collect();
    assert_eq!(ops, "wwfwwffwwfwwffwwfww");
}

#[test]
fn a_pass_backwards_begins_at_the_first_block() {
    let mut workload = Workload::new(Pattern::Read);
    (workload.size_bytes, workload.io_bytes) = (Some(32 << 10), Some(40 << 10));
    workload.stride_bytes = -8192;
    workload.passes = Some(Passes { wraps: true, ..ONE_PASS });
    let blocks: Vec<u64> = offsets(&workload).iter().map(|offset| offset / 4096).collect();
    assert_eq!(blocks, [0, 6, 5, 4, 3, 2, 1, 0, 6, 5]);
}

#[test]
fn a_pass_of_a_mix_ends_where_either_direction_does() {
    let mut workload = Workload::new(Pattern::Rw);
    (workload.size_bytes, workload.io_bytes) = (Some(64 << 10), Some(128 << 10));
    workload.passes = Some(Passes { count: 2, ..ONE_PASS });
    let requests = all(&workload);
    assert_eq!(requests.len(), 32);
    let mut next = [0; 2];
    for request in requests {
        if next.contains(&(64 << 10)) {
            next = [0; 2];
        }
        let place = &mut next[request.op as usize];
        assert_eq!(request.lba.byte_offset().0, *place);
        *place += 4096;
    }
}

#[test]
fn random_requests_of_a_pass_visit_every_place_once() {
    let mut workload = Workload::new(Pattern::RandRw);
    workload.offset_bytes = 8192;
    (workload.size_bytes, workload.io_bytes) = (Some(250 * 4096 + 512), Some(251 * 4096));
    workload.passes = Some(Passes { once: true, ..ONE_PASS });
    let mut found = offsets(&workload);
    assert!(!found.is_sorted());
    found.sort_unstable();
    let expected: Vec<u64> = (2..252).map(|block| block * 4096).collect();
    assert_eq!(found, expected, "reads and writes together");
}

#[test]
fn sizes_of_a_pass_in_order_fill_the_region() {
    let mut workload = Workload::new(Pattern::Write);
    let share = |bytes, percent| BlockShare { bytes, percent };
    workload.block_split = Some(vec![share(4096, 50), share(16_384, 50)]);
    (workload.size_bytes, workload.io_bytes) = (Some(1 << 18), Some(1 << 18));
    workload.passes = Some(ONE_PASS);
    let ends = all(&workload).iter().map(|r| (r.lba + r.sectors).byte_offset().0).max();
    assert_eq!(ends, Some(1 << 18));
}

#[test]
fn a_timed_ramp_counts_against_the_bytes_of_a_job_of_fio() {
    let mut workload = Workload::new(Pattern::Read);
    (workload.io_bytes, workload.ramp_ns) = (Some(10 * 4096), Some(1));
    workload.passes = Some(ONE_PASS);
    let mut generator = generator(&workload, 0);
    for _ in 0..7 {
        assert!(!generator.next_request().unwrap().measured);
    }
    generator.end_ramp();
    let rest = std::iter::from_fn(|| generator.next_request().ok()).count();
    assert_eq!(rest, 3);
}

#[test]
fn the_ramp_comes_on_top_and_limits_hold() {
    let mut workload = Workload::new(Pattern::Read);
    workload.requests = Some(3);
    workload.ramp_requests = 2;
    let measured: Vec<bool> = all(&workload).iter().map(|request| request.measured).collect();
    assert_eq!(measured, [false, false, true, true, true]);
    workload.io_bytes = Some(2 * 4096 + 1);
    assert_eq!(all(&workload).len(), 4, "bytes end it first, without going over");
}

#[test]
fn jobs_differ_and_repeat() {
    let mut workload = Workload::new(Pattern::RandRead);
    workload.requests = Some(10);
    let draw = |job| {
        let mut generator = generator(&workload, job);
        std::iter::from_fn(|| generator.next_request().ok()).collect::<Vec<_>>()
    };
    assert_eq!(draw(0), draw(0));
    assert_ne!(draw(0), draw(1));
}

#[test]
fn random_offsets_are_multiples_of_the_alignment() {
    let mut workload = Workload::new(Pattern::RandRead);
    let share = |bytes, percent| BlockShare { bytes, percent };
    workload.block_split = Some(vec![share(512, 50), share(8192, 50)]);
    (workload.align_bytes, workload.requests) = (Some(4096), Some(500));
    assert!(offsets(&workload).iter().all(|offset| offset.is_multiple_of(4096)));
    workload.block_split = None;
    (workload.block_bytes, workload.align_bytes) = (4096, Some(16_384));
    assert!(offsets(&workload).iter().all(|offset| offset.is_multiple_of(16_384)));
}
