//! What regions with one bit per cell cannot be.

use super::super::PageConfig;
use super::super::pslc::{Overflow, Pslc};
use super::Checker;

impl Checker<'_> {
    pub(super) fn check_pslc(&mut self, page: &PageConfig) {
        let (pslc, nand) = (&page.pslc, &page.nand);
        if pslc.bytes == 0 {
            return;
        }
        if nand.bits_per_cell < 2 {
            let message = format!(
                "{} bytes with one bit per cell are nothing special where nand.bits_per_cell = 1",
                pslc.bytes
            );
            self.fault("pslc.bytes", &message);
            return;
        }
        if Pslc::pages_per_block(nand, &page.ftl.layout) == 0 {
            let message = format!(
                "{} leave no mapping unit in a block of nand.pages_per_block = {}",
                nand.bits_per_cell, nand.pages_per_block
            );
            self.fault("nand.bits_per_cell", &message);
            return;
        }
        let step = Pslc::step_bytes(nand, &page.ftl.layout);
        if !pslc.bytes.is_multiple_of(step) {
            let message = format!(
                "{} is not a multiple of {step}, a block of every plane (or superblock) with \
                 1 / nand.bits_per_cell = 1 / {} of its pages",
                pslc.bytes, nand.bits_per_cell
            );
            self.fault("pslc.bytes", &message);
        }
        if pslc.overflow == Overflow::Direct && !pslc.fold_when_idle {
            let message = "is \"direct\" while pslc.fold_when_idle = false: once full, the region \
                           would never be emptied";
            self.fault("pslc.overflow", message);
        }
    }
}
