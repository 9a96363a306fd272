//! What stands between a write and what lies where it goes.
//!
//! Before each phase of writing, and now and then within one, it is asked whether the target may
//! still be written ([`Recheck`]); and no block is written that was not looked at ([`Vetted`]).

use crate::safety::recheck::{Ask, Moment, Recheck};
use crate::vetted::{Looked, Vetted};
use ssdscope_io::{DeviceError, Nanos};
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// What a guard is made from, as often as somebody gets at the target's data.
#[derive(Clone)]
pub(crate) struct GuardPlan {
    /// What is asked again.
    pub(crate) ask: Ask,
    /// What is seen of the target, in its bytes.
    pub(crate) window: Range<u64>,
    pub(crate) logical_block_bytes: u64,
    pub(crate) is_block: bool,
    /// Whether data of others end the writing.
    pub(crate) vets: bool,
}

/// The guard of one way to a target's data.
pub(crate) struct Guard {
    file: Arc<File>,
    recheck: Recheck,
    vetted: Option<Vetted>,
    written_bytes: u64,
}

impl GuardPlan {
    /// The guard of what is written through a descriptor; `phase` says for whom.
    pub(crate) fn guard(&self, file: Arc<File>, phase: Moment) -> Guard {
        let Self { ask, window, logical_block_bytes, is_block, vets } = self;
        let vetted = || Vetted::new(window.clone(), *logical_block_bytes, *is_block);
        Guard {
            recheck: Recheck::new(Arc::clone(&file), Arc::clone(ask), phase),
            vetted: vets.then(vetted),
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
        if self.begins(now) { self.recheck.check(now) } else { Ok(()) }
    }

    /// Passes a write, discard or zeroing of a span, in bytes of the target, that comes next.
    ///
    /// # Errors
    /// Why the target may not be written any more, or what would be lost.
    pub(crate) fn pass(&mut self, now: Nanos, span: &Range<u64>) -> Result<(), DeviceError> {
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
        let found = format!("data that ssdscope did not write lie at byte {offset_bytes}");
        const HINT: &str =
            "hint: add --overwrite-existing to lose them, or --preserve-content to keep them";
        match self.written_bytes {
            0 => DeviceError::Refused(format!(
                "{found}, where this would write; nothing was written\n\n{HINT}"
            )),
            written => DeviceError::Os {
                context: "writing was stopped".to_owned(),
                reason: format!(
                    "{found}, where it was to go on; {written} bytes were written before, \
                     elsewhere\n\n{HINT}"
                ),
            },
        }
    }
}
