//! Where the pages of the translation layer lie on physical pages.
//!
//! A translation layer maps, places and collects *units* of `ftl.map_unit_bytes`, which are
//! its pages; a unit may be one physical page or several. It works on a geometry of its own,
//! whose planes and blocks are sets of physical ones, and knows nothing else; a [`Layout`]
//! says which physical pages a unit is made of.
//!
//! With k = `ftl.placement_pages`, following ryu2009 (figures 9 and 10):
//!
//! * k below the pages of a unit: k in a row on a plane, then k on the next one in
//!   `ftl.plane_order`, round the planes again if the unit is longer ("multi-channel with k
//!   pages");
//! * k not below: the whole unit on one plane ("one-channel"), and k pages' worth of units in
//!   a row before the next plane.
//!
//! With `ftl.reclaim_unit_bytes` the planes of several units side by side are one to the
//! translation layer: its block is a superblock, whose units go round them, and which is
//! collected and erased as one. Sectors go round the pages of a unit by `ftl.stripe_bytes`. Units
//! begin at multiples of their size, less `ftl.phase_bytes`.
//! Where blocks are bad from the factory, block i of a plane is its i-th good one.

mod shape;

pub use shape::Shape;

use crate::config::{Nand, UnitLayout};
use crate::geometry::{BlockId, Geometry, PageId, PlaneId, Ppn};
use ssdscope_io::rng::Stream;
use std::sync::Arc;

/// Where a unit lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Of its planes, the first in the list of all.
    first_plane: u32,
    block: BlockId,
    /// The first of the pages it takes of each block.
    first_row: u32,
}

/// Sectors of a unit, from `first` up to `end`, that lie together on a member.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the line above says what they are")]
pub struct Stripe {
    pub member: u32,
    pub first: u32,
    pub end: u32,
}

/// The physical pages of every unit.
#[derive(Clone, Debug)]
pub struct Layout {
    shape: Shape,
    array: Geometry,
    units: Geometry,
    /// A unit is a page, and has its number.
    plain: bool,
    /// All planes, those of a unit next to each other.
    planes: Arc<[PlaneId]>,
    /// The planes of the translation layer, in the order in which it is to visit them.
    plane_order: Arc<[PlaneId]>,
    stripe_sectors: u32,
    /// Of each plane the good blocks that are used, as many on all; none: all are good.
    good_blocks: Option<Arc<[BlockId]>>,
    phase_sectors: u64,
}

impl Layout {
    /// Of a checked drive, whose bad blocks the seed decides.
    #[must_use]
    pub fn new(nand: &Nand, keys: &UnitLayout, seed: u64) -> Self {
        let shape = Shape::new(nand, keys);
        let array = Geometry::new(nand);
        let good = (nand.bad_block_ratio > 0.0).then(|| good_blocks(nand, seed));
        let used = good.iter().flatten().map(Vec::len).min();
        let used = used.map_or(nand.blocks_per_plane, |blocks| blocks as u32);
        let units = shape.geometry(nand, used);
        let in_order = array.planes_in_order(&keys.plane_order);
        let numbered: Vec<PlaneId> = (0..units.plane_count).map(PlaneId).collect();
        // Planes that stay single keep their numbers, and are visited in the order asked for.
        let (planes, plane_order) =
            if shape.planes() == 1 { (numbered, in_order) } else { (in_order, numbered) };
        Self {
            shape,
            array,
            units,
            plain: shape.pages == 1 && shape.groups == 1 && good.is_none(),
            planes: planes.into(),
            plane_order: plane_order.into(),
            stripe_sectors: keys.stripe_bytes / 512,
            good_blocks: good.map(|planes| {
                planes.iter().flat_map(|blocks| &blocks[..used as usize]).copied().collect()
            }),
            phase_sectors: keys.phase_bytes / 512,
        }
    }

    /// The sizes.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The array as the translation layer sees it.
    #[must_use]
    pub const fn units(&self) -> &Geometry {
        &self.units
    }

    /// The array as it is.
    #[must_use]
    pub const fn array(&self) -> &Geometry {
        &self.array
    }

    /// How far into the first unit the drive's first sector is.
    #[must_use]
    pub const fn phase_sectors(&self) -> u64 {
        self.phase_sectors
    }

    /// The planes of the translation layer, in the order in which it is to visit them.
    #[must_use]
    pub fn plane_order(&self) -> &[PlaneId] {
        &self.plane_order
    }

    /// Whether every unit is the physical page of the same number.
    #[inline]
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Where a unit lies.
    #[must_use]
    pub fn place(&self, unit: Ppn) -> Place {
        let shape = &self.shape;
        let (plane, block) = (self.units.plane_of(unit), self.units.block_of(unit));
        let number = self.units.page_of(unit).0;
        let turn = number / shape.units_in_a_row;
        let row = turn / shape.groups * shape.units_in_a_row + number % shape.units_in_a_row;
        // Superblocks interleave, so that pages go round the planes in the order asked for.
        let group = turn % shape.groups * self.units.plane_count + plane.0;
        Place { first_plane: group * shape.width, block, first_row: row * shape.rows() }
    }

    /// Whether each member of one unit lies on the plane of the same member of the other.
    #[must_use]
    pub fn on_the_same_planes(&self, one: Ppn, other: Ppn) -> bool {
        self.place(one).first_plane == self.place(other).first_plane
    }

    /// The physical page that is the `member`th of a unit.
    #[must_use]
    pub fn member(&self, place: Place, member: u32) -> Ppn {
        let Shape { in_a_row, width, .. } = self.shape;
        let run = member / in_a_row;
        let plane = self.planes[(place.first_plane + run % width) as usize];
        let row = place.first_row + run / width * in_a_row + member % in_a_row;
        self.array.ppn(plane, self.block_on(plane, place.block), PageId(row))
    }

    /// The physical pages of units, those of one together, in the order of its members.
    pub fn pages_of(&self, units: Vec<Ppn>) -> Vec<Ppn> {
        if self.plain {
            return units;
        }
        let Shape { in_a_row, width, pages, .. } = self.shape;
        let mut found = Vec::with_capacity(units.len() * pages as usize);
        for unit in units {
            let place = self.place(unit);
            let planes = &self.planes[place.first_plane as usize..][..width as usize];
            let mut row = place.first_row;
            while row < place.first_row + pages / width {
                for &plane in planes {
                    let block = self.block_on(plane, place.block);
                    let first = self.array.ppn(plane, block, PageId(row)).0;
                    for page in first..first + in_a_row {
                        found.push(Ppn(page));
                    }
                }
                row += in_a_row;
            }
        }
        found
    }

    /// The first physical page of a unit.
    #[must_use]
    pub fn first_page(&self, unit: Ppn) -> Ppn {
        if self.plain { unit } else { self.member(self.place(unit), 0) }
    }

    /// Which block of a physical plane a block number stands for.
    #[inline]
    fn block_on(&self, plane: PlaneId, block: BlockId) -> BlockId {
        match &self.good_blocks {
            None => block,
            Some(good) => good[(plane.0 * self.units.blocks_per_plane + block.0) as usize],
        }
    }

    /// The first page of each physical block of a block of the translation layer.
    pub fn blocks(&self, unit: Ppn) -> impl Iterator<Item = Ppn> + use<'_> {
        let (plane, block) = (self.units.plane_of(unit), self.units.block_of(unit));
        let Shape { width, groups, .. } = self.shape;
        let group = move |group| (group * self.units.plane_count + plane.0) * width;
        let planes = (0..groups).flat_map(move |number| group(number)..group(number) + width);
        planes.map(move |index| {
            let plane = self.planes[index as usize];
            self.array.ppn(plane, self.block_on(plane, block), PageId(0))
        })
    }

    /// The first physical plane of one of the translation layer's.
    #[must_use]
    pub fn first_plane(&self, plane: PlaneId) -> PlaneId {
        self.planes[(plane.0 * self.shape.width) as usize]
    }

    /// The pieces of a unit, in the order of its sectors.
    pub fn stripes(&self) -> impl Iterator<Item = Stripe> + use<> {
        let (pages, sectors) = (self.shape.pages, self.stripe_sectors);
        (0..self.units.sectors_per_page / sectors).map(move |number| {
            let first = number * sectors;
            Stripe { member: number % pages, first, end: first + sectors }
        })
    }

    /// The members of a unit on which some of its sectors lie, from `first` to `end`, and how
    /// many of these sectors are there.
    pub fn members_of(&self, first: u32, end: u32) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (pages, stripe) = (self.shape.pages, self.stripe_sectors);
        let (first_stripe, stripes) = (first / stripe, end.div_ceil(stripe) - first / stripe);
        // As many of the first `sectors` as are on `member`.
        let share = move |sectors: u32, member: u32| {
            let round = pages * stripe;
            let rest = (sectors % round).saturating_sub(member * stripe).min(stripe);
            sectors / round * stripe + rest
        };
        (0..stripes.min(pages)).map(move |step| {
            let member = (first_stripe + step) % pages;
            (member, share(end, member) - share(first, member))
        })
    }
}

/// The good blocks of each plane: every block is bad with the same probability.
fn good_blocks(nand: &Nand, seed: u64) -> Vec<Vec<BlockId>> {
    let mut random = Stream::new(seed, "nand.bad-blocks");
    let mut plane = || {
        let blocks = (0..nand.blocks_per_plane).map(BlockId);
        blocks.filter(|_| random.unit() >= nand.bad_block_ratio).collect()
    };
    (0..Geometry::new(nand).plane_count).map(|_| plane()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DriveConfig, Firmware};
    use std::collections::BTreeSet;

    /// Twelve planes of four blocks of six pages, three channels first.
    fn layout(bad: &str, keys: &[(&str, u64)]) -> Layout {
        let mut sets: Vec<String> =
            keys.iter().map(|(key, value)| format!("ftl.{key}={value}")).collect();
        sets.extend((!bad.is_empty()).then(|| format!("nand.bad_block_ratio={bad}")));
        let text = "over_provisioning_ratio = 6.0\n[nand]\nchannels = 3\nways = 2\nplanes = 2\n\
                    blocks_per_plane = 40\npages_per_block = 6\npage_bytes = 4096\nread_ns = 1\n\
                    program_ns = 2\nerase_ns = 3\n[channel]\nns_per_byte = 1\n\
                    [ftl]\nkind = \"page\"\n[gc]\nstop_writes_blocks = 1\nmin_free_blocks = 2\n";
        let config = DriveConfig::parse(text, "test", &sets).unwrap_or_else(|why| panic!("{why}"));
        match config.firmware {
            Firmware::Page(page) => Layout::new(&page.nand, &page.ftl.layout, 1),
            _ => panic!("not page-mapped"),
        }
    }

    const KEYS: &[&[(&str, u64)]] = &[
        &[],
        &[("placement_pages", 5)],
        &[("map_unit_bytes", 3 * 4096)],
        &[("map_unit_bytes", 3 * 4096), ("placement_pages", 6)],
        &[("map_unit_bytes", 6 * 4096), ("placement_pages", 2)],
        &[("map_unit_bytes", 72 * 4096), ("placement_pages", 3)],
        &[("map_unit_bytes", 24 * 4096)],
        &[("reclaim_unit_bytes", 12 * 6 * 4096)],
        &[("reclaim_unit_bytes", 4 * 6 * 4096), ("placement_pages", 3)],
        &[("map_unit_bytes", 2 * 4096), ("reclaim_unit_bytes", 6 * 6 * 4096)],
    ];

    #[test]
    fn every_page_is_a_member_of_one_unit() {
        for keys in KEYS {
            let layout = layout("", keys);
            let units = *layout.units();
            let mut seen = BTreeSet::new();
            for unit in (0..units.page_count).map(Ppn) {
                let place = layout.place(unit);
                for member in 0..layout.shape().pages {
                    let page = layout.member(place, member);
                    assert!(seen.insert(page), "{keys:?}: {page:?} twice");
                    assert!(!layout.is_plain() || page == unit);
                }
            }
            assert_eq!(seen.len() as u32, layout.array().page_count, "{keys:?}");
        }
    }

    #[test]
    fn the_pages_of_units_are_their_members_in_order() {
        for (keys, bad) in KEYS.iter().flat_map(|keys| [(keys, ""), (keys, "0.1")]) {
            let layout = layout(bad, keys);
            let units = || (0..layout.units().page_count).map(Ppn);
            let members = |unit| {
                let (layout, place) = (&layout, layout.place(unit));
                (0..layout.shape().pages).map(move |member| layout.member(place, member))
            };
            let one_by_one = units().flat_map(members);
            let together = layout.pages_of(units().collect());
            assert!(together.into_iter().eq(one_by_one), "{keys:?} {bad}");
        }
    }

    #[test]
    fn a_block_is_the_so_manieth_good_one_of_its_plane() {
        let layout = layout("0.2", &[]);
        let good = layout.good_blocks.as_ref().unwrap();
        let used = layout.units().blocks_per_plane as usize;
        assert!(used < 36 && good.len() == 12 * used, "{used}");
        for (plane, blocks) in good.chunks(used).enumerate() {
            assert!(blocks.is_sorted_by(|low, high| low < high) && blocks[used - 1].0 < 40);
            for (block, &on) in (0..).zip(blocks) {
                let unit = layout.units().ppn(PlaneId(plane as u32), BlockId(block), PageId(2));
                let page = layout.member(layout.place(unit), 0);
                assert_eq!(page, layout.array().ppn(PlaneId(plane as u32), on, PageId(2)));
            }
        }
    }

    #[test]
    fn a_block_of_units_is_made_of_the_blocks_that_are_erased_with_it() {
        for (keys, bad) in KEYS.iter().flat_map(|keys| [(keys, ""), (keys, "0.1")]) {
            let layout = layout(bad, keys);
            let (units, array) = (*layout.units(), *layout.array());
            let firsts = (0..units.page_count).step_by(units.pages_per_block as usize);
            for first in firsts {
                let block_of = |page: Ppn| page.0 / array.pages_per_block;
                let inside: BTreeSet<u32> = (first..first + units.pages_per_block)
                    .flat_map(|unit| {
                        let place = layout.place(Ppn(unit));
                        (0..layout.shape().pages).map(move |member| (place, member))
                    })
                    .map(|(place, member)| block_of(layout.member(place, member)))
                    .collect();
                let erased: BTreeSet<u32> = layout.blocks(Ppn(first)).map(block_of).collect();
                assert_eq!(inside, erased, "{keys:?}");
                assert_eq!(erased.len() as u32, layout.shape().planes());
            }
        }
    }

    #[test]
    fn sectors_are_shared_out_as_the_stripes_say() {
        for stripe in [512, 1024, 2048, 4096] {
            let layout = layout("", &[("map_unit_bytes", 3 * 4096), ("stripe_bytes", stripe)]);
            let owners: Vec<u32> = layout
                .stripes()
                .flat_map(|stripe| (stripe.first..stripe.end).map(move |_| stripe.member))
                .collect();
            assert_eq!(owners.len(), 24);
            for first in 0..24 {
                for end in first + 1..=24 {
                    let mut expected = [0; 3];
                    owners[first..end].iter().for_each(|&owner| expected[owner as usize] += 1);
                    let mut found = [0; 3];
                    for (member, sectors) in layout.members_of(first as u32, end as u32) {
                        assert_eq!(found[member as usize], 0, "told twice");
                        found[member as usize] = sectors;
                    }
                    assert_eq!(found, expected, "stripes of {stripe}: {first} to {end}");
                }
            }
        }
    }

    #[test]
    fn pages_go_round_the_planes_in_order_whatever_is_collected_as_one() {
        let visited = |keys: &[(&str, u64)]| -> Vec<PlaneId> {
            let layout = layout("", keys);
            let units = *layout.units();
            let turns = layout.array().plane_count;
            let place = |turn: u32| {
                let plane = layout.plane_order()[(turn % units.plane_count) as usize];
                let page = PageId(turn / units.plane_count);
                layout.member(layout.place(units.ppn(plane, BlockId(1), page)), 0)
            };
            (0..turns).map(|turn| layout.array().plane_of(place(turn))).collect()
        };
        let plain = visited(&[]);
        assert_eq!(plain[..4], [0, 4, 8, 2].map(PlaneId));
        for blocks in [2, 3, 4, 6, 12] {
            assert_eq!(visited(&[("reclaim_unit_bytes", blocks * 6 * 4096)]), plain, "{blocks}");
        }
    }
}
