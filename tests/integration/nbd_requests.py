"""A client of a network block device that sends single requests, and gives the error of each."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES = 0, 1, 2, 3, 4, 6
FUA = 1


class Requests:
    """A connection in its transmission phase, by the fixed newstyle handshake."""

    def __init__(self, link: socket.socket) -> None:
        self.link, self.handle = link, 0
        greeting = self.take(18)
        assert greeting[:16] == b"NBDMAGICIHAVEOPT"
        self.link.sendall(struct.pack(">I", 3))
        self.link.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self.size_bytes, self.flags = struct.unpack(">QH", self.take(10))

    def take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.link.recv(count - len(data))
            assert piece, "the server went away"
            data += piece
        return data

    def ask(
        self, command: int, offset: int, length: int, data: bytes = b"", flags: int = 0
    ) -> tuple[int, bytes]:
        """Send one request: the number of its error, 0 if it was done, and what was read."""
        self.handle += 1
        head = struct.pack(">IHHQQI", 0x25609513, flags, command, self.handle, offset, length)
        self.link.sendall(head + data)
        magic, error, handle = struct.unpack(">IIQ", self.take(16))
        assert (magic, handle) == (0x67446698, self.handle)
        return error, self.take(length) if command == READ and not error else b""

    def write(self, offset: int, data: bytes, flags: int = 0) -> int:
        return self.ask(WRITE, offset, len(data), data, flags)[0]

    def read(self, offset: int, length: int) -> bytes:
        error, data = self.ask(READ, offset, length)
        assert error == 0
        return data


@contextmanager
def connected(place: Path) -> Iterator[Requests]:
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(30)
        link.connect(str(place))
        yield Requests(link)
        link.sendall(struct.pack(">IHHQQI", 0x25609513, 0, DISCONNECT, 0, 0, 0))
