//! What the kernel says of loop devices: which file or device each is made of.
#![allow(unsafe_code)]

use super::check;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// What a loop device is made of. Names change and hide; these numbers do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A regular file: the number of its file system's device, and of its inode.
    File {
        /// As in `st_dev`.
        device: u64,
        /// As in `st_ino`.
        inode: u64,
    },
    /// A block device, by its number (as in `st_rdev`).
    Block(u64),
}

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    raw_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// Asks an open loop device what it is made of; `None` if nothing is attached to it.
pub(crate) fn backing(device: &File) -> io::Result<Option<Backing>> {
    const LOOP_GET_STATUS64: u64 = 0x4c05;
    let mut info = MaybeUninit::<LoopInfo>::zeroed();
    // SAFETY: LOOP_GET_STATUS64 writes one `loop_info64`, for which `info` has room, and zero is
    // valid for it.
    let (answer, info) = unsafe {
        let result = libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, info.as_mut_ptr());
        (check(result), info.assume_init())
    };
    match answer {
        Ok(_) if info.raw_device != 0 => Ok(Some(Backing::Block(number(info.raw_device)))),
        Ok(_) => Ok(Some(Backing::File { device: number(info.device), inode: info.inode })),
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Turns the kernel's own coding of a device number into that of the C library.
const fn number(kernels: u64) -> u64 {
    let major = (kernels >> 8) & 0xfff;
    let minor = (kernels & 0xff) | ((kernels >> 12) & 0xf_ff00);
    libc::makedev(major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_devices_are_those_of_the_c_library() {
        for (major, minor) in [(7, 0), (8, 17), (254, 0), (259, 0x12345), (4095, 255)] {
            let kernels = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
            assert_eq!(number(kernels), libc::makedev(major as u32, minor as u32));
        }
    }

    #[test]
    fn the_answer_has_the_length_of_the_kernels() {
        assert_eq!(size_of::<LoopInfo>(), 232);
    }
}
