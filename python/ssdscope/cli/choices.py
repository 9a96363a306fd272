"""Names that options and arguments take, each with what it means.

Help lists them and completion offers them, both from the registries of the parts that use them,
which are imported only then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import typer

Names = Mapping[str, str]
"""Names, and what each means."""
Words = Sequence[str]


@dataclass(frozen=True)
class Choices:
    """The mark of a parameter that takes one of some names.

    Attributes
    ----------
    names
        Gives them, from the words that were typed before.
    listed
        Whether help shows them: on lines of their own, ``inline`` behind its text, or not.
    several
        Whether it takes several, separated by commas.
    """

    names: Callable[[Words], Names]
    listed: str = "lines"
    several: bool = False

    def complete(self, context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        """Offer the names that begin with what is typed."""
        head, comma, _ = incomplete.rpartition(",") if self.several else ("", "", "")
        offered = (
            (head + comma + name, text) for name, text in self.names(context.obj or ()).items()
        )
        return [(name, text) for name, text in offered if name.startswith(incomplete)]


def of(names: Names, *, listed: str = "lines") -> Choices:
    """Make choices of names that need no import."""
    return Choices(lambda _words: names, listed)


def _patterns(_words: Words) -> Names:
    from ssdscope.workloads.workload import PATTERNS

    return PATTERNS


def _distributions(_words: Words) -> Names:
    from ssdscope.workloads.drawn import DISTRIBUTIONS

    return DISTRIBUTIONS


def _verifications(_words: Words) -> Names:
    from ssdscope.workloads.verifying import METHODS

    return METHODS


def _fio_logs(_words: Words) -> Names:
    from ssdscope.results.fio.logs import KINDS

    return KINDS


def _arrivals(_words: Words) -> Names:
    from ssdscope.workloads.workload import ARRIVALS

    return ARRIVALS


def _modes(_words: Words) -> Names:
    from ssdscope.workloads.replaying import MODES

    return MODES


def _alignments(_words: Words) -> Names:
    from ssdscope.workloads.replaying import ALIGNMENTS

    return ALIGNMENTS


def _times(_words: Words) -> Names:
    from ssdscope.targets.trace_formats import TIMES

    return TIMES


def _fits(_words: Words) -> Names:
    from ssdscope.workloads.replaying import FITS

    return FITS


def _states(_words: Words) -> Names:
    from ssdscope.targets.opening import STATES

    return STATES


def _drive_keys(_words: Words) -> Names:
    from ssdscope.targets.opening import drive_keys

    return {f"{each['key']}=": str(each["doc"]) for each in drive_keys()}


def _transfer_rates(_words: Words) -> Names:
    from ssdscope.targets.imports.options import RATES

    return RATES


def _time_units(_words: Words) -> Names:
    from ssdscope.targets.imports.options import TIME_UNITS

    return TIME_UNITS


def _trace_formats(_words: Words) -> Names:
    from ssdscope.targets.trace_formats import TRACE_FORMATS

    return TRACE_FORMATS


def _recipes(_words: Words) -> Names:
    from ssdscope.workloads.patterns import ABOUT

    return ABOUT


def _probes(_words: Words) -> Names:
    from ssdscope.probes import registry

    every = {"all": "every probe that the budget allows", "list": "which probes there are"}
    return every | {name: each.summary for name, each in registry.every().items()}


def _studies(_words: Words) -> Names:
    from ssdscope import studies

    every = {"all": "the book of the papers, on one page", "list": "which studies there are"}
    return every | {key: each.summary for key, each in studies.registry().items()}


def _figures(words: Words) -> Names:
    from ssdscope import studies

    known = studies.registry()
    return next((known[word].figures for word in words if word in known), {})


def _designs(_words: Words) -> Names:
    from ssdscope.models.designs import DESIGNS

    return DESIGNS


def _models(_words: Words) -> Names:
    from ssdscope.models.registry import FAMILIES

    return {name: each.about for name, each in FAMILIES.items()}


def _best_model(words: Words) -> Names:
    return {"best": "the kind that predicts unseen runs best", **_models(words)}


def _every_model(words: Words) -> Names:
    return {"all": "every kind that so many runs allow", **_models(words)}


def _feature_sets(_words: Words) -> Names:
    from ssdscope.models.features import SETS_ABOUT

    return SETS_ABOUT


def _best_features(words: Words) -> Names:
    return {"best": "the set that predicts unseen runs best", **_feature_sets(words)}


def _quantities(_words: Words) -> Names:
    from ssdscope.models.samples import TARGETS_ABOUT

    return TARGETS_ABOUT


def _kinds(_words: Words) -> Names:
    from ssdscope.models.features import WORKLOADS

    return WORKLOADS


def _advised(_words: Words) -> Names:
    from ssdscope.advise.knobs import KNOBS

    names: dict[str, list[str]] = {}
    for knob in KNOBS:
        names.setdefault(knob.tool, []).append(knob.name)
    return {tool: ", ".join(settings) for tool, settings in names.items()}


def _layout_fits(_words: Words) -> Names:
    from ssdscope.advise.layout import FITS

    return FITS


PATTERNS = Choices(_patterns)
TRANSFER_RATES = Choices(_transfer_rates)
TIME_UNITS = Choices(_time_units, "inline")
ARRIVALS = Choices(_arrivals)
DISTRIBUTIONS = Choices(_distributions)
VERIFICATIONS = Choices(_verifications)
FIO_LOGS = Choices(_fio_logs)
MODES = Choices(_modes)
ALIGNMENTS = Choices(_alignments)
FITS = Choices(_fits)
TIMES = Choices(_times)
STATES = Choices(_states)
DRIVE_KEYS = Choices(_drive_keys, "no")
TRACE_FORMATS = Choices(_trace_formats)
RECIPES = Choices(_recipes)
PROBES = Choices(_probes)
STUDIES = Choices(_studies)
FIGURES = Choices(_figures, "no", several=True)
DESIGNS = Choices(_designs)
MODEL = Choices(_best_model)
SEVERAL_MODELS = Choices(_every_model, several=True)
FEATURES = Choices(_best_features)
SEVERAL_FEATURES = Choices(_feature_sets, several=True)
QUANTITIES = Choices(_quantities)
KINDS = Choices(_kinds)
ADVISED = Choices(_advised, several=True)
LAYOUT_FITS = Choices(_layout_fits)
BUDGETS = of(
    {
        "default": "1 minute",
        "full": "15 minutes, and probes that write more than the capacity",
        "full:2h": "likewise, in 2 hours",
        "10m": "10 minutes",
    },
    listed="no",
)
OUTPUT_FORMATS = of({"normal": "tables", "json": "for scripts"}, listed="inline")
PROGRESS = of(
    {"auto": "on a terminal", "always": "also elsewhere", "never": "not at all"}, listed="inline"
)
FIRMWARES = of({"page": "page-mapped", "log-block": "log blocks"}, listed="inline")
