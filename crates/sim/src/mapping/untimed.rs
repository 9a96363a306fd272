//! Preparing the state of a drive whose mapping table is paged in on demand: its mapping
//! pages are written as often as writing in time would have, and lie between the data.

use super::demand::{Demand, WriteBack};
use crate::config::DemandMap;
use crate::error::SimError;
use crate::ftl::{Ftl, Translation};
use crate::geometry::Lpn;
use crate::prepare::Prepare;

/// A translation layer with the cache through which it is written.
#[derive(Debug)]
pub struct Cached<'ftl> {
    ftl: &'ftl mut Ftl,
    demand: Demand,
}

impl<'ftl> Cached<'ftl> {
    /// With an empty cache.
    #[must_use]
    pub fn new(ftl: &'ftl mut Ftl, settings: &DemandMap) -> Self {
        let page_bytes = u64::from(ftl.geometry().page_bytes);
        let demand = Demand::new(settings, ftl.exported_pages(), page_bytes);
        Self { ftl, demand }
    }

    /// What is in RAM of the table.
    #[must_use]
    pub fn into_demand(self) -> Demand {
        self.demand
    }

    fn write_back(&mut self, WriteBack { page, .. }: WriteBack) -> Result<u32, SimError> {
        self.demand.written_back(page);
        self.ftl.write_page(page.0)
    }
}

impl Prepare for Cached<'_> {
    fn pages(&self) -> u32 {
        self.ftl.pages()
    }

    fn spare_pages(&self) -> u32 {
        self.ftl.spare_pages()
    }

    fn page_bytes(&self) -> u32 {
        self.ftl.page_bytes()
    }

    /// In order each page of the map changes in one go, so it is programmed once: here all of them
    /// after the data.
    fn fill(&mut self) -> Result<(), SimError> {
        self.ftl.fill_up_to(self.ftl.logical_pages())
    }

    /// Also empties the cache, as before switching off.
    fn rest(&mut self) -> Result<(), SimError> {
        while let Some(write_back) = self.demand.flush() {
            self.write_back(write_back)?;
        }
        self.demand.forget();
        self.ftl.rest()
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        let mut moved = 0;
        if !self.demand.touch(Lpn(page), true)
            && let Some(write_back) = self.demand.insert(Lpn(page), true)
        {
            moved = self.write_back(write_back)?;
        }
        Ok(moved + self.ftl.write_page(page)?)
    }
}
