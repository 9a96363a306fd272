"""What a search decides by: fronts, hopeless trials, and proposals that are the same every time."""

import math
from itertools import pairwise

import pytest

from ssdscope.search.fronts import dominates, front, hypervolume
from ssdscope.search.limits import Limit
from ssdscope.search.neighbours import Best
from ssdscope.search.proposing import Proposer
from ssdscope.search.space import Choices, Knob, Range
from ssdscope.search.stopping import ENOUGH, SLACK, Judge, ratios_of
from ssdscope.seeds import stream

P99 = "write.latency_ns.p99"
SPACE: list[Knob] = [
    Choices("nand.channels", (1, 2, 4), ordered=True),
    Choices("gc.policy", ("greedy", "fifo"), ordered=False),
]


def test_a_front_is_what_none_dominates() -> None:
    points = [(1.0, 9.0), (2.0, 5.0), (2.0, 5.0), (3.0, 5.0), (4.0, 1.0), (5.0, 1.5)]
    assert front(points) == [0, 1, 4]
    assert front([(3.0,), (2.0,), (2.0,)]) == [1]
    assert front([]) == []
    drawn = [tuple(row) for row in stream(1, "tests.search.front").random((60, 3))]
    kept = front(drawn)
    for place, point in enumerate(drawn):
        beaten = any(dominates(other, point) for other in drawn)
        assert beaten is (place not in kept)


def test_a_hypervolume_is_the_area_below_the_corner() -> None:
    assert hypervolume([(1, 3), (2, 1)], (4, 4)) == 3 * 1 + 2 * 2
    assert hypervolume([(1, 3), (2, 1), (3, 3)], (4, 4)) == 7
    assert hypervolume([(4, 0), (0, 4)], (4, 4)) == 0
    assert hypervolume([], (4, 4)) == 0


def judge(*rivals: tuple[float, ...], ratio: float = 2.0, **limits: float) -> Judge:
    """A judge that saw wholes of `ratio` and of twice that times their parts."""
    pairs = [({P99: 1.0}, {P99: ratio * (1 + place % 2)}) for place in range(ENOUGH)]
    named = {name.replace("p99", P99): bound for name, bound in limits.items()}
    wanted = tuple(Limit(name, bound) for name, bound in named.items())
    return Judge((P99,), wanted, ratios_of(pairs), rivals)


def test_nothing_is_stopped_before_enough_is_known() -> None:
    few = [({P99: 1.0}, {P99: 2.0})] * (ENOUGH - 1)
    assert ratios_of(few) is None
    assert Judge((P99,), (), ratios_of(few), ((1.0,),)).hopeless({P99: 1e9}, {}) is None
    unknown = [({}, {P99: 2.0})] * ENOUGH
    assert Judge((P99,), (), ratios_of(unknown), ((1.0,),)).hopeless({P99: 1e9}, {}) is None
    nothing = [({P99: 0.0}, {P99: 2.0})] * ENOUGH
    assert Judge((P99,), (), ratios_of(nothing), ((1.0,),)).hopeless({P99: 1e9}, {}) is None


def test_a_trial_is_stopped_if_the_best_it_can_hope_for_is_beaten() -> None:
    rival = 100.0
    edge = rival / (2.0 * (1 - SLACK))
    assert judge((rival,)).hopeless({P99: edge * 1.01}, {})
    assert judge((rival,)).hopeless({P99: edge * 0.99}, {}) is None
    assert judge().hopeless({P99: 1e9}, {}) is None, "nothing keeps the limits yet"


def test_a_trial_is_stopped_if_the_best_it_can_hope_for_breaks_a_limit() -> None:
    told = judge(p99=90e6).hopeless({P99: 51e6}, {})
    assert told == f"{P99} could be 91.8 ms at best, the limit is at most 90 ms"
    assert judge(p99=90e6).hopeless({P99: 49e6}, {}) is None


def test_of_several_figures_a_rival_must_be_as_good_in_each() -> None:
    ratios = judge().ratios
    several = Judge((P99, "cost"), (), ratios, ((100.0, 20.0),))
    assert several.hopeless({P99: 90.0}, {"cost": 20.0})
    assert several.hopeless({P99: 90.0}, {"cost": 19.9}) is None


def test_a_rate_is_hoped_to_be_higher() -> None:
    pairs = [({"iops": 10.0}, {"iops": 10.0 + place}) for place in range(ENOUGH)]
    slow = Judge((), (Limit("iops", 100),), ratios_of(pairs))
    most = (1 + (ENOUGH - 1) / 10) * (1 + SLACK)
    assert slow.hopeless({"iops": 99 / most}, {})
    assert slow.hopeless({"iops": 101 / most}, {}) is None


def test_what_was_like_the_rest_is_never_stopped_if_it_is_the_best() -> None:
    """Ratios drawn as those seen: the best of each of many searches gets to its end."""
    draws = stream(1, "tests.search.stopping")
    stopped = 0
    for _ in range(200):
        parts = draws.lognormal(0, 1, 60)
        wholes = parts * draws.uniform(1.5, 2.5, 60)
        seen = [({P99: a}, {P99: b}) for a, b in zip(parts[:20], wholes[:20], strict=True)]
        rule = Judge((P99,), (), ratios_of(seen), ((float(wholes[:20].min()),),))
        told = [rule.hopeless({P99: part}, {}) is not None for part in parts[20:]]
        best = int(wholes[20:].argmin())
        better = wholes[20:][best] < wholes[:20].min()
        assert not (better and told[best])
        stopped += sum(told)
    assert stopped > 200 * 40 / 2, "and it spares more than half of the rest"


def asked(seed: int, sampler: str = "tpe", space: list[Knob] = SPACE) -> list[dict]:
    proposer = Proposer(space, 1, sampler, seed)
    found = []
    while (proposal := proposer.ask()) is not None:
        number, configuration = proposal
        found.append(configuration)
        value = float(configuration.get("nand.channels", 1))
        proposer.tell(number, [value], {"waf": value - 2})
    return found


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_each_configuration_is_proposed_once_until_none_is_left(sampler: str) -> None:
    found = asked(1, sampler)
    assert len(found) == 6
    assert len({tuple(each.values()) for each in found}) == 6


def test_proposals_are_those_of_the_seed() -> None:
    assert asked(3) == asked(3)
    assert asked(3) != asked(4)


def test_proposals_get_better_and_what_fails_is_left() -> None:
    space: list[Knob] = [Range("over_provisioning_ratio", 0.01, 1.0)]
    proposer = Proposer(space, 1, "tpe", 1)
    values = []
    for _ in range(60):
        number, configuration = proposer.ask() or (0, {})
        value = float(configuration["over_provisioning_ratio"])
        values.append(value)
        # The best lies right beside what cannot work.
        proposer.tell(number, None if value < 0.3 else [value], {"works": float(value < 0.3)})
    late = values[-20:]
    assert sum(0.3 <= value < 0.5 for value in late) > 10
    assert all(a != b for a, b in pairwise(sorted(values)))


def test_what_is_far_beyond_a_limit_is_told_all_the_same() -> None:
    proposer = Proposer(SPACE, 2, "tpe", 1)
    for _ in range(3):
        number, _ = proposer.ask() or (0, {})
        proposer.tell(number, None, {"iops": math.inf})


def test_a_neighbour_differs_a_little_and_stays_inside() -> None:
    draws = stream(1, "tests.search.neighbours")
    numbers = Choices("nand.channels", (1, 2, 4, 8), ordered=True)
    assert {numbers.beside(1, draws) for _ in range(20)} == {2}
    assert {numbers.beside(4, draws) for _ in range(20)} == {2, 8}
    words = Choices("gc.policy", ("greedy", "fifo", "random"), ordered=False)
    assert {words.beside("fifo", draws) for _ in range(40)} == {"greedy", "random"}
    assert Choices("gc.policy", ("fifo",), ordered=False).beside("fifo", draws) == "fifo"
    spare = Range("over_provisioning_ratio", 0.07, 0.5)
    drawn = [float(spare.beside(0.48, draws)) for _ in range(200)]
    assert 0.07 < min(drawn) < 0.45
    assert max(drawn) == 0.5
    idle = Range("gc.idle_ns", 10**6, 10**9, log=True, whole=True)
    assert all(10**6 <= int(idle.beside(10**6, draws)) <= 10**8 for _ in range(100))


def test_neighbours_are_of_the_front_or_else_of_the_nearest() -> None:
    draws = stream(1, "tests.search.best")
    best = Best()
    assert best.neighbour(SPACE, draws) is None
    best.add({"nand.channels": 1, "gc.policy": "fifo"}, None, 3.0)
    best.add({"nand.channels": 4, "gc.policy": "fifo"}, [1.0], 2.0)
    near = [best.neighbour(SPACE, draws) or {} for _ in range(20)]
    assert all(each["nand.channels"] in (2, 4) for each in near)
    best.add({"nand.channels": 1, "gc.policy": "greedy"}, [5.0], 0.0)
    near = [best.neighbour(SPACE, draws) or {} for _ in range(20)]
    assert all(each["nand.channels"] in (1, 2) for each in near)
