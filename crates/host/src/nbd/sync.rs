//! Makes a backing file durable on a thread of its own: the disk below takes its time, and
//! nobody else shall wait for it.

use super::protocol::{be32, be64};
use super::store::number;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

/// A word that says that a job is done: its number, and the protocol's error.
const WORD_BYTES: usize = 12;

/// Takes jobs by their numbers, and hands the numbers back when the file is durable.
pub(crate) struct Syncer {
    jobs: Option<Sender<u64>>,
    done: UnixStream,
    /// A word that has not come whole.
    word: [u8; WORD_BYTES],
    filled: usize,
    worker: Option<JoinHandle<()>>,
}

impl Syncer {
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let (done, mut tell) = UnixStream::pair()?;
        done.set_nonblocking(true)?;
        let (jobs, waiting) = mpsc::channel::<u64>();
        let worker = thread::Builder::new().name("nbd-sync".into()).spawn(move || {
            while let Ok(first) = waiting.recv() {
                // One call serves all that wait by now.
                let all: Vec<u64> = [first].into_iter().chain(waiting.try_iter()).collect();
                let result = file.sync_data().map_or_else(|error| number(&error), |()| 0);
                let words: Vec<u8> = all
                    .into_iter()
                    .flat_map(|job| [&job.to_be_bytes()[..], &result.to_be_bytes()].concat())
                    .collect();
                if tell.write_all(&words).is_err() {
                    return;
                }
            }
        })?;
        let word = [0; WORD_BYTES];
        Ok(Self { jobs: Some(jobs), done, word, filled: 0, worker: Some(worker) })
    }

    /// Readable when jobs are done.
    pub(crate) fn fd(&self) -> RawFd {
        self.done.as_raw_fd()
    }

    /// Makes everything written so far durable; the job's number comes back.
    pub(crate) fn start(&self, job: u64) {
        if let Some(jobs) = &self.jobs {
            // The thread only ends when this end of the channel does.
            let _ = jobs.send(job);
        }
    }

    /// The next job that is done, and its error (0 = none).
    pub(crate) fn take(&mut self) -> Option<(u64, u32)> {
        while self.filled < WORD_BYTES {
            match self.done.read(&mut self.word[self.filled..]) {
                Ok(len) if len > 0 => self.filled += len,
                _ => return None,
            }
        }
        self.filled = 0;
        Some((be64(&self.word, 0), be32(&self.word, 8)))
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.jobs = None;
        // A thread that waits for room to report does not wait for ever.
        let _ = self.done.shutdown(std::net::Shutdown::Both);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}
