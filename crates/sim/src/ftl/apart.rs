//! Planes apart: where addresses decide which plane a page is on, and nothing that one plane does
//! depends on another, each is a drive of its own while its pages are overwritten in no time.
//!
//! Its part of the map is small, and stays in the processor's cache; and all cores work at once.
//! Only the number that tells when a block was filled counts over all planes: meanwhile it is made
//! of the step, which is the place of a write among all, and of the blocks filled in that step. To
//! victims that are chosen by valid pages or in order of filling, that is the same. What comes
//! of it is in every field what comes of overwriting one page after the other.

use super::run::Turn;
use super::{Ftl, PageMap};
use crate::config::{Allocation, State};
use crate::cow::CowArray;
use crate::divisor::Divisor;
use crate::error::SimError;
use crate::gc::Policy;
use crate::geometry::{Geometry, PlaneId, Ppn};
use crate::prepare::{self, Prepare};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

/// Blocks that one step may fill.
const FILLED_BITS: u32 = 20;
/// Fewer pages are not worth other threads.
const WORTH_THREADS: usize = 1 << 16;
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

/// A plane as a translation layer of its own.
struct Part {
    ftl: Ftl,
    plane: PlaneId,
    /// When it filled blocks.
    filled: Vec<u64>,
}

/// Which of the host's pages are on which plane.
#[derive(Clone, Copy)]
struct Split {
    planes: u32,
    in_a_row: u32,
    pages: u32,
}

impl Split {
    /// The turn of the plane that a page is on, and its number there.
    fn apart(self, page: u32) -> (usize, u32) {
        let (run, place) = (page / self.in_a_row, page % self.in_a_row);
        ((run % self.planes) as usize, run / self.planes * self.in_a_row + place)
    }

    /// The pages of a plane.
    fn pages_of(self, turn: u32) -> u32 {
        let row = self.planes * self.in_a_row;
        let rest = (self.pages % row).saturating_sub(turn * self.in_a_row);
        self.pages / row * self.in_a_row + rest.min(self.in_a_row)
    }

    /// The page that has this number on the plane of this turn.
    fn together(self, turn: usize, page: u32) -> u32 {
        let (row, place) = (page / self.in_a_row, page % self.in_a_row);
        (row * self.planes + turn as u32) * self.in_a_row + place
    }

    /// The pages row by row, so many rows at a time.
    fn spans(self) -> impl Iterator<Item = std::ops::Range<u32>> {
        let step = self.planes * self.in_a_row * ROWS;
        let starts = (0..self.pages).step_by(step as usize);
        starts.map(move |start| start..self.pages.min(start.saturating_add(step)))
    }
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
        let split = Split {
            planes: whole.geometry.plane_count,
            in_a_row: whole.in_a_row.value,
            pages: whole.pages(),
        };
        let mut parts: Vec<_> = (0..split.planes).map(|turn| whole.part(split, turn)).collect();
        whole.map.hand_out(split, &mut parts);
        Ok(Self { whole, parts, split, steps: 0 })
    }

    /// Puts the planes together again.
    pub fn join(self) {
        let Self { whole, mut parts, split, .. } = self;
        whole.map.take_back(split, &parts);
        let before = whole.sealed;
        let mut filled: Vec<u64> =
            parts.iter_mut().flat_map(|part| part.filled.drain(..)).collect();
        filled.sort_unstable();
        whole.sealed += filled.len() as u64;
        for Part { mut ftl, plane, .. } in parts {
            let blocks = &mut ftl.planes[PlaneId(0)];
            for sealed_at in blocks.sealed_at.iter_mut().filter(|at| **at >= before) {
                *sealed_at = before + filled.partition_point(|at| at < sealed_at) as u64;
            }
            whole.planes[plane] = blocks.clone();
            whole.retired += ftl.retired;
        }
        let planes = (0..split.planes).map(|plane| whole.plane(PlaneId(plane)));
        let erases = planes.flat_map(|plane| plane.erases.iter().copied());
        whole.erases = whole.erases.recounted(erases);
    }

    /// Writes pages on their planes, one plane after the other, with so many threads.
    fn write_lists(
        &mut self,
        lists: Vec<Vec<(u64, u32)>>,
        threads: usize,
    ) -> Result<u64, SimError> {
        let before = self.whole.sealed;
        let work = Mutex::new(self.parts.iter_mut().zip(lists));
        let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
        let write = || {
            let (mut moved, mut first_failed) = (0, None);
            while let Some((part, list)) = next() {
                match part.write(&list, before) {
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
            self.whole.planes[plane] = part.ftl.planes[PlaneId(0)].clone();
            self.whole.retired += part.ftl.retired;
        }
        self.whole.no_room(plane)
    }
}

/// Which of two failed at the earlier step.
fn earlier<T: Copy>(one: Option<(u64, T)>, other: Option<(u64, T)>) -> Option<(u64, T)> {
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
        let mut lists: Vec<Vec<(u64, u32)>> = vec![Vec::new(); self.parts.len()];
        for (step, &page) in (self.steps..).zip(pages) {
            let (turn, page) = self.split.apart(page);
            lists[turn].push((step, page));
        }
        self.steps += pages.len() as u64;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if pages.len() < WORTH_THREADS { 1 } else { cores };
        self.write_lists(lists, threads)
    }
}

impl Part {
    /// Overwrites pages at their steps; returns how many collection moved, or at which step
    /// nothing could be freed.
    fn write(&mut self, list: &[(u64, u32)], before: u64) -> Result<u64, u64> {
        let mut moved = 0;
        for &(step, page) in list {
            let first = before + (step << FILLED_BITS);
            self.ftl.sealed = first;
            moved += u64::from(self.ftl.write_page(page).map_err(|_| step)?);
            self.filled.extend(first..self.ftl.sealed);
        }
        Ok(moved)
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

    /// A plane by itself, its map still empty.
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
            plane_order: vec![PlaneId(0)],
            by_planes: Divisor::new(1),
            turn: Turn::default(),
            sealed: 0,
            retired: 0,
            erases: self.erases.recounted(self.planes[plane].erases.iter().copied()),
            unwritten_reads: self.unwritten_reads.clone(),
            policy: self.policy.clone(),
            region: self.region,
            ..*self
        };
        Part { ftl, plane, filled: Vec::new() }
    }
}

impl PageMap {
    /// Gives each part what is on its plane; nothing of that stays here.
    fn hand_out(&mut self, split: Split, parts: &mut [Part]) {
        let pages_per_plane = self.reverse.len() as u32 / split.planes;
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
        let mut written = vec![0; parts.len()];
        for span in split.spans() {
            for (page, place) in span.clone().zip(self.forward.range(as_index(&span))) {
                let (turn, _) = split.apart(page);
                places[turn].push(place - parts[turn].plane.0 * pages_per_plane);
            }
            for ((part, places), from) in parts.iter_mut().zip(&mut places).zip(&mut written) {
                part.ftl.map.forward.write(*from, places);
                *from += places.len();
                places.clear();
            }
        }
        for part in parts {
            let first = part.plane.0 * pages_per_plane;
            let mut given = self.reverse.range(as_index(&(first..first + pages_per_plane)));
            for page in given.iter_mut().filter(|page| **page > 0) {
                *page = split.apart(*page - 1).1 + 1;
            }
            part.ftl.map.write_given(Ppn(0), &given, part.ftl.geometry.pages_per_block);
        }
        self.forward = CowArray::new(self.forward.len());
        self.reverse = CowArray::new(self.reverse.len());
    }

    /// Takes all that back.
    fn take_back(&mut self, split: Split, parts: &[Part]) {
        let pages_per_plane = self.reverse.len() as u32 / split.planes;
        for span in split.spans() {
            let places: Vec<u32> = span
                .clone()
                .map(|page| {
                    let (turn, local) = split.apart(page);
                    let Part { ftl, plane, .. } = &parts[turn];
                    ftl.map.forward.get(local as usize) + plane.0 * pages_per_plane
                })
                .collect();
            self.forward.write(span.start as usize, &places);
        }
        for (turn, Part { ftl, plane, .. }) in parts.iter().enumerate() {
            let mut given = ftl.map.reverse.range(0..pages_per_plane as usize);
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
        let lists = |ftl: &Ftl| {
            let mut lists = vec![Vec::new(); ftl.geometry.plane_count as usize];
            let mut random = Stream::new(2, "threads");
            for step in 0..3 * u64::from(ftl.pages()) {
                let split = Split {
                    planes: ftl.geometry.plane_count,
                    in_a_row: ftl.in_a_row.value,
                    pages: ftl.pages(),
                };
                let (turn, page) = split.apart(random.below(split.pages.into()) as u32);
                lists[turn].push((step, page));
            }
            lists
        };
        let mut tried = 0;
        for seed in 0..20 {
            println!("seed {seed}");
            let mut one = draw(&mut Stream::new(seed, "threads"));
            prepare::bring(&mut one, State::Sequential, seed).unwrap();
            let mut four = one.clone();
            let lists = lists(&one);
            let [Ok(mut alone), Ok(mut together)] = [&mut one, &mut four].map(Apart::split) else {
                continue;
            };
            tried += 1;
            let moved = alone.write_lists(lists.clone(), 1);
            assert_eq!(format!("{:?}", together.write_lists(lists, 4)), format!("{moved:?}"));
            alone.join();
            together.join();
            assert_eq!(format!("{one:?}"), format!("{four:?}"));
        }
        assert!(tried > 3, "{tried}");
    }
}
