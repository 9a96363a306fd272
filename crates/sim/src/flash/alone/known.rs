//! Courses that were worked out, by their pattern.

use super::Course;
use super::pattern::Pattern;
use std::collections::BTreeMap;
use triomphe::Arc;

/// So many are kept.
const MOST: usize = 4_096;

/// Courses that were worked out.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<Pattern, Arc<Course>>);

impl Known {
    pub(super) fn get(&self, pattern: &Pattern) -> Option<Arc<Course>> {
        self.0.get(pattern).cloned()
    }

    pub(super) fn keep(&mut self, pattern: Pattern, course: &Arc<Course>) {
        if self.0.len() == MOST {
            self.0.clear();
        }
        self.0.insert(pattern, Arc::clone(course));
    }
}

/// A copy finds out anew: to copy them all would cost more than most copies live to gain.
impl Clone for Known {
    fn clone(&self) -> Self {
        Self::default()
    }
}
