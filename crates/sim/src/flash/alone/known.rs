//! Courses that were worked out, by their pattern.

use super::Course;
use super::pattern::Pattern;
use std::collections::BTreeMap;
use triomphe::Arc;

/// So many are kept, and of one pattern so many.
const MOST: usize = 4_096;
const MOST_ALIKE: usize = 64;

/// Courses that were worked out.
#[derive(Debug, Default)]
pub struct Known {
    by_pattern: BTreeMap<Pattern, Vec<Worked>>,
    count: usize,
}

/// A course that was worked out, of an errand with such bends.
#[derive(Debug)]
struct Worked {
    bends: Vec<u32>,
    course: Arc<Course>,
}

impl Known {
    /// The course of such an errand, if it is known or follows from one that is.
    pub(super) fn get(&self, pattern: &Pattern, bends: &[u32]) -> Option<Arc<Course>> {
        let alike = self.by_pattern.get(pattern)?;
        if let Some(same) = alike.iter().find(|worked| worked.bends == bends) {
            return Some(Arc::clone(&same.course));
        }
        alike.iter().find_map(|worked| worked.course.bent(&worked.bends, bends)).map(Arc::new)
    }

    pub(super) fn keep(&mut self, pattern: Pattern, bends: Vec<u32>, course: &Arc<Course>) {
        if self.count == MOST {
            *self = Self::default();
        }
        let alike = self.by_pattern.entry(pattern).or_default();
        if alike.len() == MOST_ALIKE {
            alike.remove(0);
            self.count -= 1;
        }
        alike.push(Worked { bends, course: Arc::clone(course) });
        self.count += 1;
    }
}

/// A copy finds out anew: to copy them all would cost more than most copies live to gain.
impl Clone for Known {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::flash::Flash;
    use crate::flash::alone::testing::draw_flash;
    use crate::flash::alone::{Errand, Plan};
    use crate::geometry::{BlockId, PageId, PlaneId, Ppn};
    use ssdscope_io::rng::Stream;

    /// Some planes, each once.
    fn draw_planes(random: &mut Stream, count: usize, flash: &Flash) -> Vec<PlaneId> {
        let mut planes: Vec<PlaneId> = (0..flash.geometry.plane_count).map(PlaneId).collect();
        for at in 0..count {
            let other = at + random.below((planes.len() - at) as u64) as usize;
            planes.swap(at, other);
        }
        planes.truncate(count);
        planes
    }

    /// Copies from some planes to others, a few of them from anywhere, and the plan of it.
    fn draw_merge(
        random: &mut Stream,
        [from, to]: [&[PlaneId]; 2],
        flash: &Flash,
    ) -> (Errand, Plan) {
        let (geometry, lap) = (&flash.geometry, from.len() as u32);
        let page = |planes: &[PlaneId], block: u32, step: u32| {
            let plane = planes[(step % lap) as usize];
            geometry.ppn(plane, BlockId(block), PageId(step / lap))
        };
        let steps = lap * [3, 64, 64][random.below(3) as usize];
        let mut reads: Vec<Ppn> = (0..steps).map(|step| page(from, 0, step)).collect();
        let mut plan = Plan { read: from.to_vec(), lap, words: vec![steps], ..Plan::default() };
        for _ in 0..random.below(3) {
            let row = random.below((steps / lap).into()) as u32;
            plan.bends.push(row * lap + (random.below(2) as u32).min(lap - 1));
        }
        plan.bends.sort_unstable();
        plan.bends.dedup();
        for &bend in &plan.bends {
            let anywhere = PlaneId(random.below(geometry.plane_count.into()) as u32);
            let plane = [anywhere, from[0], from[0]][random.below(3) as usize];
            let offset = PageId(random.below(2) as u32);
            reads[bend as usize] = geometry.ppn(plane, BlockId(2), offset);
            plan.read.push(plane);
        }
        for &bend in &plan.bends {
            let page = reads[bend as usize];
            let matters = flash.tells_pages_apart(geometry.plane_of(page), &plan.read);
            plan.words.push(if matters { geometry.page_of(page).0 } else { 0 });
        }
        plan.written = [to, from].concat();
        let programs = (0..steps).map(|step| page(to, 1, step)).collect();
        let erases = from.iter().map(|&plane| geometry.ppn(plane, BlockId(0), PageId(0)));
        (Errand { reads, programs, members: 1, lap, erases: erases.collect(), after: None }, plan)
    }

    fn told(flash: &Flash, now_ns: u64) -> String {
        let mut channels = Vec::new();
        for channel in &flash.channels {
            channel.picture(now_ns, &mut channels);
            channels.push(channel.busy_ns());
        }
        let clocks: Vec<_> = flash.units.iter().map(|unit| unit.clock.so_far(now_ns)).collect();
        format!("{now_ns} {channels:?} {clocks:?} {}", flash.multi_plane_commands)
    }

    #[test]
    fn what_is_known_is_what_would_be_worked_out() {
        let (mut known, mut bent) = (0, 0);
        for seed in 0..400 {
            println!("seed {seed}");
            let mut random = Stream::new(seed, "known");
            let mut flash = draw_flash(&mut random);
            let width = 1 + random.below(flash.geometry.plane_count.min(8).into()) as usize;
            let groups: Vec<_> = (0..4).map(|_| draw_planes(&mut random, width, &flash)).collect();
            let mut group = || &groups[random.below(4) as usize][..];
            let sides: Vec<_> = (0..2).map(|_| [group(), group()]).collect();
            let mut now_ns = 1_000;
            for _ in 0..60 {
                let side = sides[random.below(2) as usize];
                let (mut errand, plan) = draw_merge(&mut random, side, &flash);
                let unit = random.below(flash.units.len() as u64) as u32;
                errand.after = [None, Some(unit)][random.below(2) as usize];
                let after = errand.after;
                // A copy knows of no courses.
                let mut anew = flash.clone();
                let fate = anew.foresee(None, after, || errand.clone(), now_ns).unwrap();
                anew.follow(&fate);
                let mut worked_out = false;
                let work_out = || {
                    worked_out = true;
                    errand
                };
                let fate = flash.foresee(Some(plan), after, work_out, now_ns).unwrap();
                flash.follow(&fate);
                now_ns = fate.end_ns();
                assert_eq!(told(&flash, now_ns), told(&anew, now_ns));
                known += u32::from(!worked_out);
                // What is not kept follows from another.
                bent += u32::from(!worked_out && fate.course.is_unique());
            }
        }
        println!("{known} were known, of them {bent} from others");
        assert!(known > 1_000 && bent > 50, "{known}, {bent}");
    }
}
