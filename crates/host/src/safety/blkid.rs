//! libblkid, loaded when it is needed: what signatures lie on a device.
//!
//! Loaded at run time, so that a machine without it can still read. Whoever cannot load it
//! writes to no block device.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

const NAME: &CStr = c"libblkid.so.1";
/// TYPE, VERSION, MAGIC (offset) and BADCSUM: superblocks whose checksum is wrong count, too.
const SUPERBLOCKS: c_int = (1 << 5) | (1 << 8) | (1 << 9) | (1 << 10);
/// `FORCE_GPT` (also without a protective MBR, and by the backup alone) and MAGIC.
const PARTITIONS: c_int = (1 << 1) | (1 << 3);
/// A device has few signatures; a library that finds no end is not believed.
const FOUND_MAX: usize = 64;

type Handle = *mut c_void;

type New = unsafe extern "C" fn() -> Handle;
type Free = unsafe extern "C" fn(Handle);
type SetDevice = unsafe extern "C" fn(Handle, c_int, i64, i64) -> c_int;
type SetNumber = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Ask = unsafe extern "C" fn(Handle) -> c_int;
type Lookup = unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char, *mut usize) -> c_int;

/// The functions that are used, under their names in blkid.h.
pub(super) struct Library {
    new_probe: New,
    free_probe: Free,
    set_device: SetDevice,
    enable_superblocks: SetNumber,
    set_superblocks_flags: SetNumber,
    enable_partitions: SetNumber,
    set_partitions_flags: SetNumber,
    do_probe: Ask,
    lookup_value: Lookup,
}

/// A probe that is freed in the end.
struct Probe<'a> {
    library: &'a Library,
    handle: Handle,
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `new_probe` and is freed once, here.
        unsafe { (self.library.free_probe)(self.handle) };
    }
}

impl Library {
    /// Loads the library; it stays loaded.
    pub(super) fn load() -> Result<Self, String> {
        Self::load_from(NAME)
    }

    fn load_from(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name ends in zero. The library's start-up code is libblkid's own.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(format!("{} is not installed", name.to_string_lossy()));
        }
        macro_rules! function {
            ($name:literal, $kind:ty) => {{
                // SAFETY: `library` is open and never closed, and the name ends in zero.
                let found = unsafe { libc::dlsym(library, $name.as_ptr()) };
                if found.is_null() {
                    return Err(format!("it has no {}", $name.to_string_lossy()));
                }
                // SAFETY: blkid.h declares the function with the type of the field that it
                // goes to; its ABI has not changed since libblkid.so.1 exists.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
            }};
        }
        Ok(Self {
            new_probe: function!(c"blkid_new_probe", New),
            free_probe: function!(c"blkid_free_probe", Free),
            set_device: function!(c"blkid_probe_set_device", SetDevice),
            enable_superblocks: function!(c"blkid_probe_enable_superblocks", SetNumber),
            set_superblocks_flags: function!(c"blkid_probe_set_superblocks_flags", SetNumber),
            enable_partitions: function!(c"blkid_probe_enable_partitions", SetNumber),
            set_partitions_flags: function!(c"blkid_probe_set_partitions_flags", SetNumber),
            do_probe: function!(c"blkid_do_probe", Ask),
            lookup_value: function!(c"blkid_probe_lookup_value", Lookup),
        })
    }

    /// Every signature on a span of an open device, in words; a size of zero means to the end.
    pub(super) fn signatures(
        &self,
        device: &File,
        start_bytes: u64,
        size_bytes: u64,
    ) -> Result<Vec<String>, String> {
        let probe = self.probe(device, start_bytes, size_bytes)?;
        let mut found = Vec::new();
        loop {
            // SAFETY: the handle lives as long as `probe`, and its device is open.
            match unsafe { (self.do_probe)(probe.handle) } {
                0 if found.len() < FOUND_MAX => found.push(probe.words()),
                0 | 1 => return Ok(found),
                // An error, or several that exclude each other: something is there.
                _ => return Err("libblkid cannot read it".to_owned()),
            }
        }
    }

    fn probe(&self, device: &File, start: u64, size: u64) -> Result<Probe<'_>, String> {
        let number = |bytes| i64::try_from(bytes).map_err(|_| "it is too large".to_owned());
        let (start, size) = (number(start)?, number(size)?);
        // SAFETY: takes nothing and returns an owned handle or null.
        let handle = unsafe { (self.new_probe)() };
        if handle.is_null() {
            return Err("out of memory".to_owned());
        }
        let probe = Probe { library: self, handle };
        // SAFETY: the handle is not null and `device` keeps the descriptor open; the others
        // take integers only.
        let answers = unsafe {
            [
                (self.set_device)(handle, device.as_raw_fd(), start, size),
                (self.enable_superblocks)(handle, 1),
                (self.set_superblocks_flags)(handle, SUPERBLOCKS),
                (self.enable_partitions)(handle, 1),
                (self.set_partitions_flags)(handle, PARTITIONS),
            ]
        };
        if answers.contains(&-1) {
            Err("libblkid refuses the device".to_owned())
        } else {
            Ok(probe)
        }
    }
}

impl Probe<'_> {
    /// What was found last.
    fn words(&self) -> String {
        let kind = self
            .value(c"TYPE")
            .or_else(|| self.value(c"PTTYPE").map(|kind| format!("a {kind} partition table")))
            .unwrap_or_else(|| "an unknown signature".to_owned());
        let at = self.value(c"SBMAGIC_OFFSET").or_else(|| self.value(c"PTMAGIC_OFFSET"));
        at.map_or(kind.clone(), |at| format!("{kind} (at byte {at})"))
    }

    fn value(&self, name: &CStr) -> Option<String> {
        let mut text = ptr::null();
        let room = &raw mut text;
        // SAFETY: the name ends in zero, `room` takes one pointer, and no length is asked for.
        let answer = unsafe {
            (self.library.lookup_value)(self.handle, name.as_ptr(), room, ptr::null_mut())
        };
        if answer != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the library gave a text that ends in zero and lives until the next probe.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_or_another_is_named() {
        let refused = |name| Library::load_from(name).err().expect("not libblkid");
        assert!(refused(c"libblkid.so.none").contains("libblkid.so.none is not installed"));
        assert!(refused(c"libc.so.6").contains("it has no blkid_new_probe"));
    }
}
