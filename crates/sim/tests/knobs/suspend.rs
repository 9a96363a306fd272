//! Reads that stop what their die is at.

use crate::rig::{
    ERASE, NO_LINK, PAGE, PROGRAM_ARRAY, PROGRAM_COMMAND, READ, Rig, TRANSFER, WRITE, read, write,
};
use ssdscope_io::{Cause, Op};

knobs! {
    "scheduler.suspend" => a_read_stops_what_may_be_stopped,
    "scheduler.suspend_ns" => stopping_takes_its_time,
    "scheduler.resume_ns" => going_on_takes_its_time,
    "scheduler.suspend_reads" => a_program_lets_so_many_reads_pass,
}

const STOP: u64 = 20_000;
const RESUME: u64 = 5_000;
const TIMES: [&str; 2] = ["scheduler.suspend_ns=20000", "scheduler.resume_ns=5000"];
const BOTH: &str = "scheduler.suspend=program-and-erase";
const DATA: u64 = PROGRAM_COMMAND + TRANSFER;

/// A drive with every page written, on which a write has been under way for `ns`.
fn writing(sets: &[&str], ns: u64) -> Rig {
    let mut rig = Rig::filled(&[&TIMES[..], sets].concat());
    rig.then(write(0), ns);
    rig
}

/// A drive on which an erase has been under way for a microsecond.
fn erasing(mode: &str) -> Rig {
    let mode = format!("scheduler.suspend={mode}");
    let mut rig = Rig::page(&[&NO_LINK[..], &TIMES, &[&mode]].concat());
    // The last of these writes fills a block; two are free then, and one is erased.
    rig.write_pages((0..112).map(|number| number % 64));
    rig.idle(1000);
    rig
}

fn a_read_stops_what_may_be_stopped() {
    for (mode, stops) in [("none", false), ("erase", false), ("program-and-erase", true)] {
        let mut rig = writing(&[&format!("scheduler.suspend={mode}")], 100_000);
        rig.submit(read(9));
        let done = rig.drain();
        let [written, found] = [done[0].attribution, done[1].attribution];
        let (suspended, waited) = if stops { (STOP, 0) } else { (0, WRITE - 100_000) };
        assert_eq!(done[1].latency().0, suspended + waited + READ, "{mode}");
        assert_eq!((found[Cause::Suspend], found[Cause::DieWait]), (suspended, waited), "{mode}");
        // What was stopped ends as much later as it stood still.
        let still = if stops { STOP + READ + RESUME } else { 0 };
        assert_eq!(done[0].latency().0, WRITE + still, "{mode}");
        assert_eq!((written[Cause::Suspend], written[Cause::Nand]), (still, PROGRAM_ARRAY));
        assert_eq!(rig.counters().suspends, u64::from(stops), "{mode}");
    }
    for (mode, stops) in [("none", false), ("erase", true), ("program-and-erase", true)] {
        let mut rig = erasing(mode);
        let found = rig.one(read(9)).attribution;
        let (suspended, waited) = if stops { (STOP, 0) } else { (0, ERASE - 1000) };
        assert_eq!((found[Cause::Suspend], found[Cause::Gc]), (suspended, waited), "{mode}");
        // The rest of the erase: its command was sent, and the array at it for 800 ns.
        let left = if stops { RESUME + ERASE - 1000 } else { 0 };
        let behind = rig.one(write(9)).attribution;
        assert_eq!(behind[Cause::Gc], left.saturating_sub(RESUME), "{mode}");
        assert_eq!(behind[Cause::Suspend], left.min(RESUME), "{mode}");
    }
}

fn stopping_takes_its_time() {
    for stop in [0, 1, 77_777] {
        let set = format!("scheduler.suspend_ns={stop}");
        let mut rig = writing(&[BOTH, &set], 100_000);
        rig.submit(read(9));
        let done = rig.drain();
        assert_eq!(done[1].latency().0, stop + READ);
        assert_eq!(done[0].latency().0, WRITE + stop + READ + RESUME);
    }
    // What ends before it would be stopped is not stopped.
    for (early, stops) in [(STOP + 1, true), (STOP, false), (1, false)] {
        let mut rig = writing(&[BOTH], WRITE - early);
        rig.submit(read(9));
        let done = rig.drain();
        assert_eq!(done[1].latency().0, if stops { STOP } else { early } + READ, "{early}");
        assert_eq!(rig.counters().suspends, u64::from(stops), "{early}");
    }
    // Nothing is stopped before its data are in.
    let mut rig = writing(&[BOTH], 1_000);
    rig.submit(read(9));
    let found = rig.drain()[1].attribution;
    assert_eq!((found[Cause::DieWait], found[Cause::Suspend]), (DATA - 1_000, STOP));
}

fn going_on_takes_its_time() {
    for resume in [0, 1, 77_777] {
        let mut rig = writing(&[BOTH, &format!("scheduler.resume_ns={resume}")], 100_000);
        // Reads that come together share a suspension.
        rig.submit(read(9));
        rig.submit(read(10));
        rig.submit(read(11));
        let done = rig.drain();
        assert_eq!(done[3].latency().0, STOP + 3 * READ);
        assert_eq!(done[0].latency().0, WRITE + STOP + 3 * READ + resume);
        assert_eq!(rig.counters().suspends, 1);
    }
}

fn a_program_lets_so_many_reads_pass() {
    for limit in [1, 2, 3, 16] {
        let mut rig = writing(&[BOTH, &format!("scheduler.suspend_reads={limit}")], 100_000);
        let mut latencies = Vec::new();
        for number in 0..5 {
            rig.submit(read(9 + number));
            // The next one comes when this one is answered, and the array is about to go on.
            let mut done = Vec::new();
            while !done.iter().any(|one: &ssdscope_io::Completion| one.id == rig.last_id()) {
                rig.device.advance(ssdscope_io::Nanos::MAX, &mut done).unwrap();
            }
            latencies.extend(done.iter().map(|one| (one.id, one.latency().0)));
        }
        rig.drain().iter().for_each(|one| latencies.push((one.id, one.latency().0)));
        latencies.sort_unstable();
        let passed = limit.min(5);
        assert_eq!(rig.counters().suspends, passed, "{limit}");
        let still = passed * (STOP + READ + RESUME);
        assert_eq!(latencies[0].1 - WRITE, still, "{limit}");
        assert_eq!(latencies[1].1, STOP + READ, "{limit}");
        for number in 2..=5 {
            let left = WRITE - 100_000;
            let expected = match number {
                _ if number <= passed => RESUME + STOP + READ,
                _ if number == passed + 1 => RESUME + left + READ,
                _ => READ,
            };
            assert_eq!(latencies[number as usize].1, expected, "{limit}: read {number}");
        }
    }
}

#[test]
fn what_is_loaded_stays_where_it_is() {
    let mut rig = Rig::filled(&[&TIMES[..], &[BOTH, "scheduler.cached_program=true"]].concat());
    rig.submit(write(0));
    rig.then(write(1), 100_000);
    rig.submit(read(9));
    let done = rig.drain();
    let still = STOP + READ + RESUME;
    assert_eq!(done[2].latency().0, STOP + READ);
    assert_eq!(done[0].latency().0, WRITE + still);
    assert_eq!(done[1].latency().0, WRITE + still + PROGRAM_ARRAY);
    assert_eq!(done[1].attribution[Cause::Suspend], still);
    assert_eq!(done[1].attribution[Cause::DieWait], DATA + PROGRAM_ARRAY - DATA);
}

#[test]
fn all_planes_of_a_command_stop_and_a_chip_stops_as_one() {
    // A program of four planes.
    let mut rig = Rig::filled(&[&TIMES[..], &[BOTH, "nand.planes=4"]].concat());
    rig.then((Op::Write, 0, 4 * PAGE), 100_000);
    rig.submit(read(9));
    let done = rig.drain();
    let whole = PROGRAM_COMMAND + 4 * TRANSFER + PROGRAM_ARRAY + STOP + READ + RESUME;
    assert_eq!(done[0].latency().0, whole);
    assert_eq!((done[1].latency().0, rig.counters().suspends), (STOP + READ, 1));
    // Dies that do not overlap: a read of the other one stops the chip's program.
    for (flag, stopped) in [("false", STOP), ("true", 0)] {
        let interleave = format!("scheduler.die_interleave={flag}");
        let mut rig = writing(&[BOTH, "nand.dies=2", &interleave], 100_000);
        rig.submit(read(9));
        assert_eq!(rig.drain()[1].latency().0, stopped + READ, "{flag}");
    }
}
