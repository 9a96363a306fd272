//! Where pages lie on the drives of the swarm tests.

use crate::config::{DriveConfig, Firmware, Pslc};
use ssdscope_io::rng::Stream;
use std::fmt::Write as _;

/// The hardware that mapping units are drawn for.
#[derive(Clone, Copy)]
pub(super) struct Hardware {
    pub channels: u64,
    /// Of all channels together.
    pub planes: u64,
    pub pages_per_block: u64,
    pub page_bytes: u64,
}

impl Hardware {
    pub const fn block_bytes(self) -> u64 {
        self.pages_per_block * self.page_bytes
    }
}

/// Keys of `[ftl]`: how mapping units lie; and the planes of one.
pub(super) fn draw_units(random: &mut Stream, shape: Hardware) -> (String, u64) {
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let Hardware { channels, planes, pages_per_block, page_bytes } = shape;
    let rows = pick(&[1, 1, if pages_per_block == 15 { 3 } else { 2 }, pages_per_block]);
    // One plane, a plane of every channel, or all of them, perhaps more than once.
    let width = pick(&[1, 1, channels, planes]);
    let in_a_row = if width == planes { pick(&[1, rows]) } else { rows };
    let pages = width * rows;
    // Units in a row that fill a block evenly.
    let units_in_a_row = pick(&[1, 1, pages_per_block / rows]);
    let placement = if width == 1 { pages * units_in_a_row } else { in_a_row };
    let stripe_bytes =
        if page_bytes.is_multiple_of(1024) { page_bytes / pick(&[1, 2]) } else { 512 };
    let unit_bytes = pages * page_bytes;
    let phase_bytes = pick(&[0, 512, unit_bytes / 2 / 512 * 512, unit_bytes - 512]) % unit_bytes;
    let text = format!(
        "map_unit_bytes = {unit_bytes}\nphase_bytes = {phase_bytes}\n\
         placement_pages = {placement}\nstripe_bytes = {stripe_bytes}\n"
    );
    (text, width)
}

/// Keys of `[ftl]`: where pages lie on a page-mapped drive, with superblocks on some.
pub(super) fn draw_lay(random: &mut Stream, shape: Hardware) -> String {
    if random.below(2) == 0 {
        return format!("placement_pages = {}\n", [1, 2, 5][random.below(3) as usize]);
    }
    let (mut text, width) = draw_units(random, shape);
    if random.below(2) == 0 {
        let groups = [1, shape.planes / width][random.below(2) as usize];
        let _ = writeln!(text, "reclaim_unit_bytes = {}", groups * width * shape.block_bytes());
    }
    text
}

/// The drive with a region of one bit per cell, on some and where there is space for one.
pub(super) fn with_region(random: &mut Stream, text: String) -> String {
    // Bad blocks may leave too few for one.
    if random.below(2) == 0 || !text.contains("bad_block_ratio = 0\n") {
        return text;
    }
    let mut pick = |values: &[u64]| values[random.below(values.len() as u64) as usize];
    let more = text.replace("[nand]\n", &format!("[nand]\nbits_per_cell = {}\n", pick(&[2, 3, 4])));
    let config = DriveConfig::parse(&more, "test", &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let Firmware::Page(page) = config.firmware else { panic!("not page-mapped") };
    let (overflow, folds) =
        [("fold", true), ("fold", false), ("direct", true)][pick(&[0, 1, 2]) as usize];
    let (own, borrowed) =
        [(1, 0), (2, 0), (1, 3), (0, 2), (0, 100)][pick(&[0, 1, 2, 3, 4]) as usize];
    let step_bytes = Pslc::step_bytes(&page.nand, &page.ftl.layout);
    let more = format!(
        "{more}[pslc]\nbytes = {}\ndynamic_bytes = {}\noverflow = \"{overflow}\"\n\
         fold_when_idle = {folds}\n",
        step_bytes * own,
        step_bytes * borrowed,
    );
    if DriveConfig::parse(&more, "test", &[]).is_ok() { more } else { text }
}
