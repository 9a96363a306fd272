//! Division by a number that is known long before: a multiplication, since addresses are taken
//! apart at every step of a simulation and dividing takes several times as long.

/// A number to divide by. It may be 0, as long as nothing is divided: of a shape that has no
/// blocks, and is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// The number.
    pub value: u32,
    /// `2^64 - 1` over it, rounded down.
    reciprocal: u64,
}

impl Default for Divisor {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Divisor {
    /// Prepares division by `value`.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        let reciprocal = if value == 0 { 0 } else { u64::MAX / value as u64 };
        Self { value, reciprocal }
    }

    /// `number / value`. With `number = q * value + t`, what is computed before rounding down is
    /// `(q + (t + 1) / value) * (1 - e)`, where `0 < e <= value / 2^64`: below `q + 1`, since
    /// `t < value`; and not below `q`, since `e * (number + 1) <= 1`.
    #[inline]
    #[must_use]
    pub const fn quotient(self, number: u32) -> u32 {
        debug_assert!(self.value > 0, "division by 0");
        (((number as u128 + 1) * self.reciprocal as u128) >> 64) as u32
    }

    /// `number % value`.
    #[inline]
    #[must_use]
    pub const fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.value
    }

    /// Both.
    #[inline]
    #[must_use]
    pub const fn divide(self, number: u32) -> (u32, u32) {
        let quotient = self.quotient(number);
        (quotient, number - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdscope_io::rng::Stream;

    #[test]
    fn it_divides_as_dividing_does() {
        let mut random = Stream::new(1, "divisor");
        let ends = [1, 2, 3, 7, 64, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX];
        let drawn = (0..2000).map(|_| 1 + (random.below(1 << 32) >> random.below(32)) as u32 / 2);
        let values: Vec<u32> = ends.into_iter().chain(drawn).collect();
        for &value in &values {
            let divisor = Divisor::new(value);
            let multiple = u32::MAX / value * value;
            let near = [0, value - 1, value, multiple - 1, multiple, u32::MAX];
            for number in values.iter().copied().step_by(7).chain(near) {
                assert_eq!(divisor.divide(number), (number / value, number % value));
                assert_eq!(divisor.remainder(number), number % value);
            }
        }
    }
}
