//! A real file on a real disk, through both engines.
//!
//! The files live in the target folder, because that is on a disk even where the
//! temporary folder is in memory.

use ssdscope_host::engine::{EngineChoice, EngineKind};
use ssdscope_host::file::REQUEST_BYTES_MAX;
use ssdscope_host::safety::refusal::Refusal;
use ssdscope_host::{Consent, HostError, HostFile, identify, open_read, open_write, payload};
use ssdscope_io::{
    Completion, Device, DeviceError, Lba, Nanos, Op, Outcome, Request, SECTOR_BYTES, Sectors,
};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
const ENGINES: [EngineChoice; 2] = [EngineChoice::Auto, EngineChoice::Only(EngineKind::Threads)];

/// A file that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, contents: &[u8]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{name}-{}.img", std::process::id()));
        fs::write(&path, contents).expect("the target folder is writable");
        fs::File::open(&path).and_then(|file| file.sync_all()).expect("it can be synced");
        Self(path)
    }

    fn token(&self) -> String {
        format!("FILE:{}", self.0.file_name().expect("has a name").to_string_lossy())
    }

    fn write_with(&self, engine: EngineChoice, overwrite: bool) -> Result<HostFile, HostError> {
        let token = self.token();
        let consent = Consent { overwrite_existing: overwrite, ..Consent::by_token(&token) };
        open_write(&self.0, &consent, engine)
    }

    fn write(&self) -> Result<HostFile, HostError> {
        self.write_with(EngineChoice::Auto, false)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Waits until nothing is in flight.
fn drain(device: &mut HostFile) -> Vec<Completion> {
    let mut completions = Vec::new();
    while device.in_flight() > 0 {
        device.advance(Nanos::MAX, &mut completions).expect("the disk works");
    }
    completions
}

fn blocks(device: &HostFile) -> Sectors {
    Sectors(device.info().logical_block_bytes / SECTOR_BYTES)
}

#[test]
fn what_was_written_is_in_the_file_and_every_request_is_timed() {
    for engine in ENGINES {
        let file = Scratch::new("verify", &vec![0; 4 * MIB as usize]);
        let mut device = file.write_with(engine, false).expect("zeros may be overwritten");
        let begun = device.now();
        // From the last to the first, at depth 64.
        for index in (0..64).rev() {
            let request = Request::write(index, Lba(index * 128), Sectors(128));
            device.submit(device.now(), request).expect("inside the file");
        }
        let completions = drain(&mut device);
        assert_eq!(completions.len(), 64);
        for end in &completions {
            assert_eq!(end.outcome, Outcome::Done);
            assert!(begun <= end.submitted && end.submitted < end.completed);
            assert!(end.completed <= device.now());
        }
        let salt = device.payload_salt();
        drop(device);

        let contents = fs::read(&file.0).expect("readable");
        let mut expected = vec![0; 64 << 10];
        for (index, written) in contents.chunks(64 << 10).enumerate() {
            payload::fill(&mut expected, salt, 63 - index as u64);
            assert!(written == expected, "{engine:?}: write at {index} differs");
        }
    }
}

#[test]
fn reads_of_all_sizes_and_depths_come_back_once_each() {
    for engine in ENGINES {
        let file = Scratch::new("reads", &vec![7; 40 * MIB as usize]);
        let mut device = open_read(&file.0, engine).expect("a plain file");
        assert_eq!(device.info().capacity_bytes, 40 * MIB);
        assert!(!device.info().writable);
        let unit = blocks(&device);
        let mut ids = Vec::new();
        // More than either engine takes at once, so that some wait here; then large ones,
        // more than may be in memory at once.
        for id in 0..1500 {
            let request = Request::read(id, Lba(unit.0 * id), unit);
            device.submit(device.now(), request).expect("inside the file");
        }
        for id in 1500..1540 {
            let request = Request::read(id, Lba(id), Sectors(REQUEST_BYTES_MAX / SECTOR_BYTES));
            let on_grid = Request { lba: Lba(id - id % unit.0), ..request };
            device.submit(device.now(), on_grid).expect("inside the file");
        }
        assert_eq!(device.in_flight(), 1540);
        for end in drain(&mut device) {
            assert_eq!(end.outcome, Outcome::Done, "request {}", end.id);
            ids.push(end.id);
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..1540).collect::<Vec<_>>());
    }
}

#[test]
fn requests_off_the_grid_or_past_the_end_are_refused_with_the_numbers() {
    let file = Scratch::new("grid", &vec![1; MIB as usize]);
    let mut device = open_read(&file.0, EngineChoice::Auto).expect("a plain file");
    let unit = blocks(&device).0;
    let mut refusal = |request| device.submit(Nanos::ZERO, request).expect_err("not servable");
    assert!(matches!(
        refusal(Request::read(0, Lba(MIB / SECTOR_BYTES), Sectors(unit))),
        DeviceError::OutOfRange { .. }
    ));
    assert!(matches!(
        refusal(Request::read(0, Lba(0), Sectors(0))),
        DeviceError::Misaligned { .. }
    ));
    if unit > 1 {
        assert!(matches!(
            refusal(Request::read(0, Lba(1), Sectors(unit))),
            DeviceError::Misaligned { .. }
        ));
    }
    assert_eq!(refusal(Request::write(0, Lba(0), Sectors(unit))), DeviceError::ReadOnly);
    let discard = Request { op: Op::Discard, ..Request::read(0, Lba(0), Sectors(unit)) };
    assert_eq!(refusal(discard), DeviceError::ReadOnly);
    assert_eq!(device.in_flight(), 0);

    let file = Scratch::new("huge", &[]);
    fs::File::create(&file.0).and_then(|f| f.set_len(64 * MIB)).expect("sparse");
    let mut device = open_read(&file.0, EngineChoice::Auto).expect("holes may be read");
    let huge = Request::read(0, Lba(0), Sectors(REQUEST_BYTES_MAX / SECTOR_BYTES * 2));
    let error = device.submit(Nanos::ZERO, huge).expect_err("too large").to_string();
    assert!(error.contains("32 MiB") && error.contains("16 MiB"), "{error}");
}

#[test]
fn flush_fua_and_discard_reach_the_file() {
    for engine in ENGINES {
        let file = Scratch::new("flush", &vec![0; MIB as usize]);
        let mut device = file.write_with(engine, false).expect("zeros may be overwritten");
        let span = Sectors(8);
        let durable = Request { fua: true, ..Request::write(1, Lba(0), span) };
        let flush = Request { op: Op::Flush, ..Request::read(2, Lba(0), Sectors(0)) };
        device.submit(Nanos::ZERO, durable).expect("writable");
        device.submit(Nanos::ZERO, Request::write(5, Lba(8), span)).expect("writable");
        device.submit(Nanos::ZERO, flush).expect("always allowed");
        assert!(drain(&mut device).iter().all(|end| end.outcome == Outcome::Done));
        assert!(payload::is_ours(&fs::read(&file.0).expect("readable")[..512]));
        if !device.info().discard {
            eprintln!("skipped: this file system cannot punch holes");
            continue;
        }
        let discard = Request { op: Op::Discard, ..Request::read(3, Lba(0), span) };
        device.submit(Nanos::ZERO, discard).expect("announced");
        assert_eq!(drain(&mut device)[0].outcome, Outcome::Done);
        let contents = fs::read(&file.0).expect("readable");
        assert_eq!(contents.len(), MIB as usize, "the size stays");
        assert!(contents[..4096].iter().all(|&byte| byte == 0));
        assert!(payload::is_ours(&contents[4096..4608]), "the neighbour stays");
    }
}

#[test]
fn zeros_reach_the_file_and_count_as_written() {
    for engine in ENGINES {
        let file = Scratch::new("zeros", &vec![0; MIB as usize]);
        let token = file.token();
        let consent = Consent { write_limit_bytes: Some(16_384), ..Consent::by_token(&token) };
        let mut device = open_write(&file.0, &consent, engine).expect("zeros");
        device.submit(Nanos::ZERO, Request::write(1, Lba(0), Sectors(16))).expect("writable");
        drain(&mut device);
        let zeros = Request::new(2, Op::WriteZeroes, Lba(0), Sectors(8));
        device.submit(Nanos::ZERO, zeros).expect("writable");
        if drain(&mut device)[0].outcome == Outcome::Failed(libc::EOPNOTSUPP) {
            eprintln!("skipped: this file system cannot zero a range");
            continue;
        }
        let contents = fs::read(&file.0).expect("readable");
        assert_eq!(contents.len(), MIB as usize, "the size stays");
        assert!(contents[..4096].iter().all(|&byte| byte == 0));
        assert!(payload::is_ours(&contents[4096..4608]), "the neighbour stays");
        let more = Request::new(3, Op::WriteZeroes, Lba(0), Sectors(16));
        let refused = device.submit(Nanos::ZERO, more).expect_err("beyond the limit");
        assert!(refused.to_string().contains("leaves 4096 bytes"), "{refused}");
    }
}

#[test]
fn zeros_would_not_preserve_anything() {
    let file = Scratch::new("preserved", &vec![7; MIB as usize]);
    let token = file.token();
    let consent = Consent { preserve_content: true, ..Consent::by_token(&token) };
    let mut device = open_write(&file.0, &consent, EngineChoice::Auto).expect("kept");
    let zeros = Request::new(1, Op::WriteZeroes, Lba(0), Sectors(8));
    let refused = device.submit(Nanos::ZERO, zeros).expect_err("it would be lost");
    assert!(refused.to_string().contains("content is preserved"), "{refused}");
    drop(device);
    assert_eq!(fs::read(&file.0).expect("readable"), vec![7; MIB as usize]);
}

#[test]
fn what_is_written_back_is_what_was_there() {
    let theirs: Vec<u8> = (0..MIB).map(|byte| ((byte * 31) >> 3) as u8).collect();
    for engine in ENGINES {
        let file = Scratch::new("kept", &theirs);
        let token = file.token();
        let consent = Consent { preserve_content: true, ..Consent::by_token(&token) };
        let mut device = open_write(&file.0, &consent, engine).expect("kept");
        for id in 0..64 {
            // Half of each is the half of its neighbour.
            let write = Request::write(id, Lba(id * 8), Sectors(16));
            let request = if id % 8 == 7 { Request { op: Op::Read, ..write } } else { write };
            device.submit(Nanos::ZERO, request).expect("writable");
        }
        let ends = drain(&mut device);
        assert_eq!(ends.len(), 64);
        assert!(ends.iter().all(|end| end.outcome == Outcome::Done));
        let mut ids: Vec<u64> = ends.iter().map(|end| end.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..64).collect::<Vec<_>>());
        drop(device);
        assert!(fs::read(&file.0).expect("readable") == theirs);
        let refused = file.write_with(engine, false).err().expect("it is not marked as ours");
        assert_eq!(holds_data_at(Err(refused)), Some(0));
    }
}

#[test]
fn what_was_written_is_compared_by_both_engines() {
    for engine in ENGINES {
        let file = Scratch::new("compared", &vec![0; MIB as usize]);
        let mut device = file.write_with(engine, false).expect("zeros may be overwritten");
        let contents = device.contents();
        contents.verify();
        for id in 0..32 {
            // Each place is written twice, some of them by two at a time.
            let write = Request::write(id, Lba(id % 16 * 8), Sectors(8));
            device.submit(Nanos::ZERO, write).expect("writable");
        }
        drain(&mut device);
        let spans = contents.spans(MIB);
        assert_eq!(spans, [(0, 65_536)]);
        contents.compare(true);
        let read_back = |device: &mut HostFile| {
            device.submit(Nanos::ZERO, Request::read(99, Lba(0), Sectors(128))).expect("readable");
            drain(device);
            contents.take_verdict()
        };
        let right = read_back(&mut device);
        assert_eq!((right.checked_bytes, right.mismatched_bytes), (65_536, 0), "{right:?}");
        let other = fs::File::options().read(true).write(true).open(&file.0).expect("writable");
        let mut byte = [0];
        other.read_exact_at(&mut byte, 5_000).expect("readable");
        other.write_all_at(&[!byte[0]], 5_000).expect("writable");
        other.sync_all().expect("it can be synced");
        let wrong = read_back(&mut device);
        assert_eq!(wrong.mismatched_bytes, 512);
        assert_eq!(wrong.first.expect("told").offset_bytes, 5_000);
    }
}

#[test]
fn waiting_ends_at_the_first_completion_or_on_time() {
    for engine in ENGINES {
        let file = Scratch::new("wait", &vec![3; MIB as usize]);
        let mut device = open_read(&file.0, engine).expect("a plain file");
        let mut completions = Vec::new();
        let begun = device.now();
        assert_eq!(device.next_event(), None);
        device.advance(Nanos::MAX, &mut completions).expect("nothing to wait for");
        device.advance(Nanos(begun.0 + 5_000_000), &mut completions).expect("idle");
        let idle = device.now() - begun;
        assert!(completions.is_empty() && idle >= Nanos(5_000_000), "idled {idle}");

        device.submit(device.now(), Request::read(1, Lba(0), Sectors(8))).expect("in range");
        assert!(device.next_event().is_some());
        let patience = Nanos(device.now().0 + 10_000_000_000);
        device.advance(patience, &mut completions).expect("the disk works");
        assert_eq!(completions.len(), 1);
        assert!(device.now() < patience);
    }
}

#[test]
fn a_device_may_move_to_another_thread_between_runs() {
    let file = Scratch::new("threads", &vec![3; MIB as usize]);
    let mut device = open_read(&file.0, EngineChoice::Auto).expect("a plain file");
    for round in 0..3 {
        device = std::thread::spawn(move || {
            for id in 0..8 {
                let request = Request::read(id, Lba(id * 8), Sectors(8));
                device.submit(device.now(), request).expect("in range");
            }
            let ends = drain(&mut device);
            assert!(ends.iter().all(|end| end.outcome == Outcome::Done), "round {round}");
            device
        })
        .join()
        .expect("no panic");
    }
}

#[test]
fn a_file_cut_short_under_us_is_an_error() {
    for engine in ENGINES {
        for past_the_end in
            [Request::read(1, Lba(512), Sectors(8)), Request::read(2, Lba(0), Sectors(16))]
        {
            let file = Scratch::new("cut", &vec![3; MIB as usize]);
            let mut device = open_read(&file.0, engine).expect("a plain file");
            let writer = fs::File::options().write(true).open(&file.0).expect("ours");
            writer.set_len(4096).expect("cut");
            device.submit(device.now(), Request::read(3, Lba(0), Sectors(8))).expect("there");
            assert_eq!(drain(&mut device)[0].outcome, Outcome::Done, "what is left can be read");
            device.submit(device.now(), past_the_end).expect("within what it was");
            let mut ends = Vec::new();
            let changed = device.advance(Nanos::MAX, &mut ends).expect_err("it is another file");
            assert!(changed.to_string().contains("its size was 1048576 bytes, and is 4096 now"));
            assert_eq!(ends[0].outcome, Outcome::Failed(5));
            assert_eq!(device.submit(device.now(), past_the_end), Err(changed), "for good");
        }
    }
}

#[test]
fn closing_with_requests_in_flight_is_safe() {
    for engine in ENGINES {
        let file = Scratch::new("close", &vec![3; 4 * MIB as usize]);
        for _ in 0..20 {
            let mut device = open_read(&file.0, engine).expect("a plain file");
            for id in 0..32 {
                let request = Request::read(id, Lba(id * 256), Sectors(256));
                device.submit(device.now(), request).expect("in range");
            }
        }
    }
}

fn holds_data_at(refused: Result<HostFile, HostError>) -> Option<u64> {
    match refused {
        Err(HostError::Refused { why: Refusal::HoldsData(offset_bytes), .. }) => Some(offset_bytes),
        Err(other) => panic!("{other}"),
        Ok(_) => None,
    }
}

#[test]
fn data_that_is_not_ours_needs_leave_to_be_lost() {
    let mut contents = vec![0; 3 * MIB as usize];
    contents[2_000_000] = 1;
    let file = Scratch::new("data", &contents);
    let sector = 2_000_000 - 2_000_000 % 512;
    assert_eq!(holds_data_at(file.write()), Some(sector));
    assert_eq!(fs::read(&file.0).expect("readable"), contents, "looking changed the file");

    // Who gives it up and writes beside it has given up nothing for the next time.
    let mut device = file.write_with(EngineChoice::Auto, true).expect("leave was given");
    device.submit(Nanos::ZERO, Request::write(1, Lba(0), Sectors(8))).expect("writable");
    drain(&mut device);
    drop(device);
    assert_eq!(holds_data_at(file.write()), Some(sector));
}

#[test]
fn what_only_reads_or_writes_nothing_makes_no_data_ours() {
    let theirs = vec![7; MIB as usize];
    let file = Scratch::new("untouched", &theirs);
    drop(file.write_with(EngineChoice::Auto, true).expect("leave was given"));
    assert_eq!(holds_data_at(file.write()), Some(0));
}

/// A part of a file that the user names: what lies elsewhere is found only where it would be lost.
#[test]
fn data_that_a_look_misses_are_found_before_they_are_written() {
    for engine in ENGINES {
        let mut contents = vec![0; 64 * MIB as usize];
        contents[40_000_000] = 1;
        let file = Scratch::new("missed", &contents);
        let token = file.token();
        let consent = Consent { window: Some((0, None)), ..Consent::by_token(&token) };
        let mut device = open_write(&file.0, &consent, engine).expect("nothing was looked at");
        assert!(device.vets_writes());
        assert_eq!(device.expect_writes(std::slice::from_ref(&(0..MIB)), &mut |_| true), Ok(true));
        device.submit(Nanos::ZERO, Request::write(1, Lba(0), Sectors(128))).expect("zeros");
        drain(&mut device);
        let whole = 0..64 * MIB;
        let said = device.expect_writes(std::slice::from_ref(&whole), &mut |_| true);
        let said = said.unwrap_err().to_string();
        assert!(said.contains("at byte 40000000"), "{said}");
        assert!(said.contains("65536 bytes were written before"), "{said}");
        // Whoever does not say beforehand what is written is stopped all the same.
        let theirs = Request::write(2, Lba(40_000_000 / 512 / 8 * 8), Sectors(8));
        let stopped = device.submit(Nanos::ZERO, theirs).unwrap_err();
        assert!(stopped.to_string().contains("at byte 40000000"), "{stopped}");
        let next = device.submit(Nanos::ZERO, Request::write(3, Lba(0), Sectors(8)));
        assert_eq!(next, Err(stopped), "nothing is written after it");
        drop(device);
        let now = fs::read(&file.0).expect("readable");
        assert!(now[MIB as usize..] == contents[MIB as usize..]);
    }
}

#[test]
fn our_own_data_holes_and_zeros_are_recognised_by_themselves() {
    let file = Scratch::new("ours", &[]);
    fs::File::create(&file.0).and_then(|f| f.set_len(8 * MIB)).expect("sparse");
    let mut device = file.write().expect("holes may be overwritten");
    assert_eq!(device.access().holes_bytes, 8 * MIB);
    for id in 0..4 {
        let request = Request::write(id, Lba(id * 4096), Sectors(64));
        device.submit(Nanos::ZERO, request).expect("writable");
    }
    drain(&mut device);
    drop(device);
    let copy = Scratch::new("copy", &fs::read(&file.0).expect("readable"));
    copy.write().expect("it holds our sectors and zeros only");
}

#[test]
fn tokens_and_locks_stop_a_write() {
    let file = Scratch::new("token", &vec![0; MIB as usize]);
    for token in ["", "FILE:", "FILE:other.img", &file.token().to_lowercase()[1..]] {
        let consent = Consent { overwrite_existing: true, ..Consent::by_token(token) };
        let refused = open_write(&file.0, &consent, EngineChoice::Auto);
        let Err(error @ HostError::WrongToken { .. }) = refused else { panic!("{token:?}") };
        assert!(error.hint().expect("has one").contains("doctor --identify"));
    }
    let _reader = open_read(&file.0, EngineChoice::Auto).expect("a plain file");
    let _first = file.write().expect("zeros may be overwritten, and the reader is this process");
    let Err(HostError::Refused { why, .. }) = file.write() else { panic!("it is in use") };
    assert!(matches!(why, Refusal::Locked(_)), "by this process itself: {why}");
    assert!(why.is_usage());
}

#[test]
fn the_identity_of_a_file_says_what_a_page_needs() {
    let file = Scratch::new("identity", &vec![5; MIB as usize + 100]);
    fs::File::options()
        .write(true)
        .open(&file.0)
        .and_then(|f| f.set_len(4 * MIB + 100))
        .expect("grown");
    let link = file.0.with_extension("link");
    std::os::unix::fs::symlink(&file.0, &link).expect("a link");
    let identity = identify(&link).expect("a plain file");
    fs::remove_file(&link).expect("removable");
    assert_eq!(identity.token, Some(file.token()), "the token is that of the file itself");
    assert_eq!(identity.capacity_bytes, 4 * MIB, "whole blocks only");
    assert!(identity.holes_bytes >= 2 * MIB && identity.holes_bytes <= 3 * MIB + 4096);
    assert_eq!(identity.write_refusal, None);
    assert!(identity.logical_block_bytes >= 512);
    let device = open_read(&file.0, EngineChoice::Auto).expect("a plain file");
    assert_eq!(device.access().holes_bytes, identity.holes_bytes);
    assert_eq!(device.access().engine, identity.engine);
    let threads = open_read(&file.0, EngineChoice::Only(EngineKind::Threads)).expect("plain");
    assert_eq!(threads.access().engine, EngineKind::Threads);
    assert!(threads.access().engine_note.is_some(), "it must be said");
}

#[test]
fn a_file_system_without_direct_io_is_used_and_named() {
    // The kernel's own files are regular, of a block's size, and know no direct I/O.
    let path = Path::new("/sys/kernel/uevent_seqnum");
    let Ok(identity) = identify(path) else {
        eprintln!("skipped: no {}", path.display());
        return;
    };
    assert!(!identity.direct_io);
    assert!(identity.direct_io_note.expect("it must be said").contains("page cache"));
}

#[test]
fn a_file_in_memory_is_called_that() {
    let path = Path::new("/dev/shm").join(format!("ssdscope-{}.img", std::process::id()));
    if fs::write(&path, vec![1; MIB as usize]).is_err() {
        eprintln!("skipped: /dev/shm is not writable");
        return;
    }
    let file = Scratch(path);
    for engine in ENGINES {
        let mut device = open_read(&file.0, engine).expect("a plain file");
        assert!(device.access().memory_backed);
        device.submit(Nanos::ZERO, Request::read(1, Lba(0), Sectors(8))).expect("in range");
        assert_eq!(drain(&mut device)[0].outcome, Outcome::Done);
    }
}
