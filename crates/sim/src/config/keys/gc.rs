//! The keys of the table `[gc]`: freeing space.

use super::Fallback::{Bool, Float, Int, Word};
use super::Kind::{Choice, Count, Flag, Nanos, Ratio};
use super::Scope::{Array, Collecting, Flash, Page};
use super::{Key, key};

/// This part of the table.
pub(super) const KEYS: &[Key] = &[
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
        Flash,
        "page: also collect when idle; log-block: also merge then; msr: clean even if no request \
         waits",
    ),
    key(
        "gc.preemptible",
        Flag,
        Bool(false),
        Page,
        "between its steps collection yields to all that the host waits for on the die",
    ),
    key(
        "gc.urgent_blocks",
        Count(1, 65_536),
        Int(2),
        Page,
        "with gc.preemptible: with fewer free blocks in a plane collection goes first",
    ),
    key(
        "gc.exclusive",
        Flag,
        Bool(false),
        Page,
        "where it does not yield, collection has its die until the erase: of the host's commands \
         only those pass that share a multi-plane command with one of its own",
    ),
    key(
        "gc.skip_every",
        Count(0, 1 << 20),
        Int(0),
        Page,
        "of so many collections due for a filled block one is left out; 0: none",
    ),
    key(
        "gc.copyback",
        Flag,
        Bool(false),
        Page,
        "a die moves pages being collected by itself: they do not cross the channel",
    ),
    key(
        "gc.idle_ns",
        Nanos,
        Int(100_000_000),
        Array,
        "idle time before collection or merging in the background",
    ),
];
