//! What regions with one bit per cell cannot be.

use super::super::PageConfig;
use super::super::pslc::{Overflow, Pslc};
use super::Checker;

impl Checker<'_> {
    pub(super) fn check_pslc(&mut self, page: &PageConfig) {
        let (pslc, nand) = (&page.pslc, &page.nand);
        let sizes = [("pslc.bytes", pslc.bytes), ("pslc.dynamic_bytes", pslc.dynamic_bytes)];
        let Some(&(key, bytes)) = sizes.iter().find(|&&(_, bytes)| bytes > 0) else { return };
        if nand.bits_per_cell < 2 {
            let message = format!(
                "{bytes} bytes with one bit per cell are nothing special where \
                 nand.bits_per_cell = 1"
            );
            self.fault(key, &message);
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
        self.check_steps(page);
        if pslc.bytes > 0 && pslc.overflow == Overflow::Direct && !pslc.fold_when_idle {
            let message = "is \"direct\" while pslc.fold_when_idle = false: once full, the region \
                           would never be emptied";
            self.fault("pslc.overflow", message);
        }
    }

    /// The region's own blocks are whole ones, and it can borrow one at least.
    fn check_steps(&mut self, page: &PageConfig) {
        let (pslc, bits) = (&page.pslc, page.nand.bits_per_cell);
        let step = Pslc::step_bytes(&page.nand, &page.ftl.layout);
        let what = format!(
            "{step}, a block of every plane (or superblock) with 1 / nand.bits_per_cell = \
             1 / {bits} of its pages"
        );
        if !pslc.bytes.is_multiple_of(step) {
            let message = format!("{} is not a multiple of {what}", pslc.bytes);
            self.fault("pslc.bytes", &message);
        }
        if (1..step).contains(&pslc.dynamic_bytes) {
            let message = format!("{} is below {what}", pslc.dynamic_bytes);
            self.fault("pslc.dynamic_bytes", &message);
        }
    }
}
