//! Check 8: the window that may be written, and a drive that is fit to be written.

use super::refusal::Refusal;
use crate::health::Health;
use crate::open::Opened;
use std::ops::Range;

/// Without a window of the user's, the last quarter, from a whole mebibyte on.
const WINDOW_PART: u64 = 4;
const MEBIBYTE: u64 = 1 << 20;
/// Of the rated life used, in percent.
const WORN_PERCENT: u8 = 90;
const HOT_CELSIUS: i32 = 70;

/// The bytes that may be written: the user's offset and size (each optional), or the last
/// quarter of the device.
pub(crate) fn window(
    opened: &Opened,
    asked: Option<(u64, Option<u64>)>,
) -> Result<Range<u64>, Refusal> {
    window_of(opened.capacity_bytes(), opened.logical_block_bytes, asked)
}

fn window_of(
    capacity_bytes: u64,
    block_bytes: u64,
    asked: Option<(u64, Option<u64>)>,
) -> Result<Range<u64>, Refusal> {
    let Some((offset_bytes, size)) = asked else {
        let start = (capacity_bytes - capacity_bytes / WINDOW_PART).next_multiple_of(MEBIBYTE);
        let size_bytes = capacity_bytes.saturating_sub(start);
        return if size_bytes < MEBIBYTE {
            Err(Refusal::TooSmall(size_bytes))
        } else {
            Ok(start..capacity_bytes)
        };
    };
    let size_bytes = size.unwrap_or(capacity_bytes.saturating_sub(offset_bytes));
    if size_bytes == 0 || offset_bytes.saturating_add(size_bytes) > capacity_bytes {
        return Err(Refusal::OutsideDevice { offset_bytes, size_bytes, capacity_bytes });
    }
    if !offset_bytes.is_multiple_of(block_bytes) || !size_bytes.is_multiple_of(block_bytes) {
        return Err(Refusal::OffGrid(block_bytes));
    }
    Ok(offset_bytes..offset_bytes + size_bytes)
}

pub(super) fn check_health(health: &Health) -> Result<(), Refusal> {
    if !health.critical.is_empty() {
        return Err(Refusal::Critical(health.critical.join(", ")));
    }
    if let Some(percent) = health.used_percent.filter(|&percent| percent >= WORN_PERCENT) {
        return Err(Refusal::Worn(percent));
    }
    match health.celsius.filter(|&celsius| celsius > HOT_CELSIUS) {
        Some(celsius) => Err(Refusal::Hot(celsius)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_last_quarter_or_what_was_asked() {
        let window = |asked| window_of(64 * MEBIBYTE + 512, 512, asked);
        assert_eq!(window(None), Ok(49 * MEBIBYTE..64 * MEBIBYTE + 512));
        assert_eq!(window(Some((0, None))), Ok(0..64 * MEBIBYTE + 512));
        assert_eq!(window(Some((512, Some(512)))), Ok(512..1024));
        assert_eq!(window(Some((1, Some(512)))), Err(Refusal::OffGrid(512)));
        for asked in [(0, Some(0)), (0, Some(65 * MEBIBYTE)), (u64::MAX, Some(512))] {
            assert!(matches!(window(Some(asked)), Err(Refusal::OutsideDevice { .. })));
        }
        assert_eq!(window_of(2 * MEBIBYTE, 512, None), Err(Refusal::TooSmall(0)));
    }

    #[test]
    fn a_drive_near_its_end_is_refused() {
        let drive = |used_percent, celsius| Health {
            used_percent: Some(used_percent),
            celsius: Some(celsius),
            ..Health::default()
        };
        assert_eq!(check_health(&Health::default()), Ok(()));
        assert_eq!(check_health(&drive(89, 70)), Ok(()));
        assert_eq!(check_health(&drive(90, 30)), Err(Refusal::Worn(90)));
        assert_eq!(check_health(&drive(5, 71)), Err(Refusal::Hot(71)));
        let failing = Health { critical: vec!["spare is low".into()], ..Health::default() };
        assert!(matches!(check_health(&failing), Err(Refusal::Critical(_))));
    }
}
