//! The caches inside a drive, by ATA commands through `SG_IO` and by NVMe features.
//!
//! Commands and replies are built and read as bytes, by functions that know no kernel; the two
//! system calls below them are all that is not tested without such a drive.
#![allow(unsafe_code)]

use super::setting::Setting;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const TIMEOUT_MS: u32 = 10_000;

/// Whether a cache is on; `None` if the drive has none, or speaks another language.
pub(crate) fn read(node: &Path, setting: Setting) -> io::Result<Option<String>> {
    let file = open(node)?;
    let on = match setting {
        Setting::AtaWriteCache | Setting::AtaLookAhead => {
            let mut identity = [0; 512];
            sg_io(&file, &mut ata(0xEC, 0, true), &mut identity)?;
            ata_cache_on(&identity, setting)
        }
        Setting::NvmeWriteCache => {
            let mut identity = [0; 4096];
            nvme_admin(&file, &mut NvmeCommand::identify_controller(), &mut identity)?;
            let result = nvme_admin(&file, &mut NvmeCommand::get_write_cache(), &mut [])?;
            nvme_has_write_cache(&identity).then_some(result & 1 == 1)
        }
        _ => None,
    };
    Ok(on.map(|on| if on { "on" } else { "off" }.to_owned()))
}

/// Switches a cache.
pub(crate) fn write(node: &Path, setting: Setting, on: bool) -> io::Result<()> {
    let file = open(node)?;
    match setting {
        Setting::NvmeWriteCache => {
            nvme_admin(&file, &mut NvmeCommand::set_write_cache(on), &mut []).map(drop)
        }
        _ => match ata_feature(setting, on) {
            Some(feature) => sg_io(&file, &mut ata(0xEF, feature, false), &mut []),
            None => Err(io::Error::from(io::ErrorKind::Unsupported)),
        },
    }
}

/// Sends an ATA command that only reads one block of data: IDENTIFY DEVICE, or SMART with one of its
/// features.
pub(crate) fn ata_data_in(
    file: &File,
    command: u8,
    feature: u8,
    answer: &mut [u8; 512],
) -> io::Result<()> {
    let reads = matches!((command, feature), (0xEC, 0) | (0xB0, 0xD0 | 0xD1));
    assert!(reads, "command {command:#x} {feature:#x} might change the drive");
    let mut cdb = ata(command, feature, true);
    if command == 0xB0 {
        // Every SMART command carries this key in the middle and high bytes of the address.
        (cdb[10], cdb[12]) = (0x4F, 0xC2);
    }
    sg_io(file, &mut cdb, answer)
}

fn open(node: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(node)
}

/// The subcommand of SET FEATURES (ACS-4, 7.43).
const fn ata_feature(setting: Setting, on: bool) -> Option<u8> {
    match (setting, on) {
        (Setting::AtaWriteCache, true) => Some(0x02),
        (Setting::AtaWriteCache, false) => Some(0x82),
        (Setting::AtaLookAhead, true) => Some(0xAA),
        (Setting::AtaLookAhead, false) => Some(0x55),
        _ => None,
    }
}

/// ATA PASS-THROUGH (16) of SAT: one block of data in by PIO, or none.
fn ata(command: u8, feature: u8, data_in: bool) -> [u8; 16] {
    let (protocol, flags, blocks) = match data_in {
        true => (4 << 1, 0x0E, 1), // from the device, counted in blocks, in the count field
        false => (3 << 1, 0x20, 0), // with the registers in the sense data
    };
    let mut cdb = [0; 16];
    (cdb[0], cdb[1], cdb[2], cdb[4], cdb[6], cdb[14]) =
        (0x85, protocol, flags, feature, blocks, command);
    cdb
}

/// IDENTIFY DEVICE: words 82 (supported) and 85 (enabled), bits 5 and 6 (ACS-4, 7.13.6).
fn ata_cache_on(identity: &[u8; 512], setting: Setting) -> Option<bool> {
    let word = |at: usize| u16::from_le_bytes([identity[2 * at], identity[2 * at + 1]]);
    let bit = if setting == Setting::AtaLookAhead { 1 << 6 } else { 1 << 5 };
    (word(82) & bit != 0).then(|| word(85) & bit != 0)
}

/// Identify Controller, byte 525, bit 0 (NVM Express base specification, VWC).
const fn nvme_has_write_cache(identity: &[u8; 4096]) -> bool {
    identity[525] & 1 == 1
}

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

impl NvmeCommand {
    const WRITE_CACHE: u32 = 0x06;

    fn new(opcode: u8, cdw10: u32, cdw11: u32) -> Self {
        Self { opcode, cdw10, cdw11, timeout_ms: TIMEOUT_MS, ..Self::default() }
    }

    fn identify_controller() -> Self {
        Self::new(0x06, 1, 0)
    }

    fn get_write_cache() -> Self {
        Self::new(0x0A, Self::WRITE_CACHE, 0)
    }

    /// Not saved: a drive that loses power has its own value again.
    fn set_write_cache(on: bool) -> Self {
        Self::new(0x09, Self::WRITE_CACHE, u32::from(on))
    }
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
struct SgHeader {
    interface: libc::c_int,
    direction: libc::c_int,
    command_len: u8,
    sense_len: u8,
    pieces: u16,
    data_len: u32,
    data: *mut u8,
    command: *mut u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    id: libc::c_int,
    pointer: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: libc::c_int,
    duration_ms: u32,
    info: u32,
}

const SG_IO: libc::Ioctl = 0x2285;
const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = 0xC048_4E41;

fn sg_io(file: &File, command: &mut [u8; 16], data: &mut [u8]) -> io::Result<()> {
    const FROM_DEVICE: libc::c_int = -3;
    const NO_DATA: libc::c_int = -1;
    let mut sense = [0_u8; 32];
    let mut header = SgHeader {
        interface: libc::c_int::from(b'S'),
        direction: if data.is_empty() { NO_DATA } else { FROM_DEVICE },
        command_len: 16,
        sense_len: 32,
        pieces: 0,
        data_len: u32::try_from(data.len()).map_err(io::Error::other)?,
        data: data.as_mut_ptr(),
        command: command.as_mut_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags: 0,
        id: 0,
        pointer: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the header is laid out as scsi/sg.h has it, and its three pointers are to memory of
    // the lengths beside them, which outlives the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), SG_IO, &raw mut header) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    sg_outcome(header.status, header.host_status, &sense)
}

/// Whether the drive did it. A command that hands back its registers ends in sense data, too.
fn sg_outcome(status: u8, host_status: u16, sense: &[u8; 32]) -> io::Result<()> {
    const CHECK_CONDITION: u8 = 2;
    let registers = (sense[0] & 0x7F) == 0x72 && sense[8] == 0x09;
    let failed = registers && sense[8 + 13] & 0x01 != 0; // ERR of the status register
    match (host_status, status) {
        (0, 0) => Ok(()),
        (0, CHECK_CONDITION) if registers && !failed => Ok(()),
        _ => Err(io::Error::other("the drive refuses the command")),
    }
}

fn nvme_admin(file: &File, command: &mut NvmeCommand, data: &mut [u8]) -> io::Result<u32> {
    command.addr = data.as_mut_ptr() as u64;
    command.data_len = u32::try_from(data.len()).map_err(io::Error::other)?;
    // SAFETY: the command is laid out as linux/nvme_ioctl.h has it; the kernel writes at most
    // `data_len` bytes to `addr`, which is the length of `data`.
    match unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut *command) } {
        0 => Ok(command.result),
        status if status > 0 => Err(io::Error::other(format!("NVMe status {status:#x}"))),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_the_standards() {
        let off = ata(0xEF, ata_feature(Setting::AtaWriteCache, false).unwrap(), false);
        assert_eq!(off, [0x85, 6, 0x20, 0, 0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xEF, 0]);
        let identify = ata(0xEC, 0, true);
        assert_eq!(identify, [0x85, 8, 0x0E, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xEC, 0]);
        assert_eq!(ata_feature(Setting::AtaLookAhead, true), Some(0xAA));
        assert_eq!(ata_feature(Setting::Scheduler, true), None);
        let set = NvmeCommand::set_write_cache(false);
        assert_eq!((set.opcode, set.cdw10, set.cdw11), (9, 6, 0));
        assert_eq!((NvmeCommand::get_write_cache().opcode, size_of::<NvmeCommand>()), (10, 72));
        assert_eq!(size_of::<SgHeader>(), 88);
    }

    #[test]
    fn replies_say_what_is_there_and_what_is_on() {
        let mut identity = [0; 512];
        assert_eq!(ata_cache_on(&identity, Setting::AtaWriteCache), None);
        identity[2 * 82] = 0x60;
        identity[2 * 85] = 0x40;
        assert_eq!(ata_cache_on(&identity, Setting::AtaWriteCache), Some(false));
        assert_eq!(ata_cache_on(&identity, Setting::AtaLookAhead), Some(true));
        let mut controller = [0; 4096];
        assert!(!nvme_has_write_cache(&controller));
        controller[525] = 0x07;
        assert!(nvme_has_write_cache(&controller));
    }

    #[test]
    fn a_command_that_hands_back_registers_is_no_failure() {
        let mut sense = [0; 32];
        assert!(sg_outcome(0, 0, &sense).is_ok());
        assert!(sg_outcome(2, 0, &sense).is_err());
        (sense[0], sense[8], sense[21]) = (0x72, 0x09, 0x50);
        assert!(sg_outcome(2, 0, &sense).is_ok());
        sense[21] = 0x51;
        assert!(sg_outcome(2, 0, &sense).is_err());
        assert!(sg_outcome(0, 7, &sense).is_err());
    }
}
