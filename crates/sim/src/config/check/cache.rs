//! What caches cannot be.

use super::super::{Nand, WriteBufferConfig};
use super::Checker;

impl Checker<'_> {
    pub(super) fn check_write_buffer(&mut self, buffer: &WriteBufferConfig, nand: &Nand) {
        let WriteBufferConfig { bytes, unit_bytes, .. } = *buffer;
        if !unit_bytes.is_multiple_of(512) {
            let message = format!("{unit_bytes} is not a whole number of sectors of 512 bytes");
            self.fault("write_buffer.unit_bytes", &message);
        } else if bytes == 0 {
            // There is none.
        } else if bytes < u64::from(nand.page_bytes) {
            let message =
                format!("{bytes} is less than a page of nand.page_bytes = {}", nand.page_bytes);
            self.fault("write_buffer.bytes", &message);
        } else if bytes < unit_bytes {
            let message =
                format!("{bytes} is less than one unit of write_buffer.unit_bytes = {unit_bytes}");
            self.fault("write_buffer.bytes", &message);
        } else if !bytes.is_multiple_of(unit_bytes) {
            let message = format!(
                "{bytes} is not a whole number of units of write_buffer.unit_bytes = {unit_bytes}"
            );
            self.fault("write_buffer.bytes", &message);
        }
    }
}
