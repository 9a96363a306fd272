"""How a probe ends that cannot go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdscope.findings import Evidence

if TYPE_CHECKING:
    from ssdscope.findings import Reason

__all__ = ["Stopped"]


class Stopped(Exception):  # noqa: N818 - no error: an answer that ends a probe
    """A probe cannot go on, for a reason of the closed list; what it left open gets that answer."""

    def __init__(
        self, reason: Reason, detail: str = "", *, evidence: Evidence | None = None
    ) -> None:
        super().__init__(detail or str(reason))
        self.reason = reason
        self.detail = detail
        self.evidence = evidence or Evidence(detail=detail or None)
