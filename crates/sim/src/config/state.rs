//! The state a simulated drive is opened in.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// What was done to the drive before the first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Never written.
    Fresh,
    /// Every exported page written once, in order.
    Sequential,
    /// Then as many pages overwritten at random as there are.
    Random,
    /// Filled in order, then overwritten at random within a window (the whole
    /// drive if none is given) until write amplification has settled.
    Steady {
        /// The window from address 0, if not the whole drive.
        window_bytes: Option<u64>,
    },
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None => match text {
                "fresh" => Ok(Self::Fresh),
                "sequential" => Ok(Self::Sequential),
                "random" => Ok(Self::Random),
                "steady" => Ok(Self::Steady { window_bytes: None }),
                _ => Err(format!(
                    "unknown state {text:?}; expected fresh, sequential, random, steady or \
                     steady:SIZE (as steady:1g)"
                )),
            },
            Some(("steady", size)) => {
                let window = parse_size(size).filter(|&bytes| bytes > 0).ok_or_else(|| {
                    format!("steady:{size}: {size:?} is not a size; expected one as 512m or 1g")
                })?;
                Ok(Self::Steady { window_bytes: Some(window) })
            }
            Some((name, _)) => Err(format!("state {name:?} takes no size; only steady does")),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => out.write_str("fresh"),
            Self::Sequential => out.write_str("sequential"),
            Self::Random => out.write_str("random"),
            Self::Steady { window_bytes: None } => out.write_str("steady"),
            Self::Steady { window_bytes: Some(bytes) } => write!(out, "steady:{bytes}"),
        }
    }
}

impl Serialize for State {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bytes with an optional binary suffix: `4096`, `4k`, `4KiB`, `1g`.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let number: u64 = text[..digits].replace('_', "").parse().ok()?;
    let shift = match text[digits..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_read_and_write_alike() {
        for text in ["fresh", "sequential", "random", "steady", "steady:1073741824"] {
            assert_eq!(text.parse::<State>().unwrap().to_string(), text);
        }
        let window = State::Steady { window_bytes: Some(1 << 30) };
        assert_eq!("steady:1g".parse::<State>().unwrap(), window);
    }

    #[test]
    fn wrong_states_say_what_is_expected() {
        for text in ["old", "steady:", "steady:0", "steady:many", "random:1g"] {
            assert!(text.parse::<State>().is_err(), "{text}");
        }
    }
}
