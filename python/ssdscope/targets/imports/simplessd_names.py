"""SimpleSSD's names: version 2.1's for what 2.0 has in sections, and what has no meaning.

Its version 1.0 has neither sections nor times; those are constants of its sources, by kind of cell.
"""

from ssdscope.targets.drive_writer import Value

XML_NAMES = {
    "fil.Channel": ("pal", "Channel"),
    "fil.Way": ("pal", "Package"),
    "fil.nand.Die": ("pal", "Die"),
    "fil.nand.Plane": ("pal", "Plane"),
    "fil.nand.Block": ("pal", "Block"),
    "fil.nand.Page": ("pal", "Page"),
    "fil.nand.PageSize": ("pal", "PageSize"),
    "fil.nand.DMASpeed": ("pal", "DMASpeed"),
    "fil.nand.DataWidth": ("pal", "DMAWidth"),
    "fil.nand.NANDType": ("pal", "NANDType"),
    "fil.nand.PageAllocation": ("pal", "PageAllocation"),
    "fil.nand.timing.tBERS": ("pal", "Erase"),
    "ftl.common.SuperpageAllocation": ("pal", "SuperblockSize"),
    "ftl.SuperpageAllocation": ("pal", "SuperblockSize"),
    "ftl.MappingMode": ("ftl", "MappingMode"),
    "ftl.common.OverProvisioningRatio": ("ftl", "OverProvisioningRatio"),
    "ftl.OverProvisioningRatio": ("ftl", "OverProvisioningRatio"),
    "ftl.gc.GCThreshold": ("ftl", "GCThreshold"),
    "ftl.gc.VictimSelectionPolicy": ("ftl", "VictimSelectionPolicy"),
    "ftl.gc.DChoiceParam": ("ftl", "DChoiceParam"),
    "ftl.common.warmup.FillRatio": ("ftl", "FillRatio"),
    "ftl.common.warmup.InvalidFillRatio": ("ftl", "InvalidPageRatio"),
    "ftl.warmup.FillRatio": ("ftl", "FillRatio"),
    "ftl.warmup.InvalidFillRatio": ("ftl", "InvalidPageRatio"),
    "icl.CacheSize": ("icl", "CacheSize"),
    "icl.EnableCache": ("icl", "EnableCache"),
    "icl.CacheMode": ("icl", "CacheMode"),
    "icl.EnableReadPrefetch": ("icl", "EnableReadPrefetch"),
    "icl.prefetch.EnableReadPrefetch": ("icl", "EnableReadPrefetch"),
    "hil.interface.pcie.Generation": ("nvme", "PCIEGeneration1"),
    "hil.interface.pcie.Lane": ("nvme", "PCIELane"),
}
"""By the place in version 2.1's XML, section and name in version 2.0."""
LEVELS = {"0": ("LSB",), "1": ("LSB", "MSB"), "2": ("LSB", "CSB", "MSB")}
"""Pages of a cell, by NANDType."""
ELSEWHERE = {
    "cpu": "the controller's time of a command is host.firmware_ns",
    "memory": "the cache's memory takes no time",
    "dram": "the cache's memory takes no time",
    "hil": "the link is that of [host]",
    "ufs": "which interface there is, the file does not say: here NVMe",
    "sata": "which interface there is, the file does not say: here NVMe",
    "sim": "of the simulation",
}
"""Why values of other sections have no counterpart."""
WITHOUT_MEANING = {
    "pal": {"DMAWidth": "", "CSBRead": "", "CSBWrite": "", "MSBRead": "", "MSBWrite": ""},
    "ftl": {
        "FillingMode": "see `--state`",
        "GCReclaimThreshold": "collection goes on until the mark it began at",
        "RequestQueue": "what is in flight is the workload's `iodepth`",
        "DChoiceParam": "of another policy than the file's",
        "GCReclaimBlocks": "of another mode than the file's",
        "MapN": "of another map than the file's",
        "MapK": "of another map than the file's",
        "EnableRandomIOTweak": "there are no superblocks",
    },
    "icl": {
        "CacheWaySize": "the cache is associative throughout",
        "ReadPrefetchCount": "two reads that follow each other begin it",
        "ReadPrefetchRatio": "two reads that follow each other begin it",
        "EvictPolicy": "the fullest run of neighbours goes first",
        "EvictMode": "the fullest run of neighbours goes first",
        "CacheLatency": "the cache's memory takes no time",
        "CacheSize": "there is no cache",
        "ReadPrefetchMode": "a page of each plane is read ahead",
        "CacheMode": "see EnableCache",
        "EnableReadPrefetch": "there is no read cache",
    },
    "nvme": {
        "AXIBusWidth": "the link's packets go at the lanes' rate",
        "AXIClock": "the link's packets go at the lanes' rate",
        "FIFOTransferUnit": "the link's packets go at the lanes' rate",
        "WorkInterval": "a command is seen when its doorbell rings",
        "MaxRequestCount": "what is in flight is the workload's `iodepth`",
        "MaxIOCQueue": "see host.queues",
        "MaxIOSQueue": "see host.queues",
        "WRRHigh": "see host.arbitration",
        "WRRMedium": "see host.arbitration",
        "DefaultNamespace": "a drive is one namespace",
        "EnableDiskImage": "data are not kept",
        "StrictSizeCheck": "data are not kept",
        "DiskImageFile": "data are not kept",
        "DiskImageFile1": "data are not kept",
        "UseCopyOnWriteDisk": "data are not kept",
    },
}
OLD_TIMES: dict[str, dict[str, Value | list[int]]] = {
    "SLC": {
        "nand.read_ns": 25_000,
        "nand.program_ns": 300_000,
        "nand.erase_ns": 2_000_000,
        "nand.bits_per_cell": 1,
    },
    "MLC": {
        "nand.read_ns": 40_000,
        "nand.program_ns": 500_000,
        "nand.erase_ns": 3_500_000,
        "nand.bits_per_cell": 2,
        "nand.read_by_type_ns": [40_000, 90_000],
        "nand.program_by_type_ns": [500_000, 1_300_000],
    },
    "TLC": {
        "nand.read_ns": 58_000,
        "nand.program_ns": 558_000,
        "nand.erase_ns": 2_274_000,
        "nand.bits_per_cell": 3,
        "nand.read_by_type_ns": [58_000, 78_000, 107_000],
        "nand.program_by_type_ns": [558_000, 2_201_000, 5_001_000],
        "nand.type_order": "pairs",
    },
}
"""Version 1.0's times by kind of cell."""
OLD_GEOMETRY = {
    "NumChannel": "nand.channels",
    "NumPackage": "nand.ways",
    "NumDie": "nand.dies",
    "NumPlane": "nand.planes",
    "NumBlock": "nand.blocks_per_plane",
    "NumPage": "nand.pages_per_block",
    "SizePage": "nand.page_bytes",
    "FTLEraseCycle": "nand.endurance_erases",
}
OLD_BASE_MHZ, OLD_PAGE_BYTES, OLD_PAGE_NS = 50, 16_384, 185_000
"""Version 1.0's channel: a page of 16 KiB takes 185 us at 50 MHz."""
OLD_COMMAND_NS = {"read": 100, "program": 100, "erase": 1_500}
OLD_LETTERS = {"CHANNEL": "C", "PACKAGE": "W", "DIE": "D", "PLANE": "P"}
NO_OLD_MEANING = {
    **dict.fromkeys(
        ("ReadRatio", "RandomRatio", "RandomSeed", "IOCount", "IOGenRate", "IOGenCount"),
        "of the workload; see `run`",
    ),
    "DMAPreemption": "a transfer is never broken off",
    "FTLMapN": "the map is by the page",
    "FTLMapK": "the map is by the page",
}
