//! Planes apart: where addresses decide which plane a page is on, and nothing that one plane does
//! depends on another, each is a drive of its own while its pages are overwritten in no time.
//!
//! Its part of the map is small, and stays in the processor's cache; and all cores work at once.
//! Only the number that tells when a block was filled counts over all planes: meanwhile it is made
//! of the step, which is the place of a write among all, and of the blocks filled in that step. To
//! victims that are chosen by valid pages or in order of filling, that is the same. What comes
//! of it is in every field what comes of overwriting one page after the other.

use super::flat::FlatMap;
use super::rows::Split;
use super::run::Turn;
use super::untimed::AtOnce;
use super::{Ftl, PageMap};
use crate::config::{Allocation, State};
use crate::cow::CowArray;
use crate::divisor::Divisor;
use crate::error::SimError;
use crate::gc::Policy;
use crate::geometry::{BlockId, Geometry, Lpn, PlaneId, Ppn};
use crate::prepare::{self, Prepare};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

/// Blocks that one step may fill.
const FILLED_BITS: u32 = 20;
/// Fewer pages are not worth other threads.
const WORTH_THREADS: usize = 1 << 16;
/// The plane of a part.
const ONLY: PlaneId = PlaneId(0);
/// Rows of the map that are taken apart, and put together, at a time.
const ROWS: u32 = 64;

/// A translation layer whose planes are apart.
pub struct Apart<'whole> {
    whole: &'whole mut Ftl,
    /// In the order in which addresses visit the planes.
    parts: Vec<Part>,
    split: Split,
    /// Pages overwritten.
    steps: u64,
}

/// A plane as a translation layer of its own, whose map is beside it.
struct Part {
    ftl: Ftl,
    map: FlatMap,
    plane: PlaneId,
    /// Pages to write, and the step of each.
    todo: Vec<(u32, u32)>,
    /// When it filled blocks.
    filled: Vec<u64>,
}

/// The pages row by row, so many rows at a time.
fn spans(split: Split) -> impl Iterator<Item = std::ops::Range<u32>> {
    let step = split.row() * ROWS;
    let starts = (0..split.pages).step_by(step as usize);
    starts.map(move |start| start..split.pages.min(start.saturating_add(step)))
}

impl<'whole> Apart<'whole> {
    /// Takes the planes apart, where that changes nothing; else gives the whole back.
    ///
    /// # Errors
    /// The whole.
    pub fn split(whole: &'whole mut Ftl) -> Result<Self, &'whole mut Ftl> {
        let by_address = whole.allocation == Allocation::Address && whole.plane_order.len() > 1;
        let of_one_plane = matches!(whole.policy, Policy::Greedy | Policy::Fifo);
        let only_pages =
            !whole.region.exists() && whole.map.logical_pages() == whole.map.exported_pages();
        if !(by_address && of_one_plane && only_pages) {
            return Err(whole);
        }
        let split = whole.split(whole.pages());
        let mut parts: Vec<_> =
            (0..split.planes.value).map(|turn| whole.part(split, turn)).collect();
        whole.map.hand_out(split, &mut parts);
        Ok(Self { whole, parts, split, steps: 0 })
    }

    /// Puts the planes together again.
    pub fn join(self) {
        let Self { whole, mut parts, split, .. } = self;
        whole.map.take_back(split, &mut parts);
        let before = whole.sealed;
        let mut filled: Vec<u64> =
            parts.iter_mut().flat_map(|part| part.filled.drain(..)).collect();
        filled.sort_unstable();
        whole.sealed += filled.len() as u64;
        for Part { mut ftl, plane, .. } in parts {
            let blocks = &mut ftl.planes[ONLY];
            for sealed_at in blocks.sealed_at.iter_mut().filter(|at| **at >= before) {
                *sealed_at = before + filled.partition_point(|at| at < sealed_at) as u64;
            }
            whole.planes[plane] = blocks.clone();
            whole.retired += ftl.retired;
        }
        let planes = (0..split.planes.value).map(|plane| whole.plane(PlaneId(plane)));
        let erases = planes.flat_map(|plane| plane.erases.iter().copied());
        whole.erases = whole.erases.recounted(erases);
    }

    /// Tells planes what pages to write, and when.
    fn hand_on(&mut self, pages: &[u32]) {
        for (step, &page) in (0..).zip(pages) {
            let (turn, page) = self.split.apart(page);
            self.parts[turn].todo.push((step, page));
        }
    }

    /// Writes pages on their planes, one plane after the other, with so many threads.
    fn write_on_planes(&mut self, threads: usize) -> Result<u64, SimError> {
        let before = self.whole.sealed + (self.steps << FILLED_BITS);
        let work = Mutex::new(self.parts.iter_mut());
        let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
        let write = || {
            let (mut moved, mut first_failed) = (0, None);
            while let Some(part) = next() {
                match part.write(before) {
                    Ok(pages) => moved += pages,
                    Err(step) => first_failed = earlier(first_failed, Some((step, part.plane))),
                }
            }
            (moved, first_failed)
        };
        let (moved, failed) = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(write)).collect();
            let mine = write();
            others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|fault| resume_unwind(fault)))
                .fold(mine, |all, one| (all.0 + one.0, earlier(all.1, one.1)))
        });
        match failed {
            None => Ok(moved),
            Some((_, plane)) => Err(self.no_room(plane)),
        }
    }

    /// Why a plane has no room.
    fn no_room(&mut self, plane: PlaneId) -> SimError {
        if let Some(part) = self.parts.iter().find(|part| part.plane == plane) {
            self.whole.planes[plane] = part.ftl.planes[ONLY].clone();
            self.whole.retired += part.ftl.retired;
        }
        self.whole.no_room(plane)
    }
}

/// Which of two failed at the earlier step.
fn earlier<T: Copy>(one: Option<(u32, T)>, other: Option<(u32, T)>) -> Option<(u32, T)> {
    one.into_iter().chain(other).min_by_key(|&(step, _)| step)
}

impl Prepare for Apart<'_> {
    fn pages(&self) -> u32 {
        self.split.pages
    }

    fn spare_pages(&self) -> u32 {
        self.whole.spare_pages()
    }

    fn page_bytes(&self) -> u32 {
        self.whole.page_bytes()
    }

    fn write_page(&mut self, page: u32) -> Result<u32, SimError> {
        self.write_pages(&[page]).map(|moved| moved as u32)
    }

    fn write_pages(&mut self, pages: &[u32]) -> Result<u64, SimError> {
        self.hand_on(pages);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if pages.len() < WORTH_THREADS { 1 } else { cores };
        let moved = self.write_on_planes(threads);
        self.steps += pages.len() as u64;
        moved
    }
}

impl Part {
    /// Overwrites pages at their steps; returns how many collection moved, or at which step
    /// nothing could be freed. A block is filled in one pass: meanwhile nothing else happens.
    fn write(&mut self, before: u64) -> Result<u64, u32> {
        let todo = std::mem::take(&mut self.todo);
        let (mut moved, mut left) = (0, todo.as_slice());
        while let Some(&(step, _)) = left.first() {
            while !self.ftl.can_write(ONLY) {
                let made = self.at(step, before, |part| part.make_room(ONLY));
                moved += u64::from(made.map_err(|_| step)?);
            }
            let (first, count) = self.ftl.places_for_host(ONLY, left.len() as u32).ok_or(step)?;
            let (now, later) = left.split_at(count as usize);
            self.put(now, first);
            let (last, _) = now[now.len() - 1];
            moved += u64::from(self.at(last, before, |part| {
                if part.ftl.end_host_block(ONLY) { part.keep_room(ONLY) } else { 0 }
            }));
            left = later;
        }
        self.todo = todo;
        self.todo.clear();
        Ok(moved)
    }

    /// Does something at a step, and notes which blocks that filled.
    fn at<T>(&mut self, step: u32, before: u64, act: impl FnOnce(&mut Self) -> T) -> T {
        let first = self.ftl.sealed.max(before + (u64::from(step) << FILLED_BITS));
        self.ftl.sealed = first;
        let done = act(self);
        self.filled.extend(first..self.ftl.sealed);
        done
    }

    /// Puts pages in physical ones from `first` on.
    fn put(&mut self, pages: &[(u32, u32)], first: Ppn) {
        let by_block = self.ftl.geometry.by_block;
        let plane = &mut self.ftl.planes[ONLY];
        let pages = pages.iter().map(|&(_, page)| Lpn(page));
        self.map.replace(pages, first, |old| plane.invalidate(BlockId(by_block.quotient(old.0))));
    }
}

impl AtOnce for Part {
    fn ftl(&mut self) -> &mut Ftl {
        &mut self.ftl
    }

    fn held(&self, first: Ppn, count: u32, pages: &mut Vec<Lpn>) {
        self.map.held(first, count, pages);
    }

    fn put_on(&mut self, pages: &[Lpn], first: Ppn) {
        self.map.put_on(pages, first);
    }
}

impl Ftl {
    /// Brings a drive that was never written into `state`.
    ///
    /// # Errors
    /// If collection can free nothing.
    pub fn bring(&mut self, state: State, seed: u64) -> Result<(), SimError> {
        if matches!(state, State::Fresh | State::Sequential) {
            return prepare::bring(self, state, seed);
        }
        prepare::bring(self, State::Sequential, seed)?;
        match Apart::split(self) {
            Err(whole) => prepare::write_on(whole, state, seed),
            Ok(mut parts) => {
                prepare::write_on(&mut parts, state, seed)?;
                parts.join();
                Ok(())
            }
        }
    }

    /// A plane by itself, its map still empty; the layer's own stays so.
    fn part(&self, split: Split, turn: u32) -> Part {
        let plane = self.plane_order[turn as usize];
        let geometry =
            Geometry { plane_count: 1, page_count: self.geometry.pages_per_plane, ..self.geometry };
        let mut planes = self.planes.clone();
        planes.keep_only(plane);
        let ftl = Self {
            map: PageMap::new(&geometry, split.pages_of(turn), 0),
            geometry,
            layout: self.layout.clone(),
            planes,
            plane_order: vec![ONLY],
            by_planes: Divisor::new(1),
            turn: Turn::default(),
            sealed: 0,
            retired: 0,
            erases: self.erases.recounted(self.planes[plane].erases.iter().copied()),
            policy: self.policy.clone(),
            region: self.region,
            ..*self
        };
        let map = FlatMap::new(split.pages_of(turn), geometry.page_count);
        Part { ftl, map, plane, todo: Vec::new(), filled: Vec::new() }
    }
}

impl PageMap {
    /// Gives each part what is on its plane; nothing of that stays here.
    fn hand_out(&mut self, split: Split, parts: &mut [Part]) {
        let pages_per_plane = split.planes.quotient(self.reverse.len() as u32);
        for span in spans(split) {
            for (page, place) in span.clone().zip(self.forward.range(as_index(&span))) {
                let Part { map, plane, .. } = &mut parts[split.apart(page).0];
                map.places.push(place - plane.0 * pages_per_plane);
            }
        }
        for Part { map, plane, .. } in parts {
            let first = (plane.0 * pages_per_plane) as usize;
            let all_given = &mut map.given;
            self.reverse.for_each_piece(first..first + all_given.len(), |start, given| {
                let own = all_given[start - first..].iter_mut().zip(given);
                for (own, page) in own.filter(|(_, page)| **page > 0) {
                    *own = split.apart(page - 1).1 + 1;
                }
            });
        }
        self.forward = CowArray::new(self.forward.len());
        self.reverse = CowArray::new(self.reverse.len());
    }

    /// Takes all that back; nothing of it stays there.
    fn take_back(&mut self, split: Split, parts: &mut [Part]) {
        let pages_per_plane = split.planes.quotient(self.reverse.len() as u32);
        for span in spans(split) {
            let place = |page| {
                let (turn, local) = split.apart(page);
                let Part { map, plane, .. } = &parts[turn];
                map.places[local as usize] + plane.0 * pages_per_plane
            };
            let places: Vec<u32> = span.clone().map(place).collect();
            self.forward.write(span.start as usize, &places);
        }
        for (turn, Part { ftl, map, plane, .. }) in parts.iter_mut().enumerate() {
            map.places = Vec::new();
            let mut given = std::mem::take(&mut map.given);
            for page in given.iter_mut().filter(|page| **page > 0) {
                *page = split.together(turn, *page - 1) + 1;
            }
            let first = Ppn(plane.0 * pages_per_plane);
            self.write_given(first, &given, ftl.geometry.pages_per_block);
        }
    }

    /// Notes what physical pages from `first` on were given, block by block. Of what was never
    /// given nothing is written, and so takes no memory.
    fn write_given(&mut self, first: Ppn, given: &[u32], pages_per_block: u32) {
        let starts = (first.0 as usize..).step_by(pages_per_block as usize);
        for (start, block) in starts.zip(given.chunks(pages_per_block as usize)) {
            let used = block.iter().take_while(|page| **page > 0).count();
            self.reverse.write(start, &block[..used]);
        }
    }
}

fn as_index(span: &std::ops::Range<u32>) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::super::untimed::tests::draw;
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn planes_apart_come_to_the_same_as_all_together() {
        let mut apart = 0;
        for seed in 0..80 {
            println!("seed {seed}");
            let mut random = Stream::new(seed, "apart");
            let mut ftl = draw(&mut random);
            prepare::bring(&mut ftl, State::Sequential, seed).unwrap();
            let mut plain = ftl.clone();
            let window_bytes = (random.below(2) > 0).then_some(100 * 4096);
            let state = [State::Random, State::Steady { window_bytes }][random.below(2) as usize];
            let by_itself = prepare::write_on(&mut plain, state, seed);
            let Ok(mut parts) = Apart::split(&mut ftl) else { continue };
            apart += 1;
            let taken_apart = prepare::write_on(&mut parts, state, seed);
            assert_eq!(format!("{taken_apart:?}"), format!("{by_itself:?}"));
            parts.join();
            if by_itself.is_ok() {
                assert_eq!(format!("{ftl:?}"), format!("{plain:?}"));
            }
        }
        assert!(apart > 20, "{apart}");
    }

    #[test]
    fn threads_change_nothing() {
        let pages = |ftl: &Ftl| -> Vec<u32> {
            let mut random = Stream::new(2, "threads");
            (0..3 * ftl.pages()).map(|_| random.below(ftl.pages().into()) as u32).collect()
        };
        let mut tried = 0;
        for seed in 0..20 {
            println!("seed {seed}");
            let mut one = draw(&mut Stream::new(seed, "threads"));
            prepare::bring(&mut one, State::Sequential, seed).unwrap();
            let mut four = one.clone();
            let pages = pages(&one);
            let [Ok(mut alone), Ok(mut together)] = [&mut one, &mut four].map(Apart::split) else {
                continue;
            };
            tried += 1;
            alone.hand_on(&pages);
            together.hand_on(&pages);
            let moved = alone.write_on_planes(1);
            assert_eq!(format!("{:?}", together.write_on_planes(4)), format!("{moved:?}"));
            alone.join();
            together.join();
            assert_eq!(format!("{one:?}"), format!("{four:?}"));
        }
        assert!(tried > 3, "{tried}");
    }
}
