//! Serial ATA on every drive behind a link: what its frames cost, what is queued, and what
//! is not.

use crate::faults::complaint;
use crate::rig::{
    Ask, DISK_DRIVE, FLUSH, LOG_DRIVE, PAGE, PAGE_DRIVE, READ, Rig, WRITE, config, read,
    read_sector, write, write_sector,
};
use ssdscope_io::{Cause, Completion, Lba, Nanos, Op, Request, Sectors};

knobs! {
    "host.ncq" => queuing_lets_commands_overlap,
}

/// A frame around a FIS of so many double words: handshakes, SOF, CRC, EOF and SYNC.
const fn frame(double_words: u64) -> u64 {
    4 * (double_words + 8)
}

const REGISTER: u64 = frame(5);
const SETUP: u64 = frame(7);
const ACTIVATE: u64 = frame(1);
const DEVICE_BITS: u64 = frame(2);

/// Data FIS of up to 8 KiB.
const fn data(bytes: u64) -> u64 {
    bytes + bytes.div_ceil(8192) * frame(1)
}

/// At a nanosecond a byte, so that bytes are nanoseconds.
const SATA: [&str; 3] = ["host.interface=sata", "host.bytes_per_second=1e9", "host.command_ns=0"];

fn with<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&SATA[..], sets].concat()
}

const READ_FRAMES: u64 = REGISTER + SETUP + data(PAGE) + DEVICE_BITS;
const WRITE_FRAMES: u64 = REGISTER + REGISTER + SETUP + data(PAGE) + DEVICE_BITS;

#[test]
fn a_page_at_depth_one_costs_the_sum_of_its_frames() {
    for (drive, ncq, read_ns, write_ns) in [
        (PAGE_DRIVE, "host.ncq=true", READ_FRAMES, WRITE_FRAMES),
        (LOG_DRIVE, "host.ncq=true", READ_FRAMES, WRITE_FRAMES),
        (
            PAGE_DRIVE,
            "host.ncq=false",
            REGISTER + data(PAGE) + REGISTER,
            REGISTER + ACTIVATE + data(PAGE) + REGISTER,
        ),
    ] {
        let mut rig = Rig::open(drive, &with(&[ncq]), None);
        let written = rig.one(write(0));
        assert_eq!(written.latency().0, write_ns + WRITE, "{ncq}");
        assert_eq!(written.attribution[Cause::Link], write_ns, "{ncq}");
        let done = rig.one(read(0));
        assert_eq!(done.latency().0, read_ns + READ, "{ncq}");
        assert_eq!(done.attribution[Cause::Link], read_ns, "{ncq}");
    }
    // A write into the cache of a disk is nothing but frames.
    let mut disk = Rig::disk(&with(&["disk.write_cache_bytes=1m"]));
    assert_eq!(disk.latency_ns((Op::Write, 0, 4096)), WRITE_FRAMES);
    let long = REGISTER + REGISTER + SETUP + 7 * ACTIVATE + data(65_536) + DEVICE_BITS;
    assert_eq!(disk.latency_ns((Op::Write, 0, 65_536)), long);
}

#[test]
fn the_rate_and_the_time_of_a_command_come_on_top() {
    for (rate, ns_per_byte) in [("600e6", 5.0 / 3.0), ("300e6", 10.0 / 3.0), ("150e6", 20.0 / 3.0)]
    {
        let rate = format!("host.bytes_per_second={rate}");
        let mut rig = Rig::page(&with(&[&rate, "host.command_ns=5005"]));
        let span = |bytes: u64| (bytes as f64 * ns_per_byte).round() as u64;
        let command = 5005 + span(WRITE_FRAMES - DEVICE_BITS);
        assert_eq!(rig.latency_ns(write(0)), command + WRITE + span(DEVICE_BITS), "{rate}");
        let answer = span(SETUP + data(PAGE) + DEVICE_BITS);
        assert_eq!(rig.latency_ns(read(0)), 5005 + span(REGISTER) + READ + answer, "{rate}");
    }
}

/// Whether each command had left before the next came in.
fn one_at_a_time(done: &[Completion]) -> bool {
    done.windows(2).all(|pair| {
        let began = pair[1].submitted.0 + pair[1].attribution[Cause::HostQueue];
        began >= pair[0].completed.0
    })
}

fn queuing_lets_commands_overlap() {
    let four = [read(0), read(1), read(2), read(3)];
    // The four pages lie on four channels.
    for (drive, wide) in
        [(PAGE_DRIVE, "gc.policy=greedy"), (LOG_DRIVE, "ftl.merge_unit_bytes=128k")]
    {
        let open = |set| Rig::open(drive, &with(&["nand.channels=4", wide, set]), None);
        let mut rig = open("host.ncq=false");
        rig.write_pages(0..4);
        let frames = REGISTER + data(PAGE) + REGISTER;
        let done = rig.together(&four);
        assert!(one_at_a_time(&done));
        assert_eq!(done[3].latency().0, 4 * (frames + READ));
        let mut rig = open("host.ncq=true");
        rig.write_pages(0..4);
        let done = rig.together(&four);
        assert!(!one_at_a_time(&done));
        // The commands one after the other, then four answers behind the first page.
        let answers = 4 * (SETUP + data(PAGE) + DEVICE_BITS);
        assert_eq!(done[3].latency().0, REGISTER + READ + answers);
    }
    // The arm of a disk has a choice only if commands are queued.
    let order = |set| {
        let mut rig = Rig::disk(&with(&[set]));
        rig.one(read_sector(0));
        let mut done = rig.together(&[5, 50, 30, 10].map(read_sector));
        done.sort_by_key(|completion| completion.completed);
        done.iter().map(|completion| completion.id).collect::<Vec<_>>()
    };
    assert_eq!(order("host.ncq=true"), [1, 4, 3, 2], "by position");
    assert_eq!(order("host.ncq=false"), [1, 2, 3, 4], "by arrival");
}

#[test]
fn no_more_than_32_commands_are_queued() {
    let resolved = config(PAGE_DRIVE, &SATA);
    assert_eq!(resolved.resolved()["host"]["queue_depth"], 32);
    let mut rig = Rig::page(&with(&["nand.channels=64", "host.bytes_per_second=1e15"]));
    rig.write_pages(0..34);
    let reads: Vec<Ask> = (0..34).map(read).collect();
    let done = rig.together(&reads);
    let waited = done.iter().filter(|done| done.attribution[Cause::HostQueue] > 0).count();
    assert_eq!(waited, 2);
    let expected = "host.queue_depth: 33 commands are more than the 32 that host.interface = \
                    \"sata\" queues";
    for drive in [PAGE_DRIVE, LOG_DRIVE, DISK_DRIVE] {
        let lines = complaint(drive, &with(&["host.queue_depth=33"]));
        assert!(lines.len() == 1 && lines[0].ends_with(expected), "{lines:?}");
    }
}

#[test]
fn what_is_not_queued_waits_for_the_queue_to_empty_and_holds_it() {
    let discard: Ask = (Op::Discard, 3 * PAGE, PAGE);
    for unqueued in [FLUSH, discard] {
        for drive in [PAGE_DRIVE, LOG_DRIVE] {
            let mut rig = Rig::open(drive, &with(&["nand.channels=2"]), None);
            rig.write_pages(0..4);
            let done = rig.together(&[read(0), write(1), unqueued, read(1), read(0)]);
            let began = |at: usize| done[at].submitted.0 + done[at].attribution[Cause::HostQueue];
            let before = done[0].completed.max(done[1].completed).0;
            assert_eq!(began(2), before, "{unqueued:?}");
            assert_eq!(began(3), done[2].completed.0, "{unqueued:?}");
            let ranges = if unqueued == FLUSH { 0 } else { ACTIVATE + data(512) };
            assert_eq!(done[2].attribution[Cause::Link], REGISTER + ranges + REGISTER);
            // An nvme drive takes all of them at once.
            let mut nvme = Rig::open(drive, &["host.interface=nvme", "nand.channels=2"], None);
            nvme.write_pages(0..4);
            let done = nvme.together(&[read(0), write(1), unqueued, read(1), read(0)]);
            assert!(done[4].attribution[Cause::HostQueue] < 1_000);
        }
    }
    let mut disk = Rig::disk(&with(&["disk.write_cache_bytes=1m"]));
    let done = disk.together(&[read_sector(5), write_sector(50), FLUSH, read_sector(5)]);
    assert!(one_at_a_time(&done[2..]));
}

#[test]
fn forced_writes_are_queued() {
    let mut rig = Rig::disk(&with(&["disk.write_cache_bytes=1m"]));
    rig.one(read_sector(0));
    // The first is under the arm at once; of the others the nearer one comes first.
    for (id, sector) in [(101, 5), (102, 50), (103, 30)] {
        let (lba, sectors) = (Lba(sector), Sectors(1));
        let request = Request { fua: true, ..Request::write(id, lba, sectors) };
        rig.device.submit(rig.device.now(), request).unwrap();
    }
    let mut done = Vec::new();
    while rig.device.in_flight() > 0 {
        rig.device.advance(Nanos::MAX, &mut done).unwrap();
    }
    assert_eq!(done.iter().map(|done| done.id).collect::<Vec<_>>(), [101, 103, 102]);
}
