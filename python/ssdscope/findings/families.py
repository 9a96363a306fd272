"""Properties that belong together: what a drive reads fast, what it erases as one, and so on."""

from ssdscope.findings.properties import PROPERTIES

_NAMES = dict.fromkeys(name for each in PROPERTIES.values() for name in each.families)

FAMILIES: dict[str, tuple[str, ...]] = {
    name: tuple(key for key, each in PROPERTIES.items() if name in each.families) for name in _NAMES
}
"""Families by name; a property may be of two."""
