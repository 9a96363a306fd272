//! The drive: requests go over the bus, their pages to the elements, and back.

use super::counters;
use super::element::Element;
use super::geometry::Lpn;
use super::link::{Link, Turn};
use super::params::{MsrParams, ParamsError};
use super::server::{Chain, PageOp, Served, Server};
use ssdscope_io::device::check_request;
use ssdscope_io::{
    Attribution, Caches, Cause, ClockKind, Completion, Counters, Device, DeviceError, DeviceInfo,
    DeviceKind, Nanos, Op, Outcome, Request, Snapshot, Upkeep,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A request that was not completed yet.
#[derive(Clone, Copy, Debug)]
struct Flight {
    request: Request,
    submitted_ns: u64,
    /// When its pages went to the elements.
    media_start_ns: u64,
    pages_left: u32,
    /// When the latest page so far ends, and what led up to it.
    media_end_ns: u64,
    chain: Chain,
    /// Waiting for the bus, on both ways.
    bus_wait_ns: u64,
}

/// What happens at an instant; `u32` is a request in flight or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submitted(u32),
    BusDone(u32),
    MediaDone(u32),
    Wakeup(u32),
    Stuck(u32),
}

/// A simulated drive with the firmware of DiskSim's SSD extension.
#[derive(Clone)]
pub struct MsrDrive {
    pub(super) params: MsrParams,
    pub(super) servers: Vec<Server>,
    link: Link,
    flights: Vec<Flight>,
    free_flights: Vec<u32>,
    /// By time, then in the order they were foreseen.
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    foreseen: u64,
    now_ns: u64,
    finished: Vec<Completion>,
    failed: Option<String>,
    bytes_read: u64,
    bytes_written: u64,
    /// Kept for its allocation.
    served: Vec<Served>,
    /// Shared by all forks of a drive, to know their snapshots.
    lineage: Arc<()>,
}

impl MsrDrive {
    /// A drive in its one base state: every logical page mapped in sequence.
    ///
    /// # Errors
    /// If a drive with these parameters could never serve a request.
    pub fn new(params: MsrParams, seed: u64) -> Result<Self, ParamsError> {
        params.check()?;
        let server = |number| Server::new(Element::new(&params, number, seed), params.background);
        Ok(Self {
            params,
            servers: (0..params.elements).map(server).collect(),
            link: Link::default(),
            flights: Vec::new(),
            free_flights: Vec::new(),
            events: BinaryHeap::new(),
            foreseen: 0,
            now_ns: 0,
            finished: Vec::new(),
            failed: None,
            bytes_read: 0,
            bytes_written: 0,
            served: Vec::new(),
            lineage: Arc::new(()),
        })
    }

    /// What it was made from.
    #[must_use]
    pub const fn params(&self) -> &MsrParams {
        &self.params
    }

    /// Time that all elements together spent cleaning.
    #[must_use]
    pub fn cleaning_ns(&self) -> u64 {
        self.servers.iter().map(|server| server.cleaning_ns).sum()
    }

    /// The element of a page and its number there.
    pub(super) fn place(&self, page: u64) -> (u32, Lpn) {
        let elements = u64::from(self.params.elements);
        ((page % elements) as u32, Lpn((page / elements) as u32))
    }

    fn foresee(&mut self, at_ns: u64, event: Event) {
        self.events.push(Reverse((at_ns, self.foreseen, event)));
        self.foreseen += 1;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Submitted(flight) => {
                if self.flights[flight as usize].request.op == Op::Flush {
                    // Nothing is buffered: what was acknowledged is durable.
                    self.complete(flight);
                    return;
                }
                self.link.arriving.push_back(flight);
            }
            Event::BusDone(flight) => {
                self.link.holder = None;
                match self.flights[flight as usize].request.op {
                    Op::Read => self.complete(flight),
                    _ => self.start_media(flight),
                }
            }
            Event::MediaDone(flight) => self.link.leaving.push_back(flight),
            Event::Wakeup(element) => {
                self.servers[element as usize].wakeup_ns = None;
                self.kick(element);
                return;
            }
            Event::Stuck(element) => {
                let at = &self.servers[element as usize];
                self.failed = at.stuck().map(|stuck| stuck.tell(element, &at.element));
                return;
            }
        }
        self.run_link();
    }

    /// Lets those who wait for the bus have it, until one holds it for a while.
    fn run_link(&mut self) {
        while let Some(turn) = self.link.next_turn() {
            let (Turn::Leave(flight) | Turn::Arrive(flight)) = turn;
            let at = &mut self.flights[flight as usize];
            let is_read = at.request.op == Op::Read;
            let since_ns =
                if turn == Turn::Arrive(flight) { at.submitted_ns } else { at.media_end_ns };
            at.bus_wait_ns += self.now_ns - since_ns;
            match turn {
                Turn::Leave(_) if !is_read => self.complete(flight),
                Turn::Arrive(_) if is_read => self.start_media(flight),
                _ => {
                    self.link.holder = Some(flight);
                    let ns = self.params.link_ns(sent_sectors(&at.request));
                    self.foresee(self.now_ns + ns, Event::BusDone(flight));
                }
            }
        }
    }

    /// Sends the pages of a request to their elements, all at this instant.
    fn start_media(&mut self, flight: u32) {
        let page_sectors = u64::from(self.params.page_bytes) / ssdscope_io::SECTOR_BYTES;
        let at = &mut self.flights[flight as usize];
        let first = at.request.lba.0 / page_sectors;
        let pages = at.request.sectors.0 / page_sectors;
        let is_read = at.request.op == Op::Read;
        at.media_start_ns = self.now_ns;
        at.pages_left = pages as u32;
        for page in first..first + pages {
            let (element, lpn) = self.place(page);
            let server = &mut self.servers[element as usize];
            server.catch_up(self.now_ns);
            if page - first < u64::from(self.params.elements) {
                server.welcome(flight, self.now_ns);
            }
            server.queue.push_back(PageOp { flight, lpn, is_read });
            self.kick(element);
        }
    }

    /// Lets an element work off its queue: ahead of the clock, or with parallel units, where
    /// later pages may join, as far as the clock is.
    fn kick(&mut self, element: u32) {
        let mut served = std::mem::take(&mut self.served);
        let server = &mut self.servers[element as usize];
        let ahead = self.params.parallel_units == 1;
        let mut stuck_ns = None;
        while !server.queue.is_empty() && (ahead || server.busy_until_ns <= self.now_ns) {
            let at_ns = server.busy_until_ns.max(self.now_ns);
            if server.activate(at_ns, &mut served).is_err() {
                stuck_ns = Some(at_ns);
                break;
            }
        }
        let wakeup_ns = Some(server.busy_until_ns)
            .filter(|_| !server.queue.is_empty() && stuck_ns.is_none())
            .filter(|&at_ns| server.wakeup_ns != Some(at_ns));
        server.wakeup_ns = wakeup_ns.or(server.wakeup_ns);
        if let Some(at_ns) = wakeup_ns {
            self.foresee(at_ns, Event::Wakeup(element));
        }
        if let Some(at_ns) = stuck_ns {
            self.foresee(at_ns, Event::Stuck(element));
        }
        for page in served.drain(..) {
            self.note_served(page);
        }
        self.served = served;
    }

    fn note_served(&mut self, page: Served) {
        let at = &mut self.flights[page.flight as usize];
        at.pages_left -= 1;
        if page.finish_ns >= at.media_end_ns {
            at.media_end_ns = page.finish_ns;
            at.chain = page.chain;
        }
        let end_ns = at.media_end_ns;
        if at.pages_left == 0 {
            self.foresee(end_ns, Event::MediaDone(page.flight));
        }
    }

    fn complete(&mut self, flight: u32) {
        let at = self.flights[flight as usize];
        self.free_flights.push(flight);
        let bytes = at.request.bytes().0;
        match at.request.op {
            Op::Read => self.bytes_read += bytes,
            Op::Write | Op::WriteZeroes => self.bytes_written += bytes,
            Op::Flush | Op::Discard => {}
        }
        let mut attribution = Attribution::ZERO;
        if at.request.op != Op::Flush {
            let media_ns = at.media_end_ns - at.media_start_ns;
            let Chain { nand_ns, transfer_ns, gc_ns } = at.chain;
            attribution[Cause::HostQueue] = at.bus_wait_ns;
            attribution[Cause::Link] = self.params.link_ns(sent_sectors(&at.request));
            attribution[Cause::Nand] = nand_ns;
            attribution[Cause::Transfer] = transfer_ns;
            attribution[Cause::Gc] = gc_ns;
            attribution[Cause::DieWait] = media_ns - nand_ns - transfer_ns - gc_ns;
        }
        self.finished.push(Completion {
            id: at.request.id,
            submitted: Nanos(at.submitted_ns),
            completed: Nanos(self.now_ns),
            outcome: Outcome::Done,
            attribution,
        });
    }

    /// Runs all events of the next instant, if that is not after `to_ns`.
    fn step(&mut self, to_ns: u64) -> bool {
        let Some(&Reverse((at_ns, ..))) = self.events.peek() else { return false };
        if at_ns > to_ns {
            return false;
        }
        self.now_ns = at_ns;
        while let Some(&Reverse((next_ns, _, event))) = self.events.peek() {
            if next_ns > at_ns {
                break;
            }
            self.events.pop();
            self.handle(event);
        }
        true
    }

    fn settle(&mut self) {
        for server in &mut self.servers {
            server.catch_up(self.now_ns);
        }
    }
}

/// How much of a request goes over the link: zeros need not be sent.
fn sent_sectors(request: &Request) -> u64 {
    if request.op == Op::WriteZeroes { 0 } else { request.sectors.0 }
}

impl Device for MsrDrive {
    fn info(&self) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Simulated,
            capacity_bytes: self.params.capacity_bytes(),
            logical_block_bytes: self.params.page_bytes.into(),
            clock: ClockKind::Virtual,
            writable: true,
            discard: false,
            attribution: true,
            snapshot: true,
            caches: Caches::ABSENT,
        }
    }

    fn now(&self) -> Nanos {
        Nanos(self.now_ns)
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info(), &request)?;
        let submitted_ns = now.0.max(self.now_ns);
        let flight = Flight {
            request,
            submitted_ns,
            media_start_ns: 0,
            pages_left: 0,
            media_end_ns: 0,
            chain: Chain::default(),
            bus_wait_ns: 0,
        };
        let at = self.free_flights.pop().unwrap_or(self.flights.len() as u32);
        if at as usize == self.flights.len() {
            self.flights.push(flight);
        } else {
            self.flights[at as usize] = flight;
        }
        self.foresee(submitted_ns, Event::Submitted(at));
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.events.peek().map(|&Reverse((at_ns, ..))| Nanos(at_ns))
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        while self.finished.is_empty() && self.failed.is_none() && self.step(to.0) {}
        if self.finished.is_empty() {
            if let Some(message) = &self.failed {
                return Err(DeviceError::Stuck(message.clone()));
            }
            if to != Nanos::MAX {
                self.now_ns = self.now_ns.max(to.0);
            }
        }
        self.settle();
        completions.append(&mut self.finished);
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.flights.len() - self.free_flights.len()
    }

    fn counters(&mut self) -> Option<Counters> {
        let mut counters = counters::gather(&self.servers, self.params.page_bytes.into());
        counters.host_bytes_read = self.bytes_read;
        counters.host_bytes_written = self.bytes_written;
        Some(counters)
    }

    fn upkeep(&self) -> Option<Upkeep> {
        let work = self.servers.iter().map(|server| server.element.work);
        Some(work.fold(Upkeep::default(), |sum, work| Upkeep {
            gc_pages_moved: sum.gc_pages_moved + work.pages_moved,
            wear_pages_moved: sum.wear_pages_moved + work.pages_migrated,
            ..sum
        }))
    }

    fn snapshot(&self) -> Option<Snapshot> {
        Some(Snapshot(Arc::new(self.clone())))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), DeviceError> {
        match snapshot.0.downcast_ref::<Self>() {
            Some(other) if Arc::ptr_eq(&self.lineage, &other.lineage) => {
                self.clone_from(other);
                Ok(())
            }
            _ => Err(DeviceError::Unsupported("a snapshot of another drive")),
        }
    }

    fn fork(&self) -> Option<Box<dyn Device>> {
        Some(Box::new(self.clone()))
    }
}
