"""What a host sees of the members of a RAID-0 array through its chunks.

An array of n like drives looks like one drive of n times the planes. A unit of a member that its
chunks hold whole stays what it is. If a unit holds whole chunks, n of them lie side by side in the
array, and look like one of n times the size. Otherwise a unit lies in pieces that no host can see
as one: then there is no single truth, and whoever says that it cannot be told is right.

Of unlike drives what holds of all members holds of the array; anything else has no single truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ssdscope.recovery.addresses import (
    BLURRED_BELOW,
    SHOWS_AT,
    Reached,
    dies_reached,
    sampled,
    slowdowns_of,
)
from ssdscope.recovery.shape import Shape, Values, number, shape_of
from ssdscope.recovery.truth import (
    ABSENT,
    NO_ONE,
    Truth,
    configured,
    rows_bytes,
    seen_page_bytes,
)
from ssdscope.targets.drive_writer import Value

PHASE_CHUNKS = 4
"""Units that begin between multiples of their size are cut by ends of chunks: whoever looks at a
chunk of fewer units than these sees more pieces than units."""
AHEAD_CHUNKS = 8
"""What is read ahead goes on in the member, not in the array: so many times as long is a chunk in
which it mostly ends."""
ALIKE = 0.01
"""Numbers of members that differ by no more than this share are one."""
MEASURED = (
    "trim_effect",
    "read_latency_alpha_ns",
    "read_latency_beta_ns_per_byte",
    "queue_depth_knee",
)
"""What every array has a truth of, as it is measured on the whole."""
TOLD_OF_ARRAYS = (*MEASURED, "interleave_degree", "array_members")
"""What is true of an array as a whole, whatever its members are."""
BY_WHOLE_UNITS = ("allocation", "over_provisioning_ratio", "gc_write_amplification")
"""What is measured, too, but only if a host can write whole units, the same on all members."""
UNMEASURED = ("placement", "placement_pages", "internal_volume_bits")
"""What no reference measurement looks for through chunks: who does not find it misses nothing."""


def spread(size: int, count: int, chunk: int) -> int | None:
    """Give what a unit of a member is to the host; None if no host can see it as one."""
    if chunk % size == 0:
        return size
    return count * size if size % chunk == 0 else None


def seen_values(members: Sequence[Values], chunk: int) -> dict[str, Value]:
    """Describe an array as the one drive that it looks like.

    Of unlike members it is what an array of the first would be, as large as this one.
    """
    count, values = len(members), dict(members[0])
    shape = shape_of(values)
    for key in (
        "host.queue_depth", "nand.channels", "ftl.reclaim_unit_bytes", "write_buffer.bytes",
        "read_cache.bytes", "pslc.bytes", "map.cache_bytes",
    ):  # fmt: skip
        if key in values:
            values[key] = count * number(values, key)
    merge = number(values, "ftl.merge_unit_bytes")
    if merge:
        values["ftl.merge_unit_bytes"] = spread(merge, count, chunk) or count * merge
    # Nothing that is told of units is measured with those that chunks cut.
    unit = spread(shape.unit_bytes, count, chunk) or count * shape.unit_bytes
    values["ftl.map_unit_bytes"] = unit
    if _phase(members[0], shape, count, chunk) in (None, 0):
        values.pop("ftl.phase_bytes", None)
    zone = number(values, "map.zone_bytes")
    if zone and chunk % zone == 0:
        values["map.resident_zones"] = count * number(values, "map.resident_zones", 1)
    elif zone:
        values["map.zone_bytes"] = count * zone
    values["host.logical_block_bytes"] = max(
        number(each, "host.logical_block_bytes", 512) for each in members
    )
    least = min(shape_of(each).capacity_bytes for each in members)
    exported = count * (least // chunk) * chunk + number(values, "ftl.phase_bytes")
    if merge:
        merge = number(values, "ftl.merge_unit_bytes")
        exported = exported // merge * merge
    raw = count * shape.planes * number(values, "nand.blocks_per_plane") * shape.block_bytes
    # A little less, so that rounding takes no unit away.
    values["over_provisioning_ratio"] = (raw // unit) / (exported // unit) - 1 - 1e-12
    return values


def _phase(values: Values, shape: Shape, count: int, chunk: int) -> int | None:
    """Give where units begin, as the host sees it; None if there is no saying."""
    phase, unit = number(values, "ftl.phase_bytes"), shape.unit_bytes
    if phase == 0:
        return 0
    if chunk % unit == 0:
        return phase if chunk >= PHASE_CHUNKS * unit else None
    return count * phase if phase % chunk == 0 else None


def told(members: Sequence[Values], chunk: int) -> dict[str, Truth]:
    """Give the truths that hang on the chunks, and what has no single one."""
    count = len(members)
    each = [_of_like(values, count, chunk) for values in members]
    alike = all(values == members[0] for values in members)
    if alike:
        return _phase_of_units(each[0])
    seen = [configured(like, shape_of(like)) for like in
            (seen_values([values] * count, chunk) for values in members)]  # fmt: skip
    whole = [{**formulas, **own} for formulas, own in zip(seen, each, strict=True)]
    names = [name for name in whole[0] if name not in BY_WHOLE_UNITS]
    agreed = {name: _agreed([truths[name] for truths in whole]) for name in names}
    return {
        **_phase_of_units(agreed),
        **dict.fromkeys(BY_WHOLE_UNITS, NO_ONE),
        "interleave_degree": _at_once(members),
    }


def _at_once(members: Sequence[Values]) -> Truth:
    """Count what reads side by side: dies, or members that take one command at a time."""
    return Truth(sum(1 if one_by_one(each) else shape_of(each).dies for each in members))


def one_by_one(values: Values) -> bool:
    """Whether a member takes one command at a time: of its dies a host sees one at work."""
    return number(values, "host.queue_depth", 256) == 1


def _phase_of_units(truths: dict[str, Truth]) -> dict[str, Truth]:
    """Leave it open where units begin that no host can see as such."""
    units = [truths[name] for name in ("rmw_unit_bytes", "merge_unit_bytes")]
    seen = any(each.present and each != NO_ONE for each in units)
    cut = NO_ONE in units and not seen
    return truths | ({"alignment_phase_bytes": NO_ONE} if cut else {})


def _agreed(truths: Sequence[Truth]) -> Truth:
    """Give what is true of all; else none is."""
    first = truths[0]
    if all(each == first for each in truths):
        return first
    values = [each.value for each in truths]
    numbers = [float(each) for each in values if isinstance(each, int | float)]
    if len(numbers) == len(values) and max(numbers) - min(numbers) <= ALIKE * max(numbers):
        return first
    return NO_ONE


def _of_like(values: Values, count: int, chunk: int) -> dict[str, Truth]:
    """Give what hangs on the chunks of an array of like drives."""
    shape = shape_of(values)
    own = configured(values, shape)
    unit = spread(shape.unit_bytes, count, chunk)
    phase = _phase(values, shape, count, chunk)
    found = {
        "rmw_unit_bytes": own["rmw_unit_bytes"],
        "merge_unit_bytes": _spread(own["merge_unit_bytes"], count, chunk),
        "reclaim_unit_bytes": _spread(own["reclaim_unit_bytes"], count, chunk),
        "alignment_phase_bytes": own["alignment_phase_bytes"],
        "gc_period_bytes": NO_ONE if unit is None
        else _times(own["gc_period_bytes"], unit // shape.unit_bytes),
        "map_zone_bytes": _spread(own["map_zone_bytes"], count, chunk),
        "open_units": own["open_units"],
        "read_ahead_bytes": own["read_ahead_bytes"],
        "interleave_degree": _at_once([values] * count),
    }  # fmt: skip
    if unit is None or phase is None:
        found |= _unless_absent(own, "rmw_unit_bytes", "alignment_phase_bytes")
        found |= dict.fromkeys(BY_WHOLE_UNITS, NO_ONE)
    else:
        found["rmw_unit_bytes"] = _times(own["rmw_unit_bytes"], unit // shape.unit_bytes)
        if own["alignment_phase_bytes"].present:
            found["alignment_phase_bytes"] = Truth(phase)
    if values["ftl.kind"] == "log-block" and spread(shape.collected_bytes, count, chunk) in (
        None,
        shape.collected_bytes,
    ):
        # Merge units that lie whole on a member have its log blocks alone, others' do not.
        found |= _unless_absent(own, "open_units")
    if number(values, "read_cache.read_ahead_bytes") * AHEAD_CHUNKS > chunk:
        found |= _unless_absent(own, "read_ahead_bytes")
    for table in ("write_buffer", "read_cache"):
        name = f"{table}_unit_bytes"
        found[name] = own[name]
        if own[name].present and chunk % int(own[name].value or 1):
            found[name] = NO_ONE
    merge = found["merge_unit_bytes"]
    managed = merge if merge.present else found["rmw_unit_bytes"]
    places = _places(values, shape, chunk, managed)
    return found | places | {"internal_volume_bits": _bits(values, shape, count, chunk)}


def _unless_absent(own: Mapping[str, Truth], *names: str) -> dict[str, Truth]:
    return {name: NO_ONE if own[name].present else own[name] for name in names}


def _times(truth: Truth, times: int) -> Truth:
    if not isinstance(truth.value, int):
        return truth
    return replace(truth, value=times * truth.value)


def _spread(truth: Truth, count: int, chunk: int) -> Truth:
    if not isinstance(truth.value, int):
        return truth
    whole = spread(truth.value, count, chunk)
    return NO_ONE if whole is None else _times(truth, whole // truth.value)


def _places(values: Values, shape: Shape, chunk: int, managed: Truth) -> dict[str, Truth]:
    """Say how seen pages follow each other: rows of the member, as far as a chunk goes."""
    rows = {chunk if one_by_one(values) else row or chunk for row in rows_bytes(values, shape)}
    seen = seen_page_bytes(values, shape)
    row = min(*rows, chunk)
    size = managed.value if managed.present else shape.unit_bytes
    if len(rows) > 1 or chunk % row or row % seen or managed == NO_ONE:
        return dict.fromkeys(("placement", "placement_pages"), NO_ONE)
    way = "one-channel" if row >= int(size or 0) > seen else "multi-channel"
    return {"placement": Truth(way), "placement_pages": Truth(row // seen)}


def _bits(values: Values, shape: Shape, count: int, chunk: int) -> Truth:
    """Name the bits that leave half of the dies idle; no one set if some leave a part."""
    addresses = sampled(count * (shape.capacity_bytes // chunk) * chunk)
    turns, member = addresses // (count * chunk), addresses // chunk % count
    own = turns * chunk + addresses % chunk
    whole = Shape(**{**vars(shape), "capacity_bytes": count * shape.capacity_bytes})
    within = dies_reached(values, shape, own)
    if one_by_one(values):
        within = Reached(np.zeros_like(within.dies), within.of)
    reached = _of_members(within, member, count)
    slow = slowdowns_of(addresses, reached, whole)
    if any(SHOWS_AT < each < BLURRED_BELOW for each in slow.values()):
        return NO_ONE
    bits = [bit for bit, each in slow.items() if each >= BLURRED_BELOW]
    return Truth(",".join(map(str, bits))) if bits else ABSENT


def _of_members(reached: Reached, member: NDArray[np.int64], count: int) -> Reached:
    """Tell the dies of one member from those of the next."""
    classes, dies = reached.dies.shape[1], int(reached.dies.max()) + 1
    each = [reached.dies + index * dies for index in range(count)]
    return Reached(np.concatenate(each, axis=1), reached.of + member * classes)
