//! Where things lie in an element, in numbers that cannot be mixed up.
//!
//! Blocks are kept plane by plane. The original numbers them across the planes
//! (block b lies in plane b mod P), which only shows in where a logical page
//! lies at first and in ties, and inside a plane both orders agree.

/// A logical page of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lpn(pub u32);

/// A physical page of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ppn(pub u32);

/// A block of an element: plane times blocks per plane, plus the index in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockId(pub u32);

impl BlockId {
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// The shape of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub planes: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub reserve_blocks: u32,
}

impl Geometry {
    /// Pages of a block that hold data; the last one is its summary.
    pub const fn data_pages(&self) -> u32 {
        self.pages_per_block - 1
    }

    /// Blocks of a plane that are full at first.
    pub const fn data_blocks(&self) -> u32 {
        self.blocks_per_plane - self.reserve_blocks
    }

    /// Logical pages of the element.
    pub const fn logical_pages(&self) -> u32 {
        self.data_blocks() * self.planes * self.data_pages()
    }

    pub const fn blocks(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    pub const fn block(&self, plane: u32, index: u32) -> BlockId {
        BlockId(plane * self.blocks_per_plane + index)
    }

    pub const fn plane_of(&self, block: BlockId) -> u32 {
        block.0 / self.blocks_per_plane
    }

    pub const fn index_of(&self, block: BlockId) -> u32 {
        block.0 % self.blocks_per_plane
    }

    pub const fn page(&self, block: BlockId, page: u32) -> Ppn {
        Ppn(block.0 * self.pages_per_block + page)
    }

    /// The block of a page, and the page's number in it.
    pub const fn split(&self, page: Ppn) -> (BlockId, u32) {
        (BlockId(page.0 / self.pages_per_block), page.0 % self.pages_per_block)
    }

    /// Where a logical page lies at time 0: 63 in a row in a block (of 64), blocks in turn
    /// over the planes.
    pub const fn first_home(&self, lpn: Lpn) -> Ppn {
        let (number, page) = (lpn.0 / self.data_pages(), lpn.0 % self.data_pages());
        self.page(self.block(number % self.planes, number / self.planes), page)
    }

    /// The logical page that lies at `ppn` at time 0, where one does.
    pub const fn first_owner(&self, ppn: Ppn) -> Lpn {
        let (block, page) = self.split(ppn);
        let number = self.index_of(block) * self.planes + self.plane_of(block);
        Lpn(number * self.data_pages() + page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_homes_are_the_rule_of_the_original_and_invertible() {
        let shape =
            Geometry { planes: 8, blocks_per_plane: 256, pages_per_block: 64, reserve_blocks: 38 };
        assert_eq!(shape.logical_pages(), 218 * 8 * 63);
        // The 64th logical page opens block 1, which is the first block of plane 1.
        assert_eq!(shape.first_home(Lpn(63)), Ppn(256 * 64));
        assert_eq!(shape.first_home(Lpn(63 * 8 + 5)), Ppn(64 + 5));
        for lpn in (0..shape.logical_pages()).step_by(11).map(Lpn) {
            assert_eq!(shape.first_owner(shape.first_home(lpn)), lpn);
        }
    }
}
