//! What disturbances cannot be.

use super::super::{Disturbance, Firmware};
use super::Checker;

impl Checker<'_> {
    /// To be called last: where the drive itself cannot work, it has no capacity to speak of.
    pub(super) fn check_disturbance(&mut self, disturbance: &Disturbance, firmware: &Firmware) {
        let Disturbance { foreign_on_ns, foreign_off_ns, .. } = *disturbance;
        if disturbance.drift_ratio > 0.0 && disturbance.drift_period_ns == 0 {
            let message = format!(
                "0 is no period for disturbance.drift_ratio = {} to rise and fall in",
                disturbance.drift_ratio
            );
            self.fault("disturbance.drift_period_ns", &message);
        }
        if (foreign_on_ns == 0) != (foreign_off_ns == 0) {
            let message = format!(
                "{foreign_on_ns} and disturbance.foreign_off_ns = {foreign_off_ns} make no bursts: \
                 they need both, and a steady load needs neither"
            );
            self.fault("disturbance.foreign_on_ns", &message);
        }
        if self.faults.is_empty() {
            self.check_spans(disturbance, firmware);
        }
    }

    fn check_spans(&mut self, disturbance: &Disturbance, firmware: &Firmware) {
        let Disturbance { foreign_bytes, fault_offset_bytes, fault_bytes, .. } = *disturbance;
        let (capacity, block) = (firmware.capacity_bytes(), firmware.logical_block_bytes());
        if disturbance.foreign_iops > 0 && !foreign_bytes.is_multiple_of(block) {
            let message =
                format!("{foreign_bytes} is not a whole number of logical blocks of {block} bytes");
            self.fault("disturbance.foreign_bytes", &message);
        } else if disturbance.foreign_iops > 0 && foreign_bytes > capacity {
            let message = format!("{foreign_bytes} is more than the drive has ({capacity} bytes)");
            self.fault("disturbance.foreign_bytes", &message);
        }
        let end = fault_offset_bytes + fault_bytes;
        if fault_bytes > 0 && end > capacity {
            let message = format!(
                "{fault_offset_bytes} + disturbance.fault_bytes = {fault_bytes} is behind the end of \
                 the drive ({capacity} bytes)"
            );
            self.fault("disturbance.fault_offset_bytes", &message);
        }
    }
}
