//! A second, naive account of what the flash holds, kept beside the drive in tests:
//! every program, move and erase is followed page by page with plain maps, and the
//! drive's own tables are checked against it.

use super::shadow_host::HostShadow;
use crate::flash::command::{Command, Work};
use crate::ftl::plane::BlockState;
use crate::ftl::victims::NOT_A_VICTIM;
use crate::ftl::{Ftl, Translation};
use crate::geometry::{BlockId, Geometry, Lpn, PlaneId, Ppn};
use std::collections::{BTreeMap, BTreeSet};

/// A version of a logical page.
type Version = (Lpn, u64);

#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    versions: u64,
    /// The newest version of every logical page that was written and not discarded.
    newest: BTreeMap<u32, u64>,
    ever_discarded: BTreeSet<u32>,
    /// Reads of pages that were never written: where, and of what.
    unwritten_reads: BTreeSet<(u32, u32)>,
    /// What will be in a page once its program has ended.
    planned: BTreeMap<u32, Version>,
    /// What is in a page.
    content: BTreeMap<u32, Version>,
    /// Physical pages of units that were programmed since their block was erased.
    programmed: BTreeSet<u32>,
    /// What the host wrote, where there is a write buffer.
    pub(super) host: HostShadow,
}

impl Shadow {
    /// For a drive whose state was prepared: what its tables say is taken as written.
    pub(super) fn of(ftl: &impl Translation) -> Self {
        let mut shadow = Self::default();
        for page in (0..ftl.logical_pages()).map(Lpn) {
            if let Some(at) = ftl.lookup(page) {
                shadow.newest.insert(page.0, 0);
                shadow.content.insert(at.0, (page, 0));
            }
        }
        for page in (0..ftl.geometry().page_count).map(Ppn) {
            // Stale pages hold something that nobody may ask for.
            if ftl.is_written(page) {
                shadow.content.entry(page.0).or_insert((Lpn(u32::MAX), 0));
            }
        }
        shadow
    }

    pub(super) fn write(&mut self, page: Lpn, to: Ppn) {
        self.versions += 1;
        self.newest.insert(page.0, self.versions);
        self.plan(to, (page, self.versions));
    }

    /// A page that was never written has a place from now on, without a program.
    pub(super) fn place_read(&mut self, page: Lpn, to: Ppn) {
        self.versions += 1;
        self.newest.insert(page.0, self.versions);
        let before = self.content.insert(to.0, (page, self.versions));
        assert!(before.is_none(), "{to:?} is given out twice");
    }

    pub(super) fn read_unwritten(&mut self, at: Ppn, page: Lpn) {
        self.unwritten_reads.insert((at.0, page.0));
    }

    fn plan(&mut self, to: Ppn, version: Version) {
        assert!(!self.content.contains_key(&to.0), "{to:?} is programmed twice");
        let before = self.planned.insert(to.0, version);
        assert!(before.is_none(), "{to:?} is given out twice");
    }

    pub(super) fn discard(&mut self, page: Lpn) {
        self.newest.remove(&page.0);
        self.ever_discarded.insert(page.0);
    }

    pub(super) fn relocate(&mut self, from: Ppn, to: Ppn) {
        let version = *self.content.get(&from.0).unwrap_or_else(|| panic!("{from:?} moved empty"));
        self.plan(to, version);
    }

    pub(super) fn end(&mut self, command: &Command, geometry: &Geometry) {
        let page = command.page;
        match command.work {
            Work::HostRead | Work::AheadRead | Work::RmwRead | Work::MapRead => {
                self.check_read(page, command.logical);
            }
            Work::GcRead => assert!(self.content.contains_key(&page.0), "{page:?} read empty"),
            Work::HostProgram | Work::GcProgram | Work::MapProgram => {
                let version = self.planned.remove(&page.0);
                self.content.insert(page.0, version.expect("programs are planned"));
            }
            Work::GcCopy => {
                assert!(self.content.contains_key(&page.0), "{page:?} copied empty");
                let to = command.program_to.0;
                let version = self.planned.remove(&to);
                self.content.insert(to, version.expect("copies are planned"));
            }
            Work::Erase => {
                let pages = page.0..page.0 + geometry.pages_per_block;
                for page in pages {
                    assert!(!self.planned.contains_key(&page), "page {page} erased in program");
                    self.content.remove(&page);
                }
            }
        }
    }

    /// A command on one page of a unit has ended.
    pub(super) fn end_member(&mut self, command: &Command, array: &Geometry) {
        let page = command.page.0;
        match command.work {
            Work::HostProgram | Work::GcProgram | Work::MapProgram => {
                assert!(self.programmed.insert(page), "physical page {page} is programmed twice");
            }
            Work::GcCopy => {
                let to = command.program_to.0;
                assert_eq!(array.plane_of(command.page), array.plane_of(command.program_to));
                assert!(self.programmed.insert(to), "physical page {to} is programmed twice");
            }
            Work::Erase => {
                assert!(page.is_multiple_of(array.pages_per_block));
                self.programmed.retain(|at| !(page..page + array.pages_per_block).contains(at));
            }
            Work::HostRead | Work::AheadRead | Work::RmwRead | Work::GcRead | Work::MapRead => {}
        }
    }

    fn check_read(&self, page: Ppn, logical: Lpn) {
        let holds = |map: &BTreeMap<u32, Version>| {
            map.get(&page.0).is_some_and(|version| version.0 == logical)
        };
        // It was read before it was first written, or around a discard.
        let excused = || {
            self.unwritten_reads.contains(&(page.0, logical.0))
                || !self.newest.contains_key(&logical.0)
                || self.ever_discarded.contains(&logical.0)
        };
        assert!(
            holds(&self.content) || holds(&self.planned) || excused(),
            "{page:?} was read for {logical:?} and does not hold it"
        );
    }

    /// Compares with the map of a drive at rest.
    pub(super) fn check_at_rest(&self, ftl: &impl Translation) {
        for page in (0..ftl.logical_pages()).map(Lpn) {
            let expected = self.newest.get(&page.0).map(|&version| (page, version));
            let found = ftl.lookup(page).map(|at| self.content[&at.0]);
            assert_eq!(found, expected, "{page:?}");
        }
        for page in self.content.keys().copied().map(Ppn) {
            assert!(ftl.is_written(page), "{page:?} is written and counts as erased");
        }
    }
}

/// Checks the books of every block of a page-mapped drive at rest.
pub(super) fn check_blocks(ftl: &Ftl) {
    for plane in (0..ftl.geometry().plane_count).map(PlaneId) {
        check_plane(ftl, plane);
    }
}

fn check_plane(ftl: &Ftl, id: PlaneId) {
    let plane = ftl.plane(id);
    let count = |wanted: BlockState| plane.state.iter().filter(|&&state| state == wanted).count();
    assert_eq!(
        plane.free.len() + plane.kept_for_cold.len() + plane.region.free.len(),
        count(BlockState::Free)
    );
    let open = [plane.host, plane.gc, plane.region.open].iter().flatten().count();
    assert_eq!(count(BlockState::Open), open);
    let in_region = plane.region.free.len() + count(BlockState::FilledOneBit);
    let one_bit = plane.one_bit.iter().filter(|&&one_bit| one_bit).count();
    assert_eq!(in_region + usize::from(plane.region.open.is_some()), one_bit, "{id:?}");
    assert_eq!((count(BlockState::Collecting), plane.collecting, plane.moves_left), (0, 0, 0));
    for block in (0..ftl.geometry().blocks_per_plane).map(BlockId) {
        let index = block.0 as usize;
        let mut pages = Vec::new();
        ftl.valid_pages(id, block, &mut pages);
        assert_eq!(pages.len(), plane.valid[index] as usize, "{id:?} {block:?}");
        assert_eq!(plane.programming[index], 0);
        let sealed = plane.state[index] == BlockState::Sealed;
        let key = if sealed { plane.valid[index] } else { NOT_A_VICTIM };
        assert_eq!(plane.victim_keys[index], key, "{id:?} {block:?}");
    }
}
