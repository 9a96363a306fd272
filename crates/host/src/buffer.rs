//! Aligned memory, lent to one request at a time.
//!
//! Direct I/O wants aligned memory, and a page that was never touched would cost a
//! fault inside the first measurement. So buffers come in powers of two, are touched
//! when they are made, and go back to the pool instead of being freed.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Alignment of every buffer: a page, which no known device exceeds.
const ALIGNMENT_BYTES: usize = 4096;

/// A piece of page-aligned memory.
pub(crate) struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
    /// Its place in the ring's table of registered buffers, if it has one.
    pub(crate) registered: Option<u16>,
}

// SAFETY: the buffer owns its memory like a Box<[u8]>; nothing in it is tied to a thread.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// `bytes` of touched memory; `bytes` is a multiple of the alignment and not zero.
    fn new(bytes: usize) -> Self {
        assert!(bytes > 0 && bytes.is_multiple_of(ALIGNMENT_BYTES), "{bytes} bytes");
        let layout = Layout::from_size_align(bytes, ALIGNMENT_BYTES)
            .expect("a buffer is far smaller than the address space");
        // SAFETY: the layout's size is not zero.
        let start =
            NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the memory is ours and `bytes` long. Not zero, because the compiler may
        // turn that into a request for untouched zero pages.
        unsafe { start.as_ptr().write_bytes(0xa5, bytes) };
        Self { start, layout, registered: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.size()
    }

    /// Where it starts, for the kernel.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is ours, initialised, and borrowed as `self` is.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the memory is ours, initialised, and borrowed as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// The buffers that no request uses, by size.
#[derive(Default)]
pub(crate) struct BufferPool {
    /// Index: log2 of the size.
    free: Vec<Vec<AlignedBuffer>>,
}

impl BufferPool {
    /// The size of the buffer that a request of `len_bytes` gets.
    pub(crate) fn size_for(len_bytes: usize) -> usize {
        len_bytes.next_power_of_two().max(ALIGNMENT_BYTES)
    }

    /// A buffer for `len_bytes`: one that was given back, or one that `adopt` has not seen.
    pub(crate) fn take(
        &mut self,
        len_bytes: usize,
        adopt: impl FnOnce(&mut AlignedBuffer),
    ) -> AlignedBuffer {
        let size = Self::size_for(len_bytes);
        let class = size.trailing_zeros() as usize;
        self.free.get_mut(class).and_then(Vec::pop).unwrap_or_else(|| {
            let mut buffer = AlignedBuffer::new(size);
            adopt(&mut buffer);
            buffer
        })
    }

    /// Takes a buffer back.
    pub(crate) fn give(&mut self, buffer: AlignedBuffer) {
        let class = buffer.len().trailing_zeros() as usize;
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(buffer);
    }

    /// All buffers that are here, for a ring that has just been made.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut AlignedBuffer> {
        self.free.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_large_enough_and_reused() {
        let mut pool = BufferPool::default();
        for len in [512, 4096, 4097, 1 << 20] {
            let mut made = 0;
            let mut buffer = pool.take(len, |_| made += 1);
            assert!(buffer.len() >= len);
            assert_eq!(buffer.as_mut_ptr() as usize % ALIGNMENT_BYTES, 0);
            pool.give(buffer);
            pool.take(len, |_| made += 1);
            assert_eq!(made, 1, "{len} bytes were allocated twice");
        }
    }
}
