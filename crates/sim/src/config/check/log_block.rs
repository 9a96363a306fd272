//! What log-block drives cannot be.

use super::super::{LogAssociation, LogBlockConfig, State};
use super::Checker;
use crate::geometry::Geometry;

impl Checker<'_> {
    pub(super) fn check_log_block(&mut self, log: &LogBlockConfig, state: State) {
        if !self.check_hardware(&log.nand, &log.host) {
            return;
        }
        let (unit, block) = (log.ftl.merge_unit_bytes, log.nand.block_bytes());
        let planes = Geometry::new(&log.nand).plane_count;
        if !unit.is_multiple_of(block) || unit == 0 {
            let message = format!(
                "{unit} is not a whole number of physical blocks of {block} bytes \
                 (nand.pages_per_block x nand.page_bytes)"
            );
            self.fault("ftl.merge_unit_bytes", &message);
            return;
        }
        if unit / block > u64::from(planes) || !planes.is_multiple_of(log.blocks_per_unit()) {
            let message = format!(
                "{unit} is {} physical blocks of {block} bytes, which do not divide the {planes} \
                 planes of channels x ways x dies x planes",
                unit / block
            );
            self.fault("ftl.merge_unit_bytes", &message);
            return;
        }
        self.check_log_blocks(log);
        self.check_state(state, u64::from(log.exported_units()) * unit);
    }

    fn check_log_blocks(&mut self, log: &LogBlockConfig) {
        let (ftl, exported) = (&log.ftl, log.exported_units());
        let spare = log.units() - exported;
        if exported == 0 {
            let message = format!(
                "{} leaves less than one merge unit of {} bytes to export",
                ftl.over_provisioning_ratio, ftl.merge_unit_bytes
            );
            self.fault("over_provisioning_ratio", &message);
        } else if ftl.log_blocks >= spare {
            let message = format!(
                "{} log blocks and one to merge into are more than the {spare} spare blocks that \
                 over_provisioning_ratio = {} leaves of {}",
                ftl.log_blocks,
                ftl.over_provisioning_ratio,
                log.units()
            );
            self.fault("ftl.log_blocks", &message);
        }
        if ftl.log_association == LogAssociation::ManyToOne && ftl.log_blocks < 2 {
            let message = "1 is too few for ftl.log_association = \"many-to-one\", which keeps one \
                           for sequential writes";
            self.fault("ftl.log_blocks", message);
        }
    }
}
