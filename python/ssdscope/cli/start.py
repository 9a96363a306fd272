"""The first thing that runs: it takes Ctrl-C and its like before anything slow is imported."""

import signal
import sys

from ssdscope.cli import interrupts
from ssdscope.errors import EXIT_INTERRUPTED


def main() -> None:
    """Run the command line of this process."""
    try:
        interrupts.install()
        from ssdscope.cli.app import run_cli

        status = run_cli(sys.argv[1:])
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    # On the way out nothing is left to keep: an interrupt simply ends the process.
    for number in interrupts.SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(status)
