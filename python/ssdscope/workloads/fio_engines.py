"""Engines of fio: which ask a drive for the same requests as ours, and what the others measure."""

ONE_IN_FLIGHT = ("psync", "pvsync", "pvsync2", "sync", "vsync")
"""Engines that have one request in flight, whatever ``iodepth`` says; fio's default is psync."""

QUEUING = (
    "io_uring",
    "io_uring_cmd",
    "libaio",
    "libblkio",
    "nbd",
    "null",
    "posixaio",
    "sg",
    "solarisaio",
    "windowsaio",
    "xnvme",
)
"""Engines that keep ``iodepth`` requests in flight."""

DEFAULT_ENGINE = "psync"

_NETWORK = "it measures a network"
_SERVICE = "it measures a storage service over a network, not a drive"
_CACHE = "it goes through the page cache, and measures memory"
_FILES = "it measures what a file system does with names and extents"
_MEMORY = "it measures persistent memory, which has no block device in between"
_GPU = "it measures transfers to the memory of a GPU"
_ENGINES_REFUSED = {
    _NETWORK: ("net", "netsplice", "rdma"),
    _SERVICE: (
        "dfs", "gfapi", "gfapi_async", "http", "ime_aio", "ime_psync", "ime_psyncv", "libhdfs",
        "libiscsi", "nfs", "rados", "rbd",
    ),
    _CACHE: ("mmap", "splice"),
    _FILES: (
        "dircreate", "dirdelete", "dirstat", "e4defrag", "falloc", "filecreate", "filedelete",
        "filestat", "filexattr", "fileoperate", "ftruncate",
    ),
    _MEMORY: ("dev-dax", "libpmem", "pmemblk"),
    _GPU: ("libcufile", "libhipfile"),
    "zones of a device are not walked": ("libzbc",),
    "raw flash has no FTL in it": ("mtd",),
    "it keeps a processor busy, and no drive": ("cpuio",),
    "a job file never starts programs here": ("exec",),
    "it is an example of how to write an engine": ("cpp_null",),
}  # fmt: skip
_PREFIXES = {"librpma": _NETWORK, "external": "a job file never loads programs here"}


def engine_refusal(name: str) -> str | None:
    """Say why an engine measures something else; None if it does not, or is unknown."""
    for reason, engines in _ENGINES_REFUSED.items():
        if name in engines:
            return reason
    return next((why for prefix, why in _PREFIXES.items() if name.startswith(prefix)), None)


def all_engines() -> tuple[str, ...]:
    """List every engine that is known, for hints."""
    refused = (name for engines in _ENGINES_REFUSED.values() for name in engines)
    return (*ONE_IN_FLIGHT, *QUEUING, *refused)
