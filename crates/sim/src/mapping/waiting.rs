//! The commands that wait for a part of the mapping table, by part, in order of arrival.

use crate::flash::command::{Command, NONE};
use crate::slab::Slab;
use std::collections::BTreeMap;

/// Lists of commands, linked through them.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// First and last command by part.
    lists: BTreeMap<u32, (u32, u32)>,
}

impl Waiting {
    /// Lets the command in `slot` wait for `part`; says whether it is the first.
    pub fn add(&mut self, part: u32, slot: u32, commands: &mut Slab<Command>) -> bool {
        commands[slot].next = NONE;
        let mut first = true;
        let (_, last) = self
            .lists
            .entry(part)
            .and_modify(|(_, last)| {
                commands[*last].next = slot;
                first = false;
            })
            .or_insert((slot, slot));
        *last = slot;
        first
    }

    /// Takes out those that wait for `part`: the first one, or [`NONE`]; the others follow
    /// by their links.
    pub fn take(&mut self, part: u32) -> u32 {
        self.lists.remove(&part).map_or(NONE, |(first, _)| first)
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::command::Work;
    use crate::geometry::Ppn;

    #[test]
    fn they_come_out_by_part_and_in_order() {
        let mut commands = Slab::default();
        let mut waiting = Waiting::default();
        let slots: Vec<u32> =
            (0..6).map(|_| commands.insert(Command::new(Work::HostRead, Ppn(0), 0))).collect();
        let firsts: Vec<bool> =
            slots.iter().map(|&slot| waiting.add(slot % 2, slot, &mut commands)).collect();
        assert_eq!(firsts, [true, true, false, false, false, false]);
        for part in [1, 0] {
            let mut slot = waiting.take(part);
            for expected in slots.iter().copied().filter(|slot| slot % 2 == part) {
                assert_eq!(slot, expected);
                slot = commands[slot].next;
            }
            assert_eq!(slot, NONE);
        }
        assert!(waiting.is_empty() && waiting.take(0) == NONE);
    }
}
