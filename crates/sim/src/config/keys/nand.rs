//! The keys of the flash array: tables `[nand]`, `[channel]` and `[scheduler]`.

use super::Fallback::{Bool, Int, List, Required};
use super::Kind::{Bytes, Count, Flag, Nanos, NanosList, Rate};
use super::Scope::{Array, Collecting, Flash};
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
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
    key(
        "nand.read_by_type_ns",
        NanosList(16),
        List(&[]),
        Array,
        "array time of a read by type of page: page p of a block is of type p mod their number; \
         empty: read_ns for all",
    ),
    key(
        "nand.program_by_type_ns",
        NanosList(16),
        List(&[]),
        Array,
        "array time of a program by type of page, likewise; empty: program_ns for all",
    ),
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
        "scheduler.way_interleave",
        Flag,
        Bool(true),
        Array,
        "the chips of a channel work at the same time; else one command at a time on a channel",
    ),
    key(
        "scheduler.multi_plane_erase",
        Flag,
        Bool(false),
        Array,
        "one command erases blocks of several planes of a die",
    ),
];
