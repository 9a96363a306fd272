"""What modern presets program and erase for a byte written, against closed forms.

Every block of theirs is erased once for each time it was written, so that what is erased follows
from what is programmed; what is programmed follows from what the host wrote, what folding moved
once more, and what collection moved. Fresh drives have their full size, those that are full are
made smaller as in `test_modern_drives.py`.
"""

import tomllib
from typing import Any

import pytest
from tests.integration.test_modern_drives import CONSUMER, SMALLER, smaller

from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_text
from ssdscope.workloads import Workload

PRESETS = ("nvme-datacentre", *(drive.preset for drive in CONSUMER))
SECOND = 1_000_000_000
PAGE = 4096


class Account:
    """A preset made smaller, and what its counters say of runs."""

    def __init__(self, preset: str, state: str) -> None:
        known = {drive.preset: drive for drive in CONSUMER}
        sets = smaller(known[preset]) if preset in known else list(SMALLER)
        sets = [] if state == "fresh" else sets
        self.device = open_target(f"sim:{preset}", state=state, sets=sets, seed=3).device
        self.keys = tomllib.loads(preset_text(preset))
        set_to = dict(each.split("=") for each in sets)
        pages = set_to.get("nand.pages_per_block", self.keys["nand"]["pages_per_block"])
        self.block_bytes = int(pages) * PAGE

    @property
    def fold_bytes(self) -> int:
        """Give what a superblock holds with one bit per cell; 0 if there are none."""
        nand = self.keys["nand"]
        planes = nand["channels"] * nand["ways"] * nand["planes"]
        bits = nand.get("bits_per_cell", 1) if "pslc" in self.keys else 0
        return planes * self.block_bytes // bits if bits else 0

    def run(self, rw: str, block_bytes: int, requests: int, **more: Any) -> dict[str, int]:
        """Write; give the bytes of each kind."""
        work = Workload(rw=rw, block_bytes=block_bytes, requests=requests, **more)
        counters = self.device.run(work).summary["counters"]
        return {
            "host": counters["host_bytes_written"],
            "programmed": counters["flash_bytes_programmed"],
            "folded": counters["pslc_pages_folded"] * PAGE,
            "moved": counters["gc_pages_moved"] * PAGE,
            "map": counters["map_write_backs"] * PAGE,
            "coalesced": counters["buffer_coalesced_bytes"],
            "erased": counters["block_erases"] * self.block_bytes,
        }


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("state", ["fresh", "sequential"])
def test_pauses_between_small_writes_cost_nothing(preset: str, state: str) -> None:
    """Two hundred pages, a second apart: a superblock was erased for each."""
    found = Account(preset, state).run("randwrite", PAGE, 200, thinktime_ns=SECOND)
    # The last one may be on its way.
    assert 199 * PAGE <= found["programmed"] <= found["host"] == 200 * PAGE
    assert found["erased"] == found["folded"] == found["moved"] == 0


@pytest.mark.parametrize("preset", PRESETS[1:])
def test_pauses_fold_what_is_full_once(preset: str) -> None:
    account = Account(preset, "fresh")
    requests = int(4.5 * account.fold_bytes / 131_072)
    found = account.run("write", 131_072, requests, thinktime_ns=SECOND)
    folds = found["host"] // account.fold_bytes
    assert folds == 4
    assert found["folded"] == folds * account.fold_bytes
    # The last request may be on its way.
    on_its_way = found["host"] + found["folded"] + found["map"] - found["programmed"]
    assert 0 <= on_its_way <= 131_072
    # With one bit per cell a block holds a share of what is erased with it.
    bits = account.keys["nand"]["bits_per_cell"]
    assert found["erased"] == bits * found["folded"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("rw", "block_bytes"), [("write", 131_072), ("randwrite", PAGE)])
def test_a_fresh_drive_programs_what_is_written(preset: str, rw: str, block_bytes: int) -> None:
    """Busy, nothing is moved: all but what is still in the buffer is programmed once."""
    account = Account(preset, "fresh")
    found = account.run(rw, block_bytes, (256 << 20) // block_bytes, iodepth=16)
    assert found["folded"] == found["moved"] == found["erased"] == 0
    buffered = found["host"] - found["coalesced"] + found["map"] - found["programmed"]
    assert 0 <= buffered <= account.keys["write_buffer"]["bytes"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("rw", "block_bytes"), [("write", 131_072), ("randwrite", PAGE)])
def test_no_more_is_erased_than_was_written(preset: str, rw: str, block_bytes: int) -> None:
    """But for what lay stale from the beginning on, which the spare space can hold."""
    account = Account(preset, "sequential")
    found = account.run(rw, block_bytes, (256 << 20) // block_bytes, iodepth=16)
    assert found["programmed"] <= found["host"] + found["folded"] + found["moved"] + found["map"]
    bits = account.keys["nand"].get("bits_per_cell", 1)
    spare = account.device.info.capacity_bytes * account.keys["over_provisioning_ratio"]
    assert found["erased"] <= found["programmed"] + (bits - 1) * found["folded"] + spare
