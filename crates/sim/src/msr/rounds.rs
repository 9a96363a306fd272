//! An element with parallel units: what waits is served together, in rounds of one
//! page per unit, reads before writes. The units share one set of pins.

use super::server::{Cost, PageOp, Served, Server};
use super::stuck::Stuck;
use std::collections::VecDeque;

/// How many reads or writes are taken from the queue at once.
const TOGETHER_MAX: usize = 100;
/// Units of an element at most.
const UNITS_MAX: usize = 4;

impl Server {
    /// Takes what waits, serves it and says when the last of it ends.
    pub fn serve_rounds(&mut self, at_ns: u64, served: &mut Vec<Served>) -> Result<u64, Stuck> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        while let Some(op) = self.queue.pop_front() {
            let alike = if op.is_read { &mut reads } else { &mut writes };
            if alike.iter().any(|other: &PageOp| other.lpn == op.lpn) {
                // As in the original, the same page asked twice together costs once.
                self.report(op.flight, Cost::default(), at_ns, served);
                continue;
            }
            alike.push(op);
            if alike.len() == TOGETHER_MAX {
                break;
            }
        }
        let planes = reads.iter().map(|op| self.plane_of(*op)).collect::<Vec<_>>();
        let reads_end_ns = self.serve_alike(&reads, &planes, at_ns, served)?;
        let planes = self.choose_planes(&writes);
        self.serve_alike(&writes, &planes, reads_end_ns, served)
    }

    fn plane_of(&self, op: PageOp) -> u32 {
        let (block, _) = self.element.shape.split(self.element.locate(op.lpn));
        self.element.shape.plane_of(block)
    }

    /// Planes for writes that are all placed before the first is carried out.
    fn choose_planes(&mut self, writes: &[PageOp]) -> Vec<u32> {
        let mut promised = vec![0; self.element.shape.planes as usize];
        let mut planes = Vec::with_capacity(writes.len());
        for op in writes {
            let old = self.element.locate(op.lpn);
            let plane = self.element.choose_plane(old, |plane| promised[plane as usize]);
            promised[plane as usize] += 1;
            planes.push(plane);
        }
        planes
    }

    /// Serves pages of one kind in rounds; a round starts when the one before has ended.
    fn serve_alike(
        &mut self,
        ops: &[PageOp],
        planes: &[u32],
        start_ns: u64,
        served: &mut Vec<Served>,
    ) -> Result<u64, Stuck> {
        let units = self.element.plane_to_clean.len();
        let planes_per_unit = self.element.shape.planes as usize / units;
        let mut waiting: [VecDeque<(PageOp, u32)>; UNITS_MAX] = Default::default();
        for (&op, &plane) in ops.iter().zip(planes) {
            waiting[plane as usize / planes_per_unit].push_back((op, plane));
        }
        let mut round_ns = start_ns;
        loop {
            let mut last: Option<(u64, PageOp, Cost)> = None;
            let mut pins_ns = 0;
            for (op, plane) in waiting.iter_mut().filter_map(VecDeque::pop_front) {
                let mut cost =
                    if op.is_read { self.read_page() } else { self.write_page(op.lpn, plane)? };
                // The pins serve the units of a round one after the other.
                cost.transfer_ns += pins_ns;
                pins_ns += self.element.costs.page_transfer_ns;
                let finish_ns = round_ns + cost.total_ns();
                self.report(op.flight, cost, finish_ns, served);
                if last.is_none_or(|(latest_ns, ..)| finish_ns > latest_ns) {
                    last = Some((finish_ns, op, cost));
                }
            }
            let Some((finish_ns, op, cost)) = last else { return Ok(round_ns) };
            self.charge(op.flight, cost);
            round_ns = finish_ns;
        }
    }
}
