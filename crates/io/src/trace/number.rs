//! Numbers out of bytes, exactly: no float ever touches a time.

use crate::units::Nanos;

/// Digits of a nanosecond below a second.
pub const SECOND_DIGITS: i32 = 9;
/// Digits of a nanosecond below a millisecond.
pub const MILLISECOND_DIGITS: i32 = 6;
/// Digits of a nanosecond below a microsecond.
pub const MICROSECOND_DIGITS: i32 = 3;

/// More powers of ten than this and the answer is zero or too large anyway.
const MAX_EXPONENT: i32 = 40;

/// So many digits always fit 64 bits.
const MOST_SAFE_DIGITS: usize = 19;

/// A decimal integer without a sign; `None` for anything else and on overflow.
#[inline]
pub fn unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    // Most are short: no sum can overflow, and only the digits are looked at.
    if text.len() <= MOST_SAFE_DIGITS {
        let mut value = 0;
        for byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A hexadecimal integer, with or without `0x`.
#[inline]
pub fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(value << 4 | u64::from(digit))
    })
}

/// A decimal number (`12`, `0.026214`, `.5`, `5e-05`) of a unit that is `10^unit_digits`
/// nanoseconds, rounded to the nearest nanosecond.
#[inline]
pub fn decimal_ns(text: &[u8], unit_digits: i32) -> Option<Nanos> {
    plain_ns(text, unit_digits).or_else(|| any_ns(text, unit_digits))
}

/// The same if it is short, has no exponent, and no digit below the nanosecond: most times.
#[inline]
fn plain_ns(text: &[u8], unit_digits: i32) -> Option<Nanos> {
    if text.len() > MOST_SAFE_DIGITS {
        return None;
    }
    let (mut value, mut point) = (0, None);
    for (place, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(place);
        } else {
            return None;
        }
    }
    let behind = point.map_or(0, |place| text.len() - place - 1);
    let digits = text.len() - usize::from(point.is_some());
    let left = u32::try_from(unit_digits - behind as i32).ok()?;
    if digits == 0 { None } else { value.checked_mul(10_u64.checked_pow(left)?).map(Nanos) }
}

/// The same, however long it is.
fn any_ns(text: &[u8], unit_digits: i32) -> Option<Nanos> {
    let (mut mantissa, mut power, mut digits) = (0_u128, unit_digits, 0_usize);
    let mut in_fraction = false;
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            mantissa = mantissa.checked_mul(10)?.checked_add(u128::from(digit))?;
            power -= i32::from(in_fraction);
            digits += 1;
        } else if byte == b'.' && !in_fraction {
            in_fraction = true;
        } else if matches!(byte, b'e' | b'E') {
            power = power.checked_add(exponent(rest.as_slice())?)?;
            break;
        } else {
            return None;
        }
    }
    if digits == 0 { None } else { scale(mantissa, power).map(Nanos) }
}

/// The signed integer after an `e`.
fn exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let value = i32::try_from(unsigned(digits)?).ok()?;
    Some(if negative { -value } else { value })
}

/// `mantissa * 10^power`, to the nearest integer, halves up.
fn scale(mantissa: u128, power: i32) -> Option<u64> {
    if mantissa == 0 || power < -MAX_EXPONENT {
        return Some(0);
    }
    if power > MAX_EXPONENT {
        return None;
    }
    let Some(factor) = 10_u128.checked_pow(power.unsigned_abs()) else {
        return if power < 0 { Some(0) } else { None };
    };
    let value = if power < 0 {
        mantissa / factor + u128::from(mantissa % factor >= factor.div_ceil(2))
    } else {
        mantissa.checked_mul(factor)?
    };
    u64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_have_no_sign_no_overflow_no_junk() {
        assert_eq!(unsigned(b"0"), Some(0));
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["", "-1", "+1", "18446744073709551616", "1x", "1.0", " 1"] {
            assert_eq!(unsigned(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn hexadecimal_with_and_without_prefix() {
        assert_eq!(hexadecimal(b"1a"), Some(26));
        assert_eq!(hexadecimal(b"0X1A"), Some(26));
        for bad in ["", "0x", "g", "-1", "12345678901234567"] {
            assert_eq!(hexadecimal(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn decimals_are_exact_where_floats_are_not() {
        let seconds = |text: &str| decimal_ns(text.as_bytes(), SECOND_DIGITS).map(|ns| ns.0);
        assert_eq!(seconds("0.026214"), Some(26_214_000));
        assert_eq!(seconds("1456095145.133076001"), Some(1_456_095_145_133_076_001));
        assert_eq!(seconds("18446744073.709551615"), Some(u64::MAX));
        assert_eq!(seconds("18446744073.709551616"), None);
        assert_eq!((seconds(".5"), seconds("5.")), (Some(500_000_000), Some(5_000_000_000)));
        assert_eq!((seconds("5e-05"), seconds("1E+1")), (Some(50_000), Some(10_000_000_000)));
        assert_eq!((seconds("1e-300"), seconds("1e300")), (Some(0), None));
        assert_eq!((seconds("0.0000000005"), seconds("0.00000000049")), (Some(1), Some(0)));
        assert_eq!(seconds("0.1000000000000000055511151231257"), Some(100_000_000));
        for bad in ["", ".", "-1", "1.2.3", "nan", "inf", "1e", "e5", "1e-", "0x10", "1,5"] {
            assert_eq!(seconds(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_nanosecond_survives_being_written(ns in any::<u64>()) {
            let seconds = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(decimal_ns(seconds.as_bytes(), SECOND_DIGITS), Some(Nanos(ns)));
            let millis = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
            prop_assert_eq!(decimal_ns(millis.as_bytes(), MILLISECOND_DIGITS), Some(Nanos(ns)));
        }

        #[test]
        fn short_times_are_what_long_ones_are(text in "[0-9]{0,12}[.]{0,2}[0-9]{0,12}[e]?[0-9]?") {
            let expected = any_ns(text.as_bytes(), SECOND_DIGITS);
            prop_assert_eq!(decimal_ns(text.as_bytes(), SECOND_DIGITS), expected);
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = (unsigned(&text), hexadecimal(&text), decimal_ns(&text, SECOND_DIGITS));
        }
    }
}
