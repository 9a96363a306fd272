"""Which presets the models are held to: those that stood before any model was fitted.

A drive could be changed until its models come out as the paper's. So the five presets, fitted to
the paper's means and figures alone, are frozen when that is done, before a model learns from their
runs. `FROZEN` has the digest of each resolved drive (`Target.fingerprint`,
which every collection records, and without which none is gone on with). Tables say whether it is
still that, and a test fails if it is not: then change `FROZEN` too, and say why in `SINCE`.
"""

from collections.abc import Sequence
from dataclasses import replace

from ssdscope.studies.huang2011.procedure import PRESETS
from ssdscope.targets import Target, open_target

SINCE = "2026-11-25, fitted to runs that count with full buffers, before any model learnt from them"
FROZEN = {
    "HDD_S": "30e3b4ef9b3fd373",
    "SSD_I": "ea8da1e9bae1493b",
    "SSD_A": "d6a74e587cdea75b",
    "SSD_S": "382427e27e012e18",
    "Array_I": "b388521799bc71dc",
}


def digest(device: str) -> str:
    """Give the digest of a device's preset as it is, without bringing a drive into its state."""
    fresh = open_target(f"sim:{PRESETS[device]}", state="fresh", seed=1)
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
