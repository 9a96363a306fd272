//! Leaps over what recurs. Copies go round the planes of a unit; where they lie in order, and once
//! the channels have found their rhythm, every lap goes as the one before. What happens hangs on
//! nothing but the state of the run and the steps that it looks at. So if the state is the same as
//! some laps ago, but for the time and the numbers of the steps, and the steps that follow are
//! alike, so is what follows: it can be taken as done at once, exactly.
//!
//! Two steps are alike if they are of one unit and take as long, and where several planes work
//! together if they are of one plane, and steps that could go with them as far behind. Reads and
//! programs are leapt over apart: units first read.

use super::Errand;
use super::course::Leap;
use super::pattern::Cast;
use super::run::Run;
use crate::flash::channel::Channel;
use crate::flash::command::NONE;
use crate::geometry::{PlaneId, Ppn};
use std::ops::Range;

/// How many laps back the state is compared with: units of a channel take turns.
const BACK: usize = 4;
/// Copies of fewer pages than these are run step by step.
const WORTH_LOOKING: usize = 64;
/// Of a state: nothing more of this.
const NEVER: u64 = u64::MAX;

/// What has been seen of the laps.
#[derive(Debug, Default)]
pub(super) struct Laps {
    /// Steps of a lap; none are leapt over if it is 0.
    steps: u32,
    /// By read, then by program. Empty where all go alone.
    company: Vec<Company>,
    /// Steps that are known to be like the one a lap behind each; the one at the end is not.
    alike: Range<u32>,
    /// The state after each of the last laps, the latest last.
    seen: Vec<Seen>,
    /// Steps that will have ended when the next lap has.
    due: u32,
    /// What was leapt over, and how often each time.
    leapt: Vec<(Once, u32)>,
}

/// What recurs, once.
#[derive(Debug)]
struct Once {
    /// The first step that is not taken up when it begins.
    first: u32,
    steps: u32,
    ns: u64,
    /// How long units, then channels, are busy; and commands on several planes.
    sums: Vec<u64>,
}

/// The state of a run, and what it had come to.
#[derive(Debug, Default)]
struct Seen {
    /// Seen from its time, and from the steps that had ended.
    state: Vec<u64>,
    now_ns: u64,
    ended: u32,
    /// The first step that was not taken up.
    first: u32,
    /// The furthest step that was looked at since the lap before.
    furthest: u32,
    /// How long units, then channels, had been busy; and commands on several planes.
    sums: Vec<u64>,
}

impl Laps {
    /// Of a run at its beginning.
    pub fn new(run: &Run<'_>) -> Self {
        let steps = run.errand.lap * run.errand.members * run.flash.times.lap_pages();
        let reads = run.errand.reads.len();
        // To see that laps are alike takes some, and as long as many steps do.
        if reads < (steps as usize * 2 * BACK).max(WORTH_LOOKING) {
            return Self { due: NONE, ..Self::default() };
        }
        let company = if run.spots.none() { Vec::new() } else { companies(run, steps) };
        Self { steps, company, due: steps, ..Self::default() }
    }

    /// Steps that will have ended when the next lap has.
    #[inline]
    pub const fn due(&self) -> u32 {
        self.due
    }

    /// A lap has ended: takes as many as follow in the same way as done.
    pub fn leap(&mut self, run: &mut Run<'_>) {
        self.due = run.ended - run.ended % self.steps + self.steps;
        let Some((first, last)) = ahead(run) else { return self.seen.clear() };
        // What has been read of a copy counts for it as a whole.
        let copy_end = last - last % run.errand.members + run.errand.members - 1;
        let furthest = std::mem::take(&mut run.furthest).max(copy_end);
        if self.room(first, furthest, run) < self.steps {
            return self.seen.clear();
        }
        let mut now = if self.seen.len() == BACK { self.seen.remove(0) } else { Seen::default() };
        now.take(run, (first, last), furthest);
        let alike = |seen: &Seen| {
            (now.ended - seen.ended).is_multiple_of(self.steps) && seen.state == now.state
        };
        if let Some(at) = self.seen.iter().rposition(alike) {
            let looked_at = self.seen[at + 1..].iter().map(|each| each.furthest);
            let furthest = looked_at.fold(now.furthest, u32::max);
            let steps = now.ended - self.seen[at].ended;
            let times = self.room(self.seen[at].first, furthest, run) / steps;
            if times > 0 {
                let once = now.since(&self.seen[at]);
                skip(run, &once, last, times);
                self.due = run.ended + self.steps;
                self.leapt.push((once, times));
                return self.seen.clear();
            }
        }
        self.seen.push(now);
    }

    /// What was leapt over of the reads, for those who take part; nothing if more of a step
    /// matters than its unit.
    pub fn leaps(&self, run: &Run<'_>, cast: &Cast) -> Vec<Leap> {
        let reads = run.errand.reads.len() as u32;
        if !run.spots.none() || run.flash.times.lap_pages() > 1 {
            return Vec::new();
        }
        let units = run.workers.len();
        let of_reads = self.leapt.iter().filter(|(once, _)| once.first < reads);
        let leap = |(once, times): &(Once, u32)| Leap {
            first: once.first,
            steps: once.steps,
            times: *times,
            spent_ns: cast.spent(once.ns, |unit| once.sums[unit], |index| once.sums[units + index]),
        };
        of_reads.map(leap).collect()
    }

    /// Steps behind the furthest one up to where laps are no longer alike that are so from `first`
    /// on; what could go with a step counts as looked at.
    fn room(&mut self, first: u32, furthest: u32, run: &Run<'_>) -> u32 {
        if !(self.alike.start..=self.alike.end).contains(&first) {
            self.alike = first..self.bend(first, run);
        }
        let planes = if run.spots.none() { 0 } else { run.flash.geometry.planes_per_die };
        let end = self.alike.end + self.steps;
        end.saturating_sub(furthest + 1 + planes * self.steps)
    }

    /// The first step from `first` on that is not like the one a lap behind it.
    fn bend(&self, first: u32, run: &Run<'_>) -> u32 {
        let (reads, lap) = (run.errand.reads.len() as u32, self.steps);
        let end = if first < reads { reads } else { 2 * reads };
        let (from, end, lap) = (first as usize, end as usize, lap as usize);
        let same = if self.company.is_empty() {
            repeats(&run.unit_of[from..end], lap)
        } else {
            repeats(&self.company[from..end], lap)
        };
        let same = first..first + same as u32;
        if run.flash.times.lap_pages() == 1 {
            return same.end;
        }
        let differs = |&step: &u32| run.array_ns(step) != run.array_ns(step + self.steps);
        same.clone().find(differs).unwrap_or(same.end)
    }
}

/// How many from the first on are like the one a lap behind each.
fn repeats<T: PartialEq>(all: &[T], lap: usize) -> usize {
    let later = all.get(lap..).unwrap_or_default();
    all.iter().zip(later).take_while(|(one, later)| one == later).count()
}

impl Seen {
    /// What happened since an earlier state.
    fn since(&self, seen: &Self) -> Once {
        Once {
            first: seen.first,
            steps: self.ended - seen.ended,
            ns: self.now_ns - seen.now_ns,
            sums: self.sums.iter().zip(&seen.sums).map(|(sum, before)| sum - before).collect(),
        }
    }

    fn take(&mut self, run: &Run<'_>, (first, last): (u32, u32), furthest: u32) {
        let from = |step: u32| u64::from(step.wrapping_sub(run.ended));
        (self.now_ns, self.ended) = (run.now_ns, run.ended);
        (self.first, self.furthest) = (first, furthest);
        let state = &mut self.state;
        state.clear();
        state.reserve(8 * (run.workers.len() + run.channels.len()));
        for worker in &run.workers {
            state.push(if worker.head == NONE { NEVER } else { from(worker.head) });
            let mut step = worker.step;
            while step != NONE {
                state.extend([from(step), run.now_ns - worker.from_ns]);
                step = run.next[step as usize];
            }
            state.push(NEVER);
        }
        for channel in &run.channels {
            channel.picture(run.now_ns, state);
        }
        run.events.picture(run.now_ns, state);
        if is_reading(run) {
            state.push(from(run.released * run.errand.members));
            state.extend(run.unread[half_read(run, last)].iter().map(|&pages| u64::from(pages)));
        }
        self.sums.clear();
        self.sums.extend(sums(run));
    }
}

fn is_reading(run: &Run<'_>) -> bool {
    run.ended < run.errand.reads.len() as u32
}

/// The first and the last of the steps that units take up next, if all read or all program, and
/// have taken up what was before that.
fn ahead(run: &Run<'_>) -> Option<(u32, u32)> {
    let reads = run.errand.reads.len() as u32;
    let kind = if is_reading(run) { 0..reads } else { reads..2 * reads };
    let (mut first, mut last) = (NONE, 0);
    for worker in &run.workers {
        if [worker.head, worker.step].iter().any(|step| *step != NONE && !kind.contains(step)) {
            return None;
        }
        if worker.head != NONE {
            (first, last) = (first.min(worker.head), last.max(worker.head));
        }
    }
    (first != NONE && first >= run.in_order_from).then_some((first, last))
}

/// The copies that may have been read in part, or before others: reads before `last` have begun.
fn half_read(run: &Run<'_>, last: u32) -> Range<usize> {
    let from = run.released as usize;
    from..from.max((last / run.errand.members) as usize + 1)
}

fn sums(run: &Run<'_>) -> impl Iterator<Item = u64> {
    let units = run.workers.iter().map(|worker| worker.busy_ns);
    let channels = run.channels.iter().map(Channel::busy_ns);
    units.chain(channels).chain([run.multi_plane_commands])
}

/// Takes what recurs as done so many `times` more.
fn skip(run: &mut Run<'_>, once: &Once, last: u32, times: u32) {
    let (now_ns, by_ns, by) = (run.now_ns, u64::from(times) * once.ns, times * once.steps);
    let mut more = once.sums.iter().map(|sum| u64::from(times) * sum);
    for unit in 0..run.workers.len() {
        run.workers[unit].busy_ns += more.next().unwrap_or(0);
        skip_steps(run, unit, by, by_ns);
    }
    for channel in &mut run.channels {
        channel.skip(now_ns, by_ns, more.next().unwrap_or(0));
    }
    run.multi_plane_commands += more.next().unwrap_or(0);
    if is_reading(run) {
        release(run, last, by);
    } else {
        run.left -= by as usize;
    }
    run.ended += by;
    run.now_ns += by_ns;
    run.events.delay(by_ns);
}

/// A unit is so many steps further.
fn skip_steps(run: &mut Run<'_>, unit: usize, by: u32, by_ns: u64) {
    let Run { workers, next, spots, spot_of, .. } = run;
    let worker = &mut workers[unit];
    if worker.head != NONE {
        let mut taken = worker.head;
        worker.head += by;
        while !spot_of.is_empty() && taken != worker.head {
            spots.leave(spot_of[taken as usize]);
            taken = next[taken as usize];
        }
    }
    let mut step = worker.step;
    if step != NONE {
        worker.step += by;
        worker.from_ns += by_ns;
    }
    while step != NONE {
        let other_plane = next[step as usize];
        next[(step + by) as usize] = if other_plane == NONE { NONE } else { other_plane + by };
        step = other_plane;
    }
}

/// So many pages more are read, and their programs queued.
fn release(run: &mut Run<'_>, last: u32, by: u32) {
    let begun = half_read(run, last);
    let (from, to) = (begun.start, begun.start + (by / run.errand.members) as usize);
    run.unread.copy_within(begun, to);
    run.unread[from..to].fill(0);
    run.released = to as u32;
    let queued = run.queued..run.queued + by;
    run.queued = queued.end;
    for &spot in run.spot_of.iter().take(queued.end as usize).skip(queued.start as usize) {
        run.spots.enter(spot);
    }
}

/// The company that a step can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Company {
    plane: PlaneId,
    /// How far behind it the next step is that could go with it, or would if its plane were free;
    /// or [`NONE`]. Of one that is a lap behind or further: its number, which no other has.
    next: u32,
}

/// Of reads and programs, of so many to a lap.
fn companies(run: &Run<'_>, lap: u32) -> Vec<Company> {
    let Errand { reads, programs, .. } = run.errand;
    let plane = |&page: &Ppn| Company { plane: run.flash.geometry.plane_of(page), next: NONE };
    let mut companies: Vec<Company> = reads.iter().chain(programs).map(plane).collect();
    let mut latest = vec![NONE; run.spots.count()];
    for (step, company) in (0..companies.len() as u32).zip(&mut companies).rev() {
        let spot = run.spot_of[step as usize];
        if spot != NONE {
            let latest = &mut latest[run.spots.first_beside(spot) as usize];
            let behind = latest.wrapping_sub(step);
            company.next = match *latest {
                NONE => NONE,
                _ if behind < lap => behind,
                _ => lap + step,
            };
            *latest = step;
        }
    }
    companies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::Flash;
    use crate::flash::alone::testing::draw_flash;
    use crate::flash::spots::Spots;
    use crate::geometry::{BlockId, PageId};
    use ssdscope_io::rng::Stream;

    /// Copies that go round some planes, most of them within the planes, and a few reads from elsewhere.
    fn draw_errand(random: &mut Stream, flash: &Flash) -> Errand {
        let geometry = &flash.geometry;
        let mut planes: Vec<u32> = (0..geometry.plane_count).collect();
        for at in 0..planes.len() {
            let other = at + random.below((planes.len() - at) as u64) as usize;
            planes.swap(at, other);
        }
        planes.truncate(1 + random.below(planes.len() as u64) as usize);
        let in_a_row = 1 + random.below(2) as u32;
        let lap = planes.len() as u32 * in_a_row;
        let rows = geometry.pages_per_block / in_a_row;
        let page = |block: u32, step: u32| {
            let (run, in_run) = (step / in_a_row, step % in_a_row);
            let (row, turn) = (run / planes.len() as u32, run % planes.len() as u32);
            let offset = PageId(row * in_a_row + in_run);
            geometry.ppn(PlaneId(planes[turn as usize]), BlockId(block), offset)
        };
        let members = [1, lap, 1][random.below(3) as usize];
        let pages = rows * lap;
        let mut reads: Vec<Ppn> = (0..pages).map(|step| page(0, step)).collect();
        let programs = (0..pages).map(|step| page(1, step)).collect();
        for _ in 0..[0, 1, 1, 2, 20][random.below(5) as usize] {
            let at = random.below(u64::from(pages)) as usize;
            reads[at] = Ppn(random.below(u64::from(geometry.page_count)) as u32);
        }
        let erases =
            planes.iter().map(|&plane| geometry.ppn(PlaneId(plane), BlockId(0), PageId(0)));
        let (erases, lap) = (erases.collect(), lap.div_ceil(members));
        Errand { reads, programs, members, lap, erases, after: None }
    }

    fn told(run: &Run<'_>) -> String {
        let mut channels: Vec<u64> = run.channels.iter().map(Channel::busy_ns).collect();
        run.channels.iter().for_each(|channel| channel.picture(0, &mut channels));
        let Run { now_ns, workers, spots, multi_plane_commands, .. } = run;
        format!("{now_ns} {channels:?} {workers:?} {spots:?} {multi_plane_commands}")
    }

    fn run_of<'a>(flash: &'a Flash, errand: &'a Errand, leaps: bool) -> Run<'a> {
        let scheduler = flash.scheduler;
        let mut run = Run::new(flash, Spots::new(&flash.geometry, &scheduler), errand, 1_000);
        if !leaps {
            run.laps.due = NONE;
        }
        run
    }

    #[test]
    fn a_leap_comes_to_what_the_steps_come_to() {
        let (mut leapt, mut on_several_planes) = (0, 0);
        for seed in 0..2_000 {
            println!("seed {seed}");
            let mut random = Stream::new(seed, "laps");
            let mut flash = draw_flash(&mut random);
            // The second begins where the first ends: turns differ.
            for _ in 0..2 {
                let errand = draw_errand(&mut random, &flash);
                let [mut ahead, mut plain] = [true, false].map(|on| run_of(&flash, &errand, on));
                let courses = [ahead.last_unit(), plain.last_unit()];
                assert_eq!(courses[0], courses[1]);
                assert!(plain.laps.leapt.is_empty() && courses[0].is_some());
                leapt += u32::from(!ahead.laps.leapt.is_empty());
                on_several_planes += u32::from(!ahead.laps.leapt.is_empty() && !ahead.spots.none());
                assert_eq!(told(&ahead), told(&plain));
                let fate = flash.foresee(None, None, || errand, 1_000).unwrap();
                flash.follow(&fate);
            }
        }
        println!("leaps in {leapt}, of them with multi-plane commands {on_several_planes}");
        assert!(leapt > 1_000 && on_several_planes > 300, "{leapt}, {on_several_planes}");
    }
}
