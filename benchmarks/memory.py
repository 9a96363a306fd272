"""Memory of a page-mapped drive of 32 GiB with 4 KiB pages, all of it overwritten at random.

The figure is what the process has at its peak beyond what it had before the drive was
opened, per 4 KiB page written.
"""

import sys

from harness import Figure, Job, show

PAGE_BYTES = 4096
CAPACITY_BYTES = 32 << 30

DRIVE = Job(
    drive="mqsim-8g",
    state="random",  # of what was only written in order a formula knows where it is
    workload={"rw": "randread", "block_bytes": PAGE_BYTES, "iodepth": 32},
    # 16 planes of 8,810 blocks of 64 pages of 4 KiB, of which MQSim's 93 % are exported.
    sets=(f"nand.page_bytes={PAGE_BYTES}", "nand.blocks_per_plane=8810"),
)


def figures() -> list[Figure]:
    """Measure; this takes a few seconds."""
    report = DRIVE.run(10_000)
    capacity_bytes = report["capacity_bytes"]
    if abs(capacity_bytes / CAPACITY_BYTES - 1) > 0.01:
        sys.exit(f"error: the drive has {capacity_bytes} bytes, not 32 GiB")
    used_bytes = report["rss_peak_bytes"] - report["rss_before_bytes"]
    return [
        Figure(
            "memory per written 4 KiB page, 32 GiB drive",
            used_bytes / (capacity_bytes / PAGE_BYTES),
            "bytes",
            bar=12,
            binds=True,
            note=f"{used_bytes / 2**20:.0f} MiB in all",
        )
    ]


if __name__ == "__main__":
    sys.exit(show(figures()))
