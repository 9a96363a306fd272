"""QEMU's monitor, as far as the laboratory needs it: one command, one answer."""

import json
import socket
from pathlib import Path
from typing import Any


class MonitorError(Exception):
    """QEMU refused a command."""


class Monitor:
    """A connection to the monitor of a running QEMU."""

    def __init__(self, path: Path, patience_s: float = 60) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience_s)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("r", encoding="utf-8")
        self._lines.readline()  # the greeting
        self.ask("qmp_capabilities")

    def ask(self, command: str, **arguments: Any) -> Any:
        """Run a command; give what it returns."""
        request = {"execute": command, "arguments": arguments}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                raise MonitorError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:  # else an event
                return answer["return"]
        raise MonitorError(f"{command}: QEMU is gone")

    def close(self) -> None:
        """Let go of it."""
        self._lines.close()
        self._socket.close()
