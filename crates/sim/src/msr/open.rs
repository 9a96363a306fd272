//! Opening: the one base state, and the states that write on from it.

use super::{MsrDrive, MsrParams};
use crate::config::State;
use crate::error::SimError;
use crate::prepare::{self, Prepare};

impl Prepare for MsrDrive {
    fn pages(&self) -> u32 {
        (self.params().capacity_bytes() / u64::from(self.params().page_bytes)) as u32
    }

    fn spare_pages(&self) -> u32 {
        let params = self.params();
        params.elements * params.planes * params.blocks_per_plane * params.pages_per_block
            - self.pages()
    }

    fn page_bytes(&self) -> u32 {
        self.params().page_bytes
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        self.write_untimed(page.into()).map_err(|error| SimError::Livelock(error.to_string()))
    }
}

impl MsrDrive {
    /// A drive in a state. The firmware starts with every page mapped in order, so
    /// `fresh` and `sequential` are the same; `random` and `steady` write on from there.
    ///
    /// # Errors
    /// If the parameters could never work, or cleaning can make no progress.
    pub fn open(params: MsrParams, state: State, seed: u64) -> Result<Self, SimError> {
        let mut drive =
            Self::new(params, seed).map_err(|error| SimError::State(error.to_string()))?;
        prepare::write_on(&mut drive, state, seed)?;
        Ok(drive)
    }
}
