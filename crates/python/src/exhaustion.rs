//! What happens where memory is refused that nobody can do without.
//!
//! A vector that cannot grow would abort the process, without a word of what it was for. What can
//! be foreseen is asked for before (`ssdscope_host::memory`); this is the last stop for the rest.
#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::fmt::{self, Write};
use std::sync::Mutex;

/// Gives out memory, or ends the process with a message and exit code 1.
pub struct OrExit(pub MiMalloc);

/// The simulated drive that was opened last.
static OPENED: Mutex<String> = Mutex::new(String::new());

/// Notes which drive is opened, for the message.
pub fn opening(drive: &str) {
    if let Ok(mut opened) = OPENED.lock() {
        drive.clone_into(&mut opened);
    }
}

// SAFETY: all is left to mimalloc; where that has nothing to give, the process ends.
unsafe impl GlobalAlloc for OrExit {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the same promises.
        given(unsafe { self.0.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { self.0.realloc(old, layout, new_bytes) }, new_bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(old, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Says what was asked for, and for which drive, and ends the process. Asks for no memory itself.
#[cold]
fn end(bytes: usize) -> ! {
    let mut text = Text { bytes: [0; 1024], len: 0 };
    // What does not fit is left out.
    let _ = write!(text, "error: out of memory: {bytes} more bytes cannot be had");
    if let Ok(opened) = OPENED.try_lock()
        && !opened.is_empty()
    {
        let _ = write!(text, "; the drive is {:.400}", *opened);
    }
    let _ = text.write_str(
        "\n\nhint: a smaller drive, a lower iodepth or a shorter run needs less; \
         ulimit -v and the machine's memory are the limits\n",
    );
    // SAFETY: the bytes are ours, and ending is always allowed.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len);
        libc::_exit(1)
    }
}

/// Text in a fixed room.
struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            let room = &mut self.bytes[self.len..];
            // A name may hold what a terminal would obey.
            let shown = if char.is_control() && char != '\n' { '?' } else { char };
            if room.len() < shown.len_utf8() {
                return Err(fmt::Error);
            }
            self.len += shown.encode_utf8(room).len();
        }
        Ok(())
    }
}
