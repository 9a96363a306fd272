//! Requests of one instant, spread evenly until the next one.
//!
//! A clock of whole seconds says of a hundred requests only that they came in one of
//! them. Issued at once they are a burst that never was; spread they are at least not. The
//! order of lines stays. The last instant's are spread as far as those before it were.

use super::error::TraceError;
use super::format::Record;
use super::order::WINDOW_REQUESTS;
use crate::units::Nanos;
use std::collections::VecDeque;

/// The requests of the present instant, and the first of the next.
#[derive(Default)]
pub struct Ties {
    group: VecDeque<Record>,
    next: Option<Record>,
    /// How long the last instant lasted.
    gap_ns: u64,
}

impl Ties {
    /// The next request of `records`, which are in the order of their times.
    pub fn next(
        &mut self,
        mut records: impl FnMut() -> Result<Option<Record>, TraceError>,
    ) -> Result<Option<Record>, TraceError> {
        if self.group.is_empty() {
            self.gather(&mut records)?;
        }
        Ok(self.group.pop_front())
    }

    fn gather(
        &mut self,
        records: &mut impl FnMut() -> Result<Option<Record>, TraceError>,
    ) -> Result<(), TraceError> {
        let first = match self.next.take() {
            Some(record) => record,
            None => match records()? {
                Some(record) => record,
                None => return Ok(()),
            },
        };
        self.group.push_back(first);
        // More than the window are too many to hold; what is held is then spread by itself.
        while self.group.len() < WINDOW_REQUESTS {
            match records()? {
                Some(record) if record.arrival == first.arrival => self.group.push_back(record),
                other => {
                    self.next = other;
                    break;
                }
            }
        }
        if let Some(next) = self.next {
            self.gap_ns = next.arrival.0 - first.arrival.0;
        }
        let count = self.group.len() as u128;
        for (record, place) in self.group.iter_mut().zip(0_u128..) {
            let later = u128::from(self.gap_ns) * place / count;
            record.arrival =
                Nanos(first.arrival.0.saturating_add(u64::try_from(later).unwrap_or(0)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;

    fn spread(times: &[u64]) -> Vec<u64> {
        let mut records = times
            .iter()
            .map(|&at| Record::at_byte(Nanos(at), 0, Op::Read, 0, 512).expect("in range"));
        let mut ties = Ties::default();
        let mut spread = Vec::new();
        while let Some(record) = ties.next(|| Ok(records.next())).expect("no errors") {
            spread.push(record.arrival.0);
        }
        spread
    }

    #[test]
    fn an_instant_lasts_until_the_next_and_the_last_as_long_as_the_one_before() {
        assert_eq!(spread(&[0, 0, 0, 0, 100, 300, 300]), [0, 25, 50, 75, 100, 300, 400]);
        assert_eq!(spread(&[5, 5]), [5, 5], "of a single instant nothing is known");
        assert_eq!(spread(&[1, 2, 4]), [1, 2, 4]);
        assert!(spread(&[]).is_empty());
    }
}
