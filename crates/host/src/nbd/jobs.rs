//! What a server has under way: each job waits for the drive, and a write for its data, and what
//! must be durable for the backing file.

use super::session::Command;
use ssdscope_io::Nanos;

/// Which connection a job belongs to: a place, and the number of the client that had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) place: usize,
    pub(crate) client: u64,
}

impl Owner {
    /// Nobody: clients are counted from 1.
    const NOBODY: Self = Self { place: 0, client: 0 };
}

/// A command that is being served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) owner: Owner,
    pub(crate) command: Command,
    /// When its header was read, on the wall's clock.
    pub(crate) arrival: Nanos,
    /// When the reply may leave.
    pub(crate) due: Nanos,
    /// The protocol's error; 0 = none.
    pub(crate) error: u32,
    /// How many of drive, data and durability are still to come.
    pub(crate) waits: u8,
    /// How many of them begin with data that have not come.
    pub(crate) waits_for_data: u8,
}

/// All of them, by number.
#[derive(Default)]
pub(crate) struct Jobs {
    slots: Vec<Option<Job>>,
    free: Vec<usize>,
}

impl Jobs {
    pub(crate) fn add(&mut self, job: Job) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(job);
        slot as u64
    }

    pub(crate) fn get(&mut self, id: u64) -> Option<&mut Job> {
        self.slots.get_mut(usize::try_from(id).ok()?)?.as_mut()
    }

    /// One thing that the job waits for has come, with an error or 0. Returns the job if it was
    /// the last one.
    pub(crate) fn came(&mut self, id: u64, error: u32) -> Option<Job> {
        let slot = usize::try_from(id).ok()?;
        let job = self.slots.get_mut(slot)?.as_mut()?;
        if job.error == 0 {
            job.error = error;
        }
        job.waits -= 1;
        if job.waits > 0 {
            return None;
        }
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// The data of a write will not come, nor will anything be made durable for it: it only
    /// waits for the drive, if the drive is not done, and nobody gets a reply.
    pub(crate) fn break_off(&mut self, id: u64) {
        if let Some(job) = self.get(id) {
            job.owner = Owner::NOBODY;
            job.waits -= job.waits_for_data;
            job.waits_for_data = 0;
            if job.waits == 0 {
                job.waits = 1;
                self.came(id, 0);
            }
        }
    }

    /// Everything that is under way, given up.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Job> + '_ {
        self.free.clear();
        self.slots.drain(..).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nbd::session::Action;

    fn write(waits: u8, waits_for_data: u8) -> Job {
        let action = Action::Write;
        let command = Command { cookie: 0, action, offset_bytes: 0, len_bytes: 512, fua: true };
        let owner = Owner { place: 0, client: 1 };
        let (arrival, due) = (Nanos::ZERO, Nanos::ZERO);
        Job { owner, command, arrival, due, error: 0, waits, waits_for_data }
    }

    /// A client that goes away in the middle of its data leaves nothing behind, whether the drive
    /// is done before or after.
    #[test]
    fn a_write_that_is_broken_off_takes_no_room() {
        for drive_first in [true, false] {
            let mut jobs = Jobs::default();
            for _ in 0..1_000 {
                let id = jobs.add(write(3, 2));
                if drive_first {
                    assert!(jobs.came(id, 0).is_none());
                    jobs.break_off(id);
                } else {
                    jobs.break_off(id);
                    assert!(jobs.came(id, 0).is_some());
                }
                assert!(jobs.get(id).is_none());
            }
            assert_eq!(jobs.slots.len(), 1);
        }
    }
}
