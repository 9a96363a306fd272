"""Named streams: one place makes generators, and draws that others rest on stay as they are."""

import ast
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.syntax import nodes_of

import ssdscope
from ssdscope import seeds
from ssdscope.seeds import numbered, stream
from ssdscope.workloads.fio_job import parse_fio_job
from ssdscope.workloads.stages import seeded

PACKAGE = Path(ssdscope.__file__).parent
MAKERS = {"default_rng", "RandomState", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}
ALLOWED_OF_RANDOM = {"Generator", "SeedSequence"}
"""Of ``numpy.random``, outside `seeds`: a type, and a way from one seed to another."""

BEFORE = {
    "models.collecting.order": (7, 7),
    "models.collecting.repeats": (7, [7, 0x5EED]),
    "models.designs.off_grid": (7, [7, 0x0FF]),
    "models.designs.sobol": (7, [7, 0x50B01]),
    "models.explaining.importances": (7, [7, 0x1390]),
    "models.fitting.background": (7, [7, 0xBAC]),
    "models.samples.folds": (7, [7, 0xF01D]),
    "report.characterize.held_out": (7, [7, 0xDE51]),
    "stats.bootstrap": (7, 7),
    "studies.huang2011.quantile": (7, 7),
    "studies.kuo2009.25-28": (7, [7, *b"25-28"]),
    "studies.machado2015.random_reads": (7, [7, 2015]),
    "studies.machado2015.wear": (7, [7, 0x3EA5]),
    "studies.recovery.addresses": (0, 0),
    "studies.recovery.dice": ((7, 1, 3), np.random.SeedSequence((7, 1, 3))),
    "studies.recovery.references": ((1 << 28, 4096, 9), (1 << 28, 4096, 9)),
    "studies.recovery.twin": ((7, 3), np.random.SeedSequence((7, 3, 99))),
    "studies.uflip.random_state": (7, [7, 0]),
    "workloads.grid.subset": (7, 7),
    "workloads.patterns.bursts": (7, [7, *b"bursts"]),
    "workloads.synthetic": (7, 7),
}
"""By name: a seed, and what numpy was given for it before there were names."""


def sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "seeds.py"]


def makes(node: ast.AST) -> bool:
    """Whether a generator is made here, or drawn from that nobody named."""
    match node:
        case ast.Attribute(ast.Attribute(attr="random"), attr):
            return attr not in ALLOWED_OF_RANDOM
        case ast.Attribute(attr=name) | ast.Name(name):
            return name in MAKERS
        case ast.Import(names):
            return any(each.name == "random" for each in names)
        case ast.ImportFrom(module):
            return module in ("random", "numpy.random")
    return False


def makers(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines on which one is."""
    return [node.lineno for node in nodes if makes(node)]


def names_of(nodes: Iterable[ast.AST]) -> list[str]:
    """Names that are given to `stream` as they are."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    called = [
        each
        for each in calls
        if (isinstance(each.func, ast.Name) and each.func.id == "stream")
        or (isinstance(each.func, ast.Attribute) and each.func.attr == "stream")
    ]
    return [
        call.args[1].value
        for call in called
        if len(call.args) == 2 and isinstance(call.args[1], ast.Constant)
    ]


def test_nobody_else_makes_a_generator() -> None:
    for path in sources():
        assert makers(nodes_of(path)) == [], f"{path}: use ssdscope.seeds.stream"


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.random.default_rng(1)",
        "from numpy.random import default_rng",
        "np.random.rand(3)",
        "import random",
        "Generator(PCG64(1))",
    ],
)
def test_the_walk_sees_a_generator(source: str) -> None:
    assert makers(ast.walk(ast.parse(source)))


@pytest.mark.parametrize("name", BEFORE)
def test_draws_are_those_from_before_there_were_names(name: str) -> None:
    seed, before = BEFORE[name]
    expected = np.random.default_rng(before).integers(2**63, size=8)
    np.testing.assert_array_equal(stream(seed, name).integers(2**63, size=8), expected)


def test_every_kept_stream_is_held_to_its_draws_and_used() -> None:
    families = {name for name in BEFORE if name.startswith(seeds._KEPT_LETTERS)}
    assert BEFORE.keys() - families == seeds._KEPT.keys()
    used = {name for path in sources() for name in names_of(nodes_of(path))}
    assert used >= seeds._KEPT.keys(), "what nobody draws from any more leaves the list"


def test_a_new_name_is_the_same_on_every_machine() -> None:
    drawn = stream(7, "a new part").integers(2**63, size=3)
    assert drawn.tolist() == [7939414696590954897, 7230552402747946775, 9058572128101148053]


def test_other_names_and_other_seeds_draw_something_else() -> None:
    drawn = {
        tuple(stream(seed, name).integers(2**63, size=4))
        for seed in (0, 1, (1, 2), (2, 1), 2**63 - 1)
        for name in ("a", "b", "a.b", "workloads.patterns.a", "workloads.patterns.b")
    }
    assert len(drawn) == 25


def test_streams_are_not_correlated() -> None:
    draws = np.array([stream(1, f"part {number}").normal(size=2000) for number in range(40)])
    between = np.corrcoef(draws)[np.triu_indices(40, 1)]
    assert abs(between).max() < 5 / np.sqrt(2000)


def test_parts_of_neighbouring_runs_have_no_seed_in_common() -> None:
    of_runs = [numbered(run, part, "a") for run in range(40) for part in range(40)]
    assert len(set(of_runs)) == 1600
    assert all(0 <= seed <= seeds.SEED_MAX for seed in of_runs)
    assert [numbered(run, 0, "a") for run in (0, 5, seeds.SEED_MAX)] == [0, 5, seeds.SEED_MAX]
    assert numbered(1, 2, "a") != numbered(1, 2, "b")


def test_flows_and_stages_of_neighbouring_runs_draw_apart() -> None:
    text = "[global]\nrw=randread\nsize=1m\n[a]\n[b]\n[c]\nstonewall\n[d]\n"
    job = parse_fio_job(text, "a.fio")
    drawn = [
        flow.workload.seed
        for seed in range(20)
        for stage in seeded(job, seed).stages
        for flow in stage.flows.flows
    ]
    assert len(set(drawn)) == 80
