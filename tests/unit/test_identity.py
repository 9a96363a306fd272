"""What a page calls targets, traces and machines, by how much it may say of them."""

import platform
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdscope.report.identity import Disclosure, Masked, last_digits
from ssdscope.report.replay import TraceFile
from ssdscope.targets import Target, open_target
from ssdscope.targets.presets import preset_text

SERIAL, WWN = "S4EW NX0M123456", "5002538e40a0b1c2"
BY_ID = "/dev/disk/by-id/nvme-Samsung_SSD_S4EW_NX0M123456"
ANONYMOUS, MASKED, WHOLE = Disclosure.ANONYMOUS, Disclosure.MASKED, Disclosure.WHOLE

Identify = Callable[[str], dict[str, Any]]


def identity(path: str) -> dict[str, Any]:
    """What the kernel would say of a drive with a serial number, or of a file on it."""
    return {
        "path": path,
        "real_path": path,
        "kind": "block" if path.startswith("/dev/") else "file",
        "device": "nvme0n1",
        "model": "Samsung SSD",
        "serial": SERIAL,
        "wwn": f"naa.{WWN}",
        "nvme": {"serial": SERIAL, "model": "Samsung SSD"},
        "queue": {"discard_max_bytes": "18446744073709551615"},
        "in_use": ["nvme0n1p2 is mounted at /srv/alice"],
        "token": "SERIAL:3456",
        "write_refusal": f"{path}: is a block device",
    }


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdscope.report.identity.identify", identity)
    monkeypatch.setattr(platform, "node", lambda: "Kronos.example.org")
    monkeypatch.setattr(platform, "release", lambda: "6.1.0-18-made-up")
    monkeypatch.setenv("SUDO_USER", "alice")
    monkeypatch.setenv("HOME", "/srv/alice")


def opened(uri: str) -> Target:
    """A target of that name, whatever is behind it."""
    return replace(open_target("null:"), uri=uri)


@pytest.mark.parametrize(
    ("uri", "anonymous", "masked"),
    [
        ("sim:mqsim-8g", "sim:mqsim-8g", "sim:mqsim-8g"),
        ("null:", "null:", "null:"),
        ("/data/big.bin", "FILE", "/data/big.bin"),
        ("/data/kronos/kronoscope.bin", "FILE", "/data/HOST/kronoscope.bin"),
        (f"/mnt/{WWN}/s4ew_nx0m123456.bin", "FILE", "/mnt/…b1c2/…3456.bin"),
        (BY_ID, "/dev/nvme0n1", "/dev/nvme0n1"),
        ("raid0:a.bin,b.bin", "raid0:(FILE-1),(FILE-2)?chunk=65536", "raid0:a.bin,b.bin"),
        ("raid0:a.bin,sim:msr-4gb", "raid0:(FILE),(sim:msr-4gb)?chunk=65536",
         "raid0:a.bin,sim:msr-4gb"),
    ],
)  # fmt: skip
def test_a_target_has_the_name_that_a_page_may_hold(uri: str, anonymous: str, masked: str) -> None:
    target = opened(uri)
    for disclosure, wanted in ((ANONYMOUS, anonymous), (MASKED, masked), (WHOLE, uri)):
        assert Masked(target, None, disclosure).target(target).uri == wanted


def test_a_device_without_a_name_of_the_kernel_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ssdscope.report.identity.identify", lambda path: identity(path) | {"device": None}
    )
    assert Masked(opened(BY_ID), None, MASKED).target(opened(BY_ID)).uri == "DEVICE"


def test_a_drive_file_and_what_it_says_of_its_owner_have_no_name(tmp_path: Path) -> None:
    path = tmp_path / "alice.toml"
    text = preset_text("msr-4gb").replace('description = "', 'description = "Alice on kronos: ')
    path.write_text(text, encoding="utf-8")
    target = open_target(str(path))
    shown = Masked(target, None, ANONYMOUS).target(target)
    assert shown.uri == "DRIVE.toml"
    assert shown.drive is not None
    assert shown.drive["description"].startswith("USER on HOST: ")
    assert shown.drive["nand"] == (target.drive or {})["nand"]


@pytest.mark.parametrize("disclosure", Disclosure)
def test_what_the_kernel_declares_is_masked(disclosure: Disclosure) -> None:
    target = opened(BY_ID)
    told = Masked(target, None, disclosure).declared(target)
    assert told is not None
    assert told["serial"] == (SERIAL if disclosure is WHOLE else "…3456")
    assert told["nvme"]["serial"] == told["serial"]
    assert told["wwn"] == (f"naa.{WWN}" if disclosure is WHOLE else "…b1c2")
    assert "token" not in told
    assert told["model"] == "Samsung SSD"
    assert told["queue"] == identity("")["queue"], "a number is no WWN"
    assert (BY_ID in str(told)) == (disclosure is WHOLE)
    assert ("/srv/alice" in str(told)) == (disclosure is not ANONYMOUS)
    assert ("path" in told) == (disclosure is not ANONYMOUS)


def test_the_machine_is_named_only_where_that_is_asked_for() -> None:
    told = {each: Masked(opened("null:"), None, each).provenance() for each in Disclosure}
    assert told[ANONYMOUS]["kernel"] == platform.system()
    assert told[MASKED]["kernel"].endswith("6.1.0-18-made-up")
    assert "host" not in told[ANONYMOUS]
    assert "host" not in told[MASKED]
    assert told[WHOLE]["host"] == "Kronos.example.org"


def test_what_errors_quote_is_masked_and_words_of_ours_are_not() -> None:
    """A file may be called like a word of ours; only where names are it is one."""
    target = opened("/data/secret/big.bin")
    trace = TraceFile(Path("read"))
    document = {
        "findings": [
            {"reason": "/data/secret/big.bin: gone", "probe": "read", "value": 4096},
            {"reason": "nvme-s4ew_nx0m123456 is slow; 1.5 to read", "value": None},
        ],
        "performance": {"trace": {"failure": "trace read, line 2: alice on kronos", "rate": 1.5}},
    }
    masked = Masked(target, trace, ANONYMOUS).document(document)
    assert masked == {
        "findings": [
            {"reason": "FILE: gone", "probe": "read", "value": 4096},
            {"reason": "nvme-…3456 is slow; 1.5 to read", "value": None},
        ],
        "performance": {"trace": {"failure": "trace TRACE, line 2: USER on HOST", "rate": 1.5}},
    }
    assert Masked(target, trace, WHOLE).document(document) == document


@pytest.mark.parametrize(
    ("serial", "shown"), [("S4EWNX0M123456", "…3456"), ("12345", "…2345"), ("1234", "…"), ("", "…")]
)
def test_four_digits_of_a_longer_serial_number_are_shown(serial: str, shown: str) -> None:
    assert last_digits(serial) == shown
