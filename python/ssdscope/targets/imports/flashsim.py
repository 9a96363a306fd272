"""FlashSim's ``ssd.conf``, of Bjørling's version and its forks.

Its delays have no unit in the file; people write seconds or microseconds, some both. So the unit is
the one in which every delay is one of flash, and a file where there is none is refused.
"""

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.options import TIME_UNITS, ImportOptions
from ssdscope.targets.imports.reading import Account, Values, natural, positive, quantity
from ssdscope.targets.imports.settings_text import settings
from ssdscope.targets.imports.writing import written

UNIT_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LEAST_NS_PER_BYTE = 0.001
"""Of a channel here."""
FAST_LINK = 1e12
"""Bytes per second of a link that takes no time: FlashSim has none."""
SPARE_BLOCKS = 2
"""That a log-block drive needs besides its log."""
DEFAULTS = {
    "RAM_READ_DELAY": "0",
    "RAM_WRITE_DELAY": "0",
    "BUS_CTRL_DELAY": "0",
    "BUS_DATA_DELAY": "0",
    "PLANE_REG_READ_DELAY": "0",
    "PLANE_REG_WRITE_DELAY": "0",
    "BLOCK_ERASES": "1048675",
    "PAGE_SIZE": "4096",
    "FTL_IMPLEMENTATION": "0",
    "BAST_LOG_PAGE_LIMIT": "100",
    "FAST_LOG_PAGE_LIMIT": "4",
    "CACHE_DFTL_LIMIT": "8",
    "MAP_DIRECTORY_SIZE": "0",
}
"""What FlashSim's sources take for a value that is missing; its delays there are below 20 ns."""
GEOMETRY = (
    ("SSD_SIZE", "nand.channels", positive),
    ("PACKAGE_SIZE", "nand.dies", positive),
    ("DIE_SIZE", "nand.planes", positive),
    ("PLANE_SIZE", "nand.blocks_per_plane", positive),
    ("BLOCK_SIZE", "nand.pages_per_block", positive),
    ("PAGE_SIZE", "nand.page_bytes", positive),
    ("BLOCK_ERASES", "nand.endurance_erases", positive),
)
PLAUSIBLE_NS = {
    "PAGE_READ_DELAY": (1e3, 2e6),
    "PAGE_WRITE_DELAY": (1e4, 2e7),
    "BLOCK_ERASE_DELAY": (1e5, 1e8),
    "BUS_CTRL_DELAY": (0, 1e6),
    "BUS_DATA_DELAY": (0, 1e6),
}
"""Nanoseconds between which flash of all kinds lies."""
FTLS = {"0": "page", "1": "bast", "2": "fast", "3": "dftl"}
FORKS = {
    "GC_SCHEME": {"0": "page", "1": "fast"},
    "GC_ALGORITHM": {**FTLS, "5": "page"},
}
"""By a value that only a fork has, its numbers for the FTL."""
FTL_KEYS: dict[str, dict[str, Value]] = {
    "page": {"ftl.kind": "page"},
    "dftl": {"ftl.kind": "page", "map.kind": "demand"},
    "bast": {"ftl.kind": "log-block", "ftl.log_association": "one-to-one"},
    "fast": {"ftl.kind": "log-block", "ftl.log_association": "many-to-one"},
}
LIMITS = {"bast": "BAST_LOG_PAGE_LIMIT", "fast": "FAST_LOG_PAGE_LIMIT", "dftl": "CACHE_DFTL_LIMIT"}
POLICIES = {"0": "fifo", "1": "greedy", "2": "random", "3": "d-choices"}
ORDER = "pages go round the planes in order"
WITHOUT_MEANING = {
    "BUS_MAX_CONNECT": "a channel takes as many dies as there are",
    "BUS_TABLE_SIZE": "a channel's schedule has no end",
    "PAGE_ENABLE_DATA": "data are not kept",
    "MAP_DIRECTORY_SIZE": "the mapping table takes no blocks",
    "PARALLELISM_MODE": ORDER,
    "VIRTUAL_BLOCK_SIZE": ORDER,
    "VIRTUAL_PAGE_SIZE": ORDER,
    "RAID_NUMBER_OF_PHYSICAL_SSDS": "for FlashSim's RAID; see raid0:A,B",
}


def is_one(text: str) -> bool:
    """Say whether a text is FlashSim's."""
    words = {line.split(maxsplit=1)[0] for line in text.splitlines() if line.split()}
    return {"SSD_SIZE", "PAGE_READ_DELAY"} <= words


def drive(text: str, path: str, account: Account, options: ImportOptions) -> str:
    """Write the drive file.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, no unit fits all delays, or the FTL is not simulated here.
    """
    given = Values(path, settings(text, path, between=""), account, "", DEFAULTS)
    values: dict[str, Value] = {"description": "imported from a configuration of FlashSim"}
    values |= {key: given.take(name, kind) for name, key, kind in GEOMETRY}
    page_bytes = int(str(values["nand.page_bytes"]))
    values |= _times(given, _unit_ns(given, options.time_unit), page_bytes)
    values |= _ftl(given, values)
    values |= {
        "host.bytes_per_second": FAST_LINK,
        "scheduler.multi_plane": False,
    }
    account.note("host.bytes_per_second: FlashSim has no link to the host; here one of no time")
    without = {name: why for name, why in WITHOUT_MEANING.items() if name in given.texts}
    limits = dict.fromkeys(LIMITS.values(), "of another FTL than the file's")
    given.without_meaning({**without, **{n: w for n, w in limits.items() if not given.is_taken(n)}})
    given.name_the_rest()
    return written(values, account, path)


def _unit_ns(given: Values, asked: str | None) -> int:
    """Find the unit in which all delays are those of flash."""
    if asked:
        return UNIT_NS[asked]
    delays = {name: given.take(name, quantity) for name in PLAUSIBLE_NS}
    fits = [
        name
        for name, ns in UNIT_NS.items()
        if all(
            low <= round(delays[delay] * ns, 3) <= high
            for delay, (low, high) in PLAUSIBLE_NS.items()
        )
    ]
    if len(fits) == 1:
        given.account.note(f"delays are in {fits[0]}: in no other unit all are those of flash")
        return UNIT_NS[fits[0]]
    shown = ", ".join(f"{name} {delay:g}" for name, delay in delays.items())
    units = " and ".join(fits) or "no unit"
    raise ConfigError(
        f"{given.where}: the delays are those of flash in {units}: {shown}",
        hint=f"--time-unit {'|'.join(TIME_UNITS)} reads all; --override NAME=VALUE mends one",
    )


def _times(given: Values, unit_ns: int, page_bytes: int) -> dict[str, Value]:
    def ns(name: str) -> float:
        return unit_ns * given.take(name, quantity)

    control = ns("BUS_CTRL_DELAY")
    return {
        "nand.read_ns": round(ns("PAGE_READ_DELAY") + ns("PLANE_REG_READ_DELAY")),
        "nand.program_ns": round(ns("PAGE_WRITE_DELAY") + ns("PLANE_REG_WRITE_DELAY")),
        "nand.erase_ns": round(ns("BLOCK_ERASE_DELAY")),
        "channel.ns_per_byte": max(ns("BUS_DATA_DELAY") / page_bytes, LEAST_NS_PER_BYTE),
        "channel.read_command_ns": round(control),
        "channel.program_command_ns": round(control),
        "channel.erase_command_ns": round(control),
        "channel.ready_busy_ns": round(control),
        "host.firmware_ns": round(ns("RAM_READ_DELAY") + ns("RAM_WRITE_DELAY")),
    }


def _ftl(given: Values, so_far: dict[str, Value]) -> dict[str, Value]:
    """Return the FTL, and the spare space that it needs or a fork's file has."""
    numbers = next((each for mark, each in FORKS.items() if mark in given), FTLS)
    ftl = given.choose("FTL_IMPLEMENTATION", numbers)
    values = dict(FTL_KEYS[ftl])
    planes = ("channels", "dies", "planes", "blocks_per_plane")
    blocks = 1
    for each in planes:
        blocks *= int(str(so_far[f"nand.{each}"]))
    if ftl in ("bast", "fast"):
        limit = given.take(LIMITS[ftl], positive)
        values["ftl.merge_unit_bytes"] = int(str(so_far["nand.pages_per_block"])) * int(
            str(so_far["nand.page_bytes"])
        )
        values["ftl.log_blocks"] = limit
        kept = limit + SPARE_BLOCKS + given.take("MAP_DIRECTORY_SIZE", natural)
        if kept >= blocks:
            raise ConfigError(
                f"{given.where}: {LIMITS[ftl]} is {limit}, and the flash has {blocks} blocks"
            )
        values["over_provisioning_ratio"] = blocks / (blocks - kept) - 1
        given.account.note(f"over_provisioning_ratio: the {kept} blocks of log, map and merges")
        return values
    if ftl == "dftl":
        pages = given.take(LIMITS[ftl], positive)
        page_bytes = int(str(so_far["nand.page_bytes"]))
        values |= {"map.cache_bytes": pages * page_bytes, "map.load_bytes": page_bytes}
    return values | _spare(given) | _collection(given)


def _spare(given: Values) -> dict[str, Value]:
    for name, whole in (("SPARE_FACTOR", 1), ("OVERPROVISIONING", 100)):
        if name in given:
            kept = given.take(name, quantity) / whole
            if kept >= 1:
                raise ConfigError(f"{given.where}: {name} is all of the flash")
            return {"over_provisioning_ratio": 1 / (1 - kept) - 1}
    given.account.note(
        "over_provisioning_ratio: FlashSim exports all of the flash; here 7 % are kept back"
    )
    return {"over_provisioning_ratio": 0.07}


def _collection(given: Values) -> dict[str, Value]:
    if "GC_ALGORITHM" not in given:
        return {}
    policy = given.choose("GC_ALGORITHM", POLICIES)
    values: dict[str, Value] = {"gc.policy": policy}
    if policy == "d-choices":
        values["gc.choices"] = given.take("DCHOICES_D", positive)
    return values
