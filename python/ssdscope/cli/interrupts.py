"""Ctrl-C and SIGTERM: both stop the work and keep what was measured.

Python raises KeyboardInterrupt between any two of its instructions, so also in the middle of
taking a chunk of the log, which would then be lost. There the interrupt waits a moment and
tries again; a timer brings it back, since nothing else is sure to run.
"""

import signal
from types import FrameType

RETRY_S = 0.005
_DELIVERY = ("ssdscope.targets.device", "deliver_chunk")


def install() -> None:
    """Handle the signals of this process."""
    signal.signal(signal.SIGALRM, _interrupt)
    for number in (signal.SIGINT, signal.SIGTERM):
        # A process started in the background has SIGINT ignored: leave that alone.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == _DELIVERY:
            signal.setitimer(signal.ITIMER_REAL, RETRY_S)
            return
        frame = frame.f_back
    raise KeyboardInterrupt
