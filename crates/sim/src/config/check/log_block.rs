//! What log-block drives cannot be.

use super::super::{LogAssociation, LogBlockConfig, State};
use super::Checker;
use crate::geometry::exported_pages;
use crate::layout::Shape;

impl Checker<'_> {
    pub(super) fn check_log_block(&mut self, log: &LogBlockConfig, state: State) {
        if !self.check_hardware(&log.nand, &log.host) {
            return;
        }
        self.check_scheduler(&log.scheduler);
        self.check_caches(&log.caches, &log.nand);
        self.check_no_demand();
        if let Some(shape) = self.check_layout(&log.nand, &log.ftl.layout) {
            self.check_merge_units(log, shape, state);
            return;
        }
        let (unit, rmw) = (log.ftl.merge_unit_bytes, log.ftl.layout.map_unit_bytes);
        if !unit.is_multiple_of(rmw) {
            let message = format!("{unit} is not a multiple of ftl.map_unit_bytes = {rmw}");
            self.fault("ftl.merge_unit_bytes", &message);
        }
        // What units that cannot be placed hide is told as if pages were mapped.
        let mut paged = log.clone();
        paged.ftl.layout.map_unit_bytes = log.nand.page_bytes.into();
        paged.ftl.layout.placement_pages = 1;
        let shape = Shape::new(&paged.nand, &paged.ftl.layout);
        self.check_merge_units(&paged, shape, state);
    }

    /// Merge units of mapping units of this shape, and what is counted in them.
    fn check_merge_units(&mut self, log: &LogBlockConfig, shape: Shape, state: State) {
        let (unit, rmw) = (log.ftl.merge_unit_bytes, log.ftl.layout.map_unit_bytes);
        let array = shape.geometry(&log.nand, log.nand.blocks_per_plane);
        let (planes, block) =
            (array.plane_count, log.nand.block_bytes() * u64::from(shape.planes()));
        let message = if !unit.is_multiple_of(log.nand.block_bytes()) || unit == 0 {
            format!(
                "{unit} is not a whole number of physical blocks of {} bytes \
                 (nand.pages_per_block x nand.page_bytes)",
                log.nand.block_bytes()
            )
        } else if !unit.is_multiple_of(block) {
            format!(
                "{unit} is not a multiple of {block} bytes: the {} physical blocks that a unit of \
                 ftl.map_unit_bytes = {rmw} lies on",
                shape.width
            )
        } else if unit / block > u64::from(planes) || !planes.is_multiple_of((unit / block) as u32)
        {
            let planes = planes * shape.planes();
            format!(
                "{unit} is {} physical blocks of {} bytes, which do not divide the {planes} \
                 planes of channels x ways x dies x planes",
                unit / log.nand.block_bytes(),
                log.nand.block_bytes()
            )
        } else if !array.pages_per_block.is_multiple_of(shape.units_in_a_row) {
            format!(
                "{unit} cannot be filled by ftl.placement_pages = {}, which do not divide \
                 nand.pages_per_block = {}",
                log.ftl.layout.placement_pages, log.nand.pages_per_block
            )
        } else {
            self.check_log_blocks(log);
            let capacity_bytes = u64::from(log.exported_units()) * unit;
            self.check_map(&log.map, capacity_bytes);
            self.check_zone_units(log);
            self.check_state(state, capacity_bytes);
            return;
        };
        self.fault("ftl.merge_unit_bytes", &message);
        // What is not counted in merge units can be told all the same.
        let pages = exported_pages(&array, log.ftl.over_provisioning_ratio);
        self.check_map(&log.map, u64::from(pages) * rmw);
    }

    fn check_log_blocks(&mut self, log: &LogBlockConfig) {
        let (ftl, exported) = (&log.ftl, log.exported_units());
        if exported == 0 {
            let message = format!(
                "{} leaves less than one merge unit of {} bytes to export",
                ftl.over_provisioning_ratio, ftl.merge_unit_bytes
            );
            self.fault("over_provisioning_ratio", &message);
        } else if let Some(lack) = log.lack_of_blocks(log.nand.good_blocks()) {
            self.fault_of_lack(&lack, &log.nand);
        }
        if ftl.log_association == LogAssociation::ManyToOne && ftl.log_blocks < 2 {
            let message = "1 is too few for ftl.log_association = \"many-to-one\", which keeps one \
                           for sequential writes";
            self.fault("ftl.log_blocks", message);
        }
    }
}
