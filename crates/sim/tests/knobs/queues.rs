//! Several submission queues in front of page-mapped and log-block drives.

use crate::faults::complaint;
use crate::rig::{LOG_DRIVE, PAGE, PAGE_DRIVE, READ, Rig};
use ssdscope_io::driver::Unobserved;
use ssdscope_io::workload::Pattern;
use ssdscope_io::{
    Arrival, Cause, Completion, Flow, Flows, Lba, LogKeeper, Priority, Queue, Request, Sectors,
    Workload, run_flows,
};
use ssdscope_sim::State;

knobs! {
    "host.queues" => each_queue_has_its_turn,
    "host.fetch_size" => so_many_commands_of_a_queue_are_in_the_drive,
    "host.arbitration" => priority_takes_classes_by_their_weights,
}

/// Both drives with every page written, one command at a time unless `sets` say otherwise.
fn drives(sets: &[&str]) -> [Rig; 2] {
    let all = [&["host.interface=nvme", "host.queue_depth=1"][..], sets].concat();
    [PAGE_DRIVE, LOG_DRIVE].map(|text| Rig::open(text, &all, Some(State::Sequential)))
}

/// Asks for a page each, at the same instant, through queues of classes; in the order of
/// their ends.
fn ask(rig: &mut Rig, through: &[(u16, Priority)]) -> Vec<Completion> {
    for (id, &(index, priority)) in (0..).zip(through) {
        let request = Request {
            queue: Queue { index, priority },
            ..Request::read(id, Lba(id * PAGE / 512), Sectors(PAGE / 512))
        };
        rig.device.submit(rig.device.now(), request).unwrap();
    }
    let mut done = rig.drain();
    done.sort_by_key(|done| done.completed);
    done
}

fn order(rig: &mut Rig, through: &[(u16, Priority)]) -> Vec<u64> {
    ask(rig, through).iter().map(|done| done.id).collect()
}

/// Four commands in the first queue, then two in the second.
const UNEVEN: [(u16, Priority); 6] = {
    use Priority::{High, Low};
    [(0, Low), (0, Low), (0, Low), (0, Low), (1, High), (1, High)]
};

fn each_queue_has_its_turn() {
    for mut rig in drives(&["host.queues=1"]) {
        assert_eq!(order(&mut rig, &UNEVEN), [0, 1, 2, 3, 4, 5], "first come first served");
        assert_eq!(rig.device.queues().count, 1);
    }
    for mut rig in drives(&["host.queues=2"]) {
        assert_eq!(order(&mut rig, &UNEVEN), [0, 4, 1, 5, 2, 3]);
        assert_eq!((rig.device.queues().count, rig.device.queues().priorities), (2, false));
    }
}

fn so_many_commands_of_a_queue_are_in_the_drive() {
    let waiting = |rig: &mut Rig, through: &[(u16, Priority)]| {
        let done = ask(rig, through);
        // Behind a read of another command, not just behind its message on the link.
        done.iter().filter(|done| done.attribution[Cause::HostQueue] >= READ).count()
    };
    for (set, one, two) in [
        ("host.fetch_size=0", 0, 0),
        ("host.fetch_size=1", 5, 4),
        ("host.fetch_size=2", 4, 2),
        ("host.fetch_size=4", 2, 0),
    ] {
        for mut rig in drives(&["host.queue_depth=256", "host.queues=1", set]) {
            assert_eq!(waiting(&mut rig, &UNEVEN), one, "{set}, one queue");
        }
        for mut rig in drives(&["host.queue_depth=256", "host.queues=2", set]) {
            assert_eq!(waiting(&mut rig, &UNEVEN), two, "{set}, two queues");
        }
    }
}

fn priority_takes_classes_by_their_weights() {
    use Priority::{High, Low, Medium, Urgent};
    let classes = [Low, Medium, High, Urgent];
    // The first is in the drive before anybody waits; then six of each class.
    let mut through = vec![(0, Low)];
    (0..6).for_each(|_| through.extend((0..).zip(classes)));
    let class_of = |id: u64| through[id as usize].1 as usize;
    for mut rig in drives(&["host.queues=4", "host.arbitration=priority"]) {
        let served: Vec<usize> =
            order(&mut rig, &through).into_iter().map(class_of).skip(1).collect();
        assert_eq!(served[..6], [0; 6], "urgent commands before all others");
        // The first command was the low class's share of the round that went on.
        assert_eq!(served[6..12], [1, 1, 1, 1, 2, 2]);
        assert_eq!(served[12..17], [1, 1, 2, 2, 3], "the classes by weight, while they last");
        assert_eq!(served[17..], [2, 2, 3, 3, 3, 3, 3]);
        assert!(rig.device.queues().priorities);
    }
    for mut rig in drives(&["host.queues=4", "host.arbitration=round-robin"]) {
        let served: Vec<usize> =
            order(&mut rig, &through).into_iter().map(class_of).skip(1).collect();
        assert_eq!(served, [2, 1, 0, 3].repeat(6), "one of each in turn");
    }
}

#[test]
fn queues_that_mean_nothing_are_refused() {
    for (sets, expected) in [
        (&["host.queues=2"][..], "host.queues: several queues need host.interface = \"nvme\""),
        (
            &["host.queues=2", "host.interface=sata"],
            "host.queues: several queues need host.interface = \"nvme\"",
        ),
        (
            &["host.interface=nvme", "host.arbitration=priority"],
            "host.arbitration: \"priority\" is a choice between queues, but host.queues = 1",
        ),
        (&["host.queues=65"], "host.queues: is 65; expected a whole number from 1 to 64"),
    ] {
        for drive in [PAGE_DRIVE, LOG_DRIVE] {
            let lines = complaint(drive, sets);
            assert!(lines.len() == 1 && lines[0].ends_with(expected), "{lines:?}");
        }
    }
}

/// What two flows of random reads, the first of 16 in flight and the second of 64, have of
/// the requests served by a drive that takes 16 at once.
fn shares(sets: &[&str], classes: [Option<Priority>; 2]) -> Vec<[f64; 2]> {
    let sets = [&["host.queue_depth=16"][..], sets].concat();
    let flow = |name: &str, iodepth, priority| {
        let (runtime_ns, seed) = (Some(200_000_000), iodepth);
        let workload = Workload { iodepth, runtime_ns, seed, ..Workload::new(Pattern::RandRead) };
        Flow { name: name.to_owned(), priority, turn: None, workload }
    };
    let flows = Flows {
        flows: vec![flow("few", 16, classes[0]), flow("many", 64, classes[1])],
        exit_all: false,
    };
    let run = |mut rig: Rig| {
        let summary = run_flows(&mut *rig.device, &flows, &mut Unobserved).unwrap();
        assert!(summary.requests > 2_500, "{}", summary.requests);
        let parts = summary.flows.unwrap();
        [0, 1].map(|place| parts[place].requests as f64 / summary.requests as f64)
    };
    drives(&sets).map(run).to_vec()
}

fn assert_shares(sets: &[&str], classes: [Option<Priority>; 2], first: f64) {
    for [few, many] in shares(sets, classes) {
        println!("{sets:?} {classes:?}: {few:.3} and {many:.3}");
        assert!((few - first).abs() < 0.02, "{sets:?} {classes:?}: {few} instead of {first}");
    }
}

#[test]
fn one_queue_serves_flows_by_their_depths_and_several_in_turn() {
    assert_shares(&["host.queues=1"], [None; 2], 16.0 / 80.0);
    assert_shares(&["host.queues=2"], [None; 2], 0.5);
}

#[test]
fn priority_shares_by_the_weights_whatever_the_depths() {
    use Priority::{High, Low, Medium, Urgent};
    let sets = &["host.queues=2", "host.arbitration=priority"];
    for (few, many, share) in [
        (High, Low, 4.0 / 5.0),
        (Low, High, 1.0 / 5.0),
        (Medium, Low, 2.0 / 3.0),
        (High, Medium, 4.0 / 6.0),
        (Low, Low, 0.5),
        (Low, Urgent, 0.0),
    ] {
        assert_shares(sets, [Some(few), Some(many)], share);
    }
}

#[test]
fn the_statistics_of_each_flow_are_those_of_its_rows() {
    let workload = |rw, iodepth| Workload {
        iodepth,
        requests: Some(400),
        size_bytes: Some(8 * PAGE),
        ..Workload::new(rw)
    };
    let flow =
        |name: &str, workload| Flow { name: name.to_owned(), priority: None, turn: None, workload };
    let arriving = Workload {
        arrival: Arrival::Poisson,
        rate_iops: Some(2_000),
        ..workload(Pattern::RandRead, 1)
    };
    let flows = Flows {
        flows: vec![
            flow("writes", workload(Pattern::RandWrite, 4)),
            flow("reads", workload(Pattern::Read, 9)),
            flow("arriving", arriving),
        ],
        exit_all: false,
    };
    for mut rig in drives(&["host.queue_depth=8", "host.queues=3", "host.fetch_size=3"]) {
        let mut keeper = LogKeeper::default();
        let summary = run_flows(&mut *rig.device, &flows, &mut keeper).unwrap();
        let log = keeper.log;
        for (place, flow) in (0..).zip(summary.flows.unwrap()) {
            let own = log.flow.as_ref().unwrap().iter().enumerate();
            let rows: Vec<usize> = own.filter(|own| *own.1 == place).map(|own| own.0).collect();
            let latency = |&row: &usize| log.complete_ns[row] - log.submit_ns[row];
            let stats = flow.read.or(flow.write).unwrap();
            assert_eq!((rows.len(), stats.requests), (400, 400));
            let sum: u64 = rows.iter().map(latency).sum();
            assert_eq!(stats.latency_ns.mean, sum as f64 / 400.0, "{}", flow.name);
            assert_eq!(Some(stats.latency_ns.max), rows.iter().map(latency).max());
            let begin = rows.iter().map(|&row| log.submit_ns[row]).min().unwrap();
            let end = rows.iter().map(|&row| log.complete_ns[row]).max().unwrap();
            assert_eq!(stats.iops, Some(400.0 * 1e9 / (end - begin) as f64));
            for row in rows {
                let parts = log.attribution_ns.as_ref().unwrap().iter();
                let sum: u64 = parts.map(|column| column[row]).sum();
                assert_eq!(sum, latency(&row), "an arrival is when it is submitted");
            }
        }
    }
}
