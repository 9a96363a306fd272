"""Measure every preset as the page measures a drive, for the class that a drive is compared with.

    python scripts/preset_figures.py [NAME ...]

With names, only those are measured again. Each preset in its own default state: the few workloads
of `nearest.FIGURES`, and the probes of a default budget for the units that say what kind of drive
it is. Writes the data file of the page.
"""

import json
import sys
from pathlib import Path
from typing import Any

import ssdscope
from ssdscope.findings import Detected, Findings
from ssdscope.probes import registry, session
from ssdscope.probes.budget import Budget, silent
from ssdscope.probes.reconcile import reconciled
from ssdscope.report import nearest, performance, survey
from ssdscope.targets import open_target
from ssdscope.targets.presets import preset_names

SEED = 20261126
OUT = Path(ssdscope.__file__).parent / "report" / nearest.DATA
DIGITS = 4


def of_preset(name: str) -> dict[str, Any]:
    """Measure one preset."""
    budget = Budget.parse("default")
    device = open_target(f"sim:{name}", seed=SEED).device
    points = [survey.Point(each.rw, each.block_bytes, each.iodepth) for each in nearest.FIGURES]
    effort = performance.effort(budget)
    rows = [
        row.to_json() | {"split": "grid"}
        for row in survey.collect(device, points, effort, seed=SEED, progress=silent)
    ]
    figures = nearest.figures({"performance": {"points": rows, "sustained": []}})
    asked = [each.name for each in registry.choose("all", budget)
             if set(each.properties) & set(nearest.UNITS)]  # fmt: skip
    found = Findings(reconciled(list(session.each(asked, device, budget, SEED))))
    return {
        "figures": {key: float(f"{value:.{DIGITS}g}") for key, value in figures.items()},
        "findings": {
            key: each.value for key, each in found.items()
            if key in nearest.UNITS and isinstance(each, Detected)
        },
    }  # fmt: skip


def main() -> None:
    """Measure all, or those that are named, and write the file."""
    named = sys.argv[1:]
    presets = json.loads(OUT.read_text(encoding="utf-8"))["presets"] if named else {}
    for name in named or preset_names():
        presets[name] = of_preset(name)
        print(name, presets[name], file=sys.stderr)
        whole = {"made_by": "scripts/preset_figures.py", "seed": SEED, "presets": presets}
        OUT.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
