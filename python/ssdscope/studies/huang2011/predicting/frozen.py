"""Which presets the models are held to: those that stood before any model was fitted.

A drive could be changed until its models come out as the paper's. So the five presets, fitted to
the paper's means and figures alone, were frozen when that was done, an hour before the first
model learnt from their runs. `FROZEN` has the digest of each resolved drive (`Target.fingerprint`,
which every collection records, and without which none is gone on with). Tables say whether it is
still that, and a test fails if it is not: then change `FROZEN` too, and say why in `SINCE`.
"""

from collections.abc import Sequence
from dataclasses import replace

from ssdscope.studies.huang2011.means import PUBLISHED
from ssdscope.targets import Target, open_target

SINCE = "2026-11-20, before any model was fitted (and since told by keys for rules they had)"
FROZEN = {
    "HDD_S": "0bd8cf0de90f3802",
    "SSD_I": "fbfa8f318237d07b",
    "SSD_A": "bfc6e7aee88df869",
    "SSD_S": "dd9922d6d3252cfa",
    "Array_I": "fe9a7a7ba2da277d",
}


def digest(device: str) -> str:
    """Give the digest of a device's preset as it is, without bringing a drive into its state."""
    fresh = open_target(f"sim:{PUBLISHED[device].drive}", state="fresh", seed=1)
    return str(_at_default(fresh).fingerprint())


def _at_default(target: Target) -> Target:
    members = tuple(_at_default(member) for member in target.members)
    state = None if target.drive is None else target.drive["default_state"]
    return replace(target, state=state, members=members)


def note(devices: Sequence[str]) -> str:
    """Say of devices whether their presets are those that were frozen."""
    now = {device: digest(device) for device in devices}
    kept = [f"{device} {now[device]}" for device in devices if now[device] == FROZEN[device]]
    changed = [
        f"{device} {now[device]} instead of {FROZEN[device]}"
        for device in devices
        if now[device] != FROZEN[device]
    ]
    said = []
    if kept:
        said.append(f"Presets as frozen on {SINCE}: {', '.join(kept)}")
    if changed:
        said.append(f"Changed since, so that nothing was foretold of them: {', '.join(changed)}")
    return ". ".join(said)
