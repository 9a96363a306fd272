//! What is said of drive files that cannot work: which line, which key, what is expected.

use crate::rig::{DISK_DRIVE, LOG_DRIVE, MSR_DRIVE, PAGE_DRIVE};
use ssdscope_sim::config::keys::{FIRMWARES, Fallback, KEYS, Kind, Scope};
use ssdscope_sim::{DriveConfig, SimError, State};

/// The lines of the complaint about a file.
pub fn complaint(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    match DriveConfig::parse(text, "drive.toml", &sets) {
        Ok(_) => panic!("{sets:?} was accepted"),
        Err(faults) => faults.lines(),
    }
}

/// Key at fault, what was set, and a part of the reason.
pub type Impossible = (&'static str, &'static [&'static str], &'static str);

/// Holds what is said of drives that cannot work against what should be.
pub fn hold(drive: &str, impossible: &[Impossible]) {
    for (key, sets, reason) in impossible {
        let lines = complaint(drive, sets);
        let place = format!(": {key}: ");
        assert!(lines[0].contains(&place) && lines[0].contains(reason), "{sets:?}: {lines:?}");
        assert_eq!(lines.len(), 1, "{lines:?}");
    }
}

/// Holds the complaint about the file with one line replaced against the expected one.
fn check_line(line: &str, replaced: &str, expected: &[&str]) {
    assert!(PAGE_DRIVE.contains(line), "{line}");
    let number = PAGE_DRIVE.lines().position(|found| found == line).unwrap() + 1;
    let lines = complaint(&PAGE_DRIVE.replace(line, replaced), &[]);
    let place = format!("drive.toml:{number}: ");
    for part in expected.iter().chain(&[&place[..]]) {
        assert!(lines[0].contains(part), "{part:?} is not in {lines:?}");
    }
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
    for (line, replaced, near) in [
        ("channels = 1", "channels = 1\nchanels = 2", None),
        ("read_ns = 50_000", "reed_ns = 50_000", Some("nand.read_ns")),
        ("pages_per_block = 8", "page_per_block = 8", Some("nand.pages_per_block")),
        (
            "over_provisioning_ratio = 1.0",
            "over_provisoning_ratio = 1.0",
            Some("over_provisioning_ratio"),
        ),
    ] {
        if let Some(near) = near {
            let hint = format!("(did you mean {near}?)");
            check_line(line, replaced, &["unknown key", &hint]);
        } else {
            let lines = complaint(&PAGE_DRIVE.replace(line, replaced), &[]);
            let expected =
                ["drive.toml:7: nand.chanels: unknown key (did you mean nand.channels?)"];
            assert_eq!(lines, expected);
        }
    }
    check_line(
        "[host]",
        "[hots]",
        &["hots: unknown table", "did you mean [host]?", "nand, channel, scheduler, host, ftl"],
    );
    let far = complaint(PAGE_DRIVE, &["zzzzzzzzzzzzzzzzzz=2"]);
    assert_eq!(far, ["--set: zzzzzzzzzzzzzzzzzz: unknown key"], "nothing is near enough");
}

#[test]
fn what_is_not_toml_is_shown() {
    let doubled = PAGE_DRIVE.replace("channels = 1", "channels = 1\nchannels = 2");
    let lines = complaint(&doubled, &[]);
    assert!(lines[0].ends_with("not TOML: duplicate key: `channels = 2`"), "{lines:?}");
    let lines = complaint("a\u{1b}[31m", &[]);
    assert!(lines[0].is_ascii() && lines[0].contains("\\u{1b}"), "{lines:?}");
}

#[test]
fn rates_that_would_stop_the_clock_are_refused() {
    for (set, expected) in [
        ("host.lane_bytes_per_second=1e-300", "a number from 1 to 1e15"),
        ("channel.ns_per_byte=1e15", "a number from 0.001 to 1e6"),
    ] {
        let lines = complaint(PAGE_DRIVE, &[set]);
        assert!(lines[0].ends_with(expected), "{lines:?}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_shown_with_the_expected_form() {
    for (line, replaced, expected) in [
        ("channels = 1", "channels = 0", "is 0; expected a whole number from 1 to 256"),
        ("channels = 1", "channels = 1.5", "is 1.5; expected a whole number"),
        ("channels = 1", "channels = -1", "is -1; expected a whole number"),
        ("channels = 1", "channels = \"two\"", "is \"two\"; expected a whole number"),
        ("channels = 1", "channels = [1]", "is [1]; expected a whole number"),
        ("page_bytes = 4096", "page_bytes = 262144", "expected whole bytes from 512 to 131072"),
        ("read_ns = 50_000", "read_ns = 3_600_000_000_001", "expected whole nanoseconds"),
        ("ns_per_byte = 2.5", "ns_per_byte = 0", "is 0; expected a number from 0.001"),
        ("ns_per_byte = 2.5", "ns_per_byte = nan", "is nan; expected a number from 0.001"),
        ("ns_per_byte = 2.5", "ns_per_byte = inf", "is inf; expected a number from 0.001"),
        (
            "over_provisioning_ratio = 1.0",
            "over_provisioning_ratio = -0.1",
            "a share from 0 to 100",
        ),
        (
            "kind = \"page\"",
            "kind = \"pages\"",
            "is \"pages\"; expected one of page, log-block, msr",
        ),
        ("default_state = \"fresh\"", "default_state = \"old\"", "steady or steady:SIZE"),
        ("description = \"one plane\"", "description = 7", "is 7; expected text in quotes"),
    ] {
        check_line(line, replaced, &[expected]);
    }
    for (set, expected) in [
        ("scheduler.read_first=1", "--set: scheduler.read_first: is 1; expected true or false"),
        ("ftl.plane_order=CWD", "is \"CWD\"; expected the letters C, W, D and P in some order"),
        ("ftl.plane_order=CWDD", "expected the letters C, W, D and P"),
        ("ftl.plane_order=cwdp", "expected the letters C, W, D and P"),
    ] {
        assert!(complaint(PAGE_DRIVE, &[set])[0].contains(expected), "{set}");
    }
}

#[test]
fn every_key_refuses_what_is_not_of_its_kind() {
    for key in KEYS {
        let drive = match key.scope {
            Scope::Msr => MSR_DRIVE,
            Scope::LogBlock => LOG_DRIVE,
            Scope::Disk => DISK_DRIVE,
            _ => PAGE_DRIVE,
        };
        let wrong = if key.kind == Kind::Text { "7" } else { "[\"?\"]" };
        let lines = complaint(drive, &[&format!("{}={wrong}", key.path)]);
        let expected = format!("--set: {}: is {wrong}; expected {}", key.path, key.kind.expected());
        assert_eq!(lines, [expected]);
    }
}

#[test]
fn a_missing_key_is_named_with_what_it_is_for() {
    let lines = complaint(&PAGE_DRIVE.replace("read_ns = 50_000\n", ""), &[]);
    assert_eq!(lines, ["drive.toml: nand.read_ns: is missing: array time of a page read"]);
    let lines = complaint(&PAGE_DRIVE.replace("kind = \"page\"\n", ""), &[]);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("ftl.kind: is missing"), "{lines:?}");
    let missing = complaint("ftl.kind = \"page\"", &[]).len();
    let required = |kind: &str| {
        let read = KEYS.iter().filter(|key| key.scope.kinds().contains(&kind));
        let required = read.filter(|key| key.default == Fallback::Required);
        required.filter(|key| key.path != "ftl.kind").count()
    };
    assert_eq!(missing, required("page"), "all of them at once");
    // One of the disk's is there, which is what makes it a disk.
    assert_eq!(complaint("disk.rpm = 5400", &[]).len(), required("disk") - 1);
    assert_eq!(complaint("", &[]).len(), 1, "without a firmware nothing more is known");
}

#[test]
fn a_key_of_another_firmware_is_refused() {
    for (drive, kind, set) in [
        (PAGE_DRIVE, "page", "msr.reserve_ratio=0.2"),
        (MSR_DRIVE, "msr", "ftl.placement_pages=2"),
        (MSR_DRIVE, "msr", "over_provisioning_ratio=0.1"),
        (PAGE_DRIVE, "page", "ftl.log_blocks=4"),
        (LOG_DRIVE, "log-block", "gc.policy=greedy"),
        (LOG_DRIVE, "log-block", "ftl.reclaim_unit_bytes=65536"),
    ] {
        let lines = complaint(drive, &[set]);
        let expected = format!("means nothing on a drive of ftl.kind = \"{kind}\" (remove it)");
        assert!(lines[0].ends_with(&expected), "{lines:?}");
    }
    for key in KEYS {
        let kinds = key.scope.kinds();
        let Some(other) = FIRMWARES.iter().find(|kind| !kinds.contains(kind)) else {
            continue;
        };
        let minimal = "channel.ns_per_byte = 1\n[nand]\nchannels = 1\nblocks_per_plane = 64\n\
                       pages_per_block = 8\npage_bytes = 4096\nread_ns = 1\nprogram_ns = 2\n\
                       erase_ns = 3\n";
        let unit = if *other == "log-block" { "ftl.merge_unit_bytes = 32768\n" } else { "" };
        let text = format!("ftl.kind = \"{other}\"\n{unit}{minimal}");
        let value = match key.kind {
            Kind::Count(low, _) | Kind::Bytes(low, _) => low.to_string(),
            Kind::Nanos | Kind::Rate(..) => "1".to_owned(),
            Kind::NanosList(_) => "[1]".to_owned(),
            Kind::Ratio(..) => "0.5".to_owned(),
            Kind::Flag => "true".to_owned(),
            Kind::Choice(words) => words[0].to_owned(),
            Kind::PlaneOrder => "CWDP".to_owned(),
            Kind::State | Kind::Text => panic!("{} is read by all", key.path),
        };
        let lines = complaint(&text, &[&format!("{}={value}", key.path)]);
        assert!(lines[0].contains(key.path) && lines[0].contains("means nothing"), "{lines:?}");
    }
}

#[test]
fn an_msr_drive_that_cannot_work_is_refused_with_the_key_at_fault() {
    for (key, sets, reason) in [
        (
            "gc.low_water_ratio",
            &["gc.low_water_ratio=0.25"][..],
            "the low-water mark is 8 free blocks per plane, but only 8 are in reserve",
        ),
        (
            "msr.reserve_ratio",
            &["msr.reserve_ratio=0"],
            "0 of the 32 blocks of a plane are in reserve",
        ),
        (
            "msr.parallel_units",
            &["msr.parallel_units=3", "nand.planes=3"],
            "there can be 1, 2 or 4",
        ),
        ("msr.parallel_units", &["msr.parallel_units=2"], "they must share 1 planes"),
        (
            "nand.blocks_per_plane",
            &["nand.blocks_per_plane=100000"],
            "blocks_per_plane is 100000, it can be at most 65536",
        ),
        ("nand.page_bytes", &["nand.page_bytes=4000"], "4000 is not a multiple of 512 bytes"),
        (
            "default_state",
            &["default_state=steady:1g"],
            "the window of 1073741824 bytes is larger than the drive",
        ),
    ] {
        let lines = complaint(MSR_DRIVE, sets);
        let place = format!(": {key}: ");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&place) && lines[0].contains(reason), "{sets:?}: {lines:?}");
        assert!(!lines[0].contains('\n'), "{lines:?}");
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let text = PAGE_DRIVE
        .replace("channels = 1", "chanels = 1")
        .replace("read_ns = 50_000", "read_ns = \"fast\"")
        .replace("[host]", "[hosts]");
    let lines = complaint(&text, &["gc.polcy=greedy", "nonsense", "nand.ways=0"]);
    let starts = [
        "drive.toml:6: nand.chanels: unknown key",
        "drive.toml:10: nand.read_ns: is \"fast\"",
        "drive.toml:18: hosts: unknown table",
        "--set: gc.polcy: unknown key (did you mean gc.policy?)",
        "--set: nonsense: expected KEY=VALUE",
        "--set: nand.ways: is 0; expected a whole number from 1 to 64",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line} does not start with {start}");
    }
    // What contradicts itself is told together too.
    let sets = ["nand.page_bytes=1000", "gc.stop_writes_blocks=9", "nand.ways=64", "nand.dies=16"];
    assert_eq!(complaint(PAGE_DRIVE, &sets).len(), 5);
    // A value that is refused hides no contradiction but those about itself.
    let sets = ["gc.low_water_ratio=7", "gc.stop_writes_blocks=9", "host.queue_depth=0"];
    let lines = complaint(PAGE_DRIVE, &sets);
    let keys =
        ["gc.low_water_ratio", "host.queue_depth", "gc.min_free_blocks", "over_provisioning_ratio"];
    assert_eq!(lines.len(), keys.len(), "{lines:#?}");
    for (line, key) in lines.iter().zip(keys) {
        assert!(line.contains(&format!(": {key}: ")), "{line} is not about {key}");
    }
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    let lines = complaint("description = \"x\"\n\nnand = = 3\n", &[]);
    assert!(lines[0].starts_with("drive.toml:3: not TOML: "), "{lines:?}");
    let lines = complaint("\u{0}\u{1}\u{2}", &[]);
    assert!(lines[0].contains("not TOML"), "{lines:?}");
    let lines = complaint("[nand]\nchannels = 1\nchannels = 2\n", &[]);
    assert!(lines[0].starts_with("drive.toml:3: not TOML: duplicate key"), "{lines:?}");
    let lines = complaint("[[nand]]\nchannels = 1\n", &[]);
    assert!(lines[0].contains("nand: is a list of tables (write one [table])"), "{lines:?}");
}

#[test]
fn set_reads_words_sizes_and_numbers_and_refuses_the_rest() {
    for set in
        ["nand.page_bytes=8k", "nand.page_bytes=8KiB", "nand.page_bytes=8192", "ftl.kind=page"]
    {
        assert!(DriveConfig::parse(PAGE_DRIVE, "drive.toml", &[set.to_owned()]).is_ok(), "{set}");
    }
    for (set, expected) in [
        ("nand.page_bytes=8KB", "--set: nand.page_bytes: is \"8KB\"; expected whole bytes"),
        ("nand.page_bytes=", "--set: nand.page_bytes: is \"\"; expected whole bytes"),
        ("nand.read_ns=5us", "--set: nand.read_ns: is \"5us\"; expected whole nanoseconds"),
        (
            "blocks_per_plane=3",
            "--set: blocks_per_plane: unknown key (did you mean nand.blocks_per_plane?)",
        ),
        ("=3", "--set: =3: expected KEY=VALUE"),
        ("nand.read_ns", "--set: nand.read_ns: expected KEY=VALUE"),
    ] {
        let lines = complaint(PAGE_DRIVE, &[set]);
        assert!(lines[0].starts_with(expected), "{set}: {lines:?}");
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused_when_opened() {
    for drive in [PAGE_DRIVE, LOG_DRIVE, MSR_DRIVE, DISK_DRIVE] {
        let config = DriveConfig::parse(drive, "drive.toml", &[]).unwrap();
        let state = State::Steady { window_bytes: Some(1 << 40) };
        match ssdscope_sim::open(&config, Some(state), 1).err() {
            Some(SimError::State(message)) => assert!(message.contains("larger than the drive")),
            other => panic!("{other:?}"),
        }
    }
}
