//! What is said of disturbances that cannot be, and of where a drive ends.

use crate::disturbance::DRIVES;
use crate::faults::{Impossible, complaint, hold};
use crate::rig::{DISK_DRIVE, LOG_DRIVE, MSR_DRIVE, PAGE_DRIVE, Rig, config};

#[test]
fn values_out_of_bounds_are_shown_with_the_bounds() {
    for drive in DRIVES {
        for (set, expected) in [
            ("noise_sigma=-0.1", "is -0.1; expected a share from 0 to 1"),
            ("spike_ratio=1.01", "is 1.01; expected a share from 0 to 1"),
            ("drift_ratio=2", "is 2; expected a share from 0 to 1"),
            ("foreign_iops=-5", "is -5; expected a whole number from 0 to 1000000"),
            ("spike_ns=1ms", "is \"1ms\"; expected whole nanoseconds, 0 or more"),
            ("flush=lost", "is \"lost\"; expected one of honoured, ignored, refused"),
        ] {
            let key = set.split('=').next().unwrap();
            let lines = complaint(drive, &[&format!("disturbance.{set}")]);
            assert_eq!(lines, [format!("--set: disturbance.{key}: {expected}")]);
        }
    }
}

#[test]
fn disturbances_that_cannot_be_are_refused_with_both_values() {
    let impossible: &[Impossible] = &[
        (
            "disturbance.drift_period_ns",
            &["disturbance.drift_ratio=0.5", "disturbance.drift_period_ns=0"],
            "0 is no period for disturbance.drift_ratio = 0.5 to rise and fall in",
        ),
        (
            "disturbance.foreign_on_ns",
            &["disturbance.foreign_on_ns=1000"],
            "1000 and disturbance.foreign_off_ns = 0 make no bursts",
        ),
        (
            "disturbance.foreign_on_ns",
            &["disturbance.foreign_off_ns=1000"],
            "0 and disturbance.foreign_off_ns = 1000 make no bursts",
        ),
        (
            "disturbance.foreign_bytes",
            &["disturbance.foreign_iops=1", "disturbance.foreign_bytes=1000"],
            "1000 is not a whole number of logical blocks of ",
        ),
        (
            "disturbance.foreign_bytes",
            &["disturbance.foreign_iops=1", "disturbance.foreign_bytes=16m"],
            "16777216 is more than the drive has (",
        ),
        (
            "disturbance.fault_offset_bytes",
            &["disturbance.fault_offset_bytes=4k", "disturbance.fault_bytes=1g"],
            "4096 + disturbance.fault_bytes = 1073741824 is behind the end of the drive (",
        ),
    ];
    for drive in DRIVES {
        hold(drive, impossible);
    }
}

#[test]
fn a_fault_may_reach_to_the_last_byte_and_no_further() {
    // Some that end elsewhere than their flash does.
    let cases: [(&str, &[&str]); 8] = [
        (PAGE_DRIVE, &[]),
        (PAGE_DRIVE, &["ftl.map_unit_bytes=8k", "ftl.phase_bytes=512"]),
        (PAGE_DRIVE, &["nand.bad_block_ratio=0.125"]),
        (LOG_DRIVE, &[]),
        (LOG_DRIVE, &["ftl.phase_bytes=2048"]),
        (MSR_DRIVE, &["msr.reserve_ratio=0.4"]),
        (DISK_DRIVE, &[]),
        (DISK_DRIVE, &["host.logical_block_bytes=4096"]),
    ];
    for (drive, sets) in cases {
        let capacity = Rig::open(drive, sets, None).capacity();
        assert_eq!(config(drive, sets).firmware.capacity_bytes(), capacity, "{sets:?}");
        let [last, first] = [capacity - 512, capacity - 511]
            .map(|offset| format!("disturbance.fault_offset_bytes={offset}"));
        let size = "disturbance.fault_bytes=512";
        config(drive, &[sets, &[&last, size]].concat());
        let lines = complaint(drive, &[sets, &[&first, size]].concat());
        assert!(lines[0].ends_with(&format!("({capacity} bytes)")), "{lines:?}");
    }
}
