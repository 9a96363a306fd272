//! Random places that are not all alike: fio's distributions, by arithmetic that every machine
//! does alike.
//!
//! zipf, pareto and normal draw a *rank*; ranks are then scattered over the region, as fio
//! hashes them, so that hot blocks are not neighbours. fio's hash may put two ranks on one
//! block; ours is a bijection: rank `r` lies at `r * step + shift` modulo the blocks.

use crate::rng::Stream;
use crate::workload::{Distribution, Zone};

/// Uniform draws whose mean is fio's bell.
const NORMAL_DRAWS: u64 = 12;
/// Terms of the zeta sum that are added one by one; an integral gives the rest.
const ZETA_TERMS: u64 = 1_000;

/// Draws blocks of a region after a distribution.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    blocks: u64,
    law: Law,
    step: u64,
    shift: u64,
}

#[derive(Clone, Debug)]
enum Law {
    Zipf(Zipf),
    /// The exponent of the uniform draw.
    Pareto(f64),
    /// Blocks over which the middle of the bell is spread.
    Normal(u64),
    /// Shares in a hundred, first block and blocks of each zone.
    Zones(Vec<(u64, u64, u64)>),
}

impl Skew {
    /// Over `blocks` of `block_bytes`; `None` where all blocks are alike.
    pub fn new(
        distribution: &Distribution,
        blocks: u64,
        block_bytes: u64,
        shifts: &mut Stream,
    ) -> Option<Self> {
        let law = match distribution {
            Distribution::Random => return None,
            Distribution::Zipf(theta) => Law::Zipf(Zipf::new(blocks, *theta)),
            Distribution::Pareto(share) => Law::Pareto(ln(*share) / ln(1.0 - share)),
            Distribution::Normal(percent) => {
                let spread = whole((blocks as f64 * percent / 100.0).ceil());
                Law::Normal(spread.min(blocks / 2))
            }
            Distribution::Zoned(zones) => {
                Law::Zones(laid_out(zones, blocks, |percent| part(blocks, percent)))
            }
            Distribution::ZonedAbs(zones) => {
                Law::Zones(laid_out(zones, blocks, |bytes| bytes / block_bytes))
            }
        };
        Some(Self { blocks, law, step: coprime_step(blocks), shift: shifts.below(blocks.max(1)) })
    }

    /// The next block.
    #[inline(never)]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let rank = match &self.law {
            Law::Zones(zones) => return in_zone(zones, stream),
            Law::Zipf(zipf) => zipf.rank(stream.unit()),
            Law::Pareto(exponent) => {
                whole(self.blocks.saturating_sub(1) as f64 * power(stream.unit(), *exponent))
            }
            Law::Normal(spread) => self.bell(*spread, stream),
        };
        let scattered = u128::from(rank.min(self.blocks - 1)) * u128::from(self.step);
        ((scattered + u128::from(self.shift)) % u128::from(self.blocks)) as u64
    }

    /// The mean of twelve uniform ranks, its middle spread evenly.
    fn bell(&self, spread: u64, stream: &mut Stream) -> u64 {
        let sum: u64 = (0..NORMAL_DRAWS).map(|_| stream.below(self.blocks)).sum();
        let moved = sum.div_ceil(NORMAL_DRAWS) + stream.below(spread.max(1));
        moved.saturating_sub(spread / 2).min(self.blocks - 1)
    }
}

/// A number that is not negative, without its fraction.
#[expect(clippy::cast_sign_loss, reason = "a place or a length is not negative")]
const fn whole(value: f64) -> u64 {
    value as u64
}

/// `percent` of the blocks, at least one.
fn part(blocks: u64, percent: u64) -> u64 {
    ((u128::from(blocks) * u128::from(percent) / 100) as u64).max(1)
}

/// Zones one behind the other: the last one takes the rest of the region.
fn laid_out(zones: &[Zone], blocks: u64, length: impl Fn(u64) -> u64) -> Vec<(u64, u64, u64)> {
    let mut start = 0;
    let mut laid = Vec::with_capacity(zones.len());
    for (index, zone) in zones.iter().enumerate() {
        let first = start.min(blocks - 1);
        let rest = blocks - first;
        let is_last = index + 1 == zones.len();
        let count = if is_last { rest } else { length(zone.extent).clamp(1, rest) };
        laid.push((zone.percent, first, count));
        start = first + count;
    }
    laid
}

fn in_zone(zones: &[(u64, u64, u64)], stream: &mut Stream) -> u64 {
    let mut drawn = stream.below(100);
    for &(percent, first, count) in zones {
        if drawn < percent {
            return first + stream.below(count);
        }
        drawn -= percent;
    }
    unreachable!("the shares of zones sum to 100")
}

/// A step of about 0.618 of the blocks that reaches each of them before it comes back.
fn coprime_step(blocks: u64) -> u64 {
    let golden = (u128::from(blocks) * 618_033_989 / 1_000_000_000) as u64;
    (golden.max(1)..).find(|&step| gcd(step, blocks) == 1).unwrap_or(1)
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Ranks by Zipf's law, by the method of Gray et al. ("Quickly generating billion-record
/// synthetic databases", 1994), which fio uses too.
#[derive(Clone, Debug)]
struct Zipf {
    ranks: f64,
    zeta: f64,
    /// The weights of the first two ranks.
    first_two: f64,
    alpha: f64,
    eta: f64,
}

impl Zipf {
    fn new(ranks: u64, theta: f64) -> Self {
        let zeta = zeta(ranks, theta);
        let first_two = 1.0 + power(0.5, theta);
        let ranks = ranks as f64;
        let eta = (1.0 - power(2.0 / ranks, 1.0 - theta)) / (1.0 - first_two / zeta);
        Self { ranks, zeta, first_two, alpha: 1.0 / (1.0 - theta), eta }
    }

    /// The rank, from 0, of a uniform draw.
    fn rank(&self, uniform: f64) -> u64 {
        let weight = uniform * self.zeta;
        if weight < 1.0 {
            0
        } else if weight < self.first_two {
            1
        } else {
            whole(self.ranks * power(self.eta * uniform - self.eta + 1.0, self.alpha))
        }
    }
}

/// The sum of `rank^-theta` over all ranks: the first ones one by one, the rest by Euler and
/// Maclaurin's integral.
fn zeta(ranks: u64, theta: f64) -> f64 {
    let head = ranks.min(ZETA_TERMS);
    let sum: f64 = (1..=head).map(|rank| power(rank as f64, -theta)).sum();
    if head == ranks {
        return sum;
    }
    let (from, to) = (head as f64, ranks as f64);
    let integral = (power(to, 1.0 - theta) - power(from, 1.0 - theta)) / (1.0 - theta);
    sum + integral + (power(to, -theta) - power(from, -theta)) / 2.0
}

/// `base^exponent` of a base that is not negative.
fn power(base: f64, exponent: f64) -> f64 {
    if base <= 0.0 { 0.0 } else { exp(exponent * ln(base)) }
}

/// The logarithm: the power of two apart, then the series of the inverse hyperbolic tangent.
fn ln(value: f64) -> f64 {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..18).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * ratio * series
}

/// The exponential: the series near zero, squared as often as it was halved to come there.
fn exp(value: f64) -> f64 {
    let (mut small, mut halvings) = (value.clamp(-700.0, 700.0), 0);
    while small.abs() > 0.5 {
        (small, halvings) = (small / 2.0, halvings + 1);
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for power in 1..16 {
        term *= small / f64::from(power);
        sum += term;
    }
    (0..halvings).fold(sum, |result, _| result * result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(distribution: &Distribution, blocks: u64, draws: u64) -> Vec<u64> {
        let mut stream = Stream::new(1, "skew");
        let skew = Skew::new(distribution, blocks, 4096, &mut stream).expect("a skew");
        let mut counts = vec![0; blocks as usize];
        for _ in 0..draws {
            counts[skew.draw(&mut stream) as usize] += 1;
        }
        counts
    }

    #[test]
    fn the_functions_are_those_of_the_standard_library() {
        for step in 1..2_000 {
            let value = f64::from(step) / 37.0;
            assert!((ln(value) - value.ln()).abs() < 1e-13, "ln {value}");
            for exponent in [-1.2, -0.5, 0.3, 2.5] {
                let ratio = power(value, exponent) / value.powf(exponent);
                assert!((ratio - 1.0).abs() < 1e-12, "{value}^{exponent}");
            }
        }
        assert_eq!(power(0.0, 2.0), 0.0);
        for theta in [0.6, 0.99, 1.2, 3.0] {
            let sum: f64 = (1..=200_000).map(|rank| f64::from(rank).powf(-theta)).sum();
            assert!((zeta(200_000, theta) / sum - 1.0).abs() < 1e-6, "{theta}");
        }
    }

    #[test]
    fn zipf_gives_the_first_ranks_their_shares() {
        for theta in [0.8, 1.2] {
            let mut found = counts(&Distribution::Zipf(theta), 1_000, 200_000);
            found.sort_unstable_by(|a, b| b.cmp(a));
            let zeta = zeta(1_000, theta);
            for (rank, count) in found.iter().take(2).enumerate() {
                let share = power((rank + 1) as f64, -theta) / zeta;
                let seen = *count as f64 / 200_000.0;
                assert!((seen - share).abs() < 0.004, "{theta}: {seen} for {share}");
            }
        }
    }

    #[test]
    fn pareto_gives_a_share_of_blocks_the_other_share_of_requests() {
        let mut found = counts(&Distribution::Pareto(0.2), 1_000, 200_000);
        found.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u64 = found[..200].iter().sum();
        assert!((hot as f64 / 200_000.0 - 0.8).abs() < 0.01, "{hot} of 200,000");
    }

    #[test]
    fn a_wider_bell_touches_more_blocks() {
        let touched = [0.0, 20.0, 90.0].map(|percent| {
            let found = counts(&Distribution::Normal(percent), 4_096, 20_000);
            found.iter().filter(|&&count| count > 0).count()
        });
        assert!(touched.is_sorted() && touched[0] * 3 < touched[2] * 2, "{touched:?}");
    }

    #[test]
    fn zones_get_their_shares_and_the_last_one_the_rest() {
        let zones = [(60, 10), (30, 20), (10, 5)];
        let zones = zones.map(|(percent, extent)| Zone { percent, extent }).to_vec();
        let found = counts(&Distribution::Zoned(zones), 1_000, 100_000);
        for (range, share) in [(0..100, 0.6), (100..300, 0.3), (300..1_000, 0.1)] {
            let seen = found[range].iter().sum::<u64>() as f64 / 100_000.0;
            assert!((seen - share).abs() < 0.006, "{seen} for {share}");
        }
        let zones = vec![Zone { percent: 100, extent: 8192 }, Zone { percent: 0, extent: 0 }];
        let found = counts(&Distribution::ZonedAbs(zones), 10, 1_000);
        assert_eq!(found[2..].iter().sum::<u64>(), 0, "two blocks of 4 KiB and nothing behind");
    }

    #[test]
    fn no_two_ranks_share_a_block() {
        for blocks in [1_u64, 2, 3, 10, 97, 4096, 6000] {
            let step = coprime_step(blocks);
            let reached: std::collections::BTreeSet<u64> =
                (0..blocks).map(|rank| rank * step % blocks).collect();
            assert_eq!(reached.len() as u64, blocks);
        }
    }
}
