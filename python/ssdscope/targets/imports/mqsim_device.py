"""MQSim's device file (``ssdconfig.xml``): geometry, timing, caches, mapping, collection.

The rules are those of its sources of 2022, as docs/simulator.md holds our presets against them;
its faults come along, each marked. Times of NV-DDR2 commands are constants of its channel.
"""

import math
from xml.etree.ElementTree import Element

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.mqsim_names import DEFAULTS, OLD_NAMES, SECTIONS
from ssdscope.targets.imports.options import ImportOptions
from ssdscope.targets.imports.reading import (
    Account,
    Values,
    natural,
    overriding,
    positive,
    quantity,
    renamed,
    share,
    truth,
    unlike,
)
from ssdscope.targets.imports.writing import written
from ssdscope.targets.imports.xml_text import texts

Keys = dict[str, Value | list[int]]
SECTOR_BYTES = 512
LEAST_FREE_BLOCKS = 10
"""MQSim stops the host's writes and begins to collect at no less."""
HARD_LIMIT_BLOCKS = 20
"""And its hard limit is no less than this."""
BUFFER = ("Capacity", "DRAM_Data_Rate", "DRAM_Data_Busrt_Size")
LEAST_TRANSFER_NS = 0.01
POLICIES = {"GREEDY": "greedy", "RGA": "d-choices", "FIFO": "fifo", "RANDOM": "random"}
LEVELS = ("LSB", "CSB", "MSB", "WSB")
TECHNOLOGIES = {
    "SLC": ("LSB",),
    "MLC": ("LSB", "MSB"),
    "TLC": ("LSB", "CSB", "MSB"),
    "QLC": ("LSB", "CSB", "MSB", "WSB"),
}

SLC_UNKNOWN = "how an SLC cache of a fork fills and empties is not known here; see pslc.bytes"
ONLY = {
    "Memory_Type": ("FLASH", "there is no other memory"),
    "Address_Mapping": (
        "PAGE_LEVEL",
        "MQSim's hybrid map does nothing, and zones of its forks are not simulated here",
    ),
    "SLC_Cache_Enabled": ("false", SLC_UNKNOWN),
    "Initial_SLC_Blk_Per_Plane": ("0", SLC_UNKNOWN),
    "Support_Zone": ("false", "zones of MQSim's forks are not simulated here"),
}
NO_HOST_MEANING = {
    "SATA_Processing_Delay": "a fixed delay before and after each request, which no drive has",
    "Enable_ResponseTime_Logging": "`run --log FILE.parquet` logs every request",
    "ResponseTime_Logging_Period_Length": "`run --log FILE.parquet` logs every request",
}
NO_DEVICE_MEANING = {
    "Seed": "`--seed` is given where something is drawn",
    "IO_Queue_Depth": "what is in flight is the workload's `iodepth`",
    "Data_Cache_Sharing_Mode": "flows share the buffer",
    "Data_Cache_DRAM_Row_Size": "the buffer's memory has a time per byte only",
    "Data_Cache_DRAM_tRCD": "the buffer's memory has a time per byte only",
    "Data_Cache_DRAM_tCL": "the buffer's memory has a time per byte only",
    "Data_Cache_DRAM_tRP": "the buffer's memory has a time per byte only",
    "CMT_Sharing_Mode": "flows share the mapping cache",
    "Preferred_suspend_erase_time_for_read": "MQSim never suspends, whatever it says",
    "Preferred_suspend_erase_time_for_write": "MQSim never suspends, whatever it says",
    "Preferred_suspend_write_time_for_read": "MQSim never suspends, whatever it says",
    "Dynamic_Wearleveling_Enabled": "see wear.dynamic; MQSim's runs do not depend on it",
    "Static_Wearleveling_Enabled": "see wear.static_spread_erases; MQSim's moves go astray",
    "Static_Wearleveling_Threshold": "see wear.static_spread_erases; MQSim's moves go astray",
}
NO_FLASH_MEANING = {
    "CMD_Suspension_Support": "MQSim never suspends, whatever it says; see scheduler.suspend",
    "Suspend_Erase_Time": "MQSim never suspends, whatever it says",
    "Suspend_Program_Time": "MQSim never suspends, whatever it says",
    "Page_Metadat_Capacity": "MQSim does not move it over the channel; see nand.spare_bytes",
}


def drive(root: Element, path: str, account: Account, options: ImportOptions) -> str:
    """Write the drive file.

    Raises
    ------
    ConfigError
        If a value is missing, wrong, or of something that is not simulated here.
    """
    host, device, flash = (_section(root, name, path, account) for name in SECTIONS)
    values: Keys = {"description": "imported from a device file of MQSim"}
    for name, (allowed, why) in ONLY.items():
        (flash if name in flash.texts else device).only(name, allowed, why)
    values |= _use(device) | _nand(flash) | _geometry(device, flash)
    values |= _channel(device, options.transfer_rate)
    values |= _link(host, device) | _mapping(device, values) | _collection(device, values)
    values |= _scheduling(device) | _buffer(device)
    host.without_meaning(NO_HOST_MEANING)
    device.without_meaning(NO_DEVICE_MEANING)
    flash.without_meaning(NO_FLASH_MEANING)
    for each in (host, device, flash):
        each.name_the_rest()
    return written(values, account, path, ORIGINS)


def _section(root: Element, name: str, path: str, account: Account) -> Values:
    """Find a section by one of its names: forks have renamed some."""
    for place in SECTIONS[name]:
        element = root.find(place)
        if element is not None:
            given = renamed(texts(element), OLD_NAMES)
            return Values(f"{path}, <{element.tag}>", given, account, name, DEFAULTS[name])
    raise ConfigError(f"{path}: <{SECTIONS[name][0].replace('/', '> <')}> is missing")


ORIGINS = {
    "scheduler.die_interleave": "a fault of MQSim: the dies of a chip never overlap",
    "map.program_map": "a fault of MQSim: programs of mapping pages are never issued",
    "gc.min_free_blocks": "a constant of MQSim",
    "gc.stop_writes_blocks": "a constant of MQSim",
    "gc.max_victims": "a constant of MQSim",
    "gc.skip_every": "inferred from MQSim's write amplification, see docs/simulator.md",
    "over_provisioning_ratio": "MQSim's is a share of raw",
    "host.queue_depth": "MQSim's fetch size",
}


def _use(device: Values) -> Keys:
    used = device.take("Enabled_Preconditioning", truth)
    spare = device.take("Overprovisioning_Ratio", share)
    return {
        "default_state": "steady" if used else "fresh",
        "over_provisioning_ratio": 1 / (1 - spare) - 1,
    }


def _nand(flash: Values) -> Keys:
    technology = flash.take("Flash_Technology", str)
    names = flash.choose("Flash_Technology", TECHNOLOGIES)
    reads = [flash.take(f"Page_Read_Latency_{name}", positive) for name in names]
    programs = [flash.take(f"Page_Program_Latency_{name}", positive) for name in names]
    unused = [
        f"Page_{what}_Latency_{name}"
        for what in ("Read", "Program")
        for name in LEVELS
        if name not in names
    ]
    flash.without_meaning(dict.fromkeys(unused, f"{technology} has no such page"))
    values: Keys = {
        "nand.read_ns": reads[0],
        "nand.program_ns": programs[0],
        "nand.erase_ns": flash.take("Block_Erase_Latency", positive),
        "nand.endurance_erases": flash.take("Block_PE_Cycles_Limit", positive),
        "nand.bits_per_cell": len(names),
    }
    if unlike(reads):
        values["nand.read_by_type_ns"] = reads
    if unlike(programs):
        values["nand.program_by_type_ns"] = programs
    if len(names) == len(TECHNOLOGIES["TLC"]) and (unlike(reads) or unlike(programs)):
        values["nand.type_order"] = "pairs"
    if "Init_Bad_Block_Ratio" in flash:
        values["nand.bad_block_ratio"] = flash.take("Init_Bad_Block_Ratio", quantity) / 100
    return values


def _geometry(device: Values, flash: Values) -> Keys:
    return {
        "nand.channels": device.take("Flash_Channel_Count", positive),
        "nand.ways": device.take("Chip_No_Per_Channel", positive),
        "nand.dies": flash.take("Die_No_Per_Chip", positive),
        "nand.planes": flash.take("Plane_No_Per_Die", positive),
        "nand.blocks_per_plane": flash.take("Block_No_Per_Plane", positive),
        "nand.pages_per_block": flash.take("Page_No_Per_Block", positive),
        "nand.page_bytes": flash.take("Page_Capacity", positive),
    }


def _channel(device: Values, asked: str | None) -> Keys:
    """Return the channel's times."""
    device.only("Flash_Comm_Protocol", "NVDDR2", "the command times of others are not known here")
    return {
        "channel.ns_per_byte": _transfer_ns(device, asked)
        / device.take("Flash_Channel_Width", positive),
        "channel.read_command_ns": 290,
        "channel.read_command_extra_plane_ns": 650,
        "channel.program_command_ns": 361,
        "channel.program_command_extra_plane_ns": 816,
        "channel.erase_command_ns": 220,
        "channel.ready_busy_ns": 20,
    }


def _transfer_ns(device: Values, asked: str | None) -> float:
    """Return the time of a transfer.

    MQSim cuts it to whole nanoseconds: to none above 1,000 MT/s, for which stands the least that a
    channel here can take.
    """
    rate = device.take("Channel_Transfer_Rate", positive)
    stated, computed = 1000 / rate, 1000 // rate
    if stated == computed:
        return stated
    way = asked or ("computed" if computed else "stated")
    figures = {"stated": f"{stated:.4g} ns a transfer, as stated", "computed": f"{computed} ns"}
    other = {
        "stated": f"MQSim computes {computed} ns (`--transfer-rate computed`)",
        "computed": f"as MQSim computes it; stated are {stated:.4g} ns (`--transfer-rate stated`)",
    }
    device.account.note(f"Channel_Transfer_Rate = {rate}: {figures[way]}; {other[way]}")
    return max({"stated": stated, "computed": float(computed)}[way], LEAST_TRANSFER_NS)


def _link(host: Values, device: Values) -> Keys:
    interface = device.choose("HostInterface_Type", {"NVME": "nvme", "SATA": "sata"})
    lanes = host.take("PCIe_Lane_Count", positive)
    lane_rate = 1e9 * host.take("PCIe_Lane_Bandwidth", quantity)
    fetched = device.take("Queue_Fetch_Size", positive)
    if interface == "sata":
        return {"host.interface": interface, "host.queue_depth": fetched}
    return {
        "host.interface": interface,
        "host.lanes": lanes,
        "host.lane_bytes_per_second": lane_rate,
        "host.packet_payload_bytes": 128,
        "host.packet_overhead_bytes": 28,
        "host.queue_depth": fetched,
    }


def _mapping(device: Values, so_far: Keys) -> Keys:
    order = device.take("Plane_Allocation_Scheme", str).upper()
    values: Keys = {
        "ftl.kind": "page",
        "ftl.allocation": "address",
        "ftl.plane_order": order,
        "map.read_places": True,
    }
    if "Mapping_Unit" in device:
        unit, page = device.take("Mapping_Unit", positive), int(str(so_far["nand.page_bytes"]))
        if unit < page:
            raise ConfigError(
                f"{device.where}: Mapping_Unit is {unit}, part of a page of {page} bytes, and here "
                "whole pages are mapped",
                hint=f"{overriding('Mapping_Unit', str(page))} imports the drive so",
            )
        values["ftl.map_unit_bytes"] = unit
    if device.take("Ideal_Mapping_Table", truth):
        ideal = "all of the table is in RAM: Ideal_Mapping_Table"
        device.without_meaning({"CMT_Capacity": ideal, "CMT_Sharing_Mode": ideal})
        return values
    cache = device.take("CMT_Capacity", positive)
    sizes = ("channels", "ways", "dies", "planes", "blocks_per_plane", "pages_per_block")
    pages = math.prod(int(str(so_far[f"nand.{name}"])) for name in sizes)
    number_bits = math.ceil(math.log2(pages))
    sectors = int(str(so_far["nand.page_bytes"])) // SECTOR_BYTES
    return values | {
        "map.kind": "demand",
        "map.cache_bytes": cache,
        "map.cached_entry_bytes": math.ceil((2 * number_bits + sectors) / 8),
        "map.entry_bytes": math.ceil((number_bits + sectors) / 8),
        "map.load_bytes": SECTOR_BYTES,
        "map.program_map": False,
    }


def _collection(device: Values, so_far: Keys) -> Keys:
    blocks = int(str(so_far["nand.blocks_per_plane"]))
    policy = device.choose("GC_Block_Selection_Policy", POLICIES)
    low = device.take("GC_Exec_Threshold", share)
    hard = math.floor(device.take("GC_Hard_Threshold", quantity) * blocks)
    urgent = max(hard, HARD_LIMIT_BLOCKS)
    yields = device.take("Preemptible_GC_Enabled", truth)
    begins = max(math.floor(low * blocks), LEAST_FREE_BLOCKS)
    if yields and urgent >= begins:
        device.account.note(
            f"Preemptible_GC_Enabled = true: it begins at {begins} free blocks and must not yield "
            f"below {urgent}, so it never does"
        )
        yields = False
    values: Keys = {
        "gc.policy": policy,
        "gc.low_water_ratio": low,
        "gc.min_free_blocks": LEAST_FREE_BLOCKS,
        "gc.stop_writes_blocks": LEAST_FREE_BLOCKS,
        "gc.max_victims": LEAST_FREE_BLOCKS,
        "gc.exclusive": not yields,
        "gc.urgent_blocks": urgent,
        "gc.skip_every": 540,
        "gc.copyback": device.take("Use_Copyback_for_GC", truth),
    }
    if yields:
        values["gc.preemptible"] = True
    if policy == "d-choices":
        values["gc.choices"] = max(1, math.floor(math.log2(blocks)))
    return values


def _scheduling(device: Values) -> Keys:
    device.choose("Transaction_Scheduling_Policy", {"PRIORITY_OUT_OF_ORDER": 0, "OUT_OF_ORDER": 0})
    return {
        "scheduler.read_first": True,
        "scheduler.multi_plane": True,
        "scheduler.multi_plane_erase": True,
        "scheduler.data_first": True,
        "scheduler.die_interleave": False,
    }


def _buffer(device: Values) -> Keys:
    """Give the write cache: two bytes to a burst of its memory."""
    modes = {"SIMPLE": True, "ADVANCED": True, "TURNED_OFF": False}
    size, rate, burst = (f"Data_Cache_{each}" for each in BUFFER)
    if not device.choose("Caching_Mechanism", modes):
        off = "the cache is off: Caching_Mechanism"
        device.without_meaning(dict.fromkeys((size, rate, burst), off))
        return {}
    per_byte_ns = 1000 / device.take(rate, positive) / (2 * device.take(burst, positive))
    return {
        "write_buffer.bytes": device.take(size, natural),
        "write_buffer.ns_per_byte": per_byte_ns,
    }
