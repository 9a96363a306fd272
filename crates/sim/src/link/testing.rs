//! What the tests of the links share.

use super::{Delivery, Link};
use crate::config::{Host, Interface};

/// A host behind nothing but an interface.
pub(super) fn host(interface: Interface) -> Host {
    Host { interface, logical_block_bytes: 512, queue_depth: 1, firmware_ns: 0 }
}

/// Its link.
pub(super) fn link(interface: Interface) -> Link {
    Link::new(&host(interface))
}

/// Runs the link until it delivers something.
pub(super) fn next(link: &mut Link) -> (u64, Delivery) {
    link.deliver(u64::MAX - 1).expect("something is under way")
}
