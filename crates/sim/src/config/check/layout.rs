//! How pages cannot lie.

use super::super::{Nand, UnitLayout};
use super::Checker;
use crate::geometry::Geometry;
use crate::layout::Shape;

impl Checker<'_> {
    /// The shape of mapping units, if there can be such.
    pub(super) fn check_layout(&mut self, nand: &Nand, keys: &UnitLayout) -> Option<Shape> {
        let page = u64::from(nand.page_bytes);
        let stripe = keys.stripe_bytes;
        // What is wrong with the page itself has been said.
        if page.is_multiple_of(512)
            && (stripe > nand.page_bytes
                || !nand.page_bytes.is_multiple_of(stripe)
                || !stripe.is_multiple_of(512))
        {
            let message = format!(
                "{stripe} is no whole number of sectors that divides nand.page_bytes = {page}"
            );
            self.fault("ftl.stripe_bytes", &message);
        }
        let unit = keys.map_unit_bytes;
        if !unit.is_multiple_of(page) || unit == 0 {
            let message = format!("{unit} is not a whole number of nand.page_bytes = {page}");
            self.fault("ftl.map_unit_bytes", &message);
            return None;
        }
        if keys.phase_bytes >= unit || !keys.phase_bytes.is_multiple_of(512) {
            let message = format!(
                "{} is no whole number of sectors below ftl.map_unit_bytes = {unit}",
                keys.phase_bytes
            );
            self.fault("ftl.phase_bytes", &message);
        }
        let (pages, in_a_row) = (unit / page, u64::from(keys.placement_pages));
        if !pages.is_multiple_of(in_a_row) && !in_a_row.is_multiple_of(pages) {
            let message = format!(
                "{in_a_row} pages in a row neither divide nor hold whole units of {pages} pages \
                 (ftl.map_unit_bytes = {unit})"
            );
            self.fault("ftl.placement_pages", &message);
            return None;
        }
        self.check_planes(nand, keys, pages.div_ceil(in_a_row))
    }

    /// Checks units of so many runs of pages on a plane each.
    fn check_planes(&mut self, nand: &Nand, keys: &UnitLayout, runs: u64) -> Option<Shape> {
        let unit = keys.map_unit_bytes;
        let planes = u64::from(Geometry::new(nand).plane_count);
        if !planes.is_multiple_of(runs) && !runs.is_multiple_of(planes) {
            let message = format!(
                "{unit} bytes, ftl.placement_pages = {} in a row, are on {runs} planes in turn, \
                 which neither divide nor go evenly round the {planes} planes of channels x ways \
                 x dies x planes",
                keys.placement_pages
            );
            self.fault("ftl.map_unit_bytes", &message);
            return None;
        }
        let shape = Shape::new(nand, keys);
        if !nand.pages_per_block.is_multiple_of(shape.rows()) {
            let message = format!(
                "{unit} bytes take {} pages of a block, which do not divide \
                 nand.pages_per_block = {}",
                shape.rows(),
                nand.pages_per_block
            );
            self.fault("ftl.map_unit_bytes", &message);
            return None;
        }
        self.check_superblock(nand, keys, shape)
    }

    fn check_superblock(&mut self, nand: &Nand, keys: &UnitLayout, shape: Shape) -> Option<Shape> {
        let reclaim = keys.reclaim_unit_bytes;
        if reclaim == 0 {
            return Some(shape);
        }
        let planes = Geometry::new(nand).plane_count;
        let least = u64::from(shape.width) * nand.block_bytes();
        let groups = reclaim / least;
        let message = if !reclaim.is_multiple_of(least) {
            format!(
                "{reclaim} is not a whole number of {least} bytes: the {} blocks that a unit of \
                 ftl.map_unit_bytes = {} lies on",
                shape.width, keys.map_unit_bytes
            )
        } else if !u64::from(planes / shape.width).is_multiple_of(groups) {
            format!(
                "{reclaim} is a block on each of {} planes, which do not divide the {planes} \
                 planes of channels x ways x dies x planes",
                groups * u64::from(shape.width)
            )
        } else if groups > 1
            && !(nand.pages_per_block / shape.rows()).is_multiple_of(shape.units_in_a_row)
        {
            format!(
                "{reclaim} cannot be filled by ftl.placement_pages = {}, which do not divide \
                 nand.pages_per_block = {}",
                keys.placement_pages, nand.pages_per_block
            )
        } else {
            return Some(shape);
        };
        self.fault("ftl.reclaim_unit_bytes", &message);
        None
    }
}
