//! Admin commands of NVMe: who the drive is, how it is, and how much of it is in use.
//!
//! The layouts are those of the NVM Express Base Specification 2.0, the Identify Controller data
//! structure and the SMART / Health Information log page, and of the NVM Command Set Specification
//! 1.0, the Identify Namespace data structure. Parsing is pure; only the
//! command itself needs a drive.

use crate::sys;
use serde::Serialize;
use std::fs::File;
use std::io;

const IDENTIFY_BYTES: usize = 4096;
const SMART_BYTES: usize = 512;
const KELVIN_OF_ZERO_CELSIUS: i32 = 273;
/// A unit of the counters of moved data: a thousand sectors.
const DATA_UNIT_BYTES: u128 = 512_000;
/// Bits of the critical warning, from the lowest.
const WARNINGS: [&str; 6] = [
    "spare blocks are below the threshold",
    "the temperature is beyond a threshold",
    "its reliability is degraded",
    "it has become read-only",
    "its volatile memory backup has failed",
    "its persistent memory region has become read-only",
];

/// The controller, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Controller {
    /// Serial number.
    pub serial: String,
    /// Model.
    pub model: String,
    /// Firmware revision.
    pub firmware: String,
    /// Largest transfer in units of the controller's smallest page (as a power of two);
    /// `None`: no limit.
    pub transfer_pages_log2: Option<u8>,
    /// Whether there is a volatile write cache.
    pub write_cache: bool,
    /// Warning temperature, in degrees Celsius, where one is set.
    pub warning_celsius: Option<i32>,
}

/// A namespace, as its controller describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Namespace {
    /// Its addresses (NSZE).
    pub size_bytes: u64,
    /// How much may be allocated at a time (NCAP).
    pub capacity_bytes: u64,
    /// How much is allocated now (NUSE). A controller that does not count says the capacity.
    pub used_bytes: u64,
}

/// The SMART log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmartLog {
    /// Why the drive warns.
    pub critical: Vec<&'static str>,
    /// Composite temperature; `None` where it reports none.
    pub celsius: Option<i32>,
    /// Spare left, in percent.
    pub spare_percent: u8,
    /// Rated life used, in percent; 255 means 255 or more.
    pub used_percent: u8,
    /// Bytes written by hosts.
    pub host_bytes_written: u64,
    /// Hours powered on.
    pub power_on_hours: u64,
}

/// Asks an open NVMe drive for its SMART log; needs the right to send admin commands.
pub(crate) fn smart_log(file: &File) -> io::Result<SmartLog> {
    let mut page = [0_u8; SMART_BYTES];
    // Log page 2; the number of dwords minus one stands above bit 16.
    let words = (SMART_BYTES / 4 - 1) as u32;
    sys::nvme_admin(file, 0x02, u32::MAX, 0x02 | (words << 16), &mut page)?;
    Ok(parse_smart_log(&page))
}

/// Asks an open NVMe drive who it is.
pub(crate) fn controller(file: &File) -> io::Result<Controller> {
    let mut page = [0_u8; IDENTIFY_BYTES];
    sys::nvme_admin(file, 0x06, 0, 0x01, &mut page)?;
    Ok(parse_controller(&page))
}

/// Asks an open NVMe drive how much of the namespace behind it is in use.
pub(crate) fn namespace(file: &File) -> io::Result<Namespace> {
    let mut page = [0_u8; IDENTIFY_BYTES];
    sys::nvme_admin(file, 0x06, sys::nvme_namespace(file)?, 0x00, &mut page)?;
    parse_namespace(&page).ok_or_else(|| io::Error::other("the namespace makes no sense"))
}

/// `None` if its blocks have no size.
fn parse_namespace(page: &[u8; IDENTIFY_BYTES]) -> Option<Namespace> {
    let quad =
        |at: usize| page[at..at + 8].iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
    // Which format is in use: four bits, and two more above them.
    let format = usize::from(page[26] & 0x0F) | usize::from(page[26] >> 5 & 0x03) << 4;
    let block_log2 = u32::from(page[128 + 4 * format + 2]);
    let bytes = |blocks: u64| blocks.checked_mul(1_u64.checked_shl(block_log2)?);
    if block_log2 < 9 {
        return None;
    }
    Some(Namespace {
        size_bytes: bytes(quad(0))?,
        capacity_bytes: bytes(quad(8))?,
        used_bytes: bytes(quad(16))?,
    })
}

fn parse_controller(page: &[u8; IDENTIFY_BYTES]) -> Controller {
    let text = |from: usize, to: usize| String::from_utf8_lossy(&page[from..to]).trim().to_owned();
    Controller {
        serial: text(4, 24),
        model: text(24, 64),
        firmware: text(64, 72),
        transfer_pages_log2: (page[77] != 0).then_some(page[77]),
        write_cache: page[525] & 1 == 1,
        warning_celsius: celsius([page[266], page[267]]),
    }
}

fn parse_smart_log(page: &[u8; SMART_BYTES]) -> SmartLog {
    let counter = |from: usize| {
        let mut bytes = [0_u8; 16];
        bytes.copy_from_slice(&page[from..from + 16]);
        u128::from_le_bytes(bytes)
    };
    let warns = |&(bit, _): &(usize, &'static str)| page[0] >> bit & 1 == 1;
    let short = |value| u64::try_from(value).unwrap_or(u64::MAX);
    SmartLog {
        critical: WARNINGS.into_iter().enumerate().filter(warns).map(|(_, why)| why).collect(),
        celsius: celsius([page[1], page[2]]),
        spare_percent: page[3],
        used_percent: page[5],
        host_bytes_written: short(counter(48).saturating_mul(DATA_UNIT_BYTES)),
        power_on_hours: short(counter(128)),
    }
}

/// Zero kelvin means that the drive does not say.
fn celsius(kelvin: [u8; 2]) -> Option<i32> {
    let kelvin = i32::from(u16::from_le_bytes(kelvin));
    (kelvin != 0).then_some(kelvin - KELVIN_OF_ZERO_CELSIUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smart_log_is_read() {
        let mut page = [0_u8; SMART_BYTES];
        page[0] = 0b1001;
        page[1..3].copy_from_slice(&310_u16.to_le_bytes());
        page[3] = 97;
        page[5] = 12;
        page[48..64].copy_from_slice(&3_u128.to_le_bytes());
        page[128..144].copy_from_slice(&4321_u128.to_le_bytes());
        let log = parse_smart_log(&page);
        assert_eq!(log.critical, [WARNINGS[0], WARNINGS[3]]);
        assert_eq!(log.celsius, Some(37));
        assert_eq!((log.spare_percent, log.used_percent), (97, 12));
        assert_eq!((log.host_bytes_written, log.power_on_hours), (1_536_000, 4321));
        page[48..64].fill(0xff);
        assert_eq!(parse_smart_log(&page).host_bytes_written, u64::MAX);
        assert_eq!(parse_smart_log(&[0; SMART_BYTES]).celsius, None);
    }

    #[test]
    fn a_namespace_is_read() {
        let mut page = [0_u8; IDENTIFY_BYTES];
        page[..8].copy_from_slice(&1_000_u64.to_le_bytes());
        page[8..16].copy_from_slice(&900_u64.to_le_bytes());
        page[16..24].copy_from_slice(&250_u64.to_le_bytes());
        page[26] = 0b0010_0001; // format 17, whose number does not fit into four bits
        page[128 + 4 * 17 + 2] = 12;
        let found = parse_namespace(&page).unwrap();
        let (size_bytes, capacity_bytes, used_bytes) = (4_096_000, 3_686_400, 1_024_000);
        assert_eq!(found, Namespace { size_bytes, capacity_bytes, used_bytes });
        page[26] = 1;
        assert_eq!(parse_namespace(&page), None, "no such format");
        page[128 + 4 + 2] = 70;
        assert_eq!(parse_namespace(&page), None, "no such block");
    }

    #[test]
    fn a_controller_is_read() {
        let mut page = [0_u8; IDENTIFY_BYTES];
        page[4..24].copy_from_slice(b"S4EVNX0M123456      ");
        page[24..64].copy_from_slice(b"Some SSD 1TB                            ");
        page[64..72].copy_from_slice(b"1B2QEXM7");
        page[77] = 9;
        page[525] = 0b111;
        page[266..268].copy_from_slice(&358_u16.to_le_bytes());
        let controller = parse_controller(&page);
        assert_eq!(controller.serial, "S4EVNX0M123456");
        assert_eq!(controller.model, "Some SSD 1TB");
        assert_eq!(controller.firmware, "1B2QEXM7");
        assert_eq!(controller.transfer_pages_log2, Some(9));
        assert_eq!((controller.write_cache, controller.warning_celsius), (true, Some(85)));
        assert!(!parse_controller(&[0; IDENTIFY_BYTES]).write_cache);
    }
}
