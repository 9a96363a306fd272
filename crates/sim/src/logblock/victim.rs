//! Which log block is merged when another one is needed.
//!
//! Shared log blocks are filled one after the other, so that the two rules agree there.

use super::logs::Log;
use super::units::UnitId;
use crate::config::LogVictim;

/// The one to merge.
///
/// # Panics
/// If there is none.
pub fn choose<'a>(rule: LogVictim, logs: impl Iterator<Item = &'a Log>) -> UnitId {
    let age = |log: &&Log| match rule {
        LogVictim::Lru => log.written,
        LogVictim::Fifo => log.opened,
    };
    logs.min_by_key(age).expect("log blocks are in use when there is no other").unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unwritten_or_the_longest_open() {
        let log = |unit, opened, written| Log {
            unit: UnitId(unit),
            owner: None,
            opened,
            written,
            first: 0,
        };
        let logs = [log(1, 5, 9), log(2, 6, 6), log(3, 7, 8)];
        assert_eq!(choose(LogVictim::Lru, logs.iter()), UnitId(2));
        assert_eq!(choose(LogVictim::Fifo, logs.iter()), UnitId(1));
    }
}
