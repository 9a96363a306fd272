"""DiskSim's layout models, as zones of equal width whose tracks shorten evenly.

DiskSim has zones of any width, spares and slipped sectors. Here the zones of a disk are equally
wide and their sectors per track fall on a straight line. So that line is laid through DiskSim's
zones such that the capacity is that of the file; the account says how far off the ends are.
"""

from dataclasses import dataclass

from ssdscope.errors import ConfigError
from ssdscope.targets.drive_writer import Value
from ssdscope.targets.imports.parv import Block
from ssdscope.targets.imports.reading import Account, Entry, Values, natural, positive

SECTOR_BYTES = 512
ZONES_MAX = 256
G4_ZONES = 16
"""Of a layout of tracks without zones."""
TRACK_TRIPLE = 3
NO_ZONE_MEANING = {
    "Offset of first block": "the first sector lies at the index mark",
    "Empty space at zone front": "capacity is met on the whole",
    "Skew for track switch": "tracks are skewed by just enough for the switch",
    "Skew for cylinder switch": "tracks are skewed by just enough for the switch",
    "Number of spares": "capacity is met on the whole",
    "slips": "no sector is slipped",
    "defects": "no sector is remapped",
}
NO_LAYOUT_MEANING = {
    "LBN-to-PBN mapping scheme": "sectors fill a cylinder, then the next",
    "Sparing scheme used": "there are no spares",
    "Rangesize for sparing": "there are no spares",
}


@dataclass(frozen=True)
class Zone:
    """Cylinders with the same number of sectors per track."""

    first: int
    last: int
    sectors: int


def geometry(layout: Block, model: Values, account: Account) -> dict[str, Value]:
    """Return surfaces, cylinders and sectors per track.

    Parameters
    ----------
    layout
        The layout model.
    model
        The values of the ``dm_disk``.
    account
        Of the file.

    Raises
    ------
    ConfigError
        If a value is missing or wrong, or the layout is of no known kind.
    """
    surfaces = model.take("Number of data surfaces", positive)
    cylinders = model.take("Number of cylinders", positive)
    sectors = model.take("Block count", positive)
    mean = sectors / (surfaces * cylinders)
    if layout.module == "dm_layout_g1":
        zones = _zones(layout, cylinders, account)
        count, fall = len(zones), _fall(zones)
        found = f"{count} zones of {zones[0].sectors} to {zones[-1].sectors} sectors a track"
    elif layout.module == "dm_layout_g4":
        longest = _longest_track(layout)
        count, fall = G4_ZONES, max(0.0, 2 * (longest - mean)) / cylinders
        found = f"tracks of up to {longest} sectors"
    else:
        raise ConfigError(
            f"{layout.where}: this layout is not known here", hint="dm_layout_g1 and _g4 are"
        )
    count = min(count, cylinders, ZONES_MAX)
    half = fall * cylinders * (count - 1) / count / 2
    outer = round(mean + half)
    inner = min(outer, round(2 * mean - outer)) if count > 1 else outer
    here = surfaces * _sectors_of_a_surface(cylinders, count, outer, inner)
    account.note(
        f"{found}: here {count} zones of equal width, from {outer} to {inner} on a straight line "
        f"through them; {here:,} sectors for a Block count of {sectors:,}"
    )
    return {
        "disk.surfaces": surfaces,
        "disk.cylinders": cylinders,
        "disk.zones": count,
        "disk.outer_sectors_per_track": outer,
        "disk.inner_sectors_per_track": inner,
    }


def _sectors_of_a_surface(cylinders: int, count: int, outer: int, inner: int) -> int:
    """Count the sectors as the simulator lays them out."""
    last = max(count, 2) - 1
    ends = [cylinders * each // count for each in range(count + 1)]
    return sum(
        (ends[each + 1] - ends[each]) * (outer - ((outer - inner) * each + last // 2) // last)
        for each in range(count)
    )


def _zones(layout: Block, cylinders: int, account: Account) -> list[Zone]:
    listed = layout.settings.get("Zones")
    blocks = (
        [each for each in listed if isinstance(each, Block)] if isinstance(listed, list) else []
    )
    if not blocks:
        raise ConfigError(f"{layout.where}: Zones is missing, or no list of zones")
    given = Values(layout.where, layout.texts(), account, "layout")
    given.without_meaning(NO_LAYOUT_MEANING)
    given.name_the_rest()
    zones = []
    for block in blocks:
        one = Values(block.where, block.texts(), Account())
        first, last = (one.take(f"{which} cylinder number", natural) for which in ("First", "Last"))
        if not first <= last < cylinders:
            raise ConfigError(
                f"{block.where}: cylinders {first} to {last} are not among the {cylinders}"
            )
        zones.append(Zone(first, last, one.take("Blocks per track", positive)))
    account.add(Entry("layout", "Zones", f"{len(zones)} zones", "taken"))
    for name in blocks[0].settings:
        if why := NO_ZONE_MEANING.get(name):
            entry = Entry("layout", name, f"in {len(zones)} zones", "without counterpart", why)
            account.add(entry)
    return sorted(zones, key=lambda each: each.first)


def _fall(zones: list[Zone]) -> float:
    """Return how many sectors a track loses per cylinder, by least squares over the cylinders."""
    if len(zones) == 1:
        return 0.0
    weights = [each.last - each.first + 1 for each in zones]
    middles = [(each.first + each.last) / 2 for each in zones]
    tracks = [each.sectors for each in zones]
    total = sum(weights)
    middle = sum(w * x for w, x in zip(weights, middles, strict=True)) / total
    mean = sum(w * y for w, y in zip(weights, tracks, strict=True)) / total
    spread = sum(w * (x - middle) ** 2 for w, x in zip(weights, middles, strict=True))
    common = sum(
        w * (x - middle) * (y - mean) for w, x, y in zip(weights, middles, tracks, strict=True)
    )
    return max(0.0, -common / spread)


def _longest_track(layout: Block) -> int:
    """Return the sectors of the longest track: TP lists first, last and number of each kind."""
    listed = layout.settings.get("TP")
    numbers = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    try:
        return max(int(each) for each in numbers[TRACK_TRIPLE - 1 :: TRACK_TRIPLE])
    except ValueError:
        raise ConfigError(f"{layout.where}: TP is missing, or no list of track patterns") from None
