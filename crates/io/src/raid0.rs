//! RAID-0: several devices striped into one.
//!
//! The space is cut into chunks that go to the members in turn. A request becomes at
//! most one request per member, because the chunks of a span that fall on one member
//! lie side by side there. It is served when its last part is, and where its time
//! went is what the slowest part says, so that the parts still sum to the latency.
//!
//! Virtual members are moved in step, event by event, and thus always agree on the
//! present. Wall clocks go on by themselves: members are asked in turn.

mod caches;
mod counters;
mod error;
mod layout;

#[cfg(test)]
mod tests;

pub use error::Raid0Error;
use layout::Layout;

use crate::attribution::Attribution;
use crate::caches::Cache;
use crate::counters::Counters;
use crate::device::{ClockKind, Device, DeviceError, DeviceInfo, Queues, Snapshot, check_request};
use crate::moved::Moved;
use crate::request::{Completion, Op, Outcome, Request};
use crate::units::{Lba, Nanos, Sectors};
use crate::upkeep::Upkeep;
use std::ops::Range;
use std::sync::Arc;

/// A request of the host and what its parts have said so far.
#[derive(Clone, Debug)]
struct Parent {
    completion: Completion,
    parts_left: usize,
    /// False if a member refused its part: then the host was told so, and what the
    /// other members answer is for nobody.
    wanted: bool,
}

/// A member and how far its clock is behind member 0's; zero in virtual time.
struct Member {
    device: Box<dyn Device>,
    behind_ns: i64,
}

impl Member {
    fn here(&self, at: Nanos) -> Nanos {
        if at == Nanos::MAX { at } else { Nanos(at.0.saturating_add_signed(-self.behind_ns)) }
    }

    fn there(&self, at: Nanos) -> Nanos {
        Nanos(at.0.saturating_add_signed(self.behind_ns))
    }
}

/// Several devices striped into one.
pub struct Raid0 {
    info: DeviceInfo,
    layout: Layout,
    members: Vec<Member>,
    parents: Vec<Parent>,
    free: Vec<usize>,
    in_flight: usize,
    parts: Vec<Completion>,
}

/// What a snapshot of the array holds.
struct State {
    members: Vec<Snapshot>,
    parents: Vec<Parent>,
    free: Vec<usize>,
    in_flight: usize,
}

impl Raid0 {
    /// Stripes `members`, in this order, in chunks of `chunk_bytes`. Virtual members
    /// that are behind idle until the latest one's present.
    ///
    /// # Errors
    /// If there is no member, clocks differ, the chunk suits not all, or a member is busy.
    pub fn new(members: Vec<Box<dyn Device>>, chunk_bytes: u64) -> Result<Self, Raid0Error> {
        let infos: Vec<DeviceInfo> = members.iter().map(|member| member.info()).collect();
        let layout = layout::check(&infos, chunk_bytes)?;
        let info = layout.info(&infos);
        let members = synchronize(members, info.clock)?;
        Ok(Self {
            info,
            layout,
            members,
            parents: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
            parts: Vec::new(),
        })
    }

    /// Asks the members anew what they are.
    fn refresh_info(&mut self) {
        let infos: Vec<_> = self.members.iter().map(|member| member.device.info()).collect();
        self.info = self.layout.info(&infos);
    }

    /// Sends each member its part; how many got one, and the first refusal.
    fn submit_parts(
        &mut self,
        now: Nanos,
        request: &Request,
        slot: usize,
    ) -> (usize, Result<(), DeviceError>) {
        let mut sent = 0;
        for (index, member) in self.members.iter_mut().enumerate() {
            let (lba, sectors) = match request.op {
                Op::Flush => (Lba(0), Sectors::ZERO),
                _ => self.layout.part(index, request.lba, request.sectors),
            };
            if request.op != Op::Flush && sectors == Sectors::ZERO {
                continue;
            }
            let part = Request { id: slot as u64, lba, sectors, ..*request };
            if let Err(error) = member.device.submit(member.here(now), part) {
                return (sent, Err(error));
            }
            sent += 1;
        }
        (sent, Ok(()))
    }

    /// Takes in what the members completed; finished requests go to `completions`.
    fn gather(&mut self, completions: &mut Vec<Completion>) {
        for part in self.parts.drain(..) {
            let slot = part.id as usize;
            let parent = &mut self.parents[slot];
            let so_far = &mut parent.completion;
            so_far.submitted = so_far.submitted.min(part.submitted);
            if part.completed > so_far.completed {
                so_far.completed = part.completed;
                so_far.attribution = part.attribution;
            }
            if so_far.outcome == Outcome::Done {
                so_far.outcome = part.outcome;
            }
            parent.parts_left -= 1;
            if parent.parts_left == 0 {
                if parent.wanted {
                    completions.push(*so_far);
                    self.in_flight -= 1;
                }
                self.free.push(slot);
            }
        }
    }

    /// Lets member `index` advance, its times translated to the array's.
    fn advance_member(&mut self, index: usize, to: Nanos) -> Result<(), DeviceError> {
        let member = &mut self.members[index];
        let from = self.parts.len();
        member.device.advance(member.here(to), &mut self.parts)?;
        if member.behind_ns != 0 {
            for part in &mut self.parts[from..] {
                part.submitted = member.there(part.submitted);
                part.completed = member.there(part.completed);
            }
        }
        Ok(())
    }

    fn advance_virtual(
        &mut self,
        to: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        if to == Nanos::MAX && self.in_flight == 0 {
            return Ok(());
        }
        let before = completions.len();
        while completions.len() == before {
            let next = self.next_event().unwrap_or(Nanos::MAX);
            let instant = next.min(to);
            if instant == Nanos::MAX {
                // Nothing will ever happen by itself: the caller sees that nothing came.
                return Ok(());
            }
            for index in 0..self.members.len() {
                self.advance_member(index, instant)?;
            }
            let silent = self.parts.is_empty();
            self.gather(completions);
            if instant == to {
                return Ok(());
            }
            if silent && self.next_event().is_some_and(|event| event <= instant) {
                return Err(DeviceError::Stuck(format!(
                    "a member of the RAID-0 does not get past its event at {instant}"
                )));
            }
        }
        Ok(())
    }

    fn advance_wall(
        &mut self,
        to: Nanos,
        completions: &mut Vec<Completion>,
    ) -> Result<(), DeviceError> {
        let before = completions.len();
        loop {
            let moment = self.now();
            let busy = |member: &Member| member.device.in_flight() > 0;
            let waiting = self.members.iter().filter(|member| busy(member)).count();
            match self.members.iter().position(busy) {
                None if to == Nanos::MAX => return Ok(()),
                None => self.advance_member(0, to)?,
                // Only one can answer: sleeping for it misses nothing.
                Some(only) if waiting == 1 => self.advance_member(only, to)?,
                Some(_) => self.poll()?,
            }
            let silent = self.parts.is_empty();
            self.gather(completions);
            let now = self.now();
            // A clock that stands still is the caller's to judge, who counts such waits.
            if completions.len() > before || now >= to || (silent && now == moment) {
                return Ok(());
            }
        }
    }

    /// Asks every busy member once, without waiting.
    fn poll(&mut self) -> Result<(), DeviceError> {
        for index in 0..self.members.len() {
            if self.members[index].device.in_flight() > 0 {
                self.advance_member(index, self.now())?;
            }
        }
        std::hint::spin_loop();
        Ok(())
    }
}

/// Brings all members to one present.
fn synchronize(members: Vec<Box<dyn Device>>, clock: ClockKind) -> Result<Vec<Member>, Raid0Error> {
    let latest = members.iter().map(|member| member.now()).max().unwrap_or_default();
    let mut synchronized: Vec<Member> = Vec::with_capacity(members.len());
    for (member, mut device) in members.into_iter().enumerate() {
        if device.in_flight() > 0 {
            let error = DeviceError::Busy(device.in_flight());
            return Err(Raid0Error::Member { member, error });
        }
        let behind_ns = match clock {
            ClockKind::Virtual => {
                device
                    .advance(latest, &mut Vec::new())
                    .map_err(|error| Raid0Error::Member { member, error })?;
                0
            }
            ClockKind::Wall => {
                let reference = synchronized.first().map_or(device.now(), |m| m.device.now());
                reference.0.wrapping_sub(device.now().0).cast_signed()
            }
        };
        synchronized.push(Member { device, behind_ns });
    }
    Ok(synchronized)
}

impl Device for Raid0 {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    /// As many as every member has; each part goes through the queue of the whole.
    fn queues(&self) -> Queues {
        let all = self.members.iter().map(|member| member.device.queues());
        all.reduce(|one, other| Queues {
            count: one.count.min(other.count),
            priorities: one.priorities && other.priorities,
        })
        .unwrap_or_default()
    }

    fn now(&self) -> Nanos {
        self.members[0].device.now()
    }

    fn submit(&mut self, now: Nanos, request: Request) -> Result<(), DeviceError> {
        check_request(&self.info, &request)?;
        let slot = self.free.pop().unwrap_or(self.parents.len());
        let (sent, result) = self.submit_parts(now, &request, slot);
        let completion = Completion {
            id: request.id,
            submitted: Nanos::MAX,
            completed: Nanos::ZERO,
            outcome: Outcome::Done,
            attribution: Attribution::ZERO,
        };
        let parent = Parent { completion, parts_left: sent, wanted: result.is_ok() };
        match self.parents.get_mut(slot) {
            Some(place) => *place = parent,
            None => self.parents.push(parent),
        }
        if sent == 0 {
            self.free.push(slot);
        }
        self.in_flight += usize::from(result.is_ok());
        result
    }

    fn next_event(&self) -> Option<Nanos> {
        let event = |member: &Member| Some(member.there(member.device.next_event()?));
        self.members.iter().filter_map(event).min()
    }

    fn advance(&mut self, to: Nanos, completions: &mut Vec<Completion>) -> Result<(), DeviceError> {
        match self.info.clock {
            ClockKind::Virtual => self.advance_virtual(to, completions),
            ClockKind::Wall => self.advance_wall(to, completions),
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn vets_writes(&self) -> bool {
        self.members.iter().any(|member| member.device.vets_writes())
    }

    fn expect_writes(
        &mut self,
        spans: &[Range<u64>],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<bool, DeviceError> {
        let count = self.members.len() as f64;
        for (index, member) in self.members.iter_mut().enumerate() {
            let there: Vec<_> =
                spans.iter().map(|span| self.layout.part_bytes(index, span)).collect();
            let mut of_all = |fraction| go_on((index as f64 + fraction) / count);
            if !member.device.expect_writes(&there, &mut of_all)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn set_cache(&mut self, cache: Cache, on: bool) -> Result<(), DeviceError> {
        if self.in_flight > 0 {
            return Err(DeviceError::Busy(self.in_flight));
        }
        if self.info.caches.would_change(cache, on)? {
            caches::switch(&mut self.members, self.info.clock, cache, on)?;
            self.refresh_info();
        }
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        let members: Option<Vec<_>> =
            self.members.iter_mut().map(|member| member.device.counters()).collect();
        members.map(|members| counters::sum(&members))
    }

    fn upkeep(&self) -> Option<Upkeep> {
        let mut members = self.members.iter().map(|member| member.device.upkeep());
        members.try_fold(Upkeep::default(), |mut sum, each| {
            sum += each?;
            Some(sum)
        })
    }

    fn foreign_bytes(&self) -> Option<Moved> {
        let told = self.members.iter().filter_map(|member| member.device.foreign_bytes());
        told.reduce(Moved::plus)
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let members: Option<Vec<_>> =
            self.members.iter().map(|member| member.device.snapshot()).collect();
        let (parents, free, in_flight) = (self.parents.clone(), self.free.clone(), self.in_flight);
        members.map(|members| Snapshot(Arc::new(State { members, parents, free, in_flight })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), DeviceError> {
        let foreign = DeviceError::Unsupported("a snapshot of another device");
        let state = snapshot.0.downcast_ref::<State>().ok_or(foreign.clone())?;
        if state.members.len() != self.members.len() {
            return Err(foreign);
        }
        for (member, snapshot) in self.members.iter_mut().zip(&state.members) {
            member.device.restore(snapshot)?;
        }
        self.parents.clone_from(&state.parents);
        self.free.clone_from(&state.free);
        self.in_flight = state.in_flight;
        self.refresh_info();
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Device>> {
        let fork = |member: &Member| {
            Some(Member { device: member.device.fork()?, behind_ns: member.behind_ns })
        };
        Some(Box::new(Self {
            info: self.info.clone(),
            layout: self.layout.clone(),
            members: self.members.iter().map(fork).collect::<Option<_>>()?,
            parents: self.parents.clone(),
            free: self.free.clone(),
            in_flight: self.in_flight,
            parts: Vec::new(),
        }))
    }
}
