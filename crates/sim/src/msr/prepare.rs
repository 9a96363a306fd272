//! Writing in no time, from which states of a drive are built.

use super::drive::MsrDrive;
use super::element::Element;
use super::geometry::Lpn;
use super::stuck::Stuck;
use ssdscope_io::DeviceError;

impl MsrDrive {
    /// Writes a logical page, cleaning as it must, in no time, uncounted and without
    /// wear: preparing a state must not use up a life of 50 erasures, nor show in the
    /// results of what is run on it. Returns how many pages cleaning moved.
    ///
    /// # Errors
    /// If the page is past the end, or an element can make no progress.
    pub fn write_untimed(&mut self, page: u64) -> Result<u32, DeviceError> {
        let page_bytes = u64::from(self.params.page_bytes);
        let capacity_bytes = self.params.capacity_bytes();
        if page >= capacity_bytes / page_bytes {
            return Err(DeviceError::OutOfRange {
                offset_bytes: page.saturating_mul(page_bytes),
                len_bytes: page_bytes,
                capacity_bytes,
            });
        }
        let (number, lpn) = self.place(page);
        let element = &mut self.servers[number as usize].element;
        element
            .write_ageless(lpn, self.params.background)
            .map_err(|stuck| DeviceError::Stuck(stuck.tell(number, element)))
    }
}

impl Element {
    /// Writes one page and cleans around it as in a run, but leaves no trace of work or
    /// wear; returns how many pages cleaning moved.
    fn write_ageless(&mut self, lpn: Lpn, background: bool) -> Result<u32, Stuck> {
        let work = self.work;
        self.ageless = true;
        let outcome = self.write_and_clean(lpn, background);
        self.ageless = false;
        let moved = self.work.pages_moved - work.pages_moved;
        self.work = work;
        outcome.map(|()| moved as u32)
    }

    fn write_and_clean(&mut self, lpn: Lpn, background: bool) -> Result<(), Stuck> {
        while self.needs_cleaning() {
            self.clean()?;
        }
        let old = self.locate(lpn);
        let plane = self.choose_plane(old, |_| 0);
        self.overwrite(lpn, plane)?;
        while background && self.needs_cleaning() {
            self.clean()?;
        }
        Ok(())
    }
}
