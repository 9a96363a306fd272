"""Sums, shares and percentiles by window, of values with the window each belongs to."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Values = npt.NDArray[np.generic]
Mask = npt.NDArray[np.bool_]


class Windows:
    """Requests cut into windows of equal length from the first arrival on.

    Parameters
    ----------
    arrival_ns
        Times of all requests, in order; shape (n,).
    window_ns
        The length of a window.

    Attributes
    ----------
    of
        The window of each request.
    count, counts
        How many windows there are, and how many requests in each.
    starts_ns
        When each begins.
    covered
        The share of each that lies before the last arrival.
    """

    def __init__(self, arrival_ns: npt.NDArray[np.uint64], window_ns: int) -> None:
        self.window_ns = window_ns
        self.arrival_ns: Ints = arrival_ns.astype(np.int64)
        self.of: Ints = self.arrival_ns // window_ns
        self.count = int(self.of[-1]) + 1 if len(self.of) else 0
        self.counts: Ints = np.bincount(self.of, minlength=self.count)
        self.starts_ns: Ints = np.arange(self.count, dtype=np.int64) * window_ns
        end = int(self.arrival_ns[-1]) + 1 if len(self.of) else 0
        self.covered: Floats = np.clip((end - self.starts_ns) / window_ns, 0, 1)

    def per_second(self, amounts: Values) -> Floats:
        """Divide what was counted in each window by its length."""
        return np.asarray(amounts, dtype=np.float64) / (self.window_ns / 1e9)

    def sum(self, values: Values, of: Ints | None = None) -> Floats:
        """Add values up by window."""
        total: Floats = np.bincount(
            self.of if of is None else of,
            weights=np.asarray(values, dtype=np.float64),
            minlength=self.count,
        ).astype(np.float64)
        return total

    def number(self, of: Ints) -> Ints:
        """Count by window."""
        return np.bincount(of, minlength=self.count)

    def mean(self, values: Values, of: Ints | None = None) -> Floats:
        """Average values by window."""
        of = self.of if of is None else of
        return divide(self.sum(values, of), self.number(of))

    def variance(self, values: Values, of: Ints) -> Floats:
        """Take the population variance by window, from deviations, so that nothing cancels."""
        deviations = np.asarray(values, dtype=np.float64) - self.mean(values, of)[of]
        return self.mean(deviations**2, of)

    def percentile(self, values: Values, of: Ints, percent: float) -> Floats:
        """Nearest-rank percentile by window."""
        ordered = np.asarray(values, dtype=np.float64)[np.lexsort((values, of))]
        counts = self.number(of)
        firsts = np.cumsum(counts) - counts
        ranks = np.maximum(np.ceil(counts * percent / 100).astype(np.int64), 1) - 1
        found = np.full(self.count, np.nan)
        some = counts > 0
        found[some] = ordered[(firsts + ranks)[some]]
        return found


def divide(above: Values, below: Values) -> Floats:
    """Divide, with NaN where there is nothing to divide by."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    share: Floats = np.full(len(above), np.nan)
    np.divide(above, below, out=share, where=below != 0)
    return share


def runs(*keys: Values) -> tuple[Ints, Ints]:
    """Find runs of equal keys in sorted columns: where each begins, and how long it is."""
    if not len(keys[0]):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    change = np.zeros(len(keys[0]), dtype=bool)
    change[0] = True
    for key in keys:
        change[1:] |= key[1:] != key[:-1]
    begins = np.flatnonzero(change)
    return begins, np.diff(np.append(begins, len(change)))
