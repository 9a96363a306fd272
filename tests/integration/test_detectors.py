"""What is true of a drive comes from its file."""

from ssdscope.recovery.truth import Truth
from ssdscope.studies.detectors import Probed

KIB = 1024


def test_what_is_true_comes_from_the_preset_s_file() -> None:
    probed = Probed(seed=1)
    assert probed.truth("merge_unit_bytes", "sim:kuo-samsung-slc") == Truth(4 << 20)
    assert probed.truth("rmw_unit_bytes", "sim:ryu-a") == Truth(16 * KIB)
    assert probed.truth("allocation", "sim:ryu-c") == Truth("order")
    assert probed.truth("allocation", "sim:ryu-b") == Truth("address")
    zones = probed.truth("map_zone_bytes", "sim:ryu-a", ("map.zone_bytes=8m",))
    assert zones == Truth(8 << 20)
