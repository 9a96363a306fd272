//! What a drive says of its health, where the kernel gives that without vendor tools.
//!
//! NVMe: the SMART log by an admin command. ATA: SMART through `SG_IO`, or only the temperature of
//! `drivetemp`. Both commands need root.

use crate::ata::{self, Smart};
use crate::nvme::{self, SmartLog};
use crate::sysfs::SysBlock;
use serde::Serialize;
use std::fs::File;

/// Health as the drive reports it; `None` where it, or the kernel, does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Temperature, in degrees Celsius.
    pub celsius: Option<i32>,
    /// Rated life used, in percent; may exceed 100.
    pub used_percent: Option<u8>,
    /// Spare blocks left, in percent.
    pub spare_percent: Option<u8>,
    /// Bytes that hosts have written in the drive's life.
    pub host_bytes_written: Option<u64>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
    /// Why the drive warns, where it does.
    pub critical: Vec<String>,
}

impl Health {
    /// Asks an open drive, and `/sys` for what that does not say.
    pub(crate) fn of(file: &File, block: &SysBlock) -> Self {
        let asked = if block.is_nvme() {
            nvme::smart_log(file).ok().map(|log| Self::from(&log))
        } else if block.is_ata() {
            ata::smart(file).ok().map(|smart| Self::from(&smart))
        } else {
            None
        };
        let mut health = asked.unwrap_or_default();
        health.celsius = health.celsius.or_else(|| block.celsius());
        health
    }
}

impl From<&SmartLog> for Health {
    fn from(log: &SmartLog) -> Self {
        Self {
            celsius: log.celsius,
            used_percent: Some(log.used_percent),
            spare_percent: Some(log.spare_percent),
            host_bytes_written: Some(log.host_bytes_written),
            power_on_hours: Some(log.power_on_hours),
            critical: log.critical.iter().map(|&why| why.to_owned()).collect(),
        }
    }
}

impl From<&Smart> for Health {
    fn from(smart: &Smart) -> Self {
        let failing = |id: &u8| format!("SMART attribute {id} is at its threshold of failure");
        Self {
            celsius: smart.celsius,
            used_percent: smart.used_percent,
            spare_percent: smart.spare_percent,
            // Vendors count it in units of their own.
            host_bytes_written: None,
            power_on_hours: smart.power_on_hours,
            critical: smart.failing.iter().map(failing).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ata_drive_that_foretells_a_failure_says_by_what() {
        let smart = Smart { used_percent: Some(3), failing: vec![5], ..Smart::default() };
        let health = Health::from(&smart);
        assert_eq!(health.used_percent, Some(3));
        assert_eq!(health.critical, ["SMART attribute 5 is at its threshold of failure"]);
    }
}
