//! Slots that are used again, addressed by a 32-bit number.

use std::ops::{Index, IndexMut};

/// A growing array whose freed slots are handed out again, last freed first.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores `value` and returns its slot.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            slot
        } else {
            self.slots.push(value);
            (self.slots.len() - 1) as u32
        }
    }

    /// Gives the slot back. Its value stays readable until the slot is used again.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// How many slots are in use.
    #[must_use]
    pub const fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, slot: u32) -> &T {
        &self.slots[slot as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }
}
