//! Flows that take turns: one request in flight of all of them, so many of one flow, then so
//! many of the next.

use super::closed::{self, Slots};
use super::session::Session;
use super::source::{Next, Planned, Source};
use super::synthetic::Jobs;
use crate::flow::FlowPlan;
use crate::request::Op;
use crate::summary::StopReason;
use crate::units::Nanos;

/// Runs the flows in turn until the first has ended or the session stops; why.
pub(super) fn drive(session: &mut Session<'_>, plans: &[FlowPlan]) -> StopReason {
    let start = session.now();
    let member = |flow: &FlowPlan| Member { jobs: Jobs::new(&flow.plan, start), turn: flow.turn };
    let mut turns = Turns { members: plans.iter().map(member).collect(), at: 0, made: 0 };
    closed::drive(session, &mut turns, Slots { lanes: 1, depth: 1, think: Nanos::ZERO })
}

/// A flow, and how many requests it makes in its turn.
struct Member {
    jobs: Jobs,
    turn: u64,
}

struct Turns {
    members: Vec<Member>,
    at: usize,
    /// Requests of this turn so far; a flush comes on top.
    made: u64,
}

impl Source for Turns {
    fn next(&mut self, _lane: u32, free_at: Nanos) -> Next {
        if self.made == self.members[self.at].turn {
            self.at = (self.at + 1) % self.members.len();
            self.made = 0;
        }
        match self.members[self.at].jobs.next(0, free_at) {
            Next::Request(planned) => {
                self.made += u64::from(planned.op != Op::Flush);
                Next::Request(Planned { flow: self.at as u16, ..planned })
            }
            end => end,
        }
    }
}
