"""The inside of a drive, drawn for a terminal, and where each of its values comes from.

Nothing here knows single keys, but for the shape of flash and of disks: what a drive file has in a
table is drawn under the table's name, so that a new mechanism is shown as soon as it has keys.
"""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from ssdscope.targets.provenance import Comments, Origin
from ssdscope.units import format_capacity, format_duration

WIDTH_MIN, WIDTH_MAX = 20, 110
_WAYS_DRAWN = 4
_COLUMN = 12
_NO_BREAK = "\N{NO-BREAK SPACE}"
_BARE = ("kind", "policy", "interface", "bytes", "bytes_per_second", "ns_per_byte")
"""Keys whose value says by itself what it is."""
_OUTSIDE = ("nand", "channel", "host", "disk")
"""Tables that are not of the controller."""
_SHAPE = ("channels", "ways", "dies", "planes", "blocks_per_plane", "pages_per_block", "page_bytes")

Tables = Mapping[str, Mapping[str, Any]]


def draw(drive: Mapping[str, Any], comments: Comments, capacity_bytes: int, width: int) -> str:
    """Draw a drive and list its values.

    Parameters
    ----------
    drive
        The resolved drive file.
    comments
        What the file says of its values.
    capacity_bytes
        What the drive exports.
    width
        Columns of the terminal.
    """
    width = min(max(width, WIDTH_MIN), WIDTH_MAX)
    tables = {name: values for name, values in drive.items() if isinstance(values, dict)}
    set_here = _set_in_file(tables, comments)
    told = (drive["description"], _capacity(drive, tables, capacity_bytes))
    lines = [line for each in told for line in textwrap.wrap(each, width)]
    lines += ["", *_controller(set_here, width)]
    lines += _disk(tables, width) if "disk" in tables else _flash(tables, set_here, width)
    lines += ["", *_values(drive, tables, comments, width)]
    return "\n".join(lines)


def shown(key: str, value: Any) -> str:
    """Write a value for people, with the unit that the key's name carries."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(shown(key, each) for each in value) or "none"
    if isinstance(value, str):
        return value
    if key.endswith("_ns"):
        return format_duration(value)
    if key.endswith("_ratio"):
        return f"{100 * value:.4g} %"
    if key.endswith("bytes_per_second"):
        return f"{value / 1e6:,.4g} MB/s"
    if key.endswith("ns_per_byte"):
        return f"{value:g} ns/byte"
    if key.endswith("bytes"):
        return _size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _size(size_bytes: int) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes and size_bytes % scale == 0:
            return f"{size_bytes // scale:,} {unit}"
    return f"{size_bytes:,} B"


def _set_in_file(tables: Tables, comments: Comments) -> Tables:
    return {
        name: {
            key: value
            for key, value in values.items()
            if comments.origin(f"{name}.{key}").line is not None
        }
        for name, values in tables.items()
    }


def _capacity(drive: Mapping[str, Any], tables: Tables, capacity_bytes: int) -> str:
    said = f"exports {format_capacity(capacity_bytes)}"
    if "nand" in tables:
        raw_bytes = 1
        for key in _SHAPE:
            raw_bytes *= tables["nand"][key]
        spare = raw_bytes / capacity_bytes - 1
        said += f" of {format_capacity(raw_bytes)} of flash, {100 * spare:.3g} % spare"
    return f"{said}; opened {drive['default_state']}"


def _phrase(values: Mapping[str, Any]) -> str:
    """Write a table in one line: ``32 MiB, unit 4 KiB, no host first``."""
    parts = []
    for key, value in sorted(values.items(), key=lambda item: item[0] not in _BARE):
        label = key
        for unit in ("_bytes", "_ns", "_ratio"):
            label = label.removesuffix(unit)
        label = label.replace("_", " ")
        if isinstance(value, bool):
            parts.append(label if value else f"no {label}")
        else:
            parts.append(shown(key, value) if key in _BARE else f"{label} {shown(key, value)}")
    return ", ".join(parts)


def _controller(set_here: Tables, width: int) -> Iterator[str]:
    """Draw the host link, and the controller as a box with a row for each of its tables."""
    link = _phrase(set_here.get("host", {})) or "a link with every default"
    yield "  host"
    yield from textwrap.wrap(link, width, initial_indent="   │  ", subsequent_indent="   │  ")
    yield f" ┌─┴{'─' * (width - 5)}┐"
    inner = {name: values for name, values in set_here.items() if name not in _OUTSIDE and values}
    label_width = max((len(name) for name in inner), default=0)
    for row in _box_rows(inner, label_width, width - 4) or ["controller"]:
        yield f" │ {row:<{width - 4}}│"
    yield f" └─┬{'─' * (width - 5)}┘"


def _box_rows(inner: Tables, label_width: int, width: int) -> list[str]:
    rows: list[str] = []
    for name, values in inner.items():
        label = f"{name.replace('_', ' '):<{label_width}}  "
        if len(label) > width // 2:
            rows.append(label.strip()[: width - 1])
            label = "  "
        rows += textwrap.wrap(
            _phrase(values), width - 1, initial_indent=label, subsequent_indent=" " * len(label)
        )
    return rows


def _flash(tables: Tables, set_here: Tables, width: int) -> Iterator[str]:
    """Draw channels side by side with their chips, and say what a chip is."""
    nand = tables["nand"]
    column = min(_COLUMN, (width - 3) // 2)
    room = max((width - 2) // column, 2)
    channels = [f"ch {index}" for index in range(nand["channels"])]
    if len(channels) > room:
        channels = [*channels[: room - 2], "…", channels[-1]]
    tees = ["┬" if index < len(channels) - 1 else "┐" for index in range(1, len(channels))]
    bus = "".join(f"{'─' * (column - 1)}{tee}" for tee in tees)
    yield f"   {'├' if tees else '│'}{bus}"
    yield "   " + "".join(f"{name:<{column}}" for name in channels).rstrip()
    ways = nand["ways"]
    drawn = min(ways, _WAYS_DRAWN)
    for way in range(drawn):
        last = way == drawn - 1
        number = ways - 1 if last else way
        label = f"─[chip {number}]" if column == _COLUMN else f" {number}"
        chip = f"{'└' if last else '├'}{label}"
        if last and ways > drawn:
            yield "   " + "".join(f"{'⋮':<{column}}" for _ in channels).rstrip()
        cells = [" " * column if name == "…" else f"{chip:<{column}}" for name in channels]
        yield "   " + "".join(cells).rstrip()
    times = {key: value for key, value in set_here["nand"].items() if key not in _SHAPE}
    chip_bytes = 1
    for key in _SHAPE[2:]:
        chip_bytes *= nand[key]
    told = (
        f"a chip: {_counted(nand['dies'], 'die')} x {_counted(nand['planes'], 'plane')} x "
        f"{nand['blocks_per_plane']:,} blocks x {nand['pages_per_block']:,} pages of "
        f"{_size(nand['page_bytes'])} = {_size(chip_bytes)}"
    )
    yield ""
    yield from textwrap.wrap(told, width, initial_indent="   ", subsequent_indent="     ")
    for label, values in (("its flash", times), ("a channel", set_here.get("channel", {}))):
        if values:
            text = f"{label}: {_phrase(values)}"
            yield from textwrap.wrap(text, width, initial_indent="   ", subsequent_indent="     ")


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def _disk(tables: Tables, width: int) -> Iterator[str]:
    """Draw the arm over the surfaces, and say what a surface is."""
    disk = tables["disk"]
    surfaces = disk["surfaces"]
    drawn = min(surfaces, _WAYS_DRAWN)
    for index in range(drawn):
        number = index if index < drawn - 1 else surfaces - 1
        if number != index:
            yield "   ⋮"
        side = "═" * min(_COLUMN, (width - 19) // 2)
        yield f"   {'├' if index < drawn - 1 else '└'}──◁ {side}╪{side} surface {number}"
    yield ""
    told = f"a spindle and an arm: {_phrase(disk)}"
    yield from textwrap.wrap(told, width, initial_indent="   ", subsequent_indent="     ")


def _values(
    drive: Mapping[str, Any], tables: Tables, comments: Comments, width: int
) -> Iterator[str]:
    """List every value with what the file says of it, table by table."""
    if comments.head:
        yield from textwrap.wrap(f"The file: {comments.head}", width)
    loose = {key: value for key, value in drive.items() if key not in tables}
    for name, values in {"": loose, **tables}.items():
        prefix = f"{name}." if name else ""
        stated: list[tuple[str, str, Origin]] = []
        silent: list[str] = []
        for key, value in values.items():
            origin = comments.origin(prefix + key)
            if key == "description":
                continue
            if origin.line is None:
                silent.append(f"{key} {shown(key, value)}")
            else:
                stated.append((key, shown(key, value), origin))
        yield ""
        if name:
            yield f"[{name}]"
        key_width = max((len(key) for key, _, _ in stated), default=0)
        value_width = max((len(value) for _, value, _ in stated), default=0)
        if key_width + value_width + 6 > width:
            key_width = value_width = 0
        for key, value, origin in stated:
            lead = f"  {key:<{key_width}}  {value:<{value_width}}  "
            said = {"line": origin.said, "table": origin.said}.get(origin.source, "see the file")
            if origin.source == "head" and not origin.said:
                said = "not said"
            yield from _hanging(lead, said, width)
        if silent:
            # A key and its value stay on one line.
            unbroken = ", ".join(each.replace(" ", _NO_BREAK) for each in silent)
            yield from (
                line.replace(_NO_BREAK, " ") for line in _hanging("  default  ", unbroken, width)
            )


def _hanging(lead: str, text: str, width: int) -> list[str]:
    """Put text behind a lead; under it where the lead leaves no room."""
    if lead.strip() and len(lead) > width - 20:
        below = " " * (8 if width > 40 else 4)
        wrapped = textwrap.wrap(lead.strip(), width, initial_indent="  ", subsequent_indent=below)
        return [*wrapped, *_hanging(below, text, width)]
    return textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=" " * len(lead)) or [
        lead.rstrip()
    ]
