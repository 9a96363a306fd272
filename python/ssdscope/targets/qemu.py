"""An export as a disk of a virtual machine: the arguments that QEMU's own NBD client takes.

Inside, the drive is a real NVMe disk, whose driver is the guest's own. Options of QEMU end at a
comma; one in a name is doubled (qemu(1), "-drive"). Lines of several servers can stand together:
their names are made of the address.
"""

import zlib
from pathlib import Path

from ssdscope.targets.names import printable
from ssdscope.targets.serving import Serving

LOGICAL_BLOCK_BYTES_USUAL = 512
"""Of QEMU's disks, unless it is told."""


def _words(values: dict[str, str]) -> str:
    return ",".join(f"{key}={value.replace(',', ',,')}" for key, value in values.items())


def arguments(
    how: Serving, port: int | None, *, read_only: bool, logical_block_bytes: int
) -> list[str]:
    """Give the two arguments, a drive and a device, with their options.

    Parameters
    ----------
    how
        How it is served. Where it listens on a socket and a port, QEMU takes the socket.
    port
        The port that it listens on, if any.
    read_only
        Clients may not write.
    logical_block_bytes
        Requests must be multiples of it.

    Examples
    --------
    >>> arguments(Serving(socket="/a"), None, read_only=False, logical_block_bytes=512)[3]
    'nvme,drive=ssd-1b67bf70,serial=SIM1B67BF70'
    """
    if how.socket is not None:
        # QEMU may be started in another folder than the server was.
        place = str(Path(how.socket).absolute())
        server = {"file.server.type": "unix", "file.server.path": place}
    else:
        place = str(port)
        server = {
            "file.server.type": "inet",
            "file.server.host": "127.0.0.1",
            "file.server.port": place,
        }
    address = f"{place}/{how.export}".encode(errors="surrogateescape")
    name = f"{zlib.crc32(address):08x}"
    drive = {"driver": "raw", "if": "none", "id": f"ssd-{name}", "file.driver": "nbd", **server}
    if how.export:
        drive["file.export"] = printable(how.export)
    drive |= {"read-only": "on"} if read_only else {"discard": "unmap"}
    device = {"drive": f"ssd-{name}", "serial": f"SIM{name.upper()}"}
    if logical_block_bytes != LOGICAL_BLOCK_BYTES_USUAL:
        device["logical_block_size"] = device["physical_block_size"] = str(logical_block_bytes)
    return ["-drive", _words(drive), "-device", f"nvme,{_words(device)}"]
