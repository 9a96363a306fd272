//! Events that stand on a line each.

use super::super::format::{Fault, Noted, Parser, Record};
use super::super::options::TraceOptions;
use super::{Clock, Event, Matcher};

/// Reads the event of a line with its number; `None` for one that concerns no request.
type ReadEvent = fn(&[u8], u64) -> Result<Option<Event>, Fault>;

/// Makes requests of the events on lines.
pub struct EventLines {
    read: ReadEvent,
    /// What was expected where a time leaps.
    near: &'static str,
    matcher: Matcher,
    clock: Clock,
}

impl EventLines {
    /// The parser of a format whose lines `read` understands.
    pub fn boxed(options: &TraceOptions, read: ReadEvent, near: &'static str) -> Box<dyn Parser> {
        Box::new(Self { read, near, matcher: Matcher::new(options.times), clock: Clock::default() })
    }
}

impl Parser for EventLines {
    fn parse(&mut self, line: &[u8], number: u64) -> Result<Option<Record>, Fault> {
        if let Some(event) = (self.read)(line, number)? {
            if !self.clock.accepts(event.time) {
                return Err(Fault(self.near));
            }
            self.matcher.push(event);
        }
        Ok(None)
    }

    fn holds(&self) -> bool {
        true
    }

    fn ready(&mut self, at_end: bool) -> Option<Record> {
        self.matcher.ready(at_end)
    }

    fn noted(&self) -> Noted {
        self.matcher.noted()
    }
}
