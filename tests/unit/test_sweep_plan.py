"""Plans of sweeps: what multiplies, what is drawn, and what is refused with its place."""

import math
from pathlib import Path

import pytest

from ssdscope.errors import SsdscopeError
from ssdscope.sweep import Point, points_of, read_plan

DRIVE = 'targets = ["null:1g"]\n'
TRACE = "0,0,512,r,0.0\n0,8,512,r,0.5\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("web.spc").write_text(TRACE, encoding="utf-8")
    return tmp_path


def points(text: str, seed: int = 1) -> list[Point]:
    Path("plan.toml").write_text(text, encoding="utf-8")
    return points_of(read_plan("plan.toml"), seed)


def test_a_plan_of_before_has_the_keys_of_before() -> None:
    """Journals that were begun with them are gone on with."""
    found = points(f'{DRIVE}repeats = 2\n[grid]\nbs = ["4k", "64k"]\n')
    assert [point.key for point in found] == KEYS


KEYS = [
    "f83f2084cf6caa0992851e50a81667dc",
    "609e5e95ad7616e2c2cbb0c98813b006",
    "b5338128322f325ce8dadf1f66b79f55",
    "8425d11a9e695de9f769b3a3f7bfdf97",
]


def test_drives_states_workloads_and_seeds_multiply_in_the_order_of_the_plan() -> None:
    found = points(
        'targets = ["sim:mqsim-8g", "sim:msr-4gb"]\nstates = ["fresh", "steady:1g"]\nrepeats = 2\n'
        '[workload]\nnumber_ios = 5\n[[workloads]]\nname = "a"\nrw = "randread"\n'
        '[[workloads]]\nname = "b"\nrw = "write"\nbs = "64k"\n'
    )
    assert len(found) == len({point.key for point in found}) == 16
    told = [(each.target, each.state, each.varied["workload"]) for each in found[::2]]
    assert told == [
        (f"sim:{drive}", state, name)
        for drive in ("mqsim-8g", "msr-4gb")
        for state in ("fresh", f"steady:{2**30}")
        for name in ("a", "b")
    ]
    assert found[0].varied == {"state": "fresh", "workload": "a"}
    assert {(each.workload["rw"], each.workload["block_bytes"]) for each in found} == {
        ("randread", 4096),
        ("write", 65536),
    }
    assert all(each.workload["requests"] == 5 for each in found)


def test_one_state_for_all_is_not_what_tells_runs_apart() -> None:
    (point,) = points('targets = ["sim:mqsim-8g"]\nstate = "random"\n')
    assert (point.state, point.varied) == ("random", {})


def test_rows_of_a_list_are_taken_as_they_are() -> None:
    found = points(
        '[[list]]\ntarget = "sim:mqsim-8g"\nbs = "8k"\nset = { "gc.policy" = "fifo" }\n'
        '[[list]]\ntarget = "sim:msr-4gb"\nstate = "random"\niodepth = 3\n'
        '[grid]\nrw = ["read", "write"]\n'
    )
    assert [(each.target, each.state, each.sets, each.varied) for each in found] == [
        ("sim:mqsim-8g", None, ("gc.policy=fifo",), {"bs": "8k", "gc.policy": "fifo", "rw": rw})
        for rw in ("read", "write")
    ] + [
        ("sim:msr-4gb", "random", (), {"state": "random", "iodepth": 3, "rw": rw})
        for rw in ("read", "write")
    ]


def test_a_trace_is_replayed_with_options_of_replay() -> None:
    found = points(
        f'{DRIVE}[[workloads]]\nname = "web"\ntrace = "web.spc"\nmode = "asap"\niodepth = 4\n'
        'thinktime = "80us"\nalign = "expand"\nreads_only = true\nlimit = 9\n'
        '[[workloads]]\nname = "reader"\n'
    )
    replay, plain = found
    assert (replay.workload["replay"], replay.workload["mode"]) == ("web.spc", "asap")
    assert (replay.workload["thinktime_ns"], replay.workload["limit"]) == (80_000, 9)
    assert "replay" not in plain.workload
    assert plain.trace_digest is None
    before = replay.key
    Path("web.spc").write_text(TRACE + TRACE, encoding="utf-8")
    again = points(Path("plan.toml").read_text(encoding="utf-8"))
    assert again[0].key != before, "another trace is another run"
    assert again[1].key == plain.key


def test_an_edited_drive_is_another_also_inside_an_array() -> None:
    drive = Path("drive.toml")
    drive.write_text('target = "raid0:null:1m,null:1m"\n', encoding="utf-8")
    plan = 'targets = ["drive.toml", "raid0:drive.toml,null:1m", "raid0:null:1m,null:1m"]\n'
    before = points(plan)
    drive.write_text('target = "raid0:null:1m,null:1m"\n# edited\n', encoding="utf-8")
    after = points(plan)
    same = [one.key == other.key for one, other in zip(before, after, strict=True)]
    assert same == [False, False, True]


def test_what_is_said_twice_is_run_once() -> None:
    assert len(points(f'{DRIVE}[grid]\nbs = ["4k", "4k", "8k"]\n')) == 2


SOBOL = (
    DRIVE + '[sobol]\npoints = 64\nbs = { low = "4k", high = "1m", log = true }\n'
    'iodepth = { low = 1, high = 8 }\nrw = ["randread", "randwrite"]\n'
    'thinktime = { low = "0", high = "100us" }\noffset = { low = "1m", high = "9m", step = "1m" }\n'
    "[sobol.set]\nover_provisioning_ratio = { low = 0.1, high = 0.5 }\n"
)


def test_sobol_points_are_spread_evenly_over_the_ranges() -> None:
    found = points(SOBOL)
    assert len(found) == 64
    sizes = [each.workload["block_bytes"] for each in found]
    assert all(4096 <= size <= 2**20 and size % 4096 == 0 for size in sizes)
    # Half of 4k to 1m in logarithms is 64k.
    assert 28 <= sum(size <= 65536 for size in sizes) <= 36
    depths = [each.varied["iodepth"] for each in found]
    assert [depths.count(depth) for depth in range(1, 9)] == [8] * 8, "both ends, too"
    assert sum(each.workload["rw"] == "randread" for each in found) == 32
    assert {each.workload["offset_bytes"] for each in found} == {n * 2**20 for n in range(1, 10)}
    assert all(0 <= each.workload["thinktime_ns"] <= 100_000 for each in found)
    ratios = [each.varied["over_provisioning_ratio"] for each in found]
    assert 0.1 <= min(ratios) < 0.12
    assert 0.48 < max(ratios) <= 0.5
    assert all(len(str(ratio)) <= 8 for ratio in ratios)


def test_sobol_points_follow_from_the_seed_alone() -> None:
    first = [each.key for each in points(SOBOL)]
    assert [each.key for each in points(SOBOL)] == first
    assert [each.key for each in points(SOBOL, seed=2)] != first
    turned = SOBOL.replace("points = 64\n", "").replace("[sobol.set]", "points = 64\n[sobol.set]")
    assert [each.varied for each in points(turned)] == [each.varied for each in points(SOBOL)]


def test_more_sobol_points_begin_with_the_same_ones() -> None:
    few = [each.varied for each in points(SOBOL)]
    more = [each.varied for each in points(SOBOL.replace("points = 64", "points = 100"))]
    assert more[:64] == few
    assert len(more) == 100
    assert math.isclose(len({str(each) for each in more}), 100)


LIST = '[[list]]\nbs = "4k"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DRIVE}workload_s = 1", "there is no key 'workload_s'\n\nhint: did you mean workload"),
        (f"{DRIVE}states = []", "states is empty"),
        (f"{DRIVE}repeats = 2_000_000", "these are 2,000,000 runs; a sweep has 1,048,576 at most"),
        (f'{DRIVE}states = ["old"]', "states: 'old' is not a state"),
        (f"{DRIVE}states = [1]", "states: 1 is not a state"),
        (f'{DRIVE}state = "fresh"\nstates = ["random"]', "state and states are both there"),
        (f'{DRIVE}states = "fresh"', "states is not a list"),
        (f"{DRIVE}workloads = [1]", "workloads, number 1 is not a table"),
        (f'{DRIVE}[[workloads]]\nrw = "read"', "number 1: None is no name"),
        (f'{DRIVE}[[workloads]]\nname = "a"\n[[workloads]]\nname = "a"', "number 2: 'a' is there"),
        (f'{DRIVE}[[workloads]]\nname = "a"\nblok = 1', "blok: there is no such option"),
        (f'{DRIVE}[[workloads]]\nname = "a"\ntrace = "no.spc"', "cannot read the trace no.spc"),
        (
            f'{DRIVE}[[workloads]]\nname = "a"\ntrace = "web.spc"\nbs = "4k"',
            "bs: a replay of a trace has no such option",
        ),
        (
            f'{DRIVE}[[workloads]]\nname = "a"\ntrace = "web.spc"\nmode = "fast"',
            "mode: 'fast' is unknown",
        ),
        (
            f'{DRIVE}[[workloads]]\nname = "a"\ntrace = "web.spc"\nreads_only = 1',
            "reads_only: 1 is neither true nor false",
        ),
        ('[[list]]\nbs = "4k"', "targets is missing"),
        (f'{DRIVE}[[list]]\ntarget = "null:1g"', "target stands in list, row 1 and in what"),
        (f'{DRIVE}{LIST}[grid]\nbs = ["4k"]', "bs stands in grid and in what"),
        (f"{DRIVE}list = [{{}}]", "list, row 1 is not a table"),
        (f"{DRIVE}[[list]]\nset = 1", "list, row 1: set is not a table"),
        (f'{DRIVE}[[list]]\nset = {{ "gc.polcy" = "fifo" }}', "row 1: set: no drive has a key"),
        (f'{DRIVE}[set]\n"gc.polcy" = ["fifo"]', "no drive has a key 'gc.polcy'"),
        (f'{DRIVE}[sobol]\nbs = ["4k"]', "sobol.points is not a number from 1"),
        (f"{DRIVE}[sobol]\npoints = 4", "sobol has nothing to spread"),
        (f'{DRIVE}[sobol]\npoints = 4\nbs = "4k"', "sobol.bs is not a range"),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = []", "sobol.bs is not a range"),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = 1 }}", "sobol.bs is not a range"),
        (
            f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = 1, high = 2, lg = true }}",
            "sobol.bs: a range has no 'lg'\n\nhint: did you mean log",
        ),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = 2, high = 1 }}", "is no range"),
        (
            f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = 0, high = 9, log = true }}",
            "low above 0 if log is true",
        ),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = 1, high = nan }}", "not numbers of one kind"),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = '4KB', high = '1m' }}", "can be read as"),
        (f"{DRIVE}[sobol]\npoints = 4\nbs = {{ low = true, high = 2 }}", "not numbers of one kind"),
        (f"{DRIVE}[sobol]\npoints = 4\nbls = [1]", "bls: there is no such option"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused_with_its_place(text: str, expected: str) -> None:
    with pytest.raises(SsdscopeError) as caught:
        points(text)
    error = caught.value
    assert error.exit_code == 2
    assert expected in f"{error.message}\n\nhint: {error.hint}"
