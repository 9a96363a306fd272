"""DiskSim's hard disk: its electronics (``disksim_disk``) and its mechanics (``dm_disk``).

Times are milliseconds there, sizes sectors.
"""

from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.disksim_layout import geometry
from ssdscope.targets.imports.disksim_seek import seek_ms
from ssdscope.targets.imports.parv import Block
from ssdscope.targets.imports.reading import Account, Values, natural, quantity

SECTOR_BYTES = 512
NS = 1_000_000
"""In DiskSim's millisecond."""
MISSES = tuple(
    f"{way} miss over. after {other}" for way in ("Read", "Write") for other in ("read", "write")
)
FIRST_COME = "1"
"""DiskSim's scheduling policy without reordering."""
POSITIONED = "which command is next: here the one that the arm can begin with first"
SLOW_WRITES = "only writes that go on behind others are answered early there, here none"

NO_MECHANICS_MEANING = {"Percent error in rpms": "each disk turns at its speed"}
NO_DISK_MEANING = {
    "Hold bus entire read xfer": "the bus is one of a single drive",
    "Hold bus entire write xfer": "the bus is one of a single drive",
    "Never disconnect": "the bus is one of a single drive",
    "Print stats": "statistics are always printed",
    "Avg sectors per cylinder": "for DiskSim's own scheduling of a driver",
    "Allow almost read hits": "a hit is all or nothing, but for a run that is under way",
    "Allow sneaky full read hits": "a hit is all or nothing, but for a run that is under way",
    "Allow sneaky partial read hits": "a hit is all or nothing, but for a run that is under way",
    "Allow sneaky intermediate read hits": "a hit is all or nothing, but for a run under way",
    "Allow read hits on write data": "reads are served from written data, always",
    "Allow write prebuffering": "writes are taken up as they come",
    "Preseeking level": "the arm seeks when a command is its turn",
    "Use separate write segment": "read and write cache are apart",
    "Low (write) water mark": "the bus is one of a single drive",
    "High (read) water mark": "the bus is one of a single drive",
    "Set watermark by reqsize": "the bus is one of a single drive",
    "Calc sector by sector": "always",
    "Minimum read-ahead (blks)": "read-ahead gives way at once",
    "Read-ahead over requested": "read-ahead gives way at once",
    "Read-ahead on idle hit": "reading ahead follows a read of the medium",
    "Read any free blocks": "a segment holds one run of sectors",
    "Immediate buffer read": "data go out when all are read",
    "Immediate buffer write": "data are written when all are in",
    "Combine seq writes": "neighbours are merged, always",
    "Stop prefetch in sector": "read-ahead gives way at once",
    "Disconnect write if seek": "the bus is one of a single drive",
    "Write hit stop prefetch": "read-ahead gives way at once",
    "Read directly to buffer": "data go through the buffer",
    "Immed transfer partial hit": "data go out when all are read",
    "Minimum seek delay": "the seek curve has the times",
}
OVERHEADS = (
    *(f"{way} hit over. after {other}" for way in ("Read", "Write") for other in ("read", "write")),
    "Read completion overhead",
    "Write completion overhead",
    "Data preparation overhead",
    "First reselect overhead",
    "Other reselect overhead",
    "Read disconnect afterread",
    "Read disconnect afterwrite",
    "Write disconnect overhead",
    "Extra write disconnect",
    "Extradisc command overhead",
    "Extradisc disconnect overhead",
    "Extradisc inter-disconnect delay",
    "Extradisc 2nd disconnect overhead",
    "Extradisc seek delta",
)


def disk(block: Block, link: float, account: Account) -> dict[str, Value]:
    """Return the keys of a disk.

    Parameters
    ----------
    block
        The ``disksim_disk``.
    link
        Milliseconds of a sector on the slowest bus.
    account
        Of the file.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, or the disk works in a way that is not simulated here.
    """
    given = Values(block.where, block.texts(), account, "disk")
    values = _mechanics(block.block("Model"), account)
    values |= _caches(given) | _queue(block, given) | _link(given, link)
    given.without_meaning(NO_DISK_MEANING)
    given.without_meaning(dict.fromkeys(OVERHEADS, "a command has one time: host.firmware_ns"))
    given.name_the_rest()
    return values


def model_alone(block: Block, link: float, account: Account) -> dict[str, Value]:
    """Return the keys of a disk of which only the mechanics are in the file."""
    account.note("the file has the mechanics only: no caches, one command at a time, a fast link")
    values = _mechanics(block, account)
    if link > 0:
        values["host.bytes_per_second"] = SECTOR_BYTES / link * 1000
    return values | {"host.queue_depth": 1}


def _mechanics(model: Block, account: Account) -> dict[str, Value]:
    """Return the keys of arm, platters and spindle."""
    given = Values(model.where, model.texts(), account, "model")
    values = geometry(model.block("Layout Model"), given, account)
    given.name_the_rest()
    moving = model.block("Mechanical Model")
    one = Values(moving.where, moving.texts(), account, "mechanics")
    one.only("Access time type", "trackSwitchPlusRotation", "others have no rotation")
    single, mean, full = seek_ms(moving, one, int(str(values["disk.cylinders"])))
    values |= {
        "disk.rpm": round(one.take("Rotation speed (in rpms)", quantity)),
        "disk.seek_track_ns": round(NS * single),
        "disk.seek_average_ns": round(NS * mean),
        "disk.seek_full_ns": round(NS * full),
        "disk.head_switch_ns": round(NS * one.take("Head switch time", quantity)),
        "disk.write_settle_ns": round(NS * one.take("Add. write settling delay", quantity)),
    }
    one.without_meaning(NO_MECHANICS_MEANING)
    one.name_the_rest()
    return values


def _caches(given: Values) -> dict[str, Value]:
    """Return the buffer: DiskSim lets reads and writes share its segments."""
    segments = given.take("Number of buffer segments", natural)
    segment_bytes = SECTOR_BYTES * given.take("Segment size (in blks)", natural)
    write_segments = given.take("Maximum number of write segments", natural)
    caching = given.take("Enable caching in buffer", natural)
    reads_on = given.take("Buffer continuous read", natural)
    ahead_bytes = SECTOR_BYTES * given.take("Maximum read-ahead (blks)", natural)
    values: dict[str, Value] = {}
    if caching and segments and segment_bytes:
        values["disk.read_cache_bytes"] = segments * segment_bytes
        values["disk.read_cache_segments"] = segments
        if reads_on:
            values["disk.read_ahead_bytes"] = min(ahead_bytes, segment_bytes)
    early = given.take("Fast write level", natural)
    if early == 1:
        given.account.note(f"Fast write level = 1: {SLOW_WRITES}")
    if early > 1 and write_segments:
        values["disk.write_cache_bytes"] = write_segments * segment_bytes
        given.account.note(
            f"{write_segments} of {segments} segments may hold writes: here a write cache beside "
            "the read cache"
        )
    return values


def _queue(block: Block, given: Values) -> dict[str, Value]:
    depth = max(1, given.take("Max queue length", natural))
    order = "arrival"
    scheduler = block.settings.get("Scheduler")
    if isinstance(scheduler, Block):
        one = Values(scheduler.where, scheduler.texts(), given.account, "scheduler")
        if one.take("Scheduling policy", str) != FIRST_COME and depth > 1:
            order = "position"
            given.account.note(f"Scheduling policy: {POSITIONED}")
        one.without_meaning(dict.fromkeys(scheduler.texts(), "commands are queued one by one"))
    return {"disk.queue_order": order, "host.queue_depth": depth}


def _link(given: Values, link: float) -> dict[str, Value]:
    """Return the link, and the electronics' time of a command: the mean of those of misses."""
    slowest = max(given.take("Bulk sector transfer time", quantity), link)
    values: dict[str, Value] = {}
    if slowest > 0:
        values["host.bytes_per_second"] = SECTOR_BYTES / slowest * 1000
    scale = given.take("Time scale for overheads", quantity)
    each = given.take("Per-request overhead time", quantity)
    misses = [given.take(name, quantity) for name in MISSES]
    mean = scale * (each + sum(misses) / len(misses))
    given.account.note(
        f"host.firmware_ns: {mean:.3f} ms, mean of the four overheads of misses, for all commands"
    )
    return values | {"host.firmware_ns": round(NS * mean)}
