//! What an unknown name in a drive file may have meant.

use super::keys::{KEYS, Key};

/// The table whose name is nearest to `name`, if any is near enough to be meant.
pub(super) fn nearest_table(name: &str) -> Option<&'static str> {
    let tables = KEYS.iter().filter_map(|key| key.path.split_once('.').map(|(table, _)| table));
    let best = tables.min_by_key(|table| edit_distance(name, table))?;
    (edit_distance(name, best) <= best.len().max(3) / 2).then_some(best)
}

/// The key whose name is nearest to `path`, if any is near enough to be meant.
pub(super) fn nearest(path: &str) -> Option<&'static str> {
    let distance = |key: &&Key| {
        // The last part alone may have been meant: `blocks_per_plane` for `nand.blocks_per_plane`.
        let last = key.path.rsplit('.').next().unwrap_or(key.path);
        edit_distance(path, key.path).min(edit_distance(path, last) + 1)
    };
    let best = KEYS.iter().min_by_key(distance)?;
    (distance(&best) <= path.len().max(3) / 3).then_some(best.path)
}

/// Levenshtein distance, by rows.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_find_their_key() {
        assert_eq!(nearest("nand.chanels"), Some("nand.channels"));
        assert_eq!(nearest("blocks_per_plane"), Some("nand.blocks_per_plane"));
        assert_eq!(nearest("gc.polcy"), Some("gc.policy"));
        assert_eq!(nearest("zzzzzzzzzzzzzzzzzzzzzz"), None);
        assert_eq!(nearest("read_cache.byte"), Some("read_cache.bytes"));
        assert_eq!(nearest_table("nnad"), Some("nand"));
        assert_eq!(nearest_table("plumbing"), None);
    }
}
