//! What stands between a write and what lies where it goes.
//!
//! Before each phase of writing, and now and then within one, it is asked whether the target may
//! still be written ([`Recheck`]); and no block is written that was not looked at ([`Vetted`]). If
//! somebody opens the target meanwhile, it is asked at once, and if somebody may have written to it,
//! everything is looked at anew ([`Visitors`]).

use crate::safety::recheck::{Ask, Moment, Recheck};
use crate::sys::{self, visitors::Visitors};
use crate::vetted::{Looked, Vetted};
use ssdscope_io::shown::Shown;
use ssdscope_io::{DeviceError, Nanos};
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// How often it is asked who opened the target, while a run writes. Before each request of a client
/// it is asked anew, as the client may know what another program has just written.
const VISITS_EVERY: Nanos = Nanos(1_000_000);

/// What a guard is made from, as often as somebody gets at the target's data.
#[derive(Clone)]
pub(crate) struct GuardPlan {
    /// What is asked again.
    pub(crate) ask: Ask,
    /// As the user wrote it.
    pub(crate) path: PathBuf,
    /// What is known of the window; `None` if nobody's data count.
    pub(crate) vetted: Option<Vetted>,
}

/// The guard of one way to a target's data.
pub(crate) struct Guard {
    file: Arc<File>,
    path: PathBuf,
    recheck: Recheck,
    vetted: Option<Vetted>,
    /// `None` where the kernel does not tell.
    visitors: Option<Visitors>,
    visits_every: Nanos,
    visits_asked: Nanos,
    written_bytes: u64,
}

impl GuardPlan {
    /// The guard of what is written through a descriptor; `phase` says for whom.
    pub(crate) fn guard(&self, file: Arc<File>, phase: Moment) -> Guard {
        Guard {
            path: self.path.clone(),
            recheck: Recheck::new(Arc::clone(&file), Arc::clone(&self.ask), phase)
                .asked_at(sys::monotonic_now()),
            vetted: self.vetted.clone(),
            visitors: Visitors::of(&file).ok(),
            visits_every: if phase == Moment::Served { Nanos::ZERO } else { VISITS_EVERY },
            visits_asked: Nanos::ZERO,
            written_bytes: 0,
            file,
        }
    }
}

impl Guard {
    /// Another watch over the target than its own.
    #[cfg(test)]
    pub(crate) fn watch(&mut self, recheck: Recheck) {
        self.recheck = recheck;
    }

    #[cfg(test)]
    pub(crate) fn recheck(&mut self) -> &mut Recheck {
        &mut self.recheck
    }

    /// Whether the next write begins a phase that nobody has asked about.
    pub(crate) fn begins(&self, now: Nanos) -> bool {
        self.recheck.begins(now)
    }

    /// Hears of a request that loses nothing.
    pub(crate) fn touch(&mut self, now: Nanos) {
        self.recheck.touch(now);
    }

    /// Hears that nothing is in flight, and that nothing is waited for but time.
    pub(crate) fn pause(&mut self, now: Nanos) {
        self.recheck.pause(now);
    }

    /// Asks before a run whether writing may begin or go on, so that no request waits for that.
    ///
    /// # Errors
    /// Why it may not any more.
    pub(crate) fn begin(&mut self, now: Nanos) -> Result<(), DeviceError> {
        self.hear_of_visits();
        if self.begins(now) { self.recheck.check(now) } else { Ok(()) }
    }

    fn hear_of_visits(&mut self) {
        let visits = self.visitors.as_mut().map(Visitors::take).unwrap_or_default();
        if visits.opened {
            self.recheck.doubt();
        }
        if let Some(vetted) = self.vetted.as_mut().filter(|_| visits.written) {
            vetted.forget();
        }
    }

    /// Passes a write, discard or zeroing of a span, in bytes of the target, that comes next.
    ///
    /// # Errors
    /// Why the target may not be written any more, or what would be lost.
    pub(crate) fn pass(&mut self, now: Nanos, span: &Range<u64>) -> Result<(), DeviceError> {
        if now.saturating_sub(self.visits_asked) >= self.visits_every {
            self.visits_asked = now;
            self.hear_of_visits();
        }
        self.recheck.check(now)?;
        if self.vetted.as_ref().is_some_and(|vetted| !vetted.covers(span)) {
            self.look(std::slice::from_ref(span), &mut |_| true)?;
        }
        self.written_bytes += span.end - span.start;
        Ok(())
    }

    /// Looks at what lies in some spans, as far as that is not known: how much was read, or `None`
    /// if `go_on` said no.
    ///
    /// # Errors
    /// What would be lost, or why it cannot be read.
    pub(crate) fn look(
        &mut self,
        spans: &[Range<u64>],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<u64>, DeviceError> {
        let Some(vetted) = &mut self.vetted else { return Ok(Some(0)) };
        match vetted.look(&self.file, spans, go_on) {
            Ok(Looked::Clean(bytes)) => Ok(Some(bytes)),
            Ok(Looked::Stopped) => Ok(None),
            Ok(Looked::Foreign(offset_bytes)) => Err(self.would_be_lost(offset_bytes)),
            Err(error) => Err(DeviceError::Os {
                context: "what would be written over cannot be read".to_owned(),
                reason: error.to_string(),
            }),
        }
    }

    fn would_be_lost(&self, offset_bytes: u64) -> DeviceError {
        const HINT: &str =
            "hint: add --overwrite-existing to lose them, or --preserve-content to keep them";
        let found = format!(
            "{}: holds data that ssdscope did not write, at byte {offset_bytes}",
            Shown(&self.path)
        );
        match self.written_bytes {
            0 => DeviceError::Refused(format!(
                "{found}, where this would write; nothing was written\n\n{HINT}"
            )),
            written => DeviceError::Os {
                context: "writing was stopped".to_owned(),
                reason: format!(
                    "{found}, where it was to go on; {written} bytes were written before\n\n{HINT}"
                ),
            },
        }
    }
}
