//! Physical addresses: which plane, block and page a number stands for.

use crate::config::Nand;
use crate::cow::unshared;
use crate::divisor::Divisor;
use crate::rounding::share_of;
use std::ops::{Add, Index, IndexMut};
use triomphe::Arc;

/// A logical page of the host's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lpn(pub u32);

/// A physical page, numbered plane by plane, block by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppn(pub u32);

/// A plane, numbered through channels, ways, dies, planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaneId(pub u32);

/// A block within its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// A page within its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub u32);

impl Add<u32> for Lpn {
    type Output = Self;
    fn add(self, pages: u32) -> Self {
        Self(self.0 + pages)
    }
}

/// One value per plane.
#[derive(Clone, Debug)]
pub struct PerPlane<T>(pub Vec<T>);

impl<T> Index<PlaneId> for PerPlane<T> {
    type Output = T;
    fn index(&self, plane: PlaneId) -> &T {
        &self.0[plane.0 as usize]
    }
}

impl<T> IndexMut<PlaneId> for PerPlane<T> {
    fn index_mut(&mut self, plane: PlaneId) -> &mut T {
        &mut self.0[plane.0 as usize]
    }
}

/// One value per plane; copies share those that neither changes.
#[derive(Clone, Debug)]
pub struct SharedPerPlane<T>(Vec<Arc<T>>);

impl<T: Clone> SharedPerPlane<T> {
    /// As many of `value`.
    #[must_use]
    pub fn new(value: T, planes: u32) -> Self {
        Self(vec![Arc::new(value); planes as usize])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.iter().map(Arc::as_ref)
    }

    /// Forgets all planes but one, which is the first from now on.
    pub fn keep_only(&mut self, plane: PlaneId) {
        self.0 = vec![Arc::clone(&self.0[plane.0 as usize])];
    }
}

impl<T> Index<PlaneId> for SharedPerPlane<T> {
    type Output = T;
    #[inline]
    fn index(&self, plane: PlaneId) -> &T {
        &self.0[plane.0 as usize]
    }
}

impl<T: Clone> IndexMut<PlaneId> for SharedPerPlane<T> {
    #[inline]
    fn index_mut(&mut self, plane: PlaneId) -> &mut T {
        unshared(&mut self.0[plane.0 as usize])
    }
}

/// The array's shape, with the products that addressing needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field says what it counts")]
pub struct Geometry {
    pub channels: u32,
    pub ways: u32,
    pub dies: u32,
    pub planes_per_die: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub plane_count: u32,
    pub pages_per_plane: u32,
    /// Divides by `pages_per_plane`.
    pub by_plane: Divisor,
    /// Divides by `pages_per_block`.
    pub by_block: Divisor,
    pub page_count: u32,
    pub sectors_per_page: u32,
}

impl Geometry {
    /// The shape of `nand`, whose page count is known to fit 32 bits.
    #[must_use]
    pub const fn new(nand: &Nand) -> Self {
        let plane_count = nand.channels * nand.ways * nand.dies * nand.planes;
        let pages_per_plane = nand.blocks_per_plane * nand.pages_per_block;
        Self {
            channels: nand.channels,
            ways: nand.ways,
            dies: nand.dies,
            planes_per_die: nand.planes,
            blocks_per_plane: nand.blocks_per_plane,
            pages_per_block: nand.pages_per_block,
            page_bytes: nand.page_bytes,
            plane_count,
            pages_per_plane,
            by_plane: Divisor::new(pages_per_plane),
            by_block: Divisor::new(nand.pages_per_block),
            page_count: plane_count * pages_per_plane,
            sectors_per_page: nand.page_bytes / 512,
        }
    }

    /// The page at `page` of `block` of `plane`.
    #[inline]
    #[must_use]
    pub const fn ppn(&self, plane: PlaneId, block: BlockId, page: PageId) -> Ppn {
        Ppn(plane.0 * self.pages_per_plane + block.0 * self.pages_per_block + page.0)
    }

    /// The plane of a page.
    #[inline]
    #[must_use]
    pub const fn plane_of(&self, page: Ppn) -> PlaneId {
        PlaneId(self.by_plane.quotient(page.0))
    }

    /// The block of a page, within its plane.
    #[inline]
    #[must_use]
    pub const fn block_of(&self, page: Ppn) -> BlockId {
        BlockId(self.by_block.quotient(self.by_plane.remainder(page.0)))
    }

    /// The plane of a page, and its block there.
    #[inline]
    #[must_use]
    pub const fn block_and_plane_of(&self, page: Ppn) -> (PlaneId, BlockId) {
        let (plane, place) = self.by_plane.divide(page.0);
        (PlaneId(plane), BlockId(self.by_block.quotient(place)))
    }

    /// The page's place in its block.
    #[inline]
    #[must_use]
    pub const fn page_of(&self, page: Ppn) -> PageId {
        PageId(self.by_block.remainder(page.0))
    }

    /// The planes in the order in which `order` (letters C, W, D, P) visits them:
    /// the first letter advances from page to page, the last one least often.
    #[must_use]
    pub fn planes_in_order(&self, order: &str) -> Vec<PlaneId> {
        let mut visited = Vec::with_capacity(self.plane_count as usize);
        for index in 0..self.plane_count {
            let (mut rest, mut plane) = (index, 0);
            for letter in order.chars() {
                let (extent, stride) = match letter {
                    'C' => (self.channels, self.ways * self.dies * self.planes_per_die),
                    'W' => (self.ways, self.dies * self.planes_per_die),
                    'D' => (self.dies, self.planes_per_die),
                    _ => (self.planes_per_die, 1),
                };
                plane += rest % extent * stride;
                rest /= extent;
            }
            visited.push(PlaneId(plane));
        }
        visited
    }
}

/// The logical pages that `over_provisioning_ratio` (raw/exported - 1) leaves to the host.
#[must_use]
pub fn exported_pages(geometry: &Geometry, over_provisioning_ratio: f64) -> u32 {
    share_of(geometry.page_count, 1.0 / (1.0 + over_provisioning_ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Geometry {
        Geometry::new(&Nand {
            channels: 2,
            ways: 3,
            dies: 2,
            planes: 2,
            blocks_per_plane: 5,
            pages_per_block: 7,
            page_bytes: 4096,
            spare_bytes: 0,
            read_ns: 1,
            program_ns: 1,
            read_by_type_ns: Vec::new(),
            program_by_type_ns: Vec::new(),
            type_order: crate::config::TypeOrder::Turns,
            erase_ns: 1,
            endurance_erases: 1,
            bits_per_cell: 1,
            bad_block_ratio: 0.0,
        })
    }

    #[test]
    fn addresses_take_apart_as_they_were_put_together() {
        let geometry = small();
        for plane in 0..geometry.plane_count {
            for block in 0..5 {
                for page in 0..7 {
                    let ppn = geometry.ppn(PlaneId(plane), BlockId(block), PageId(page));
                    assert_eq!(geometry.plane_of(ppn), PlaneId(plane));
                    assert_eq!(geometry.block_of(ppn), BlockId(block));
                    assert_eq!(geometry.page_of(ppn), PageId(page));
                }
            }
        }
    }

    #[test]
    fn an_order_visits_every_plane_once_and_its_first_letter_first() {
        let geometry = small();
        let cwdp = geometry.planes_in_order("CWDP");
        assert_eq!(cwdp[..3], [PlaneId(0), PlaneId(12), PlaneId(4)]);
        let pdwc = geometry.planes_in_order("PDWC");
        assert_eq!(pdwc, (0..24).map(PlaneId).collect::<Vec<_>>());
        let mut sorted = cwdp;
        sorted.sort_unstable();
        assert_eq!(sorted, pdwc);
    }
}
