//! The open loop: every request at its arrival, whatever has completed.
//!
//! Latencies count from the arrival. In virtual time that is the submission; on a
//! wall clock a request may be issued late, which the summary then says.

use super::session::Session;
use super::source::{Next, Planned, Source};
use crate::summary::StopReason;
use crate::units::Nanos;

/// Runs `source`, whose requests come with ascending due times; why it ended.
pub fn drive<S: Source>(session: &mut Session<'_>, source: &mut S) -> StopReason {
    let mut free_slots: Vec<u32> = Vec::new();
    let mut slots = 0;
    let mut batch = Vec::new();
    let mut end = StopReason::End;
    let mut upcoming = next(session, source, &mut end);
    while session.stopped().is_none() && (upcoming.is_some() || session.in_flight() > 0) {
        while let Some(planned) = upcoming
            && planned.due <= session.now()
            && session.stopped().is_none()
        {
            let slot = free_slots.pop().unwrap_or_else(|| {
                slots += 1;
                session.reserve_slots(slots);
                slots - 1
            });
            session.submit(slot, &planned);
            upcoming = next(session, source, &mut end);
        }
        if session.stopped().is_some() || (upcoming.is_none() && session.in_flight() == 0) {
            break;
        }
        session.wait(upcoming.map_or(Nanos::MAX, |planned| planned.due), &mut batch);
        free_slots.extend(batch.iter().filter_map(|completion| session.settle(completion)));
        batch.clear();
    }
    session.stopped().unwrap_or(end)
}

fn next<S: Source>(
    session: &mut Session<'_>,
    source: &mut S,
    end: &mut StopReason,
) -> Option<Planned> {
    match source.next(0, session.now()) {
        Next::Request(planned) => Some(planned),
        Next::Hold => None, // only of queues that have places
        Next::End(reason) => {
            *end = reason;
            None
        }
        Next::Broken(error) => {
            session.break_off(super::Failure::Source(error));
            None
        }
    }
}
