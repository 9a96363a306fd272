//! What stands between a host and the inside of a drive, of whatever kind: the link, the gate
//! behind it, the controller's processor, and the requests that are there.

mod processor;

use crate::config::Host;
use crate::link::Link;
use crate::link::gate::Gate;
use crate::slab::Slab;
use processor::Processor;

/// The front of a drive that keeps an `R` of each request.
#[derive(Clone, Debug)]
pub struct Front<R> {
    /// To the host and back.
    pub link: Link,
    /// Which command comes in next.
    pub gate: Gate,
    /// What reads commands.
    pub processor: Processor,
    /// From submission to answer.
    pub requests: Slab<R>,
}

impl<R> Front<R> {
    /// The front that `host` describes. Whether flushes and discards must be alone in the drive.
    #[must_use]
    pub fn new(host: &Host, alone: bool) -> Self {
        Self {
            link: Link::new(host),
            gate: Gate::new(host, alone),
            processor: Processor::new(host.firmware_ns),
            requests: Slab::default(),
        }
    }
}
