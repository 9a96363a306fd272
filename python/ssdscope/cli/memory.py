"""What is said when memory, or the room for threads, runs out in Python."""

HINT = (
    "a smaller drive, a lower iodepth or a shorter run needs less; ulimit -v, ulimit -u and the "
    "machine's memory are the limits"
)


def is_exhaustion(failure: BaseException) -> bool:
    """Say whether something failed because memory or threads ran out."""
    return isinstance(failure, MemoryError) or "can't start new thread" in str(failure)


def words(failure: BaseException) -> str:
    """Say what was asked for, as far as it is known: numpy and pyarrow name it."""
    asked = str(failure).strip().rstrip(".")
    return f"out of memory: {asked[:1].lower()}{asked[1:]}" if asked else "out of memory"
