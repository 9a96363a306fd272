//! Where a job of fio stands in its passes over the region.

use crate::workload::Passes;

/// The passes of one job.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub rules: Passes,
    /// Passes that are made in any case, after this one; `None` = without end.
    left: Option<u64>,
    /// Bytes of all passes before this one.
    before: u64,
    largest_bytes: u64,
}

impl Walk {
    /// At the start of the first pass of a job whose largest request is so long.
    pub fn new(rules: Passes, largest_bytes: u64) -> Self {
        let left = rules.count.checked_sub(1);
        Self { rules, left, before: 0, largest_bytes }
    }

    /// Begins the next pass, after `issued` bytes in all; false if there is none.
    pub fn again(&mut self, issued: u64) -> bool {
        let was_barren = issued == self.before;
        self.before = issued;
        let Some(left) = &mut self.left else { return !was_barren };
        if *left > 0 {
            *left -= 1;
            return true;
        }
        let missing = self.rules.until_bytes.map_or(0, |bytes| bytes.saturating_sub(issued));
        !was_barren && missing > 0 && missing >= self.largest_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Passes = Passes { count: 1, until_bytes: None, wraps: false, once: false };

    #[test]
    fn passes_go_on_while_a_whole_request_is_missing() {
        let until = |bytes| Walk::new(Passes { until_bytes: Some(bytes), ..RULES }, 10);
        assert!(until(110).again(100));
        assert!(!until(109).again(100), "less than a request is missing");
        assert!(!Walk::new(RULES, 10).again(100), "one pass was asked for");
        let mut twice = Walk::new(Passes { count: 2, ..RULES }, 10);
        assert!(twice.again(50) && !twice.again(100));
    }

    #[test]
    fn a_pass_in_which_nothing_fits_is_the_last() {
        let mut walk = Walk::new(Passes { count: 0, ..RULES }, 10);
        assert!(walk.again(10) && walk.again(20));
        assert!(!walk.again(20));
    }
}
