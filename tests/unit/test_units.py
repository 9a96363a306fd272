"""Sizes, times, percentages and ranges: exact, and refused where they have two readings."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdscope.errors import UsageError
from ssdscope.units import (
    format_binary,
    format_capacity,
    format_duration,
    format_percent,
    format_size,
    parse_count,
    parse_duration,
    parse_microseconds,
    parse_percent,
    parse_seconds,
    parse_size,
    parse_sizes,
    parse_whole_percent,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("512", 512),
        ("512b", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("4KiB", 4096),
        ("4ki" + "b", 4096),
        ("1m", 2**20),
        ("1g", 2**30),
        ("1.5g", 3 * 2**29),
        ("2t", 2**41),
        ("0", 0),
        ("0.5k", 512),
    ],
)
def test_sizes_are_binary(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["4KB", "4kb", "1MB", "1.5GB"])
def test_a_size_with_two_readings_is_refused_with_both(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_size(text)
    readings = [
        parse_size(text[:-1]),
        int(float(text[:-2]) * 1000 ** " KMG".index(text[-2].upper())),
    ]
    for reading in readings:
        assert f"{reading:,} bytes" in refusal.value.message
        assert parse_size(format_size(reading)) == reading
    assert format_size(readings[0]) in str(refusal.value.hint)
    assert str(readings[1]) in str(refusal.value.hint)


@pytest.mark.parametrize(
    "text",
    ["", "k", "4x", "-4k", "4 k k", "0.3k", "1e3", "4k,8k", "9" * 30, "\u0664k", "4kk", "nan"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)


@given(st.integers(min_value=0, max_value=2**62))
def test_a_written_size_reads_back(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert parse_size(text) >= 0


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("10s", 10**10),
        ("500ms", 5 * 10**8),
        ("80us", 80_000),
        ("1.5us", 1_500),
        ("2m", 120 * 10**9),
        ("1h", 3600 * 10**9),
        ("7ns", 7),
        ("0", 0),
    ],
)
def test_times_carry_a_unit(text: str, duration_ns: int) -> None:
    assert parse_duration(text) == duration_ns


def test_a_time_without_a_unit_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="no unit") as refusal:
        parse_duration("80")
    assert "80us, 80ms, 80s or 80m" in str(refusal.value.hint)


def test_a_time_without_a_unit_has_the_one_of_fio_where_the_option_is_its() -> None:
    assert parse_seconds("1.5") == 1_500_000_000
    assert parse_seconds("2m") == 120_000_000_000
    assert parse_microseconds("80") == 80_000


@pytest.mark.parametrize("text", ["", "s", "5 parsecs", "-1s", "0.1ns"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_duration(text)


def test_percentages_need_their_sign() -> None:
    assert parse_percent("5%") == 0.05
    assert parse_percent("12.5%") == 0.125
    with pytest.raises(UsageError, match=r"can be read as 0\.05% or as 5%"):
        parse_percent("0.05")


def test_whole_percentages() -> None:
    assert parse_whole_percent("70") == parse_whole_percent("70%") == 70
    for text in ("101", "-1", "7.5", "", "%"):
        with pytest.raises(UsageError):
            parse_whole_percent(text)


def test_ranges_double_and_lists_are_kept() -> None:
    assert parse_sizes("1k:8k") == [1024, 2048, 4096, 8192]
    assert parse_sizes("64k,4k") == [65536, 4096]
    assert parse_sizes("1:16") == [1, 2, 4, 8, 16]
    assert parse_sizes("4:4") == [4]


@pytest.mark.parametrize("text", ["1k:3k", "8k:1k", "0:4k", "1k:", "1,,2"])
def test_ranges_that_never_end_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_sizes(text)


def test_counts_are_positive_whole_numbers() -> None:
    assert parse_count("20000") == 20_000
    for text in ("0", "-1", "1.5", "20k", "", "1_000"):
        with pytest.raises(UsageError):
            parse_count(text)


def test_numbers_for_people() -> None:
    assert format_capacity(512_110_190_592) == "512.1 GB"
    assert format_duration(81_234) == "81.23 us"
    assert format_duration(1.5e9) == "1.5 s"
    assert format_duration(30_005e9) == "30,005 s"


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (2**33, "8 GiB"),
        (7_988_633_600, "7.44 GiB"),
        (2**40, "1,024 GiB"),
    ],
)
def test_sizes_for_people_are_binary(size_bytes: int, text: str) -> None:
    assert format_binary(size_bytes) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100 %"), (0.996, "100 %"), (0.0213, "2.1 %"), (1e-4, "0.01 %"), (0, "0 %"),
        (12.34, "1,200 %"), (1e-9, "less than 0.0001 %"), (0.5, "50 %"), (3e-6, "0.0003 %"),
    ],
)  # fmt: skip
def test_shares_are_written_without_exponents(share: float, text: str) -> None:
    assert format_percent(share) == text
