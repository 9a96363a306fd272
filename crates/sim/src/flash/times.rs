//! How long the array and its channels take for what.

use crate::config::{Channel, Nand, TypeOrder};
use crate::geometry::PageId;
use crate::rounding::nearest;

/// Times of the array and its channels.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub read: ByType,
    pub program: ByType,
    pub erase_ns: u64,
    /// Of pages in blocks with one bit per cell.
    pub one_bit_read_ns: u64,
    pub one_bit_program_ns: u64,
    pub read_command_ns: u64,
    pub read_extra_plane_ns: u64,
    pub program_command_ns: u64,
    pub program_extra_plane_ns: u64,
    pub erase_command_ns: u64,
    /// Time of 0, 1, 2 ... sectors on a channel, spare bytes included.
    pub transfer_ns: Vec<u64>,
}

impl Times {
    /// Pages of a block after which types come again.
    pub fn lap_pages(&self) -> u32 {
        self.read.lap_pages().max(self.program.lap_pages())
    }

    pub fn new(nand: &Nand, channel: &Channel) -> Self {
        let sectors_per_page = nand.page_bytes / 512;
        let page_ns = f64::from(nand.page_bytes + nand.spare_bytes) * channel.ns_per_byte;
        let by_type = |all_ns, types_ns: &[u64], extra_ns| {
            ByType::new(all_ns, types_ns, extra_ns, nand.type_order)
        };
        let share = |sectors: u32| f64::from(sectors) / f64::from(sectors_per_page);
        Self {
            read: by_type(nand.read_ns, &nand.read_by_type_ns, channel.ready_busy_ns),
            program: by_type(nand.program_ns, &nand.program_by_type_ns, 0),
            erase_ns: nand.erase_ns,
            one_bit_read_ns: channel.ready_busy_ns,
            one_bit_program_ns: 0,
            read_command_ns: channel.read_command_ns,
            read_extra_plane_ns: channel.read_command_extra_plane_ns,
            program_command_ns: channel.program_command_ns,
            program_extra_plane_ns: channel.program_command_extra_plane_ns,
            erase_command_ns: channel.erase_command_ns,
            transfer_ns: (0..=sectors_per_page)
                .map(|sectors| nearest(page_ns * share(sectors)))
                .collect(),
        }
    }
}

impl Times {
    /// Time of a whole page on a channel.
    #[inline]
    pub fn page_ns(&self) -> u64 {
        self.transfer_ns[self.transfer_ns.len() - 1]
    }
}

/// A time that depends on the type of a page, as where a cell of several bits gives each to
/// another page.
#[derive(Clone, Debug)]
pub(super) struct ByType {
    all_ns: u64,
    /// Empty where all pages are alike.
    types_ns: Vec<u64>,
    order: TypeOrder,
}

impl ByType {
    fn new(all_ns: u64, types_ns: &[u64], extra_ns: u64, order: TypeOrder) -> Self {
        Self {
            all_ns: all_ns + extra_ns,
            types_ns: types_ns.iter().map(|&ns| ns + extra_ns).collect(),
            order,
        }
    }

    /// The shortest.
    pub fn least_ns(&self) -> u64 {
        self.types_ns.iter().copied().min().unwrap_or(self.all_ns)
    }

    const fn lap_pages(&self) -> u32 {
        match (self.types_ns.len(), self.order) {
            (0, _) => 1,
            (types, TypeOrder::Turns) => types as u32,
            (_, TypeOrder::Pairs) => 6,
        }
    }

    /// The time of the page that `place` gives; it is asked only if types differ.
    #[inline]
    pub fn of(&self, place: impl FnOnce() -> PageId) -> u64 {
        if self.types_ns.is_empty() {
            return self.all_ns;
        }
        self.types_ns[self.order.of(place().0 as usize, self.types_ns.len())]
    }
}
