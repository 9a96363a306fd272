//! Several sizes of requests, with their shares.

use crate::rng::Stream;
use crate::units::Sectors;
use crate::workload::Plan;

/// Draws sizes.
#[derive(Clone, Debug)]
pub(super) struct Splits {
    pub reads: Vec<(Sectors, u64)>,
    pub writes: Vec<(Sectors, u64)>,
    pub sizes: Stream,
}

impl Splits {
    /// Those of a plan; `None` where all requests are of one size.
    pub fn of(plan: &Plan, sizes: Stream) -> Option<Box<Self>> {
        let (reads, writes) = (plan.read_split.clone(), plan.write_split.clone());
        let any = !reads.is_empty() || !writes.is_empty();
        any.then(|| Box::new(Self { reads, writes, sizes }))
    }
}

/// One of several sizes, by their shares of a hundred; `None` where there is only one.
pub(super) fn draw_size(split: &[(Sectors, u64)], sizes: &mut Stream) -> Option<Sectors> {
    let &(last, _) = split.last()?;
    let mut drawn = sizes.below(100);
    for &(sectors, percent) in split {
        if drawn < percent {
            return Some(sectors);
        }
        drawn -= percent;
    }
    Some(last)
}

/// The same, drawn again while another one would fit into so much room.
pub(super) fn draw_size_within(
    split: &[(Sectors, u64)],
    sizes: &mut Stream,
    room: Sectors,
) -> Option<Sectors> {
    let some_fits = split.iter().any(|&(sectors, percent)| percent > 0 && sectors <= room);
    loop {
        let drawn = draw_size(split, sizes)?;
        if drawn <= room || !some_fits {
            return Some(drawn);
        }
    }
}
