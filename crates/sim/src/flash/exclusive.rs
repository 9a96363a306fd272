//! Collection that has its unit to itself (`gc.exclusive`): from the first read of a block to
//! its erase nothing of the host goes, but for what shares a multi-plane command.
//!
//! What the host has asked for in such a block is read with collection's own reads, so that
//! it is out before the erase.

use super::Flash;
use super::command::NONE;
use crate::geometry::Ppn;

/// The queues of a unit: collection's, erases last, then the host's.
pub(super) const ALONE: &[usize] = &[1, 3, 4, 0, 2];

impl Flash {
    /// From now on collection has its unit to itself, unless it yields.
    pub const fn let_collection_be_alone(&mut self) {
        self.collects_alone = true;
        self.urgency = ALONE;
    }

    /// Whether collection has its unit to itself, unless it yields.
    #[inline]
    #[must_use]
    pub const fn collects_alone(&self) -> bool {
        self.collects_alone
    }

    /// The block that begins with `block` is about to be collected: the host's reads of it that
    /// wait go with collection's.
    pub fn take_reads_along(&mut self, block: Ppn) {
        let pages = block.0..block.0 + self.geometry.pages_per_block;
        let unit_index = self.unit_of(self.geometry.plane_of(block));
        let (mut before, mut slot) = (NONE, self.units[unit_index as usize].queues[0].head);
        while slot != NONE {
            let next = self.commands[slot].next;
            if pages.contains(&self.commands[slot].page.0) {
                self.remove(unit_index, 0, before, slot);
                self.wait_with_collection(unit_index, slot);
            } else {
                before = slot;
            }
            slot = next;
        }
    }

    fn wait_with_collection(&mut self, unit_index: u32, slot: u32) {
        let command = &mut self.commands[slot];
        (command.with_collection, command.next) = (true, NONE);
        let (queue, spot) = (command.queue(), command.spot);
        self.spots.enter(spot);
        let tail = self.units[unit_index as usize].append(queue, slot);
        if tail != NONE {
            self.commands[tail].next = slot;
        }
    }
}
