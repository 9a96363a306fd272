"""ssdscope looks inside a solid-state drive from the outside.

What the command line does, as functions (docs/library.md shows them at work):

`open`
    ``"sim:NAME"``, a drive file, ``/dev/...``, a file, ``raid0:...``  ->  an open drive.
`run`, `replay`, `run_sweep`, `run_search`
    A workload, under fio's names, or a trace, on a drive; many workloads on many; the best drive.
`probe`, `characterize`, `read_report`
    What is inside a drive; the page about it, read back, with its twin.
`advice`, `place`, `compare`
    What to set for a drive, from its page; where workloads belong; results side by side.
`collect`, `fit`, `reproduce`
    Runs to learn from, and a model of them; a paper's study, run again.

The package, from the bottom up; each line may import only what stands above it here:

`errors`, `units`, `seeds`, `shown`
    The errors meant for people, how they write sizes and times, and named random numbers.
`targets`
    ``"sim:NAME"``, a drive file, ``/dev/...``, a file, ``raid0:...``  ->  a `Device`.
`stats`
    Pure functions on arrays.
`findings`
    What is known of a drive, typed: answers, their evidence, and what was fitted to it.
`inference`
    How evidence is weighed: engines, one per shape of question, on plain series.
`workloads`, `results`, `sweep`
    What we do to a drive, what comes back, and many of them on all cores.
`search`
    Which configuration of a drive is best for a workload.
`plots`
    Charts.
`probes`, `models`
    What we learn about a drive, and what we predict of it. Neither imports the other.
`twin`, `advise`, `recovery`, `studies`, `report`
    A simulated double, advice, drives drawn at random, the papers reproduced, pages and pictures.
`api`
    The functions above.
`cli`
    The command line, and the only place that prints.

Rust does the work below `targets` (`ssdscope._native`); Python never loops over single
requests. Importing this package is cheap: each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdscope import (
        advise,
        errors,
        findings,
        inference,
        models,
        plots,
        probes,
        recovery,
        report,
        results,
        search,
        seeds,
        shown,
        stats,
        studies,
        sweep,
        targets,
        twin,
        units,
        workloads,
    )
    from ssdscope.api.advising import advice
    from ssdscope.api.characterizing import characterize
    from ssdscope.api.collecting import collect
    from ssdscope.api.comparing import compare
    from ssdscope.api.importing import import_fio
    from ssdscope.api.modelling import fit
    from ssdscope.api.opening import open  # noqa: A004 (as gzip.open)
    from ssdscope.api.placing import place
    from ssdscope.api.probing import probe
    from ssdscope.api.reports import read_report
    from ssdscope.api.reproducing import reproduce
    from ssdscope.api.running import replay, run
    from ssdscope.api.searching import run_search
    from ssdscope.api.sweeping import run_sweep

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "advice",
    "advise",
    "characterize",
    "collect",
    "compare",
    "errors",
    "findings",
    "fit",
    "import_fio",
    "inference",
    "models",
    "open",
    "place",
    "plots",
    "probe",
    "probes",
    "read_report",
    "recovery",
    "replay",
    "report",
    "reproduce",
    "results",
    "run",
    "run_search",
    "run_sweep",
    "search",
    "seeds",
    "shown",
    "stats",
    "studies",
    "sweep",
    "targets",
    "twin",
    "units",
    "workloads",
]

_FUNCTIONS = {
    "advice": "advising",
    "characterize": "characterizing",
    "collect": "collecting",
    "compare": "comparing",
    "fit": "modelling",
    "import_fio": "importing",
    "open": "opening",
    "place": "placing",
    "probe": "probing",
    "read_report": "reports",
    "replay": "running",
    "reproduce": "reproducing",
    "run": "running",
    "run_search": "searching",
    "run_sweep": "sweeping",
}
"""Functions by name, and the module of `api` that each is in."""


def __getattr__(name: str) -> Any:
    """Load a function or a part of the package when it is first used (PEP 562)."""
    if name in _FUNCTIONS:
        found = getattr(import_module(f"ssdscope.api.{_FUNCTIONS[name]}"), name)
        globals()[name] = found
        return found
    if name in __all__:
        return import_module(f"ssdscope.{name}")
    raise AttributeError(f"module 'ssdscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what can be used."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
