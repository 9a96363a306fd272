//! Writing in no time, from which states of a drive are built.

use super::drive::MsrDrive;
use super::element::Element;
use super::geometry::Lpn;
use super::stuck::Stuck;
use ssdscope_io::DeviceError;

impl MsrDrive {
    /// Writes `pages` logical pages from page `first` on, cleaning as it must, in no
    /// time, uncounted and without wear: preparing a state must not use up a life of
    /// 50 erasures, nor show in the results of what is run on it.
    ///
    /// # Errors
    /// If the pages reach past the end, or an element can make no progress.
    pub fn write_untimed(&mut self, first: u64, pages: u64) -> Result<(), DeviceError> {
        let page_bytes = u64::from(self.params.page_bytes);
        let capacity_bytes = self.params.capacity_bytes();
        if first.saturating_add(pages) > capacity_bytes / page_bytes {
            return Err(DeviceError::OutOfRange {
                offset_bytes: first.saturating_mul(page_bytes),
                len_bytes: pages.saturating_mul(page_bytes),
                capacity_bytes,
            });
        }
        for page in first..first + pages {
            let (number, lpn) = self.place(page);
            let element = &mut self.servers[number as usize].element;
            element
                .write_ageless(lpn, self.params.background)
                .map_err(|stuck| DeviceError::Stuck(stuck.tell(number, element)))?;
        }
        Ok(())
    }
}

impl Element {
    /// Writes one page and cleans around it as in a run, but leaves no trace of work or wear.
    fn write_ageless(&mut self, lpn: Lpn, background: bool) -> Result<(), Stuck> {
        let work = self.work;
        self.ageless = true;
        let outcome = self.write_and_clean(lpn, background);
        self.ageless = false;
        self.work = work;
        outcome
    }

    fn write_and_clean(&mut self, lpn: Lpn, background: bool) -> Result<(), Stuck> {
        while self.needs_cleaning() {
            self.clean()?;
        }
        let old = self.locate(lpn);
        let plane = self.choose_plane(old, |_| 0);
        self.program(lpn, old, plane)?;
        while background && self.needs_cleaning() {
            self.clean()?;
        }
        Ok(())
    }
}
