"""The command line with a `characterize` of seconds: one probe, few requests, and no twin to fit.

python -m tests.integration.brief characterize drive.toml -O page.html
"""

import hashlib
import json
import sys
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from ssdscope import twin
from ssdscope.cli.start import main
from ssdscope.findings import Findings
from ssdscope.probes import registry
from ssdscope.probes.units import probe as units
from ssdscope.report import performance, survey, sustaining
from ssdscope.targets.records import DeviceInfo


def made_of(found: Findings, info: DeviceInfo, performance: Any, **named: Any) -> Any:
    """Stand in for what takes long to fit: a twin that is nothing but what it is made of."""
    del named["progress"]
    text = json.dumps([found.to_json(), asdict(info), performance, named])
    made = {"toml": hashlib.sha256(text.encode()).hexdigest()}
    errors = {"errors": {"median_ape": 0.1, "p90_ape": 0.2}}
    return SimpleNamespace(to_json=lambda: made | errors, worked_s=1.0)


def few(info: DeviceInfo, *given: Any, **more: Any) -> Any:
    """Leave out most of the workloads that the page has."""
    return grid(info, *given, **more)[::10]


if __name__ == "__main__":
    grid, survey.grid = survey.grid, few
    drawing = sys.modules["ssdscope.report.characterize"]
    drawing.render = lambda _: '<meta name="generator" content="ssdscope"></html>'
    sustaining.CORE_NS_PER_S = 5.3e5
    performance.REQUESTS //= 64
    performance.DISTRIBUTION_REQUESTS = 2000
    registry._PROBES = (units.PROBE,)
    twin.build = made_of
    main()
