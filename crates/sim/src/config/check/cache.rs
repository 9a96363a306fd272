//! What caches cannot be.

use super::super::{CacheConfig, Nand};
use super::Checker;

impl Checker<'_> {
    pub(super) fn check_caches(&mut self, caches: &CacheConfig, nand: &Nand) {
        let (buffer, cache) = (&caches.write_buffer, &caches.read_cache);
        if buffer.bytes > 0 && buffer.bytes < u64::from(nand.page_bytes) {
            let message = format!(
                "{} is less than a page of nand.page_bytes = {}",
                buffer.bytes, nand.page_bytes
            );
            self.fault("write_buffer.bytes", &message);
        } else {
            self.check_units("write_buffer", buffer.bytes, buffer.unit_bytes);
        }
        self.check_units("read_cache", cache.bytes, cache.unit_bytes);
        if !cache.read_ahead_bytes.is_multiple_of(512) {
            let message =
                format!("{} is not a whole number of sectors of 512 bytes", cache.read_ahead_bytes);
            self.fault("read_cache.read_ahead_bytes", &message);
        } else if cache.read_ahead_bytes > cache.bytes {
            let message = format!(
                "{} does not fit into read_cache.bytes = {}",
                cache.read_ahead_bytes, cache.bytes
            );
            self.fault("read_cache.read_ahead_bytes", &message);
        }
    }

    /// A cache has whole units, and they whole sectors.
    fn check_units(&mut self, table: &str, bytes: u64, unit_bytes: u64) {
        let (bytes_key, unit_key) = (format!("{table}.bytes"), format!("{table}.unit_bytes"));
        if !unit_bytes.is_multiple_of(512) {
            let message = format!("{unit_bytes} is not a whole number of sectors of 512 bytes");
            self.fault(&unit_key, &message);
        } else if bytes > 0 && bytes < unit_bytes {
            let message = format!("{bytes} is less than one unit of {unit_key} = {unit_bytes}");
            self.fault(&bytes_key, &message);
        } else if !bytes.is_multiple_of(unit_bytes) {
            let message =
                format!("{bytes} is not a whole number of units of {unit_key} = {unit_bytes}");
            self.fault(&bytes_key, &message);
        }
    }
}
