//! Where the requests of one direction fall: in order, over partitions in turn, or at random.

use super::once::Once;
use super::skew::Skew;
use crate::rng::Stream;
use crate::units::{Lba, Sectors};
use crate::workload::{Region, Shape};

/// Where requests of one direction and size fall.
///
/// All but `start` is in sectors from the start of the region, or of a partition of it. A place
/// before that start is a huge number, so that one comparison finds what is out on either side.
#[derive(Clone, Debug)]
pub(super) struct Track {
    start: Lba,
    pub shape: Shape,
    /// Whole requests in the region; 0 where places are drawn in another way.
    blocks: u64,
    /// From the start of one request in order to that of the next.
    step: u64,
    /// Where requests in order begin.
    first: u64,
    /// Where requests in order start over.
    origin: u64,
    /// The last place where a request fits.
    last: u64,
    next: u64,
    partitions: Partitions,
    drawn: Option<Box<Drawn>>,
}

/// How places are drawn where requests are of several sizes, or not all blocks alike.
#[derive(Clone, Debug)]
struct Drawn {
    /// Places are multiples of it: the smallest size.
    unit: u64,
    region: u64,
    law: Law,
}

/// Which of the places is drawn.
#[derive(Clone, Debug)]
enum Law {
    Alike,
    Skewed(Skew),
    /// Each once.
    Once(Once),
}

/// Parts of a region that take requests in turn, each in order.
#[derive(Clone, Debug)]
struct Partitions {
    count: u64,
    sectors: u64,
    /// Whose turn it is.
    turn: u64,
}

impl Track {
    /// Requests of a `shape` in a `region`, which is so many `partitions`; `start` draws where
    /// those in order begin.
    pub fn new(region: Region, shape: Shape, partitions: u64, start: Option<&mut Stream>) -> Self {
        let Sectors(length) = shape.sectors;
        let block = length.max(1);
        let share = match partitions {
            1 => region.sectors.0,
            // Whole requests, so that partitions begin where requests of the region do.
            several => region.sectors.0 / several / block * block,
        };
        let blocks = share / block;
        let step = length.wrapping_add_signed(shape.stride);
        let origin = if (step as i64) < 0 { blocks.saturating_sub(1) * length } else { 0 };
        let next = start.map_or(origin, |starts| starts.below(blocks.max(1)) * length);
        Self {
            start: region.start,
            shape,
            blocks: region.sectors.0 / block,
            step,
            first: origin,
            origin,
            last: share.saturating_sub(length),
            next,
            partitions: Partitions { count: partitions, sectors: share, turn: 0 },
            drawn: None,
        }
    }

    /// Draws random places as multiples of `unit`, after a distribution where there is one.
    pub fn draws(&mut self, unit: Sectors, region: Region, skew: Option<Skew>) {
        let law = skew.map_or(Law::Alike, Law::Skewed);
        self.blocks = 0;
        self.drawn = Some(Box::new(Drawn { unit: unit.0.max(1), region: region.sectors.0, law }));
    }

    /// Visits each random place once, as multiples of `unit`.
    pub fn visits(&mut self, unit: Sectors, once: Once) {
        let region = self.blocks * self.shape.sectors.0;
        self.blocks = 0;
        self.drawn = Some(Box::new(Drawn { unit: unit.0.max(1), region, law: Law::Once(once) }));
    }

    /// How many places were visited, where each is visited once.
    pub fn visited(&self) -> u64 {
        match self.drawn.as_deref() {
            Some(Drawn { law: Law::Once(once), .. }) => once.visited,
            _ => 0,
        }
    }

    /// So many places were visited, by requests of either direction.
    pub fn visited_by_all(&mut self, count: u64) {
        if let Some(Drawn { law: Law::Once(once), .. }) = self.drawn.as_deref_mut() {
            once.visited = count;
        }
    }

    /// Whether the next request has no place in this pass, in which so many were visited.
    pub fn is_through(&self, visited: u64, wraps: bool) -> bool {
        let in_order = self.shape.random_percent == 0;
        match self.drawn.as_deref() {
            Some(Drawn { law: Law::Once(once), .. }) => once.are_all(visited),
            Some(Drawn { unit, region, .. }) if in_order => {
                !wraps && self.next > region.saturating_sub(*unit)
            }
            _ => !wraps && in_order && self.next > self.last,
        }
    }

    /// Begins a pass.
    pub fn start_over(&mut self) {
        self.next = self.first;
        self.visited_by_all(0);
    }

    /// Lets requests that go backwards begin at the first place, and then so far before the end of
    /// the region as they go back, as fio's.
    pub fn goes_back_from_the_first(&mut self) {
        (self.first, self.next) = (0, 0);
        self.origin = (self.last + self.shape.sectors.0).saturating_add_signed(self.shape.stride);
    }

    /// What is left of the region behind the last request, where requests are in order.
    pub fn room(&self) -> Option<Sectors> {
        let drawn = self.drawn.as_deref().filter(|_| self.shape.random_percent == 0)?;
        Some(Sectors(drawn.region.saturating_sub(self.next)))
    }

    /// Lets the next request have another length.
    pub fn resize(&mut self, sectors: Sectors) {
        let Some(drawn) = &self.drawn else { return };
        self.last = drawn.region.saturating_sub(sectors.0);
        self.step = sectors.0.wrapping_add_signed(self.shape.stride);
        self.shape.sectors = sectors;
    }

    /// A request anywhere in the region.
    #[inline(always)]
    pub fn random(&mut self, offsets: &mut Stream) -> Lba {
        if self.blocks == 0 {
            let place = self.drawn_place(offsets);
            return self.step_from(place);
        }
        let block = offsets.below(self.blocks);
        self.step_from(block * self.shape.sectors.0)
    }

    /// A place after the distribution; a request that would cross the end is moved back to
    /// finish before it.
    #[inline(never)]
    fn drawn_place(&mut self, offsets: &mut Stream) -> u64 {
        let Some(drawn) = &mut self.drawn else { return 0 };
        let length = self.shape.sectors.0;
        let fitting = drawn.region.saturating_sub(length) / drawn.unit;
        let block = match &mut drawn.law {
            Law::Alike => offsets.below(fitting + 1),
            Law::Skewed(skew) => skew.draw(offsets).min(fitting),
            Law::Once(once) => once.next().min(fitting),
        };
        block * drawn.unit
    }

    /// The request after the last one.
    #[inline(always)]
    pub fn sequential(&mut self) -> Lba {
        let place = if self.next <= self.last { self.next } else { self.origin };
        if self.partitions.count > 1 {
            return self.in_turn(place);
        }
        self.step_from(place)
    }

    #[inline(always)]
    fn step_from(&mut self, place: u64) -> Lba {
        self.next = place.wrapping_add(self.step);
        self.start + Sectors(place)
    }

    /// The same place of every partition, one after the other.
    #[inline(never)]
    fn in_turn(&mut self, place: u64) -> Lba {
        let Partitions { count, sectors, turn } = self.partitions;
        let is_last = turn + 1 == count;
        self.partitions.turn = if is_last { 0 } else { turn + 1 };
        self.next = if is_last { place.wrapping_add(self.step) } else { place };
        self.start + Sectors(turn * sectors + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(start: u64, sectors: u64) -> Region {
        Region { start: Lba(start), sectors: Sectors(sectors) }
    }

    fn in_order(sectors: u64, stride: i64) -> Shape {
        Shape { sectors: Sectors(sectors), random_percent: 0, stride }
    }

    fn places(track: &mut Track, count: usize) -> Vec<u64> {
        (0..count).map(|_| track.sequential().0).collect()
    }

    #[test]
    fn a_gap_of_minus_two_requests_goes_backwards_from_the_last() {
        let mut track = Track::new(region(100, 35), in_order(8, -16), 1, None);
        assert_eq!(places(&mut track, 6), [124, 116, 108, 100, 124, 116], "the rest left out");
    }

    #[test]
    fn a_gap_of_minus_one_request_stays_where_it_is() {
        let mut track = Track::new(region(100, 64), in_order(8, -8), 1, None);
        assert_eq!(places(&mut track, 4), [100; 4]);
    }

    #[test]
    fn partitions_take_turns_and_go_on_each_where_it_was() {
        let mut track = Track::new(region(0, 101), in_order(8, 0), 3, None);
        // 101 sectors in three parts of four whole requests each.
        let expected = [0, 32, 64, 8, 40, 72, 16, 48, 80, 24, 56, 88, 0, 32];
        assert_eq!(places(&mut track, 14), expected);
        let mut back = Track::new(region(0, 96), in_order(8, -16), 3, None);
        assert_eq!(places(&mut back, 7), [24, 56, 88, 16, 48, 80, 8]);
    }

    proptest! {
        /// LBA_i = origin + increment * i, as long as that is in the region.
        #[test]
        fn places_follow_the_increment_aligned_and_within_the_region(
            start in 0_u64..1 << 40,
            sectors in 1_u64..64,
            blocks in 1_u64..200,
            rest in 0_u64..64,
            increment in -40_i64..40,
            count in 1_usize..300,
        ) {
            let length = blocks * sectors + rest % sectors;
            let shape = in_order(sectors, (increment - 1) * sectors as i64);
            let mut track = Track::new(region(start, length), shape, 1, None);
            let found = places(&mut track, count);
            let origin = if increment < 0 { start + (blocks - 1) * sectors } else { start };
            prop_assert_eq!(found[0], origin);
            for place in &found {
                prop_assert!((start..=start + length - sectors).contains(place));
                prop_assert_eq!((place - start) % sectors, 0);
            }
            for pair in found.windows(2) {
                let then = pair[0] as i64 + increment * sectors as i64;
                let within = |place: &u64| *place >= start && place + sectors <= start + length;
                let expected = u64::try_from(then).ok().filter(within).unwrap_or(origin);
                prop_assert_eq!(pair[1], expected);
            }
        }

        /// P_i = i mod P, and each in order: floor(i / P) * size, modulo the partition.
        #[test]
        fn partitions_are_disjoint_and_each_in_order(
            start in 0_u64..1 << 40,
            sectors in 1_u64..64,
            partitions in 2_u64..40,
            each_blocks in 1_u64..50,
            rest in 0_u64..2_000,
            count in 1_usize..400,
        ) {
            let length = partitions * each_blocks * sectors + rest % (partitions * sectors);
            let mut track = Track::new(region(start, length), in_order(sectors, 0), partitions, None);
            let share = each_blocks * sectors;
            for (index, place) in places(&mut track, count).into_iter().enumerate() {
                let index = index as u64;
                let within = index / partitions * sectors % share;
                prop_assert_eq!(place, start + index % partitions * share + within);
                prop_assert!(place + sectors <= start + length);
            }
        }

        /// A random start is a whole request of the partition, whatever the order.
        #[test]
        fn a_random_start_is_aligned_and_within(
            seed: u64,
            sectors in 1_u64..64,
            blocks in 1_u64..100,
            partitions in 1_u64..5,
            increment in -3_i64..4,
        ) {
            let length = blocks * partitions * sectors;
            let shape = in_order(sectors, (increment - 1) * sectors as i64);
            let mut draw = Stream::new(seed, "starts");
            let mut track = Track::new(region(0, length), shape, partitions, Some(&mut draw));
            for place in places(&mut track, 50) {
                prop_assert!(place + sectors <= length && place.is_multiple_of(sectors));
            }
        }
    }
}
