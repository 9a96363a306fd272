//! What the elements did, as a drive reports it.
//!
//! An element is a die with pins of its own, so dies and channels are both elements.
//! A summary page counts as a page programmed: it wears the array as any other.

use super::server::Server;
use ssdscope_io::Counters;

/// The sum over all elements; the bytes of the host are not known here.
pub(super) fn gather(servers: &[Server], page_bytes: u64) -> Counters {
    let mut counters = Counters::default();
    for server in servers {
        let work = server.element.work;
        counters.flash_pages_read += work.pages_read;
        counters.flash_pages_programmed += work.pages_programmed;
        counters.simulated.flash_steps += work.pages_read + work.pages_programmed + work.erases;
        counters.block_erases += work.erases;
        counters.gc_runs += work.cleans;
        counters.gc_pages_moved += work.pages_moved;
        counters.wear_pages_moved += work.pages_migrated;
        counters.die_busy_ns.push(server.busy_ns);
        counters.channel_busy_ns.push(server.pins_busy_ns);
        counters.add_erase_histogram(&server.element.histogram);
    }
    counters.flash_bytes_read = counters.flash_pages_read * page_bytes;
    counters.flash_bytes_programmed = counters.flash_pages_programmed * page_bytes;
    counters
}
