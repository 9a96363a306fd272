//! Every key a drive file may hold: the one table that parsing, `drives show`,
//! the documentation and the "no dead knobs" test read.

use super::keys_disk;
pub use super::scope::{FIRMWARES, KINDS, Scope};
use serde::Serialize;

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A whole number within bounds, both included.
    Count(u64, u64),
    /// A whole number of bytes within bounds, both included.
    Bytes(u64, u64),
    /// Whole nanoseconds.
    Nanos,
    /// A number within bounds above zero, both included: so that the time of a request stays
    /// far below the end of the clock.
    Rate(f64, f64),
    /// A share within bounds, both included.
    Ratio(f64, f64),
    /// `true` or `false`.
    Flag,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// The letters C, W, D, P in any order.
    PlaneOrder,
    /// `fresh`, `sequential`, `random`, `steady` or `steady:SIZE`.
    State,
    /// Free text.
    Text,
}

impl Kind {
    /// The expected form, for error messages.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Count(low, high) => format!("a whole number from {low} to {high}"),
            Self::Bytes(low, high) => format!("whole bytes from {low} to {high}"),
            Self::Nanos => "whole nanoseconds, 0 or more".into(),
            Self::Rate(low, high) => format!("a number from {low} to {high:e}"),
            Self::Ratio(low, high) => format!("a share from {low} to {high}"),
            Self::Flag => "true or false".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::PlaneOrder => "the letters C, W, D and P in some order, as \"CWDP\"".into(),
            Self::State => "fresh, sequential, random, steady or steady:SIZE".into(),
            Self::Text => "text in quotes".into(),
        }
    }
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fallback {
    /// The file must say.
    Required,
    /// A whole number.
    Int(u64),
    /// A fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A word.
    Word(&'static str),
}

/// A key of a drive file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Key {
    /// Dotted path.
    pub path: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What it is if the file is silent.
    pub default: Fallback,
    /// Who reads it.
    pub scope: Scope,
    /// One line for people.
    pub doc: &'static str,
}

pub(super) const fn key(
    path: &'static str,
    kind: Kind,
    default: Fallback,
    scope: Scope,
    doc: &'static str,
) -> Key {
    Key { path, kind, default, scope, doc }
}

use Fallback::{Bool, Float, Int, Required, Word};
use Kind::{Bytes, Choice, Count, Flag, Nanos, PlaneOrder, Rate, Ratio, State, Text};
use Scope::{All, Array, Collecting, Flash, Linked, LogBlock, Msr, Page};

/// The table.
pub const KEYS: &[Key] =
    &joined::<{ GENERAL.len() + keys_disk::KEYS.len() }>(GENERAL, keys_disk::KEYS);

const fn joined<const N: usize>(first: &[Key], second: &[Key]) -> [Key; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// All but those of a hard disk's own table.
const GENERAL: &[Key] = &[
    key("description", Text, Word(""), All, "what this drive is, in a line"),
    key("default_state", State, Word("sequential"), All, "the state it is opened in"),
    key(
        "over_provisioning_ratio",
        Ratio(0.0, 100.0),
        Float(0.07),
        Array,
        "raw capacity / exported capacity - 1",
    ),
    key("nand.channels", Count(1, 256), Required, Flash, "flash channels (elements of msr)"),
    key("nand.ways", Count(1, 64), Int(1), Flash, "chips on a channel"),
    key("nand.dies", Count(1, 16), Int(1), Flash, "dies in a chip"),
    key("nand.planes", Count(1, 32), Int(1), Flash, "planes in a die"),
    key("nand.blocks_per_plane", Count(2, 1 << 20), Required, Flash, "physical blocks in a plane"),
    key("nand.pages_per_block", Count(2, 16_384), Required, Flash, "pages in a physical block"),
    key(
        "nand.page_bytes",
        Bytes(512, 1 << 17),
        Required,
        Flash,
        "bytes of data in a physical page",
    ),
    key(
        "nand.spare_bytes",
        Bytes(0, 1 << 14),
        Int(0),
        Array,
        "spare bytes of a page; they cross the channel with the data, in proportion",
    ),
    key("nand.read_ns", Nanos, Required, Flash, "array time of a page read"),
    key("nand.program_ns", Nanos, Required, Flash, "array time of a page program"),
    key("nand.erase_ns", Nanos, Required, Flash, "array time of a block erase"),
    key(
        "nand.endurance_erases",
        Count(1, 1 << 30),
        Int(3000),
        Collecting,
        "erases a block is made for: the life that wear-aware collection evens out",
    ),
    key("channel.ns_per_byte", Rate(1e-3, 1e6), Required, Flash, "time of a byte on a channel"),
    key("channel.read_command_ns", Nanos, Int(0), Array, "command and address cycles of a read"),
    key(
        "channel.read_command_extra_plane_ns",
        Nanos,
        Int(0),
        Array,
        "more of them for each further plane of a multi-plane read",
    ),
    key("channel.program_command_ns", Nanos, Int(0), Array, "command cycles of a program"),
    key(
        "channel.program_command_extra_plane_ns",
        Nanos,
        Int(0),
        Array,
        "more of them for each further plane of a multi-plane program",
    ),
    key("channel.erase_command_ns", Nanos, Int(0), Array, "command and address cycles of an erase"),
    key("channel.ready_busy_ns", Nanos, Int(0), Array, "ready/busy delay after a page read"),
    key("host.interface", Choice(&["simple", "nvme"]), Word("simple"), Linked, "the host link"),
    key(
        "host.logical_block_bytes",
        Bytes(512, 65_536),
        Int(512),
        Linked,
        "smallest request and its alignment",
    ),
    key(
        "host.queue_depth",
        Count(1, 65_536),
        Int(256),
        Linked,
        "commands inside the drive at once",
    ),
    key("host.firmware_ns", Nanos, Int(0), Linked, "controller time of a command, one at a time"),
    key(
        "host.bytes_per_second",
        Rate(1.0, 1e15),
        Float(600e6),
        All,
        "data rate of a simple link, both directions sharing it",
    ),
    key("host.command_ns", Nanos, Int(0), Linked, "time of a command on a simple link"),
    key("host.lanes", Count(1, 16), Int(4), Linked, "PCIe lanes of an nvme link"),
    key(
        "host.lane_bytes_per_second",
        Rate(1.0, 1e15),
        Float(1e9),
        Linked,
        "data rate of a lane, each direction by itself",
    ),
    key("host.packet_payload_bytes", Bytes(64, 4096), Int(128), Linked, "payload of a PCIe packet"),
    key("host.packet_overhead_bytes", Bytes(0, 256), Int(28), Linked, "framing of a PCIe packet"),
    key("ftl.kind", Choice(FIRMWARES), Required, Flash, "the firmware"),
    key(
        "ftl.allocation",
        Choice(&["address", "order"]),
        Word("address"),
        Page,
        "what picks the plane of a write: its address, or the order of arrival",
    ),
    key(
        "ftl.plane_order",
        PlaneOrder,
        Word("CWDP"),
        Array,
        "which of channel, way, die, plane advances first from page to page",
    ),
    key(
        "ftl.placement_pages",
        Count(1, 16_384),
        Int(1),
        Page,
        "pages in a row on one plane before the next plane (k)",
    ),
    key(
        "ftl.merge_unit_bytes",
        Bytes(1024, 1 << 40),
        Required,
        LogBlock,
        "bytes of a data or log block: physical blocks at one place of so many planes",
    ),
    key(
        "ftl.log_blocks",
        Count(1, 65_536),
        Int(8),
        LogBlock,
        "log blocks, each of a merge unit; over_provisioning_ratio must leave one more",
    ),
    key(
        "ftl.log_association",
        Choice(&["one-to-one", "many-to-one"]),
        Word("one-to-one"),
        LogBlock,
        "a log block for one data block (BAST), or for all, with one for sequential writes (FAST)",
    ),
    key(
        "ftl.log_victim",
        Choice(&["lru", "fifo"]),
        Word("lru"),
        LogBlock,
        "which log block is merged for another: the longest unwritten, or the longest in use",
    ),
    key(
        "gc.policy",
        Choice(&["greedy", "wear-aware", "cost-benefit", "fifo", "random", "d-choices"]),
        Word("greedy"),
        Collecting,
        "which block is collected (msr: greedy or wear-aware)",
    ),
    key(
        "gc.choices",
        Count(1, 4096),
        Int(10),
        Page,
        "how many blocks the policy d-choices draws, to take the best",
    ),
    key(
        "gc.low_water_ratio",
        Ratio(0.0, 0.99),
        Float(0.05),
        Collecting,
        "share of a plane's blocks: collection starts when fewer are free",
    ),
    key(
        "gc.high_water_ratio",
        Ratio(0.0, 0.99),
        Float(0.06),
        Page,
        "share of a plane's blocks: collection in the background stops when so many are free",
    ),
    key("gc.min_free_blocks", Count(2, 65_536), Int(4), Page, "least low-water mark, in blocks"),
    key(
        "gc.stop_writes_blocks",
        Count(1, 65_536),
        Int(2),
        Page,
        "with fewer free blocks in its plane a write waits",
    ),
    key("gc.max_victims", Count(1, 64), Int(1), Page, "blocks of a plane collected at once"),
    key(
        "gc.background",
        Flag,
        Bool(false),
        Collecting,
        "page: also collect when idle; msr: clean even if no request waits",
    ),
    key("gc.idle_ns", Nanos, Int(100_000_000), Page, "idle time before background collection"),
    key(
        "scheduler.read_first",
        Flag,
        Bool(true),
        Array,
        "reads before programs before erases on a die; else in order of arrival",
    ),
    key(
        "scheduler.host_first",
        Flag,
        Bool(true),
        Array,
        "with read_first: the host's reads before collection's, the host's programs likewise",
    ),
    key("scheduler.multi_plane", Flag, Bool(true), Array, "one command for several planes"),
    key(
        "scheduler.die_interleave",
        Flag,
        Bool(true),
        Array,
        "the dies of a chip work at the same time",
    ),
    key(
        "msr.reserve_ratio",
        Ratio(0.0, 0.99),
        Float(0.15),
        Msr,
        "share of a plane's blocks that is not exported",
    ),
    key(
        "msr.parallel_units",
        Count(1, 4),
        Int(1),
        Msr,
        "groups of planes in an element that work side by side: 1, 2 or 4",
    ),
];

/// The key at `path`, if there is one.
#[must_use]
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_stands_twice() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(!KEYS[..index].iter().any(|other| other.path == key.path), "{}", key.path);
        }
    }
}
