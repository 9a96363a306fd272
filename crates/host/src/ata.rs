//! SMART of an ATA drive through `SG_IO`: IDENTIFY DEVICE, SMART READ DATA and SMART READ
//! THRESHOLDS.
//!
//! The layout of the pages is that of ATA/ATAPI-5, 8.41; later standards leave the attributes to
//! vendors. What attributes mean is a convention that smartmontools' `drivedb.h` records. Parsing
//! is pure; only the command itself needs a drive, and the right to send it (`CAP_SYS_RAWIO`).

use crate::attributes::ata_data_in;
use std::fs::File;
use std::io;

const PAGE_BYTES: usize = 512;
const IDENTIFY: u8 = 0xEC;
const SMART: u8 = 0xB0;
const READ_DATA: u8 = 0xD0;
const READ_THRESHOLDS: u8 = 0xD1;
/// Attributes stand from byte 2 on, thirty of twelve bytes.
const ATTRIBUTES: usize = 30;
const ATTRIBUTE_BYTES: usize = 12;

/// Attributes whose normalised value is the life left, in percent. A vendor uses one or two of
/// them, and the others for something else: the first that is a percentage counts. SandForce and
/// Kingston: 231, and 233 for something else; Crucial: 202; Samsung: 177; Intel: 233; Micron: 173.
const LIFE_LEFT: [u8; 6] = [231, 202, 177, 233, 173, 169];
/// Attributes whose normalised value is the spare left, in percent (Intel 232, Micron and Toshiba
/// 170, Samsung 179).
const SPARE_LEFT: [u8; 3] = [232, 170, 179];
/// Attributes whose raw value begins with degrees Celsius.
const CELSIUS: [u8; 2] = [194, 190];
/// The attribute whose raw value is the hours powered on.
const POWER_ON_HOURS: u8 = 9;

/// What SMART says of a drive; `None` where it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Smart {
    pub(crate) celsius: Option<i32>,
    /// Of the rated life, in percent; solid-state drives only.
    pub(crate) used_percent: Option<u8>,
    /// In percent; solid-state drives only.
    pub(crate) spare_percent: Option<u8>,
    pub(crate) power_on_hours: Option<u64>,
    /// Attributes that foretell a failure.
    pub(crate) failing: Vec<u8>,
}

/// Asks an open ATA drive.
///
/// # Errors
/// If the kernel or the drive refuses, it has no SMART, or the answer is damaged.
pub(crate) fn smart(file: &File) -> io::Result<Smart> {
    let mut identity = [0; PAGE_BYTES];
    ata_data_in(file, IDENTIFY, 0, &mut identity)?;
    if !has_smart(&identity) {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    let mut data = [0; PAGE_BYTES];
    ata_data_in(file, SMART, READ_DATA, &mut data)?;
    let mut thresholds = [0; PAGE_BYTES];
    // Obsolete since ATA-6, though nearly all have it: without it nothing is foretold.
    if ata_data_in(file, SMART, READ_THRESHOLDS, &mut thresholds).is_err() {
        thresholds.fill(0);
    }
    parse(&data, &thresholds, is_solid(&identity)).ok_or_else(|| io::Error::other("damaged answer"))
}

fn word(page: &[u8; PAGE_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([page[2 * at], page[2 * at + 1]])
}

/// Supported (word 82) and enabled (word 85).
fn has_smart(identity: &[u8; PAGE_BYTES]) -> bool {
    word(identity, 82) & word(identity, 85) & 1 == 1
}

/// The nominal rotation rate: 1 is "does not rotate".
fn is_solid(identity: &[u8; PAGE_BYTES]) -> bool {
    word(identity, 217) == 1
}

/// One vendor attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attribute {
    id: u8,
    /// Whether falling to its threshold foretells a failure, rather than only age.
    foretells: bool,
    /// Normalised: 1 is the worst.
    value: u8,
    raw: [u8; 6],
}

/// Reads the two pages; `None` if the bytes of one do not sum to zero.
fn parse(data: &[u8; PAGE_BYTES], thresholds: &[u8; PAGE_BYTES], is_solid: bool) -> Option<Smart> {
    let whole =
        |page: &[u8; PAGE_BYTES]| page.iter().fold(0_u8, |sum, &b| sum.wrapping_add(b)) == 0;
    if !whole(data) || !whole(thresholds) {
        return None;
    }
    let all: Vec<Attribute> = attributes(data).collect();
    let find = |id: u8| all.iter().find(|each| each.id == id);
    let percent = |ids: &[u8]| {
        let values = ids.iter().filter_map(|&id| find(id)).map(|each| each.value);
        values.into_iter().find(|&value| value <= 100).filter(|_| is_solid)
    };
    let celsius =
        CELSIUS.iter().filter_map(|&id| find(id)).map(|each| i32::from(each.raw[0] as i8));
    let hours = find(POWER_ON_HOURS)
        .map(|each| u32::from_le_bytes(each.raw[..4].try_into().unwrap_or_default()));
    let fallen = |each: &&Attribute| {
        each.foretells && threshold(thresholds, each.id).is_some_and(|least| each.value <= least)
    };
    Some(Smart {
        // A drive without a sensor says zero.
        celsius: celsius.into_iter().find(|&degrees| degrees != 0),
        used_percent: percent(&LIFE_LEFT).map(|left| 100 - left),
        spare_percent: percent(&SPARE_LEFT),
        power_on_hours: hours.map(u64::from),
        failing: all.iter().filter(fallen).map(|each| each.id).collect(),
    })
}

/// Entry of attributes or thresholds; an id of zero stands for none.
fn entries(page: &[u8; PAGE_BYTES]) -> impl Iterator<Item = &[u8]> {
    let table = &page[2..2 + ATTRIBUTES * ATTRIBUTE_BYTES];
    table.chunks_exact(ATTRIBUTE_BYTES).filter(|entry| entry[0] != 0)
}

fn attributes(data: &[u8; PAGE_BYTES]) -> impl Iterator<Item = Attribute> {
    entries(data).map(|entry| Attribute {
        id: entry[0],
        foretells: entry[1] & 1 == 1,
        value: entry[3],
        raw: entry[5..11].try_into().unwrap_or_default(),
    })
}

/// The threshold of an attribute; zero means that it has none.
fn threshold(thresholds: &[u8; PAGE_BYTES], id: u8) -> Option<u8> {
    let found = entries(thresholds).find(|entry| entry[0] == id).map(|entry| entry[1]);
    found.filter(|&least| least != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of attributes (id, flags, value, raw bytes), with its sum.
    fn page(attributes: &[(u8, u8, u8, [u8; 6])]) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        page[0] = 16;
        for (index, (id, flags, value, raw)) in attributes.iter().enumerate() {
            let at = 2 + index * ATTRIBUTE_BYTES;
            (page[at], page[at + 1], page[at + 3], page[at + 4]) = (*id, *flags, *value, *value);
            page[at + 5..at + 11].copy_from_slice(raw);
        }
        summed(page)
    }

    fn thresholds(pairs: &[(u8, u8)]) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        for (index, (id, least)) in pairs.iter().enumerate() {
            let at = 2 + index * ATTRIBUTE_BYTES;
            (page[at], page[at + 1]) = (*id, *least);
        }
        summed(page)
    }

    fn summed(mut page: [u8; PAGE_BYTES]) -> [u8; PAGE_BYTES] {
        page[511] = 0;
        page[511] = page.iter().fold(0_u8, |sum, &byte| sum.wrapping_sub(byte));
        page
    }

    const NONE: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

    #[test]
    fn a_drive_of_each_vendor_is_read() {
        let hours = (9, 0x32, 95, [0x10, 0x27, 0, 0, 0xAA, 0xBB]);
        let samsung = page(&[
            hours,
            (177, 0x13, 88, [240, 0, 0, 0, 0, 0]),
            (179, 0x13, 97, [9; 6]),
            (190, 0x32, 66, [34, 0, 0, 0, 0, 0]),
        ]);
        let smart = parse(&samsung, &NONE, true).unwrap();
        assert_eq!((smart.used_percent, smart.spare_percent), (Some(12), Some(97)));
        assert_eq!((smart.celsius, smart.power_on_hours), (Some(34), Some(10_000)));
        let crucial =
            page(&[(202, 0x30, 71, [29, 0, 0, 0, 0, 0]), (194, 0x22, 60, [40, 0, 20, 0, 55, 0])]);
        let smart = parse(&crucial, &NONE, true).unwrap();
        assert_eq!((smart.used_percent, smart.celsius), (Some(29), Some(40)));
        let intel = page(&[(233, 0x32, 100, [0; 6]), (232, 0x33, 99, [0; 6])]);
        let smart = parse(&intel, &NONE, true).unwrap();
        assert_eq!((smart.used_percent, smart.spare_percent), (Some(0), Some(99)));
        // SandForce counts gigabytes in 233 and lets its value stand at zero.
        let sandforce = page(&[(233, 0, 0, [7; 6]), (231, 0x13, 90, [0; 6])]);
        assert_eq!(parse(&sandforce, &NONE, true).unwrap().used_percent, Some(10));
        let worn_out = page(&[(177, 0x13, 0, [0; 6])]);
        assert_eq!(parse(&worn_out, &NONE, true).unwrap().used_percent, Some(100));
    }

    #[test]
    fn what_is_no_percentage_of_a_solid_state_drive_is_left_out() {
        let other_scale = page(&[(177, 0x13, 200, [0; 6]), (194, 0x22, 100, [0; 6])]);
        let smart = parse(&other_scale, &NONE, true).unwrap();
        assert_eq!((smart.used_percent, smart.celsius), (None, None));
        let frost = page(&[(194, 0x22, 100, [0xF6, 0xFF, 0, 0, 0, 0])]);
        assert_eq!(parse(&frost, &NONE, true).unwrap().celsius, Some(-10));
        // Of a hard disk 202 counts errors of its data address marks.
        let disk = page(&[(202, 0x32, 60, [0; 6]), (194, 0x22, 110, [38, 0, 0, 0, 0, 0])]);
        let smart = parse(&disk, &NONE, false).unwrap();
        assert_eq!((smart.used_percent, smart.celsius), (None, Some(38)));
        assert_eq!(parse(&page(&[]), &NONE, true), Some(Smart::default()));
    }

    #[test]
    fn an_attribute_at_its_threshold_foretells_a_failure_if_it_is_of_that_kind() {
        let data = page(&[(5, 0x33, 10, [0; 6]), (177, 0x13, 20, [0; 6]), (12, 0x32, 1, [0; 6])]);
        let smart = parse(&data, &thresholds(&[(5, 10), (177, 5), (12, 20)]), true).unwrap();
        assert_eq!(smart.failing, [5]);
        assert_eq!(parse(&data, &NONE, true).unwrap().failing, [0; 0], "no thresholds");
    }

    #[test]
    fn damaged_answers_are_not_believed() {
        let mut data = page(&[(177, 0x13, 88, [0; 6])]);
        data[100] ^= 1;
        assert_eq!(parse(&data, &NONE, true), None);
        let mut broken = thresholds(&[(5, 10)]);
        broken[511] ^= 1;
        assert_eq!(parse(&page(&[]), &broken, true), None);
    }

    #[test]
    fn the_drive_itself_says_whether_it_has_smart_and_rotates() {
        let mut identity = [0; PAGE_BYTES];
        identity[2 * 82] = 1;
        assert!(!has_smart(&identity), "supported, not enabled");
        identity[2 * 85] = 1;
        assert!(has_smart(&identity) && !is_solid(&identity));
        identity[2 * 217] = 1;
        assert!(is_solid(&identity));
        identity[2 * 217 + 1] = 0x1C;
        assert!(!is_solid(&identity), "7,169 turns a minute");
    }
}
