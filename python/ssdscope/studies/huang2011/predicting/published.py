"""What tables II to VI of the paper print of its models, and the tree of figure 8.

MAE in the unit of the table: ms, MB/s, IO/s. Relative errors in percent.
"""

from dataclasses import dataclass

TARGETS = ("latency", "bandwidth", "iops")
"""In the order of the tables' parts."""
UNITS = {
    "latency": ("latency", "ms", 1e6),
    "bandwidth": ("bandwidth", "MB/s", 1e6),
    "iops": ("throughput", "IO/s", 1.0),
}
"""The paper's word, its unit, and how many of ours make one."""


@dataclass(frozen=True)
class Printed:
    """One row of a table: how good a model is.

    Attributes
    ----------
    mae, mean
        None in table IV, which leaves them out.
    """

    r2: float
    mre: float
    mae: float | None = None
    mean: float | None = None


Rows = dict[str, dict[str, Printed]]
"""By target, then by device (or kind of workload and device)."""


def _rows(latency: str, bandwidth: str, iops: str) -> Rows:
    """Read the three parts of a table: device, R2, MAE, mean, MRE in each line."""
    found: Rows = {}
    for target, text in zip(TARGETS, (latency, bandwidth, iops), strict=True):
        found[target] = {}
        for line in text.strip().splitlines():
            device, r2, mae, mean, mre = line.split()
            found[target][device] = Printed(float(r2), float(mre), float(mae), float(mean))
    return found


BASIC = _rows(
    """
    HDD_S 0.808 28.94 94.61 90
    SSD_I 0.627 6.90 15.97 63
    SSD_A 0.926 5.61 36.31 23
    SSD_S 0.693 14.21 34.90 55
    Array_I 0.763 3.21 8.78 59
    """,
    """
    HDD_S 0.281 7.29 14.63 110
    SSD_I 0.515 21.87 68.61 40
    SSD_A 0.570 15.72 38.17 86
    SSD_S 0.548 13.66 36.33 63
    Array_I 0.446 41.87 98.82 60
    """,
    """
    HDD_S 0.080 467 664 50
    SSD_I 0.500 1547 3967 53
    SSD_A 0.765 246 1054 19
    SSD_S 0.459 749 1702 48
    Array_I 0.399 1980 4346 52
    """,
)
"""Tables II and, of Array_I, V."""

EXTENDED = _rows(
    """
    HDD_S 0.866 17.96 94.61 26
    SSD_I 0.986 1.42 15.97 12
    SSD_A 0.976 3.16 36.31 9
    SSD_S 0.911 6.22 34.90 20
    Array_I 0.939 1.43 8.15 23
    """,
    """
    HDD_S 0.768 3.67 14.63 35
    SSD_I 0.981 3.91 68.61 6
    SSD_A 0.882 6.29 38.17 18
    SSD_S 0.917 5.21 36.33 19
    Array_I 0.885 18.45 101.70 25
    """,
    """
    HDD_S 0.870 152 664 18
    SSD_I 0.970 254 3967 6
    SSD_A 0.971 74 1054 8
    SSD_S 0.951 212 1702 15
    Array_I 0.860 934 4875 17
    """,
)
"""Tables III and, of Array_I, VI."""

SPECIFIC_DEVICES = ("HDD_S", "SSD_I", "SSD_A")
SPECIFIC: dict[str, dict[str, tuple[float, ...]]] = {
    "latency": {
        "rd_only": (0.953, 0.999, 0.999, 18, 4, 1),
        "wr_only": (0.942, 0.996, 0.990, 17, 4, 7),
        "rand_only": (0.910, 0.975, 0.991, 29, 15, 5),
        "seq_only": (0.933, 0.954, 0.989, 16, 12, 6),
        "rand_rd": (0.965, 0.999, 0.968, 46, 2, 8),
        "rand_wr": (0.984, 0.993, 0.993, 9, 9, 5),
        "seq_rd": (0.964, 0.999, 0.999, 8, 2, 6),
        "seq_wr": (0.961, 0.999, 0.998, 7, 7, 3),
    },
    "bandwidth": {
        "rd_only": (0.923, 0.994, 1, 15, 4, 0.4),
        "wr_only": (0.911, 0.978, 0.990, 15, 4, 4),
        "rand_only": (0.879, 0.980, 0.960, 15, 7, 12),
        "seq_only": (0.915, 0.996, 0.977, 16, 3, 11),
        "rand_rd": (0.891, 0.999, 1, 11, 1, 0.3),
        "rand_wr": (0.963, 0.946, 0.993, 9, 7, 4),
        "seq_rd": (0.920, 0.999, 1, 9, 2, 0.4),
        "seq_wr": (0.909, 0.995, 0.998, 9, 2, 1),
    },
    "iops": {
        "rd_only": (0.970, 0.979, 1, 14, 4, 0.4),
        "wr_only": (0.975, 0.996, 0.816, 16, 4, 7),
        "rand_only": (0.049, 0.987, 0.999, 11, 6, 4),
        "seq_only": (0.987, 0.996, 0.998, 13, 4, 3),
        "rand_rd": (0, 0.998, 1, 9, 3, 0.3),
        "rand_wr": (0.946, 0.989, 0.255, 9, 6, 5),
        "seq_rd": (0.990, 0.996, 1, 10, 1, 0.4),
        "seq_wr": (0.993, 0.996, 0.999, 9, 2, 2),
    },
}
"""Table IV by the names of `models.features.WORKLOADS`: R2 of three devices, then MRE."""


def specific(target: str, workload: str, device: str) -> Printed:
    """Look a row of table IV up."""
    numbers = SPECIFIC[target][workload]
    place = SPECIFIC_DEVICES.index(device)
    return Printed(numbers[place], numbers[len(SPECIFIC_DEVICES) + place])


FIRST_SPLITS = ("wr_rand", "q_dep")
"""Figure 8: what its tree for the bandwidth asks first, and then."""
