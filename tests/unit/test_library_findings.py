"""Findings of the library: a mapping, a line each, a table."""

import pytest

from ssdscope.api.findings import Findings
from ssdscope.errors import UsageError
from ssdscope.findings import Absent, Ambiguous, Detected, Reason, Undetectable

EVERY = (
    Detected(
        name="rmw_unit_bytes", probe="units", value=16384, interval=None, effect=0.5, requests=9
    ),
    Detected(
        name="read_latency_alpha_ns",
        probe="latency",
        value=351_433.02,
        interval=(351_000.0, 352_000.0),
        effect=0.78,
        bytes_written=4096,
    ),
    Detected(name="allocation", probe="allocation", value="order", interval=None, effect=0.2),
    Absent(name="read_ahead_bytes", probe="caches", bound=0.01, reason="no step"),
    Ambiguous(
        name="map_zone_bytes", probe="table", candidates=(1 << 20, 1 << 21), reason="two fit"
    ),
    Undetectable(name="pslc_bytes", probe="region", reason=Reason.BUDGET_EXHAUSTED),
)


def test_findings_are_a_mapping_by_property() -> None:
    found = Findings(EVERY, seed=1)
    assert list(found) == [each.name for each in EVERY]
    assert isinstance(found["allocation"], Detected)
    assert found["allocation"].to_json() == EVERY[2].to_json()
    assert found["allocation"] == Findings(EVERY)["allocation"]
    assert found.get("latency") is None
    assert "latency" not in found
    with pytest.raises(KeyError):
        found["latency"]
    with pytest.raises(UsageError) as refusal:
        found["pslc_byte"]
    assert str(refusal.value) == "there is no finding 'pslc_byte'"
    assert (refusal.value.hint or "").startswith("did you mean pslc_bytes?")


def test_each_shows_itself_in_a_line() -> None:
    lines = dict(line.split(maxsplit=1) for line in repr(Findings(EVERY, seed=1)).splitlines())
    assert lines == {
        "rmw_unit_bytes": "16,384 bytes",
        "read_latency_alpha_ns": "351,433 ns (351,000 to 352,000)",
        "allocation": "order",
        "read_ahead_bytes": "absent",
        "map_zone_bytes": "1,048,576 or 2,097,152 bytes",
        "pslc_bytes": f"not tried: {Reason.BUDGET_EXHAUSTED}",
    }
    assert repr(Findings([], seed=1)) == "no findings"


def test_the_table_has_numbers_apart_from_words() -> None:
    rows = {row["property"]: row for row in Findings(EVERY, seed=1).to_frame().to_pylist()}
    assert len(rows) == len(EVERY)
    assert rows["rmw_unit_bytes"]["value"] == 16384.0
    assert rows["rmw_unit_bytes"]["text"] is None
    assert rows["rmw_unit_bytes"]["requests"] == 9
    assert (rows["allocation"]["value"], rows["allocation"]["text"]) == (None, "order")
    alpha = rows["read_latency_alpha_ns"]
    assert (alpha["low"], alpha["high"], alpha["unit"]) == (351_000.0, 352_000.0, "ns")
    assert rows["read_ahead_bytes"]["bound"] == 0.01
    assert rows["map_zone_bytes"]["outcome"] == "ambiguous"
    assert rows["map_zone_bytes"]["candidates"] == ["1048576", "2097152"]
    assert rows["pslc_bytes"]["reason"] == str(Reason.BUDGET_EXHAUSTED)
    assert Findings([], seed=1).to_frame().num_rows == 0
