//! The fallback engine: blocking calls, one thread per request in flight.
//!
//! The threads stamp the clock themselves, so handing work over costs throughput but
//! does not enter the latencies.

use super::{Engine, EngineKind, Finished, Transfer};
use crate::buffer::{AlignedBuffer, BufferPool};
use crate::sys;
use ssdscope_io::{Nanos, Op};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Requests in flight at most: that many threads.
const DEPTH_MAX: usize = 128;

type Job = (usize, Transfer);

/// A pool that grows with the depth asked for.
pub(crate) struct Threads {
    file: Arc<File>,
    /// `None` only while closing: it tells the threads to end.
    jobs: Option<Sender<Job>>,
    waiting_jobs: Arc<Mutex<Receiver<Job>>>,
    ends_sender: Sender<Finished>,
    ends: Receiver<Finished>,
    workers: Vec<JoinHandle<()>>,
    in_flight: usize,
}

impl Threads {
    pub(crate) fn new(file: Arc<File>) -> Self {
        let (jobs, waiting_jobs) = mpsc::channel();
        let (ends_sender, ends) = mpsc::channel();
        Self {
            file,
            jobs: Some(jobs),
            waiting_jobs: Arc::new(Mutex::new(waiting_jobs)),
            ends_sender,
            ends,
            workers: Vec::new(),
            in_flight: 0,
        }
    }

    fn hire(&mut self) -> io::Result<()> {
        let file = Arc::clone(&self.file);
        let jobs = Arc::clone(&self.waiting_jobs);
        let ends = self.ends_sender.clone();
        let worker = thread::Builder::new().name("ssdscope-io".to_owned()).spawn(move || {
            loop {
                // A statement of its own, so that the lock is free during the transfer.
                let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((slot, transfer)) = job else { return };
                if ends.send(serve(&file, slot, transfer)).is_err() {
                    return;
                }
            }
        })?;
        self.workers.push(worker);
        Ok(())
    }

    fn receive(&self, until: Nanos) -> Result<Finished, RecvTimeoutError> {
        if until == Nanos::MAX {
            return self.ends.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        let span = until.saturating_sub(sys::monotonic_now());
        self.ends.recv_timeout(Duration::from_nanos(span.0))
    }
}

impl Engine for Threads {
    fn kind(&self) -> EngineKind {
        EngineKind::Threads
    }

    fn depth_max(&self) -> usize {
        DEPTH_MAX
    }

    fn prepare(&mut self, _pool: &mut BufferPool) -> io::Result<()> {
        Ok(())
    }

    fn adopt(&mut self, _buffer: &mut AlignedBuffer) {}

    fn start(&mut self, slot: usize, transfer: Transfer) -> io::Result<()> {
        if self.in_flight >= self.workers.len() {
            match self.hire() {
                // Fewer threads than requests is slow but right; none at all is neither.
                Err(error) if self.workers.is_empty() => return Err(error),
                _ => {}
            }
        }
        let jobs = self.jobs.as_ref().expect("open until it is dropped");
        jobs.send((slot, transfer)).map_err(|_| io::Error::other("the threads are gone"))?;
        self.in_flight += 1;
        Ok(())
    }

    fn wait(&mut self, until: Nanos, finished: &mut Vec<Finished>) -> io::Result<()> {
        if self.in_flight == 0 {
            return Ok(());
        }
        match self.receive(until) {
            Ok(end) => finished.push(end),
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the threads are gone"));
            }
        }
        finished.extend(self.ends.try_iter());
        self.in_flight -= finished.len();
        finished.sort_by_key(|end| end.finished);
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.jobs = None;
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing left to give back.
            let _ = worker.join();
        }
    }
}

/// Does the work of one request.
fn serve(file: &File, slot: usize, mut transfer: Transfer) -> Finished {
    let started = sys::monotonic_now();
    let result = transact(file, &mut transfer);
    let finished = sys::monotonic_now();
    let result = result.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO));
    Finished { slot, result, started, finished, buffer: transfer.buffer }
}

fn transact(file: &File, transfer: &mut Transfer) -> io::Result<()> {
    let Transfer { op, offset_bytes, len_bytes, fua, ref mut buffer } = *transfer;
    let no_buffer = || io::Error::from_raw_os_error(libc::EFAULT);
    match op {
        Op::Read => {
            let buffer = buffer.as_mut().ok_or_else(no_buffer)?;
            file.read_exact_at(&mut buffer.as_mut_slice()[..len_bytes], offset_bytes)
        }
        Op::Write => {
            let data = &buffer.as_ref().ok_or_else(no_buffer)?.as_slice()[..len_bytes];
            if fua {
                write_all_durable(file, data, offset_bytes)
            } else {
                file.write_all_at(data, offset_bytes)
            }
        }
        Op::Flush => file.sync_data(),
        Op::Discard => sys::punch_hole(file, offset_bytes, len_bytes as u64),
        Op::WriteZeroes => sys::zero_range(file, offset_bytes, len_bytes as u64),
    }
}

fn write_all_durable(file: &File, mut data: &[u8], mut offset_bytes: u64) -> io::Result<()> {
    while !data.is_empty() {
        match sys::write_durable(file, data, offset_bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                data = &data[written..];
                offset_bytes += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
