"""How far a drive reads ahead of reads that follow each other.

Question
    Where does what a drive fetches behind a row of reads end?
Physics
    A drive that sees reads follow each other fetches what comes next, up to a distance behind the
    last of them, and on to the end of a flash page. What was fetched is read from its memory.
Plan
    Four blocks in a row, a pause in which whatever is fetched arrives, then single blocks. First
    the next one, or the one before the row, which no drive fetches; then some far behind, each
    twice as far as the one before; then many about where these are slow. The nearest is read first,
    so that none puts out what lies further on, and none begins where the last one ended.
Engine
    `contrast`, then `ending`, as what is fetched ends with a page, and pages begin anywhere.
Cannot tell
    A distance beyond 64 MiB, or a sixteenth of the drive. What a single read makes a drive fetch.
Source
    kuo2009, 3.3.2, reads ever more at once: there the command's limit and the cache look alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdscope.findings import Axis, Evidence, Exhibit, Finding, Reason, series
from ssdscope.inference.contrast import contrast
from ssdscope.inference.series import Series, Weighed
from ssdscope.probes import verdict
from ssdscope.probes.bench.rows import READS, patient_read, random_blocks
from ssdscope.probes.caches.ending import ending
from ssdscope.probes.plan import Ask, Plan
from ssdscope.units import KIB, MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ssdscope.probes.bench.ledger import Bench
    from ssdscope.probes.shared.memory import Levels

__all__ = ["AHEAD", "Behind", "Next", "detect_ahead"]

AHEAD = "read_ahead_bytes"
ROW = 4
PAUSE_NS = 50_000_000
REST_NS = 2_000_000
"""Before each read: what the one before made the drive fetch is there."""
ROWS = 192
"""Of either kind, where one block is read behind each."""
SINGLES, APART_BLOCKS = 12, 6
"""Behind one row, at most; and so far apart on average, at least."""
FARTHEST_BYTES, LARGEST_PAGE_BYTES = 64 * MIB, 256 * KIB
ABOUT = 1 / 4
"""By so much more on either side of where the end may be is it looked for to the block."""
PLACES = 400


def _times_behind(
    bench: Bench, rng: np.random.Generator, distances: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Read rows, and single blocks at distances from their ends, in blocks; give ends and times."""
    block = bench.info.logical_block_bytes
    rows, singles = distances.shape
    room = (ROW + 1 + int(distances.max())) * block
    ends = random_blocks(rng, (ROW + 1) * block, bench.info.capacity_bytes - room, (rows, 1), block)
    places = ends + np.hstack([np.tile(np.arange(-ROW, 0), (rows, 1)), distances]) * block
    pauses = np.concatenate([[REST_NS] * ROW, [PAUSE_NS], [REST_NS] * (singles - 1)])
    log = patient_read(bench, places.ravel(), block, pauses_ns=np.tile(pauses, rows))
    return ends, log.latency_ns.reshape(rows, -1)[:, ROW:].astype(float)


@dataclass(frozen=True, kw_only=True)
class Next(Plan):
    """The block behind a row (`x` 0) and the block before one (1), in pairs of rows."""

    read_cache: bool = True

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read both of each pair, one behind the other."""
        distances = np.tile([[0], [-ROW - 1]], (ROWS, 1))
        _, times = _times_behind(bench, rng, distances)
        pair = np.arange(times.size)
        return Series.of(pair % 2, times, stratum=pair // 2)


@dataclass(frozen=True, kw_only=True)
class Behind(Plan):
    """Blocks behind rows: `x` is how far behind, `stratum` where its row ends, in bytes.

    Attributes
    ----------
    low_blocks, high_blocks
        Between which distances; evenly if there is a low one, otherwise each twice the last.
    """

    read_cache: bool = True
    low_blocks: int = 0
    high_blocks: int

    def measure(self, bench: Bench, rng: np.random.Generator) -> Series:
        """Read rows with as many single blocks behind each as have room."""
        distances = (self._even(rng) if self.low_blocks else self._doubled(rng)).astype(np.int64)
        ends, times = _times_behind(bench, rng, distances)
        x, rows = distances * bench.info.logical_block_bytes, np.broadcast_to(ends, times.shape)
        return Series.of(x, times, stratum=rows)

    def _doubled(self, rng: np.random.Generator) -> NDArray[np.float64]:
        powers = np.arange(self.high_blocks.bit_length() - 2)
        return np.asarray(1.5 * 2 ** (powers + rng.random((READS // powers.size, 1))))

    def _even(self, rng: np.random.Generator) -> NDArray[np.float64]:
        span = self.high_blocks - self.low_blocks
        singles = int(np.clip(span // APART_BLOCKS, 1, SINGLES))
        spread = np.sort(rng.random((READS // singles, singles)), axis=1)
        apart = 2 * np.arange(singles)  # none begins where the last one ended
        return np.asarray(self.low_blocks + np.floor(spread * (span - apart[-1])) + apart)


def detect_ahead(ask: Ask, levels: Levels, evidence: Evidence) -> Finding:
    """Answer how far is read ahead, on a drive with a read cache."""
    follows = contrast(levels.told_apart(ask.take(Next())))
    if not verdict.is_found(follows, "contrast") or (follows.estimate or 0) <= 1:
        none = replace(follows, estimate=None)
        return verdict.weighed(AHEAD, none, "contrast", evidence)
    block = ask.info.logical_block_bytes
    most = min(ask.info.capacity_bytes // 16, FARTHEST_BYTES) // block
    doubled = levels.told_apart(ask.take(Behind(high_blocks=most)))
    rough = ending(doubled, np.geomspace(1, most, PLACES) * block, LARGEST_PAGE_BYTES)
    if rough.interval is None or not verdict.is_found(rough, "ending"):
        return verdict.refused(AHEAD, Reason.RANGE_TOO_SMALL, evidence)
    nearest, farthest = (int(each // block) for each in rough.interval)
    page = int(rough.detail["width"]) // block
    near = Behind(
        low_blocks=max(int(nearest * (1 - ABOUT)), 1),
        high_blocks=int((farthest + page) * (1 + ABOUT)) + 2 * ROW,
    )
    fine = levels.told_apart(ask.take(near))
    step = max((near.high_blocks - near.low_blocks) // PLACES, 1)
    places = np.arange(near.low_blocks, near.high_blocks + step, step) * block
    found = ending(fine, places, LARGEST_PAGE_BYTES)
    shown = evidence.showing(_exhibit(fine, found))
    value = round((found.estimate or 0) / block) * block
    # What lies between two places that were tried is as likely as they are.
    between = (step - 1) * block / 2
    low, high = found.interval or (0.0, 0.0)
    ends = (min(low - between, float(value)), max(high + between, float(value)))
    return verdict.weighed(AHEAD, found, "ending", shown, value=value, interval=ends)


def _exhibit(behind: Series, found: Weighed) -> Exhibit:
    return Exhibit(
        name="reads-behind-a-row",
        title="Reads behind a row of reads",
        caption="Fast are those that come from memory: what lies so far behind the row was there.",
        x=Axis("distance", "bytes"),
        y=Axis("latency", "ns"),
        series=(series("reads", behind.x, behind.y, "points"),),
        fitted=verdict.marked(found, "read ahead"),
    )
