//! From fractions to whole numbers, in one place.

/// The nearest whole number to a quantity that is not negative.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "callers pass times and sizes, never below zero")]
pub fn nearest(value: f64) -> u64 {
    debug_assert!(value >= 0.0, "{value}");
    value.round() as u64
}

/// The whole part of `ratio` of `count`. A ratio in decimal may fall a hair short of
/// the whole number it stands for (0.29 x 100), which the small addend undoes.
#[must_use]
#[expect(clippy::cast_sign_loss, reason = "a share of a count is never below zero")]
pub fn share_of(count: u32, ratio: f64) -> u32 {
    debug_assert!(ratio >= 0.0, "{ratio}");
    (f64::from(count) * ratio + 1e-6) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_shares_are_whole_where_they_look_whole() {
        assert_eq!(share_of(100, 0.29), 29);
        assert_eq!(share_of(2048, 0.15), 307);
        assert_eq!(share_of(256, 0.51), 130);
    }
}
