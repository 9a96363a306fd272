//! What decides how an errand goes.
//!
//! It does not matter where on the array that is: only which of its planes lie on the same die,
//! unit and channel, and whose turn it is there. So planes are told by the order in which they
//! first appear, and errands of the same pattern go the same way.

use crate::flash::Flash;
use crate::flash::command::NONE;
use crate::geometry::PlaneId;

/// What an errand has to do, in few words.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The planes that it reads, in an order that follows from what it is.
    pub read: Vec<PlaneId>,
    /// In the same way, those that it programs and erases.
    pub written: Vec<PlaneId>,
    /// Reads that do not go on round the planes in order, by number.
    pub bends: Vec<u32>,
    /// Reads after which the planes come again, as long as they are in order.
    pub lap: u32,
    /// All else that says which page of which of these planes each step is on.
    pub words: Vec<u32>,
}

/// What decides how an errand goes, but for the number of laps between its bends.
pub(super) type Pattern = Vec<u32>;

/// Who takes part in an errand.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    pub(super) units: Vec<u32>,
    pub(super) channels: Vec<u32>,
}

impl Cast {
    /// Everybody.
    pub(super) fn all(flash: &Flash) -> Self {
        let units = (0..flash.units.len() as u32).collect();
        Self { units, channels: (0..flash.channels.len() as u32).collect() }
    }

    /// Of what takes so long in all, what each of them spends on it.
    pub(super) fn spent(
        &self,
        all_ns: u64,
        unit_ns: impl Fn(usize) -> u64,
        channel_ns: impl Fn(usize) -> u64,
    ) -> Vec<u64> {
        let units = self.units.iter().map(|&unit| unit_ns(unit as usize));
        let channels = self.channels.iter().map(|&channel| channel_ns(channel as usize));
        std::iter::once(all_ns).chain(units).chain(channels).collect()
    }

    /// Those of a plan, and its pattern if it begins when the unit `after` has ended something.
    pub(super) fn of(plan: &Plan, after: Option<u32>, flash: &Flash) -> (Self, Pattern) {
        let mut teller = Teller::new(flash);
        teller.pattern.extend(
            [plan.words.len(), plan.bends.len(), plan.read.len()].map(|count| count as u32),
        );
        teller.pattern.extend(&plan.words);
        teller.pattern.extend(plan.bends.iter().map(|bend| bend % plan.lap));
        teller.tell_planes(&plan.read);
        if let Some(unit) = after {
            teller.tell_after(unit);
        }
        teller.tell_planes(&plan.written);
        teller.tell_turns();
        let Teller { units, channels, pattern, .. } = teller;
        (Self { units: units.all, channels: channels.all }, pattern)
    }
}

/// Tells a pattern.
struct Teller<'a> {
    flash: &'a Flash,
    planes: Labels,
    dies: Labels,
    units: Labels,
    channels: Labels,
    pattern: Pattern,
}

impl<'a> Teller<'a> {
    fn new(flash: &'a Flash) -> Self {
        let planes = Labels::new(flash.geometry.plane_count);
        let dies = Labels::new(flash.geometry.plane_count);
        let units = Labels::new(flash.units.len() as u32);
        let channels = Labels::new(flash.channels.len() as u32);
        Self { flash, planes, dies, units, channels, pattern: Vec::with_capacity(64) }
    }

    fn tell_planes(&mut self, planes: &[PlaneId]) {
        for &plane in planes {
            let (label, is_new) = self.planes.label(plane.0);
            self.pattern.push(label);
            if is_new {
                let (unit, die) = (self.flash.unit_of(plane), self.flash.die_of(plane));
                let channel = self.channels.label(self.flash.channel_of(unit)).0;
                self.pattern.extend([self.dies.label(die).0, self.units.label(unit).0, channel]);
            }
        }
    }

    /// Tells which unit looks for more at the beginning, when every channel has begun to serve one
    /// of those known so far: that finds something only if two of its channel wait.
    fn tell_after(&mut self, unit: u32) {
        let channel = self.flash.channel_of(unit);
        let waiting = self.units.all.iter().filter(|&&unit| self.flash.channel_of(unit) == channel);
        if waiting.count() > 1 {
            self.pattern.extend([NONE, self.channels.of(channel), self.units.of(unit)]);
        }
    }

    /// Tells in which order the units of each channel would be served if all waited.
    fn tell_turns(&mut self) {
        let units = self.flash.units_per_channel;
        let turn = |(label, &unit): (u32, &u32)| {
            let channel = self.flash.channel_of(unit);
            let turns = &self.flash.channels[channel as usize];
            let wait = turns.turns_until(self.flash.units[unit as usize].turn, units);
            (self.channels.of(channel), wait, label)
        };
        let mut turns: Vec<_> = (0..).zip(&self.units.all).map(turn).collect();
        turns.sort_unstable();
        self.pattern.extend(turns.iter().map(|&(_, _, label)| label));
    }
}

/// Numbers by their first appearance.
struct Labels {
    label_of: Vec<u32>,
    /// By label.
    all: Vec<u32>,
}

impl Labels {
    fn new(count: u32) -> Self {
        Self { label_of: vec![NONE; count as usize], all: Vec::new() }
    }

    /// The label of a number, and whether that appears for the first time.
    fn label(&mut self, number: u32) -> (u32, bool) {
        let label = &mut self.label_of[number as usize];
        let is_new = *label == NONE;
        if is_new {
            *label = self.all.len() as u32;
            self.all.push(number);
        }
        (*label, is_new)
    }

    /// The label of a number, or [`NONE`].
    fn of(&self, number: u32) -> u32 {
        self.label_of[number as usize]
    }
}
