//! An element in time: it does one thing at once, in the order things were asked,
//! and cleans before anything else.
//!
//! What an element does next depends on nothing but itself and what is queued, so
//! with one parallel unit pages can be served ahead of the clock. Cleaning that
//! waits for nobody is not run ahead: it happens as the clock passes
//! ([`Server::catch_up`]), or the counters would know the future.

use super::element::Element;
use super::geometry::Lpn;
use super::stuck::Stuck;
use std::collections::VecDeque;

/// A page of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageOp {
    /// The request, by its place among those in flight.
    pub flight: u32,
    pub lpn: Lpn,
    pub is_read: bool,
}

/// A page that was served, and the work that led up to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub flight: u32,
    pub finish_ns: u64,
    /// What the element did for this request since its pages arrived.
    pub chain: Chain,
}

/// Time in which an element worked for a request, or kept it waiting by cleaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub nand_ns: u64,
    pub transfer_ns: u64,
    pub gc_ns: u64,
}

/// What a request had of an element so far.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    nand_ns: u64,
    transfer_ns: u64,
    /// How long the element had been cleaning when the request arrived.
    cleaned_before_ns: u64,
}

/// Work for one page: in the array, and over the element's pins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub nand_ns: u64,
    pub transfer_ns: u64,
}

impl Cost {
    pub const fn total_ns(self) -> u64 {
        self.nand_ns + self.transfer_ns
    }
}

#[derive(Clone, Debug)]
pub(super) struct Server {
    pub element: Element,
    pub queue: VecDeque<PageOp>,
    /// The element is idle from here on.
    pub busy_until_ns: u64,
    /// Whether the end of the last work is still to be looked at for cleaning.
    unsettled: bool,
    background: bool,
    /// Why nothing will be served any more.
    stuck: Option<Stuck>,
    /// When the drive will look at the queue again, where it was told to.
    pub wakeup_ns: Option<u64>,
    /// By request in flight.
    accounts: Vec<Account>,
    /// Cleaning that had not ended when a request last arrived: start, end.
    cleanings: VecDeque<(u64, u64)>,
    pub cleaning_ns: u64,
    pub busy_ns: u64,
    pub pins_busy_ns: u64,
}

impl Server {
    pub fn new(element: Element, background: bool) -> Self {
        Self {
            element,
            queue: VecDeque::new(),
            busy_until_ns: 0,
            unsettled: false,
            background,
            stuck: None,
            wakeup_ns: None,
            accounts: Vec::new(),
            cleanings: VecDeque::new(),
            cleaning_ns: 0,
            busy_ns: 0,
            pins_busy_ns: 0,
        }
    }

    /// Why this element will never serve a page again, if so.
    pub const fn stuck(&self) -> Option<Stuck> {
        self.stuck
    }

    /// Cleans in the background as far as that starts at `now_ns` or before.
    #[inline]
    pub fn catch_up(&mut self, now_ns: u64) {
        while self.unsettled && self.busy_until_ns <= now_ns && self.queue.is_empty() {
            // A futile attempt is remembered, and told to whoever needs the element.
            let cleaned = self.background && self.clean(self.busy_until_ns).unwrap_or(false);
            self.unsettled = cleaned;
        }
    }

    /// A request is about to bring its first page.
    pub fn welcome(&mut self, flight: u32, now_ns: u64) {
        let at = flight as usize;
        if self.accounts.len() <= at {
            self.accounts.resize(at + 1, Account::default());
        }
        while self.cleanings.front().is_some_and(|&(_, end)| end <= now_ns) {
            self.cleanings.pop_front();
        }
        let ahead: u64 = self.cleanings.iter().map(|&(start, end)| end - start.max(now_ns)).sum();
        self.accounts[at] =
            Account { cleaned_before_ns: self.cleaning_ns - ahead, ..Account::default() };
    }

    /// Does the next thing, at `at_ns`, when the element is idle: cleans if it must,
    /// else serves what is queued. Pages are reported to `served`.
    #[inline]
    pub fn activate(&mut self, at_ns: u64, served: &mut Vec<Served>) -> Result<(), Stuck> {
        debug_assert!(self.busy_until_ns <= at_ns);
        self.unsettled = true;
        if self.clean(at_ns)? {
            return Ok(());
        }
        let until_ns = if self.element.plane_to_clean.len() > 1 {
            self.serve_rounds(at_ns, served)?
        } else {
            self.serve_one(at_ns, served)?
        };
        self.busy_until_ns = until_ns;
        self.busy_ns += until_ns - at_ns;
        Ok(())
    }

    /// Serves the first page of the queue.
    fn serve_one(&mut self, at_ns: u64, served: &mut Vec<Served>) -> Result<u64, Stuck> {
        let Some(op) = self.queue.pop_front() else { return Ok(at_ns) };
        let cost = if op.is_read {
            self.read_page()
        } else {
            let old = self.element.locate(op.lpn);
            let plane = self.element.choose_plane(old, |_| 0);
            self.write_page(op.lpn, plane)?
        };
        let finish_ns = at_ns + cost.total_ns();
        self.report(op.flight, cost, finish_ns, served);
        self.charge(op.flight, cost);
        Ok(finish_ns)
    }

    /// Reads a page, always the whole of it.
    pub fn read_page(&mut self) -> Cost {
        let costs = self.element.costs;
        self.element.work.pages_read += 1;
        self.pins_busy_ns += costs.page_transfer_ns;
        Cost { nand_ns: costs.read_ns, transfer_ns: costs.page_transfer_ns }
    }

    /// Writes a page to `plane`, and the summary page where that fills the block.
    pub fn write_page(&mut self, lpn: Lpn, plane: u32) -> Result<Cost, Stuck> {
        let costs = self.element.costs;
        let full = self.element.overwrite(lpn, plane).inspect_err(|&s| self.stuck = Some(s))?;
        let mut cost = Cost { nand_ns: costs.program_ns, transfer_ns: costs.page_transfer_ns };
        if full {
            cost.nand_ns += costs.program_ns;
            cost.transfer_ns += costs.summary_transfer_ns;
        }
        self.pins_busy_ns += cost.transfer_ns;
        Ok(cost)
    }

    /// A page of `flight` ends at `finish_ns`, after `own` work that came on top of what
    /// was charged to the request before.
    pub fn report(&self, flight: u32, own: Cost, finish_ns: u64, served: &mut Vec<Served>) {
        let account = self.accounts[flight as usize];
        let chain = Chain {
            nand_ns: account.nand_ns + own.nand_ns,
            transfer_ns: account.transfer_ns + own.transfer_ns,
            gc_ns: self.cleaning_ns - account.cleaned_before_ns,
        };
        served.push(Served { flight, finish_ns, chain });
    }

    /// The element could do nothing else meanwhile: later pages of `flight` waited for this.
    pub fn charge(&mut self, flight: u32, cost: Cost) {
        let account = &mut self.accounts[flight as usize];
        account.nand_ns += cost.nand_ns;
        account.transfer_ns += cost.transfer_ns;
    }

    /// Cleans once, if any plane is low. Whether it did.
    fn clean(&mut self, at_ns: u64) -> Result<bool, Stuck> {
        if let Some(stuck) = self.stuck {
            return Err(stuck);
        }
        if !self.element.needs_cleaning() {
            return Ok(false);
        }
        let ns = self.element.clean().inspect_err(|&stuck| self.stuck = Some(stuck))?;
        self.busy_until_ns = at_ns + ns;
        self.cleaning_ns += ns;
        self.busy_ns += ns;
        self.cleanings.push_back((at_ns, self.busy_until_ns));
        Ok(true)
    }
}
