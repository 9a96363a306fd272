//! An array of drives whose every latency is known beforehand.

use super::{Raid0, Raid0Error};
use crate::driver::{LogKeeper, Unobserved, run_workload};
use crate::mock::{Fault, MockDevice};
use crate::null::NullDevice;
use crate::request::{Completion, Outcome, Request};
use crate::units::{Lba, Nanos, Sectors};
use crate::workload::{Pattern, Workload};
use crate::{Device, DeviceError, DeviceKind};

const CHUNK: u64 = 4096;

/// Members with one server each, 1 us plus 1 ns per byte, and a factor on the first.
fn members(count: usize, first_base_ns: u64) -> Vec<Box<dyn Device>> {
    (0..count)
        .map(|member| {
            let base_ns = if member == 0 { first_base_ns } else { 1_000 };
            Box::new(MockDevice::new(1, base_ns, 1)) as Box<dyn Device>
        })
        .collect()
}

fn array(count: usize) -> Raid0 {
    Raid0::new(members(count, 1_000), CHUNK).unwrap()
}

fn serve(device: &mut dyn Device, request: Request) -> Completion {
    device.submit(device.now(), request).unwrap();
    let mut completions = Vec::new();
    device.advance(Nanos::MAX, &mut completions).unwrap();
    assert_eq!((completions.len(), device.in_flight()), (1, 0));
    completions[0]
}

#[test]
fn a_request_is_split_and_waits_for_all_its_parts() {
    let mut raid = array(4);
    // Within one chunk: one member. Over 2.5 chunks: three members, one with half a chunk.
    assert_eq!(serve(&mut raid, Request::read(7, Lba(0), Sectors(8))).latency(), Nanos(5_096));
    assert_eq!(serve(&mut raid, Request::read(8, Lba(4), Sectors(20))).latency(), Nanos(5_096));
    // Eight chunks over four members: two each, as one request of 8 KiB.
    let whole = serve(&mut raid, Request::write(9, Lba(0), Sectors(64)));
    assert_eq!((whole.id, whole.latency()), (9, Nanos(1_000 + 8_192)));
    let counters = raid.counters().unwrap();
    assert_eq!(counters.host_bytes_written, 64 * 512);
    assert_eq!(counters.host_bytes_read, 28 * 512);
}

#[test]
fn where_the_time_went_is_what_the_slowest_says_and_sums_exactly() {
    let mut raid = Raid0::new(members(3, 50_000), CHUNK).unwrap();
    let completion = serve(&mut raid, Request::read(1, Lba(0), Sectors(24)));
    assert_eq!(completion.latency(), Nanos(54_096));
    assert_eq!(completion.attribution.total(), completion.latency());

    let mut raid = Raid0::new(members(3, 50_000), CHUNK).unwrap();
    let mut workload = Workload::new(Pattern::RandRw);
    workload.requests = Some(2_000);
    workload.block_bytes = 10 * 512;
    workload.iodepth = 8;
    let mut keeper = LogKeeper::default();
    run_workload(&mut raid, &workload, &mut keeper).unwrap();
    let log = keeper.log;
    let columns = log.attribution_ns.as_ref().unwrap();
    for row in 0..log.len() {
        let parts: u64 = columns.iter().map(|column| column[row]).sum();
        assert_eq!(parts, log.complete_ns[row] - log.submit_ns[row]);
    }
}

#[test]
fn bandwidth_grows_with_the_members() {
    let bandwidth = |count| {
        let mut workload = Workload::new(Pattern::Read);
        workload.block_bytes = CHUNK;
        workload.iodepth = 16;
        workload.requests = Some(4_000);
        let summary = run_workload(&mut array(count), &workload, &mut Unobserved).unwrap();
        summary.read.unwrap().bandwidth_bytes_per_s.unwrap()
    };
    let one = bandwidth(1);
    for count in [2, 4] {
        assert!((bandwidth(count) / one / count as f64 - 1.0).abs() < 0.01, "{count} members");
    }
}

#[test]
fn one_member_is_that_member() {
    let mut workload = Workload::new(Pattern::RandRw);
    workload.requests = Some(500);
    workload.iodepth = 4;
    workload.thinktime_ns = 777;
    let run = |device: &mut dyn Device| {
        let mut keeper = LogKeeper::default();
        run_workload(device, &workload, &mut keeper).unwrap();
        keeper.log
    };
    assert_eq!(run(&mut array(1)), run(&mut MockDevice::new(1, 1_000, 1)));
}

#[test]
fn capacity_is_whole_chunks_of_the_smallest_member() {
    let mut small = MockDevice::new(1, 1, 1);
    small.info.capacity_bytes = 10 * CHUNK + 512;
    small.info.discard = false;
    let mut coarse = MockDevice::new(1, 1, 1);
    coarse.info.logical_block_bytes = 4096;
    let raid = Raid0::new(vec![Box::new(small), Box::new(coarse)], CHUNK).unwrap();
    let info = raid.info();
    assert_eq!(info.capacity_bytes, 2 * 10 * CHUNK);
    assert_eq!((info.kind, info.logical_block_bytes), (DeviceKind::Raid0, 4096));
    assert!(!info.discard && info.attribution && info.snapshot);
}

#[test]
fn what_cannot_be_striped_is_refused() {
    let refused = |members, chunk| Raid0::new(members, chunk).err().unwrap();
    assert_eq!(refused(Vec::new(), CHUNK), Raid0Error::NoMembers);
    let mixed: Vec<Box<dyn Device>> =
        vec![Box::new(MockDevice::new(1, 1, 1)), Box::new(NullDevice::new(1 << 20))];
    let error = refused(mixed, CHUNK).to_string();
    assert!(error.contains("member 1 lives in real time and member 0 in simulated"), "{error}");
    assert!(matches!(refused(members(2, 1), 1000), Raid0Error::Chunk { unit_bytes: 512, .. }));
    assert!(matches!(refused(members(2, 1), 0), Raid0Error::Chunk { .. }));
    assert!(matches!(refused(members(2, 1), 2 << 30), Raid0Error::TooSmall { .. }));
    let mut busy = MockDevice::new(1, 1, 1);
    busy.submit(Nanos(0), Request::read(0, Lba(0), Sectors(1))).unwrap();
    let error = refused(vec![Box::new(busy)], CHUNK).to_string();
    assert_eq!(error, "member 0: 1 requests are still in flight");
}

#[test]
fn members_meet_at_the_latest_present() {
    let mut ahead = MockDevice::new(1, 1_000, 0);
    ahead.advance(Nanos(5_000), &mut Vec::new()).unwrap();
    let members: Vec<Box<dyn Device>> =
        vec![Box::new(MockDevice::new(1, 1_000, 0)), Box::new(ahead)];
    let mut raid = Raid0::new(members, CHUNK).unwrap();
    assert_eq!(raid.now(), Nanos(5_000));
    let completion = serve(&mut raid, Request::read(0, Lba(0), Sectors(16)));
    assert_eq!(completion.completed, Nanos(6_000));
}

#[test]
fn idle_moves_all_clocks_and_completions_stop_them() {
    let mut raid = array(2);
    let mut completions = Vec::new();
    raid.advance(Nanos::MAX, &mut completions).unwrap();
    assert_eq!(raid.now(), Nanos(0), "nothing to wait for");
    raid.advance(Nanos(500), &mut completions).unwrap();
    assert_eq!((raid.now(), completions.len()), (Nanos(500), 0));
    raid.submit(Nanos(500), Request::read(0, Lba(0), Sectors(9))).unwrap();
    raid.advance(Nanos(600), &mut completions).unwrap();
    assert_eq!((raid.now(), completions.len()), (Nanos(600), 0));
    raid.advance(Nanos(1_000_000), &mut completions).unwrap();
    assert_eq!((raid.now(), completions.len()), (Nanos(500 + 1_000 + 4096), 1));
    assert_eq!(raid.next_event(), None);
}

#[test]
fn flush_goes_to_every_member_and_a_failed_part_fails_the_whole() {
    let mut flush = Request::read(3, Lba(0), Sectors::ZERO);
    flush.op = crate::Op::Flush;
    assert_eq!(serve(&mut array(3), flush).latency(), Nanos(1_000));

    let mut bad = MockDevice::new(1, 1, 0);
    bad.fault = Fault::FailEvery(1);
    let devices: Vec<Box<dyn Device>> = vec![Box::new(MockDevice::new(1, 9, 0)), Box::new(bad)];
    let mut raid = Raid0::new(devices, CHUNK).unwrap();
    let completion = serve(&mut raid, Request::read(0, Lba(0), Sectors(16)));
    assert_eq!((completion.outcome, completion.latency()), (Outcome::Failed(5), Nanos(9)));
    let fine = serve(&mut raid, Request::read(0, Lba(0), Sectors(8)));
    assert_eq!(fine.outcome, Outcome::Done);
}

#[test]
fn a_member_that_refuses_its_part_leaves_no_ghost() {
    let mut bad = MockDevice::new(1, 1, 0);
    bad.fault = Fault::BreakAt(1);
    let devices: Vec<Box<dyn Device>> = vec![Box::new(MockDevice::new(1, 9, 0)), Box::new(bad)];
    let mut raid = Raid0::new(devices, CHUNK).unwrap();
    let refusal = raid.submit(Nanos(0), Request::read(0, Lba(0), Sectors(16)));
    assert!(matches!(refusal, Err(DeviceError::Stuck(_))));
    assert_eq!(raid.in_flight(), 0);
    // The part that was sent to the first member completes for nobody.
    let mut completions = Vec::new();
    raid.advance(Nanos(100), &mut completions).unwrap();
    assert!(completions.is_empty());
    let completion = serve(&mut raid, Request::read(1, Lba(0), Sectors(8)));
    assert_eq!(completion.latency(), Nanos(9));
}

#[test]
fn a_member_that_swallows_a_part_is_no_hang() {
    let mut bad = MockDevice::new(1, 1, 0);
    bad.fault = Fault::SwallowFrom(1);
    let devices: Vec<Box<dyn Device>> = vec![Box::new(MockDevice::new(1, 9, 0)), Box::new(bad)];
    let mut raid = Raid0::new(devices, CHUNK).unwrap();
    raid.submit(Nanos(0), Request::read(0, Lba(0), Sectors(16))).unwrap();
    let mut completions = Vec::new();
    raid.advance(Nanos::MAX, &mut completions).unwrap();
    assert_eq!((completions.len(), raid.in_flight()), (0, 1));
}

#[test]
fn snapshots_and_forks_include_what_is_in_flight() {
    let mut raid = array(2);
    raid.submit(Nanos(0), Request::read(5, Lba(0), Sectors(16))).unwrap();
    let snapshot = raid.snapshot().unwrap();
    let mut fork = raid.fork().unwrap();
    let finish = |device: &mut dyn Device| {
        let mut completions = Vec::new();
        device.advance(Nanos::MAX, &mut completions).unwrap();
        completions
    };
    let first = finish(&mut raid);
    assert_eq!(first.len(), 1);
    assert_eq!(finish(fork.as_mut()), first);
    raid.restore(&snapshot).unwrap();
    assert_eq!((raid.now(), raid.in_flight()), (Nanos(0), 1));
    assert_eq!(finish(&mut raid), first);
    let foreign = MockDevice::new(1, 1, 1).snapshot().unwrap();
    assert!(raid.restore(&foreign).is_err());
}

#[test]
fn wall_clocks_of_different_epochs_are_translated() {
    let early = NullDevice::new(1 << 20);
    std::thread::sleep(std::time::Duration::from_millis(2));
    let late = NullDevice::new(1 << 20);
    let mut raid = Raid0::new(vec![Box::new(late), Box::new(early)], CHUNK).unwrap();
    let mut workload = Workload::new(Pattern::RandRead);
    workload.block_bytes = 2 * CHUNK;
    workload.requests = Some(200);
    workload.iodepth = 4;
    let summary = run_workload(&mut raid, &workload, &mut Unobserved).unwrap();
    assert_eq!(summary.requests, 200);
    let latency = summary.read.unwrap().latency_ns;
    assert!(latency.p50 < 1_000_000, "the epochs are 2 ms apart: {latency:?}");
}
