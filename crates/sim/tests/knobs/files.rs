//! What drive files may say: presets, defaults, every key set and read back.

use crate::rig::{DISK_DRIVE, LOG_DRIVE, MSR_DRIVE, PAGE_DRIVE, config};
use serde_json::Value;
use ssdscope_sim::config::keys::{Fallback, KEYS, KINDS, Key, Kind};
use ssdscope_sim::{DriveConfig, State};
use std::path::PathBuf;

fn presets() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ssdscope/drives");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    // Arrays are targets made of these; the Python front reads them.
    files.retain(|path| !std::fs::read_to_string(path).unwrap().contains("\ntarget = "));
    files.sort();
    files
}

#[test]
fn every_preset_is_read_and_opens() {
    let presets = presets();
    assert!(presets.len() >= 4, "{presets:?}");
    for path in presets {
        let text = std::fs::read_to_string(&path).unwrap();
        let label = path.display().to_string();
        let config =
            DriveConfig::parse(&text, &label, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        assert!(!config.description.is_empty(), "{label} says what it is");
        assert!(text.contains("default_state"), "{label} names its state");
        let device = ssdscope_sim::open(&config, Some(State::Fresh), 1).unwrap();
        assert!(device.info().capacity_bytes > 1 << 30, "{label}");
    }
}

/// Where a key stands in a resolved drive.
fn lookup<'a>(resolved: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(resolved, |value, name| value.get(name))
}

fn applies(key: &Key, kind: &str) -> bool {
    key.scope.kinds().contains(&kind)
}

/// The small drives, by kind.
const DRIVES: [(&str, &str); 4] =
    [(PAGE_DRIVE, "page"), (LOG_DRIVE, "log-block"), (MSR_DRIVE, "msr"), (DISK_DRIVE, "disk")];

#[test]
fn a_resolved_drive_holds_the_keys_it_reads_and_no_others() {
    for (text, kind) in DRIVES {
        let config = config(text, &[]);
        for key in KEYS {
            let value = lookup(config.resolved(), key.path);
            assert_eq!(value.is_some(), applies(key, kind), "{}", key.path);
        }
    }
}

#[test]
fn what_a_file_leaves_out_is_the_documented_default() {
    // The shortest drive: what is required, and nothing else.
    let flash = |firmware: &str| {
        format!(
            "ftl.kind = \"{firmware}\"\n{}channel.ns_per_byte = 1\n[nand]\nchannels = 1\n\
             blocks_per_plane = 200\npages_per_block = 8\npage_bytes = 4096\nread_ns = 1\n\
             program_ns = 2\nerase_ns = 3\n",
            if firmware == "log-block" { "ftl.merge_unit_bytes = 32768\n" } else { "" }
        )
    };
    let disk = "[disk]\nrpm = 6000\nsurfaces = 1\ncylinders = 16\nouter_sectors_per_track = 8\n\
                inner_sectors_per_track = 8\nseek_track_ns = 1\nseek_average_ns = 2\n\
                seek_full_ns = 3\n";
    for kind in KINDS.iter().copied() {
        let text = if kind == "disk" { disk.to_owned() } else { flash(kind) };
        let config = config(&text, &[]);
        for key in KEYS.iter().filter(|key| applies(key, kind)) {
            let found = lookup(config.resolved(), key.path).unwrap();
            let expected = match key.default {
                Fallback::Required => continue,
                Fallback::SameAs(path) => lookup(config.resolved(), path).unwrap().clone(),
                default => serde_json::to_value(default).unwrap(),
            };
            assert_eq!(*found, expected, "{}", key.path);
        }
    }
}

/// A value that is allowed and not the one the small drives have.
fn another(key: &Key) -> (String, Value) {
    let number = |number: u64| (number.to_string(), Value::from(number));
    match (key.path, key.kind) {
        ("nand.page_bytes", _) => ("8k".into(), Value::from(8192)),
        ("gc.min_free_blocks", _) => number(3),
        ("gc.stop_writes_blocks" | "msr.parallel_units", _) => number(2),
        ("nand.planes" | "nand.blocks_per_plane", _) => {
            number(64 >> u32::from(key.path == "nand.planes"))
        }
        ("ftl.kind", _) => ("page".into(), Value::from("page")),
        ("gc.low_water_ratio", _) => ("0.051".into(), Value::from(0.051)),
        ("ftl.merge_unit_bytes", _) => number(2 * 32_768),
        ("ftl.placement_pages", _) => number(2),
        ("nand.bad_block_ratio", _) => ("0.125".into(), Value::from(0.125)),
        ("ftl.map_unit_bytes", _) => ("8k".into(), Value::from(8192)),
        ("ftl.phase_bytes", _) => number(512),
        ("ftl.reclaim_unit_bytes", _) => number(32_768),
        ("map.entry_bytes" | "map.cached_entry_bytes", _) => number(12),
        ("pslc.bytes" | "pslc.dynamic_bytes", _) => ("128k".into(), Value::from(131_072)),
        ("map.kind", _) => ("zones".into(), Value::from("zones")),
        ("read_cache.read_ahead_bytes", _) => number(8192),
        ("write_buffer.bytes" | "read_cache.bytes", _) => ("1m".into(), Value::from(1 << 20)),
        ("disk.inner_sectors_per_track", _) => number(60),
        ("disk.outer_sectors_per_track", _) => number(110),
        ("disk.cylinders", _) => number(77),
        ("disk.read_cache_bytes", _) => ("2m".into(), Value::from(2 << 20)),
        ("disk.seek_track_ns", _) => number(1_100_000),
        ("disk.seek_average_ns", _) => number(3_300_000),
        ("disk.seek_full_ns", _) => number(6_600_000),
        ("gc.policy", _) => ("wear-aware".into(), Value::from("wear-aware")),
        (_, Kind::Count(low, high)) => number((low + 7).min(high)),
        (_, Kind::Bytes(low, high)) => number((4 * low.max(64)).min(high)),
        (_, Kind::Nanos) => number(123_456),
        (_, Kind::NanosList(_)) => ("[1, 20, 3]".into(), Value::from(vec![1, 20, 3])),
        (_, Kind::Rate(..)) => ("1.5".into(), Value::from(1.5)),
        (_, Kind::Ratio(..)) => ("0.5".into(), Value::from(0.5)),
        (_, Kind::Flag) => {
            let flipped = key.default != Fallback::Bool(true);
            (flipped.to_string(), Value::from(flipped))
        }
        (_, Kind::Choice(words)) => {
            ((*words.last().unwrap()).into(), Value::from(*words.last().unwrap()))
        }
        (_, Kind::PlaneOrder) => ("PDWC".into(), Value::from("PDWC")),
        (_, Kind::State) => ("steady:1m".into(), Value::from("steady:1048576")),
        (_, Kind::Text) => ("a word or two".into(), Value::from("a word or two")),
    }
}

/// The zones are small enough for the drive.
const ROOMY: [&str; 4] =
    ["map.zone_bytes=64k", "nand.channels=2", "nand.planes=4", "nand.blocks_per_plane=48"];

#[test]
fn every_key_can_be_set_and_is_read_back() {
    for (text, kind) in DRIVES {
        // Large enough for any of the values.
        let roomy = match kind {
            "disk" => &["disk.cylinders=300", "disk.read_cache_bytes=1m"][..],
            "msr" => &ROOMY[1..],
            _ => &ROOMY,
        };
        let before = config(text, roomy);
        for key in KEYS.iter().filter(|key| applies(key, kind) && key.path != "ftl.kind") {
            let (set, expected) = another(key);
            let set = format!("{}={set}", key.path);
            let mut sets = [roomy, &[&set]].concat();
            // A merge unit is whole blocks, whatever their size, and whole mapping units.
            match (kind, key.path) {
                ("log-block", "ftl.map_unit_bytes") => sets.push("ftl.placement_pages=2"),
                (_, "read_cache.read_ahead_bytes") => sets.push("read_cache.bytes=2m"),
                ("log-block", "map.private_pools") => {
                    sets.extend(["map.kind=zones", "map.zone_bytes=1m"]);
                }
                ("log-block", "nand.page_bytes") => sets.push("ftl.merge_unit_bytes=64k"),
                // Half of a block of each of the planes.
                ("page", "pslc.bytes" | "pslc.dynamic_bytes") => sets.push("nand.bits_per_cell=2"),
                // Else nothing would ever yield.
                ("page", "gc.preemptible") => sets.push("gc.min_free_blocks=4"),
                ("log-block", "nand.pages_per_block") => sets.push("ftl.merge_unit_bytes=36k"),
                (_, "disturbance.foreign_on_ns") => sets.push("disturbance.foreign_off_ns=1"),
                (_, "disturbance.foreign_off_ns") => sets.push("disturbance.foreign_on_ns=1"),
                (_, "host.queues") => sets.push("host.interface=nvme"),
                (_, "host.arbitration") => {
                    sets.extend(["host.interface=nvme", "host.queues=2"]);
                }
                _ => {}
            }
            let after = config(text, &sets);
            assert_eq!(lookup(after.resolved(), key.path), Some(&expected), "{set}");
            assert_ne!(lookup(before.resolved(), key.path), Some(&expected), "{set} is no change");
            assert_ne!(before, after, "{set}");
        }
    }
}

#[test]
fn a_high_water_mark_nobody_set_follows_the_low_one() {
    let resolved = |sets: &[&str]| config(PAGE_DRIVE, sets).resolved()["gc"].clone();
    assert_eq!(resolved(&[])["high_water_ratio"], 0.06);
    assert_eq!(resolved(&["gc.low_water_ratio=0.3"])["high_water_ratio"], 0.3);
}

#[test]
fn set_comes_over_the_file_and_the_last_one_wins() {
    let resolved =
        config(PAGE_DRIVE, &["nand.read_ns=1", " nand.read_ns = 2 ", "host.interface=nvme"]);
    assert_eq!(resolved.resolved()["nand"]["read_ns"], 2);
    assert_eq!(resolved.resolved()["host"]["interface"], "nvme");
}
