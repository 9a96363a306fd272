"""Exchanges two names, again and again, until its standard input ends; then says how often.

``python flipper.py LINK OTHER``. The kernel exchanges them in one step (``RENAME_EXCHANGE``), so
there is no moment without a name. Pauses are drawn from none to 200 us, with a longer one now and
then: who looks twice at a name meets both sides of it at any distance.
"""

import ctypes
import os
import random
import select
import sys
import time

AT_FDCWD = -100
RENAME_EXCHANGE = 2
PAUSE_S_MAX = 200e-6
LONG_PAUSE_S = 3e-3


def exchanger(one: str, other: str):
    """Give a function that exchanges two names."""
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    names = os.fsencode(one), os.fsencode(other)

    def exchange() -> None:
        if renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return exchange


def main() -> None:
    exchange, flips, draw = exchanger(*sys.argv[1:]), 0, random.Random(1)
    print("flipping", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(20):
            exchange()
            flips += 1
            pause_s = LONG_PAUSE_S if draw.random() < 0.02 else draw.random() * PAUSE_S_MAX
            end = time.perf_counter() + pause_s
            while time.perf_counter() < end:
                pass
    if flips % 2:
        exchange()
    print(flips + flips % 2, flush=True)


if __name__ == "__main__":
    main()
