"""What-if on a twin: the right direction and size, and clear words where it cannot be asked."""

import pytest

from ssdscope.errors import ConfigError, UsageError
from ssdscope.targets.drive_writer import drive_toml
from ssdscope.twin import open_twin, what_if
from ssdscope.workloads import Workload

TWIN = drive_toml(
    {
        "default_state": "sequential",
        "over_provisioning_ratio": 0.2,
        "nand.channels": 2,
        "nand.blocks_per_plane": 64,
        "nand.pages_per_block": 16,
        "nand.page_bytes": 4096,
        "nand.read_ns": 50_000,
        "nand.program_ns": 200_000,
        "nand.erase_ns": 1_000_000,
        "channel.ns_per_byte": 0.01,
        "host.bytes_per_second": 1e9,
        "ftl.kind": "page",
    },
    ["a twin"],
)
READ = Workload(rw="randread", requests=100)


def test_a_twin_is_opened_in_its_state_and_with_changes() -> None:
    device, slower = open_twin(TWIN, 1), open_twin(TWIN, 1, {"nand.read_ns": "100000"})
    assert device.info.capacity_bytes == slower.info.capacity_bytes
    one, other = (each.run(READ).only().latency_ns.mean for each in (device, slower))
    assert other - one == pytest.approx(50_000)


def test_a_change_has_its_effect_and_an_interval() -> None:
    write = Workload(rw="randwrite", requests=200)
    rows = what_if(TWIN, {"nand.read_ns": "100000"}, [READ, write], 1)
    assert [row.workload["rw"] for row in rows] == ["randread", "randwrite"]
    assert rows[0].low <= rows[0].ratio <= rows[0].high
    assert rows[0].ratio == pytest.approx(rows[0].changed_ns / rows[0].original_ns, rel=0.01)
    assert 1.8 < rows[0].ratio < 2.0, "link and transfer stay"
    assert 1.0 <= rows[1].ratio < 1.3, "of a write only what collection reads is slower"


def test_other_designs_say_how_far_a_ratio_may_be_off() -> None:
    quick = TWIN.replace("read_ns = 50000", "read_ns = 20000")
    assert quick != TWIN
    broken = TWIN.replace('kind = "page"', 'kind = "log-block"')
    change = {"nand.read_ns": "100000"}
    (alone,) = what_if(TWIN, change, [READ], 1)
    (row,) = what_if(TWIN, change, [READ], 1, others=[quick, broken])
    assert (row.ratio, row.low, row.high) == (alone.ratio, alone.low, alone.high)
    assert alone.least == alone.most == pytest.approx(alone.ratio, rel=0.01)
    assert row.least == alone.least
    assert row.most > 2 * row.least, "what the quick one reads in a fifth of the time"


def test_spare_space_shows_in_what_is_kept_up() -> None:
    change = {"over_provisioning_ratio": "0.5"}
    (row,) = what_if(TWIN, change, [Workload(rw="randwrite", requests=400)], 1, sustained=True)
    assert row.sustained
    assert row.high < 0.8


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"nand.raed_ns": "1us"}, "nand.read_ns"), ({"over_provisioning_ratio": "-1"}, "over_prov")],
)
def test_a_wrong_change_is_refused_with_its_name(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        what_if(TWIN, changes, [READ], 1)


def test_no_change_is_no_question() -> None:
    with pytest.raises(UsageError, match="nothing to change"):
        what_if(TWIN, {}, [READ], 1)
