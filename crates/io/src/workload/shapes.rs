//! Sizes and places that are drawn for each request, as fio spells them.

use serde::{Deserialize, Serialize};

/// Where random requests fall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Every block alike.
    #[default]
    Random,
    /// Zipf's law with this exponent, which is above 0 and not 1.
    Zipf(f64),
    /// This share of the blocks, between 0 and 1, gets the other share of the requests.
    Pareto(f64),
    /// A bell whose middle is spread over so many blocks in a hundred.
    Normal(f64),
    /// Zones whose extents are percent of the region.
    Zoned(Vec<Zone>),
    /// Zones whose extents are bytes.
    ZonedAbs(Vec<Zone>),
}

/// A part of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Requests in a hundred that fall into it.
    pub percent: u64,
    /// How long it is, in percent of the region or in bytes.
    pub extent: u64,
}

/// One of several sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockShare {
    /// The size.
    pub bytes: u64,
    /// Requests in a hundred that have it.
    pub percent: u64,
}

impl Distribution {
    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Random => None,
            Self::Zipf(theta) => {
                (!theta.is_finite() || *theta <= 0.0 || *theta > 20.0 || *theta == 1.0)
                    .then(|| format!("zipf:{theta} is not above 0, at most 20 and other than 1"))
            }
            Self::Pareto(share) => (!(*share > 0.0 && *share < 1.0))
                .then(|| format!("pareto:{share} is not between 0 and 1")),
            Self::Normal(percent) => (!(0.0..=100.0).contains(percent))
                .then(|| format!("normal:{percent} is not from 0 to 100")),
            Self::Zoned(zones) => shares(zones).or_else(|| {
                let sum: u64 = zones.iter().fold(0, |sum, zone| sum.saturating_add(zone.extent));
                (sum > 100).then(|| format!("the zones span {sum} % of the region, more than 100"))
            }),
            Self::ZonedAbs(zones) => shares(zones),
        }
    }
}

fn shares(zones: &[Zone]) -> Option<String> {
    sum_to_100(zones.iter().map(|zone| zone.percent), "zones")
}

/// What is wrong with the shares of `what`, if anything.
pub(super) fn sum_to_100(shares: impl Iterator<Item = u64>, what: &str) -> Option<String> {
    let sum = shares.fold(0_u64, u64::saturating_add);
    (sum != 100).then(|| format!("the shares of the {what} sum to {sum} %, not to 100"))
}
