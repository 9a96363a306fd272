"""Minutes of a replay, and models of them held to the minutes that come next."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ssdscope.errors import UsageError
from ssdscope.models import registry
from ssdscope.models.intervals import following
from ssdscope.models.lasso import LassoRegressor
from ssdscope.models.minutes.forecasting import SETTINGS, forecast, rolling
from ssdscope.models.minutes.settings import ARRIVALS, MEASURED, Encoder
from ssdscope.targets import open_target
from ssdscope.workloads import ReplayOptions
from ssdscope.workloads.minutes import TARGETS, Minutes, Scenario, measure
from ssdscope.workloads.windows import FEATURES

QUICK = ("lasso",)
Floats = npt.NDArray[np.float64]
NOTHING = dict.fromkeys(FEATURES, 0.0)


def made_up(count: int = 90, *, noise: float = 0.02, seed: int = 0) -> Minutes:
    """Minutes whose latency follows the sizes and the share of writes; the rate is drawn."""
    rng = np.random.default_rng(seed)
    table = {name: np.full(count, value) for name, value in NOTHING.items()}
    table["iops"] = rng.uniform(2, 10, count)
    table["size_mean"] = table["rd_size"] = rng.uniform(4096, 65536, count)
    table["bytes_per_s"] = table["iops"] * table["size_mean"]
    table["wr_ratio"] = rng.uniform(0, 0.5, count)
    table["wr_size"] = np.where(table["wr_ratio"] < 0.1, np.nan, 4096)
    off = rng.normal(0, noise, count)
    latency = 1e5 * (1 + table["size_mean"] / 16384) * (1 + table["wr_ratio"]) * np.exp(off)
    table["previous_latency_ns"] = np.append(np.nan, latency[:-1])
    table["q_dep"] = table["iops"] * table["previous_latency_ns"] / 1e9
    targets = {
        "latency_ns": latency,
        "bandwidth_bytes_per_s": table["iops"] * table["size_mean"],
        "iops": table["iops"].copy(),
    }
    return Minutes(table, targets, np.ones(count, dtype=bool))


def with_latency(minutes: Minutes, latency: Floats) -> Minutes:
    return replace(minutes, targets=minutes.targets | {"latency_ns": latency})


def test_nothing_measured_is_told_of_arrivals() -> None:
    assert set(FEATURES) - set(ARRIVALS) == set(MEASURED)
    assert not {"q_dep", "previous_latency_ns", "previous_p99_ns"} & set(ARRIVALS)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("target", TARGETS)
def test_what_follows_from_the_requests_is_predicted(setting: str, target: str) -> None:
    found = forecast(made_up(), setting=setting, target=target, train=60, test=30, seed=1)
    told = found.to_dict()
    assert (told["n_train"], told["n_test"]) == (60, 30)
    if target == "latency_ns":
        assert told["mre"] < 0.06
        assert min(told["skill_median"], told["skill_last"]) > 0.7
        assert 0.7 <= told["coverage90"] <= 1
    elif setting != "paper":
        assert told["mre"] < 0.03
    assert told["skill_last"] == pytest.approx(1 - told["mre"] / told["mre_last"])


def test_a_rate_beyond_all_seen_is_served_like_others() -> None:
    """Three times as many requests as ever before, of which the drive serves nine in ten."""
    minutes = made_up()
    table = dict(minutes.features)
    table["iops"] = np.where(np.arange(90) >= 60, 30.0, table["iops"])
    targets = minutes.targets | {"iops": 0.9 * table["iops"]}
    busier = replace(minutes, features=table, targets=targets)
    found = forecast(busier, setting="arrivals", target="iops", train=60, test=30, seed=1)
    assert found.predicted == pytest.approx(np.full(30, 27.0), rel=0.001)


def test_a_drive_that_is_behind_serves_what_it_can() -> None:
    minutes = made_up()
    steady = replace(
        minutes,
        targets=minutes.targets | {"iops": np.full(90, 2.0)},
        settled=np.zeros(90, dtype=bool),
    )
    found = forecast(steady, setting="arrivals", target="iops", train=60, test=30, seed=1)
    assert found.predicted == pytest.approx(np.full(30, 2.0))


def test_a_kind_that_cannot_be_fitted_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Singular:
        def fit(self, _x: object, _y: object) -> None:
            raise np.linalg.LinAlgError("not positive definite")

    broken = replace(registry.FAMILIES["gp"], make=lambda _seed: Singular())
    monkeypatch.setitem(registry.FAMILIES, "gp", broken)
    given = {"setting": "arrivals", "target": "latency_ns", "train": 60, "test": 30, "seed": 1}
    assert "gp" not in forecast(made_up(), **given).models
    assert forecast(made_up(), **given, models=("gp",)).models == ("lasso",)


def test_there_is_no_skill_where_nothing_can_be_learnt() -> None:
    minutes = made_up(180)
    drawn = np.random.default_rng(5).lognormal(13, 0.3, 180)
    found = forecast(
        with_latency(minutes, drawn),
        setting="arrivals", target="latency_ns", train=120, test=60, seed=1, models=QUICK,
    )  # fmt: skip
    assert abs(found.to_dict()["skill_median"]) < 0.15


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_prediction_knows_its_own_minute_or_later_ones(setting: str) -> None:
    """What is measured from minute 70 on must not matter to what is predicted up to it."""
    before = made_up()
    latency = before.targets["latency_ns"].copy()
    latency[70:] *= 3
    features = dict(before.features)
    features["previous_latency_ns"] = np.append(np.nan, latency[:-1])
    features["q_dep"] = features["iops"] * features["previous_latency_ns"] / 1e9
    after = replace(with_latency(before, latency), features=features)
    one, other = (
        forecast(
            each, setting=setting, target="latency_ns", train=60, test=30, seed=1, models=QUICK
        )
        for each in (before, after)
    )
    assert (one.predicted[:11] == other.predicted[:11]).all()
    assert (one.interval[:11] == other.interval[:11]).all()
    assert (one.median == other.median).all()


def drifting() -> Minutes:
    """A drive that is now faster and now slower for reasons that no request tells."""
    minutes = made_up(180)
    level = 0.3 * np.sin(np.arange(180) / 6)
    return with_latency(minutes, minutes.targets["latency_ns"] * np.exp(level))


def test_the_last_minutes_error_helps_where_it_persists() -> None:
    blind, seeing = (
        forecast(
            drifting(),
            setting=each,
            target="latency_ns",
            train=120,
            test=60,
            seed=1,
            models=QUICK,
        )
        for each in ("arrivals", "online")
    )
    assert seeing.to_dict()["mre"] < 0.6 * blind.to_dict()["mre"]


def test_what_is_not_served_yet_corrects_nothing() -> None:
    late = replace(drifting(), settled=np.zeros(180, dtype=bool))
    blind, seeing = (
        forecast(late, setting=each, target="latency_ns", train=80, test=40, seed=1, models=QUICK)
        for each in ("arrivals", "online")
    )
    assert (blind.predicted == seeing.predicted).all()


def test_how_far_models_are_believed_is_told() -> None:
    given = {"target": "latency_ns", "train": 80, "test": 40, "seed": 1, "models": QUICK}
    told = forecast(made_up(120), setting="arrivals", **given).to_dict()
    assert told["weight"] == 1
    assert told["expected_skill_median"] == pytest.approx(told["skill_median"], abs=0.1)
    told = forecast(shifted(1), setting="arrivals", **given).to_dict()
    assert (told["weight"], told["expected_skill_median"]) == (0, 0)


def test_a_flat_forecast_of_hours_has_an_interval() -> None:
    minutes = made_up(300)
    drawn = np.random.default_rng(5).lognormal(13, 0.3, 300)
    found = forecast(
        with_latency(minutes, drawn),
        setting="arrivals", target="latency_ns", train=240, test=60, seed=1, models=QUICK,
    )  # fmt: skip
    assert 0.8 <= found.to_dict()["coverage90"] <= 1


def shifted(seed: int) -> Minutes:
    """A latency that went with the size of requests by chance, and then no longer does."""
    minutes = made_up(120, seed=seed)
    size = minutes.features["size_mean"]
    drawn = np.random.default_rng(seed).lognormal(12, 0.1, 120)
    trend = np.where(np.arange(120) < 50, (size / np.median(size)) ** 2, 1.0)
    return with_latency(minutes, drawn * trend)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_median_is_taken_where_models_did_no_better(setting: str) -> None:
    """What held for the first 50 of 80 minutes misleads by half; it had failed by the 80th."""
    found = [
        forecast(shifted(seed), setting=setting, target="latency_ns", train=80, test=40, seed=1)
        for seed in range(3)
    ]
    ratios = [each.to_dict()["mre"] / each.to_dict()["mre_median"] for each in found]
    assert max(ratios) < 1.05, ratios


def test_rolling_learns_from_all_before_each_part() -> None:
    minutes = made_up(100)
    (whole,) = rolling(
        minutes, settings=("arrivals",), target="latency_ns", train=60, test=20, seed=1
    )
    second = forecast(
        minutes, setting="arrivals", target="latency_ns", train=80, test=20, seed=1,
        models=whole.models,
    )  # fmt: skip
    assert (whole.predicted[20:] == second.predicted).all()
    assert whole.median[0] != whole.median[20]
    assert whole.minutes.tolist() == list(range(60, 100))
    assert whole.to_dict()["n_test"] == 40
    assert whole.interval.shape == (40, 2)


def test_minutes_without_requests_are_left_out() -> None:
    minutes = made_up()
    latency = minutes.targets["latency_ns"].copy()
    latency[[10, 65]] = np.nan
    found = forecast(
        with_latency(minutes, latency),
        setting="online", target="latency_ns", train=60, test=30, seed=1, models=QUICK,
    )  # fmt: skip
    assert found.trained == 59
    assert 65 not in found.minutes
    assert len(found.minutes) == 29


def test_too_few_minutes_are_refused() -> None:
    with pytest.raises(UsageError, match="12 minutes to learn from"):
        forecast(made_up(), setting="online", target="iops", train=12, test=6, seed=1)


def test_what_says_nothing_is_no_column() -> None:
    table = made_up().features
    names = Encoder(ARRIVALS, table).names
    assert set(names) == {"iops", "bytes_per_s", "size_mean", "rd_size", "wr_ratio"}
    columns = Encoder(("wr_ratio", "update_interval_s", "rd_size"), table).columns(table)
    assert columns.shape == (90, 2)
    empty = Encoder(("switches_per_s",), table).columns(table)
    assert empty.shape == (90, 1)


def test_a_clock_is_no_feature_and_none_leaves_its_range() -> None:
    """Bytes ever written grow in every minute, and are beyond all that was seen in the next."""
    count = np.arange(60.0)
    rng = np.random.default_rng(1)
    table = {"written_60min": 1e6 * (1 + count + rng.random(60)), "iops": rng.uniform(2, 10, 60)}
    encoder = Encoder(("written_60min", "iops"), table)
    assert encoder.names == ("iops",)
    beyond = encoder.columns({"written_60min": count, "iops": np.array([0.1, 5.0, 100.0])})
    seen = np.log1p(table["iops"])
    assert beyond[:, 0] == pytest.approx([seen.min(), np.log1p(5.0), seen.max()])


def test_gaps_take_the_median_of_what_was_learnt_from() -> None:
    table = {"wr_ratio": np.array([0.1, np.nan, 0.5, 0.2])}
    columns = Encoder(("wr_ratio",), table).columns(table)
    assert columns[:, 0].tolist() == [0.1, 0.2, 0.5, 0.2]


def write_trace(path: Path, minutes: int, *, per_minute: int = 20) -> Path:
    """Write requests of 4 to 64 KiB, some of them writes, evenly over the minutes."""
    rng = np.random.default_rng(3)
    lines = []
    for number in range(minutes * per_minute):
        size = 4096 * int(rng.integers(1, 17))
        op = "w" if rng.random() < 0.2 else "r"
        place = 128 * int(rng.integers(0, 1000))
        lines.append(f"0,{place},{size},{op},{number * 60 / per_minute:.6f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_minutes_of_a_replay(tmp_path: Path) -> None:
    """Sums of the log, request by request."""
    path = write_trace(tmp_path / "short.spc", 5, per_minute=120)
    scenario = Scenario.read(str(path), ReplayOptions())
    minutes, told = measure(open_target("sim:mqsim-8g", seed=1).device, scenario)
    assert told["requests"] == 600
    assert len(minutes) == 5
    assert minutes.settled.all()
    assert minutes.targets["iops"] == pytest.approx(np.full(5, 2.0), abs=0.02)
    rows, logs = scenario.rows, []
    drive = open_target("sim:mqsim-8g", seed=1).device
    drive.replay(str(path), ReplayOptions(), chunk=logs.append)
    latency = dict(zip(logs[0].index.tolist(), logs[0].latency_ns.tolist(), strict=True))
    for minute in range(5):
        mine = [n for n in range(600) if rows.arrival_ns[n] // 60_000_000_000 == minute]
        mean = np.mean([latency[n] for n in mine])
        assert minutes.targets["latency_ns"][minute] == pytest.approx(mean)
        if minute:
            last = minutes.features["previous_latency_ns"][minute]
            assert last == pytest.approx(minutes.targets["latency_ns"][minute - 1], rel=0.02)
    assert np.isnan(minutes.features["previous_latency_ns"][0])


def test_a_drive_that_cannot_follow_is_late(tmp_path: Path) -> None:
    """A disk serves some hundred random reads a second; 1,000 in one second make it wait."""
    places = np.random.default_rng(1).integers(0, 10**8, 1000)
    lines = ["0,0,4096,r,0"]
    lines += [f"0,{8 * place},4096,r,{59 + n / 1000:.6f}" for n, place in enumerate(places)]
    lines += [f"0,0,4096,r,{60 * minute - 0.1}" for minute in (2, 3)]
    path = tmp_path / "burst.spc"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    scenario = Scenario.read(str(path), ReplayOptions(fit="wrap"))
    minutes, _ = measure(open_target("sim:huang-hdd-s", seed=1).device, scenario)
    assert minutes.settled.tolist() == [False, True, True]
    served = minutes.targets["iops"] * 60
    assert served.sum() == pytest.approx(1003)
    assert 700 < served[1] < 1000
    # What was waiting at the end of the first minute is not known to the second.
    known = minutes.features["previous_latency_ns"][1]
    assert known < 0.5 * minutes.targets["latency_ns"][0]


def test_only_an_open_loop_has_minutes(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "short.spc", 2)
    with pytest.raises(UsageError, match="--mode open"):
        Scenario.read(str(path), ReplayOptions(mode="asap"))


def test_times_can_be_stretched(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "short.spc", 4, per_minute=100)
    scenario = Scenario.read(str(path), ReplayOptions(time_scale=0.5))
    minutes, _ = measure(open_target("sim:mqsim-8g", seed=1).device, scenario)
    assert len(minutes) == 2
    assert minutes.targets["iops"] == pytest.approx(np.full(2, 200 / 60), rel=0.02)


def test_lasso_finds_the_few_features_that_matter() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(80, 40))
    y = np.exp(1 + 0.5 * x[:, 3] - 0.3 * x[:, 7] + rng.normal(0, 0.02, 80))
    fitted = LassoRegressor(log_target=True).fit(x, y)
    slopes = fitted.model_.trees[0].coefficients[0]
    assert set(np.argsort(-np.abs(slopes))[:2]) == {3, 7}
    assert np.abs(np.delete(slopes, [3, 7])).max() < 0.02


def test_intervals_follow_errors_that_grow() -> None:
    """Fixed ones, calibrated on the quiet first part, cover two in three."""
    rng = np.random.default_rng(1)
    errors = np.abs(rng.normal(0, 0.01, 400)) * np.where(np.arange(400) < 200, 1, 3)
    known = np.ones(400, dtype=bool)
    halves = following(errors, known)
    fixed = np.quantile(errors[:100], 0.9)
    assert (errors[200:] <= fixed).mean() < 0.7
    assert 0.87 <= (errors[200:] <= halves[200:]).mean() <= 0.94
    assert (following(errors, ~known)[10:] == halves[10]).all(), "what is not known teaches nothing"
    later = errors.copy()
    later[300:] *= 10
    assert (following(later, known)[:301] == halves[:301]).all()
