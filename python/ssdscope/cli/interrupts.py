"""Ctrl-C, SIGTERM and SIGHUP: all stop the work and keep what was measured.

Python raises KeyboardInterrupt between any two of its instructions, so also in the middle of
taking a chunk of the log, which would then be lost, or between the renames of files that belong
together. There the interrupt waits a moment and tries again; a timer brings it back, since nothing
else is sure to run.
"""

import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RETRY_S = 0.005
_WHOLE = {
    ("ssdscope.targets.device", "deliver_chunk"),
    ("ssdscope.results.publishing", "put_all"),
}
"""What is not interrupted, by module and function."""


came: list[int] = []
"""The signals that have stopped something, in order."""


def install() -> None:
    """Handle the signals of this process."""
    signal.signal(signal.SIGALRM, _interrupt)
    for number in SIGNALS:
        # A process started in the background has SIGINT ignored, under nohup SIGHUP: leave that.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        # The shell and the kernel each send one; the second must not end the keeping.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) in _WHOLE:
            signal.setitimer(signal.ITIMER_REAL, RETRY_S)
            return
        frame = frame.f_back
    came.append(number)
    raise KeyboardInterrupt
