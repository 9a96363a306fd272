//! What a drive says of its health, where the kernel gives that without vendor tools.
//!
//! NVMe: the SMART log by an admin command (root). ATA: the temperature of `drivetemp`.

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
    pub critical: Vec<&'static str>,
}

impl Health {
    /// Asks an open drive, and `/sys` for what that does not say.
    pub(crate) fn of(file: &File, block: &SysBlock) -> Self {
        let mut health = if block.is_nvme() {
            nvme::smart_log(file).map_or_else(|_| Self::default(), |log| Self::from(&log))
        } else {
            Self::default()
        };
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
            critical: log.critical.clone(),
        }
    }
}
