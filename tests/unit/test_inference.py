"""Each engine against a test that somebody else wrote, where there is one, and what it cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest
import ruptures
from scipy import stats as scipy_stats
from sklearn.metrics import adjusted_rand_score

from ssdscope.inference import noise
from ssdscope.inference.cells import cells
from ssdscope.inference.contrast import contrast, signed
from ssdscope.inference.noise import share_gains
from ssdscope.inference.period import multiples, period, scan
from ssdscope.inference.recurrence import recurrence
from ssdscope.inference.series import Series, Weighed, group_medians
from ssdscope.inference.step import first_step, likelihood, step, steps
from ssdscope.probes.caches.ending import ending
from ssdscope.probes.dies.partition import partition
from ssdscope.probes.latency.line import line
from ssdscope.probes.latency.saturation import saturation
from ssdscope.probes.table.reach import reach


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(19790401)


def test_a_series_refuses_columns_of_different_length() -> None:
    with pytest.raises(ValueError, match="columns of 2, 3, 2, 2, 2 rows"):
        Series.of([1, 2], [1, 2, 3])


def test_rows_that_cannot_be_trusted_count_for_nothing(rng: np.random.Generator) -> None:
    values = rng.lognormal(0, 0.1, 400)
    values[200:] *= 2
    spoiled = np.concatenate([values, np.full(100, 1e6)])
    valid = np.arange(500) < 400
    found = step(Series.of(np.arange(500), spoiled, valid=valid))
    assert found == step(Series.of(np.arange(400), values))
    assert found.estimate == pytest.approx(200, abs=3)


def test_the_likelihood_of_a_step_is_that_of_a_contingency_table(rng: np.random.Generator) -> None:
    above = np.concatenate([rng.random(300) < 0.02, rng.random(200) < 0.2])
    hits, rest = int(above[:300].sum()), int(above[300:].sum())
    table = [[hits, 300 - hits], [rest, 200 - rest]]
    theirs = scipy_stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    ours = likelihood(hits, 300) + likelihood(rest, 200) - likelihood(hits + rest, 500)
    assert ours == pytest.approx(theirs.statistic / 2)


def test_a_step_is_where_ruptures_puts_it(rng: np.random.Generator) -> None:
    for _ in range(10):
        place = int(rng.integers(100, 400))
        values = rng.lognormal(0, 0.05, 500)
        values[place:] *= 1.4
        theirs = ruptures.Dynp(model="l2", min_size=8, jump=1).fit(values).predict(n_bkps=1)[0]
        found = step(Series.of(np.arange(500), values))
        assert found.estimate == pytest.approx(theirs, abs=2)
        assert found.effect == pytest.approx(0.4, abs=0.03)
        assert found.margin > 10


def test_intervals_hold_the_place(rng: np.random.Generator) -> None:
    """Waits of one in thirty, behind a place, among spikes that are everywhere."""
    held = 0
    for _ in range(200):
        place = int(rng.integers(600, 1400))
        values = np.exp(0.1 * np.abs(rng.normal(size=2000)))
        values[rng.random(2000) < 0.005] *= 3
        values[place:][rng.random(2000 - place) < 0.03] *= 10
        found = step(Series.of(np.arange(2000), values), above=1.6)
        assert found.interval is not None
        held += found.interval[0] <= place <= found.interval[1]
    assert 184 <= held <= 199


def test_bursts_weigh_less_than_as_many_waits_each_for_itself(rng: np.random.Generator) -> None:
    alone = rng.random(2000) < 0.05
    bursts = np.repeat(rng.random(100) < 0.05, 20)
    assert noise.inflation(alone) == pytest.approx(1, abs=0.5)
    assert noise.inflation(bursts) > 5


def test_drift_is_no_step(rng: np.random.Generator) -> None:
    drifting = rng.lognormal(0, 0.05, 2000) * np.linspace(1, 1.3, 2000)
    found = step(Series.of(np.arange(2000), drifting))
    assert found.score > 50
    assert found.rivals[0].name == "drift"
    assert found.margin < 0


def test_what_passes_returns(rng: np.random.Generator) -> None:
    passing = rng.lognormal(0, 0.05, 2000)
    passing[900:1200] *= 1.5
    found = step(Series.of(np.arange(2000), passing))
    assert found.margin < 1


def test_the_first_of_several_steps_and_all_of_them(rng: np.random.Generator) -> None:
    values = rng.lognormal(0, 0.05, 1500)
    values[500:] *= 1.5
    values[1000:] *= 3
    series = Series.of(10 * np.arange(1500), values)
    assert first_step(series, 14).estimate == pytest.approx(5000, abs=30)
    places = [each.estimate for each in steps(series, 14)]
    assert places == [pytest.approx(5000, abs=30), pytest.approx(10_000, abs=30)]
    falling = step(Series.of(np.arange(1500), values[::-1].copy()), falls=True)
    assert falling.estimate == pytest.approx(500, abs=3)


def test_the_share_of_a_period_is_that_of_an_analysis_of_variance(
    rng: np.random.Generator,
) -> None:
    places = rng.integers(0, 240, 600)
    values = rng.lognormal(0, 0.1, 600) * np.where(places % 6 == 0, 1.2, 1)
    found = period(Series.of(places, values), [6])
    ranks = noise.normal_scores(values, np.zeros(600))
    theirs = scipy_stats.f_oneway(*(ranks[places % 6 == k] for k in range(6)))
    explained = 1 - (599 / 594) / (1 + float(theirs.statistic) * 5 / 594)
    assert found.detail["explained"] == pytest.approx(explained, rel=1e-6)


def touched(length: int) -> np.ndarray:
    """How many units of a length a write of three places touches."""
    return -(-(np.arange(length) + 3) // length)


def test_a_known_profile_is_found_by_its_length_and_beginning(rng: np.random.Generator) -> None:
    places = rng.integers(0, 100_000, 4000)
    slow = (places - 17 + 2) // 96 > (places - 17) // 96
    values = np.exp(0.2 * np.abs(rng.normal(size=4000))) * np.where(slow, 1.5, 1)
    found = scan(Series.of(places, values), np.arange(4, 200, 4), touched)
    assert (found.estimate, found.detail["begin"]) == (96, 17)
    assert found.score > 10
    assert found.margin > 7
    assert found.effect == pytest.approx(0.5, abs=0.1)


def test_no_profile_is_found_where_there_is_none(rng: np.random.Generator) -> None:
    for _ in range(50):
        places = rng.integers(0, 100_000, 2000)
        values = rng.lognormal(0, 0.2, 2000)
        found = scan(Series.of(places, values), np.arange(4, 200, 4), touched)
        assert found.score < 10
    assert scan(Series.of([1, 2], [1, 2]), [2], touched).estimate is None


def test_cells_of_which_only_some_pairs_apart_wait() -> None:
    """Ranks of what does not wait are noise, which shares of what does are not."""

    def pairs(apart_wait: float, seed: int) -> Series:
        draws = np.random.default_rng(seed)
        lower = draws.integers(0, 4096, 300)
        apart = np.exp(draws.uniform(0, np.log(96), 300)).astype(np.int64)
        parted = lower // 64 != (lower + apart) // 64
        waits = draws.random(300) < np.where(parted, apart_wait, 0.0)
        return Series.of(lower, np.where(waits, 50, draws.lognormal(0, 0.1, 300)), stratum=apart)

    sizes = [8, 16, 32, 64, 128, 192, 256]
    for seed in range(5):
        found = cells(pairs(0.4, seed), sizes, above=10)
        assert found.estimate == 64
        assert found.score > 10
        assert found.margin > 7
    for seed in range(50):
        spikes = pairs(0.0, seed)
        rare = np.where(np.random.default_rng(seed).random(300) < 0.02, 50, spikes.y)
        assert cells(spikes.with_y(rare), sizes, above=10).score < 10
    assert cells(pairs(0.0, 1), sizes, above=10).estimate is None


@pytest.mark.parametrize("in_order", [True, False])
def test_the_length_at_whose_multiples_few_values_stand_out(
    in_order: bool, rng: np.random.Generator
) -> None:
    places = np.arange(1, 4001) if in_order else rng.integers(1, 2000, 1000) * 24
    values = rng.lognormal(0, 0.1, places.size) * np.where(places % 144 == 0, 2, 1)
    found = multiples(Series.of(places, values), np.arange(2, 500))
    assert found.estimate == 144
    assert found.score > 10
    assert found.margin > 7
    assert found.effect == pytest.approx(1, abs=0.2)
    assert {each.name for each in found.rivals} == {"part", "multiple", "other period", "stretch"}


def test_a_stretch_that_is_slower_as_a_whole_is_no_multiple(rng: np.random.Generator) -> None:
    """Places at multiples lie in it, too, as on one member of an array."""
    places = rng.integers(1, 2000, 1000) * 4
    values = rng.lognormal(0, 0.1, places.size) * np.where(places % 64 < 32, 2, 1)
    found = multiples(Series.of(places, values), [8, 16, 32, 64, 128, 192])
    assert found.margin < 0


def test_no_length_is_found_where_nothing_stands_out(rng: np.random.Generator) -> None:
    for _ in range(100):
        series = Series.of(np.arange(1, 2001), rng.lognormal(0, 0.2, 2000))
        assert multiples(series, np.arange(2, 300)).score < 10
    # All places are multiples of one: that tells nothing, and nor does what is smaller.
    assert multiples(series, [1]).score == 0
    slow = np.where(np.arange(1, 2001) % 50 == 0, 0.5, 1.0)
    assert multiples(series.with_y(slow), [50]).score == 0


def test_signed_differences_as_scipy_ranks_them(rng: np.random.Generator) -> None:
    """A shift among waits a hundred times as long is seen as by Wilcoxon's test, and its sign."""
    for shift in (0.02, -0.02):
        values = rng.normal(shift, 0.1, 500)
        values[rng.random(500) < 0.05] *= 50
        theirs = scipy_stats.wilcoxon(values)
        found = signed(values)
        assert found.score == pytest.approx(-np.log(theirs.pvalue), abs=5)
        assert found.score > 3
        assert (found.estimate > 1) == (shift > 0)
    assert max(signed(rng.normal(0, 0.1, 500)).score for _ in range(200)) < 10
    assert signed([0.1, np.nan]).estimate is None


def test_signed_differences_that_cancel_bound_nothing() -> None:
    found = signed([1.22, -1.99, 0.55, 0.73, -1.22, 1.22, -0.28])
    assert 0 < found.score < 1e-5
    assert (found.interval, found.bound) == ((0.0, math.inf), math.inf)


@pytest.mark.parametrize("length", [5, 12, 24])
def test_a_period_is_told_from_its_parts_and_multiples(
    length: int, rng: np.random.Generator
) -> None:
    places = rng.integers(0, 2048, 1500)
    values = rng.lognormal(0, 0.1, 1500) * np.where((places + 3) % length == 0, 1.4, 1)
    series = Series.of(places, values)
    found = period(series, np.arange(1, 65))
    assert found.estimate == length
    assert found.score > 14
    assert found.margin > 7
    begins = scan(series, [length], lambda _: np.arange(length) == 0).detail
    assert (begins["begin"] + 3) % length == 0
    assert begins["begin_margin"] > 7


def test_strata_have_levels_of_their_own(rng: np.random.Generator) -> None:
    """Requests of two sizes: their levels differ by ten, what repeats by a tenth."""
    size = rng.integers(0, 2, 1500)
    places = rng.integers(0, 512, 1500)
    values = rng.lognormal(0, 0.05, 1500) * (1 + 9 * size) * np.where(places % 8 < 2, 1.1, 1)
    assert period(Series.of(places, values, stratum=size), np.arange(1, 33)).estimate == 8


@pytest.mark.parametrize("every", [40, 125])
def test_waits_recur(every: int, rng: np.random.Generator) -> None:
    values = rng.lognormal(0, 0.1, 4000)
    values[rng.random(4000) < 0.004] *= 5
    at = np.arange(17, 4000, every) + rng.integers(0, 2, len(range(17, 4000, every)))
    values[at[at < 4000]] *= 8
    found = recurrence(Series.of(4.0 * np.arange(4000), values), 2)
    assert found.estimate == pytest.approx(4 * every, abs=4)
    assert found.score > 14
    assert found.margin > 7


def test_a_contrast_is_a_paired_test(rng: np.random.Generator) -> None:
    one, other = rng.lognormal(0.05, 0.1, 60), rng.lognormal(0, 0.1, 60)
    strata = np.tile(np.arange(60), 2)
    found = contrast(Series.of(np.repeat([1, 0], 60), np.r_[one, other], stratum=strata))
    logs = np.log(one / other)
    middle = np.median(logs)
    far = np.quantile(np.abs(logs - middle), 0.9)
    clipped = np.clip(logs, middle - far, middle + far)
    # Theirs does not know that values were clipped: its t is larger by 1 / 0.9.
    t = 0.9 * float(scipy_stats.ttest_1samp(clipped, 0).statistic)
    assert found.score == pytest.approx(30 * np.log1p(t**2 / 59))
    assert found.estimate == pytest.approx(np.exp(clipped.mean()))


def test_looks_that_share_the_error_bound_less_each(rng: np.random.Generator) -> None:
    """Of pairs that are alike, one in a hundred is bounded below what they differ by."""
    strata, sides = np.repeat(np.arange(8), 2), np.tile([0, 1], 8)
    missed = np.zeros(2)
    for _ in range(400):
        series = Series.of(sides, np.exp(rng.normal(0, 0.01, 16) + 0.02 * sides), stratum=strata)
        bounds = [contrast(series, share=share).bound for share in (1.0, 0.2)]
        assert bounds[0] < bounds[1]
        missed += np.array(bounds) < np.expm1(0.02)
    assert missed[0] < 400 * 0.06
    assert missed[1] < 400 * 0.02


@pytest.mark.parametrize("share", [0.03, 0.05, 0.08, 0.12])
def test_spikes_on_both_sides_are_no_contrast(share: float) -> None:
    """Where the clip falls among them, as many on either side have to count."""
    pairs = 400
    strata = np.repeat(np.arange(pairs), 2)
    for seed in range(50):
        rng = np.random.default_rng(seed)
        values = rng.lognormal(0, 0.02, (pairs, 2))
        slow = rng.random((pairs, 2)) < share
        values[slow] *= 3
        found = contrast(Series.of(np.tile([0, 1], pairs), values.ravel(), stratum=strata))
        assert found.score < 8, f"{share=} {seed=}"


def test_drift_within_strata_is_no_contrast(rng: np.random.Generator) -> None:
    level = np.repeat(np.linspace(1, 3, 80), 2)
    values = rng.lognormal(0, 0.05, 160) * level
    strata = np.repeat(np.arange(80), 2)
    found = contrast(Series.of(np.tile([0, 1], 80), values, stratum=strata))
    assert found.score < 8
    assert found.bound < 0.05


def test_classes_are_those_of_the_drawing(rng: np.random.Generator) -> None:
    of = rng.integers(0, 6, 40)
    one, other = np.triu_indices(40, 1)
    values = rng.lognormal(0, 0.1, one.size) * np.where(of[one] == of[other], 1.6, 1)
    values[rng.random(one.size) < 0.01] *= 20
    found = partition(one, other, values)
    assert adjusted_rand_score(of, found.of) == 1
    assert found.count == np.unique(of).size
    assert min(found.score, found.margin) > 7
    assert found.effect == pytest.approx(0.6, abs=0.05)


def lines(
    rng: np.random.Generator, true: np.ndarray, sizes: np.ndarray, sigma: float
) -> tuple[Weighed, Weighed]:
    table = rng.lognormal(0, sigma, (64, sizes.size)) * true
    strata = np.repeat(np.arange(64), sizes.size)
    return line(Series.of(np.tile(sizes, 64), table.ravel(), stratum=strata))


@pytest.mark.parametrize("alpha", [5.0, 50.0, 500.0])
def test_a_line_is_told_by_its_small_sizes(rng: np.random.Generator, alpha: float) -> None:
    """Least squares alone would miss a small alpha by far."""
    sizes = 4.0 * np.arange(1, 65)
    found = lines(rng, alpha + 2 * sizes, sizes, 0.02)
    for each, true in zip(found, (alpha, 2.0), strict=True):
        low, high = each.interval or (0, 0)
        assert low <= true <= high
        assert high - low < 0.2 * true
    assert found[0].detail["missed_most"] < 0.01
    assert found[0].detail["bent"] == pytest.approx(0, abs=0.05)


def test_the_line_of_a_curve_is_that_of_least_squares(rng: np.random.Generator) -> None:
    """Steps, as of a drive that stripes: what lies beside the line counts."""
    sizes = 4.0 * np.arange(1, 65)
    true = 100 + 40 * np.ceil(sizes / 64) + sizes
    slope, intercept = np.polyfit(sizes, true, 1)
    alpha, beta = lines(rng, true, sizes, 0.02)
    assert alpha.estimate == pytest.approx(intercept, rel=0.03)
    assert beta.estimate == pytest.approx(slope, rel=0.02)
    assert 0.02 < alpha.detail["missed"] < 0.1


def test_a_line_that_is_none_says_by_how_much(rng: np.random.Generator) -> None:
    sizes = 4.0 * np.arange(1, 65)
    alpha, beta = lines(rng, 50 + 2 * sizes + 3 * np.maximum(sizes - 128, 0), sizes, 0.02)
    assert alpha.detail["missed_most"] > 0.1
    assert beta.detail["bent"] > 0.1


@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_what_delays_requests_is_taken_off(rng: np.random.Generator, drift: float) -> None:
    """Noise of one side, spikes, and a drift whose period is that of the repetitions."""
    repeats, pieces, each = 6, 64, 60
    true = rng.lognormal(0, 0.5, pieces * each)
    piece = np.repeat(np.arange(pieces), each)
    phase = (np.arange(repeats)[:, None] * 0.9 + np.arange(pieces) / 20) % 1
    slower = 1 + drift * (1 - np.abs(2 * phase - 1))

    def delays(shape: tuple[int, ...]) -> np.ndarray:
        spikes = np.where(rng.random(shape) < 0.02, 5.0, 0.0)
        return np.exp(0.1 * np.abs(rng.standard_normal(shape))) + spikes

    times = true * slower[:, piece] * delays((repeats, true.size))
    times[0, :each] = np.nan  # others came across
    beside = slower[:, :, None] * delays((repeats, pieces, 16))
    floors, correction = noise.quickest(times, piece, beside)
    off = floors / true
    assert np.mean(off) == pytest.approx(1, abs=0.03)
    assert 0.005 < correction < 0.04


def test_a_floor_is_below_the_least(rng: np.random.Generator) -> None:
    drawn = 3 + rng.random((8, 4000))
    assert noise.floor(drawn).mean() == pytest.approx(3, abs=0.01)


def test_a_rate_saturates_where_its_law_says(rng: np.random.Generator) -> None:
    depths = 2.0 ** np.arange(9)
    rates = depths / (depths + 4)
    target = 0.9 * rates[-1]
    true = 4 * target / (1 - target)
    table = rng.lognormal(0, 0.01, (6, 9)) * rates
    series = Series.of(np.tile(depths, 6), table.ravel(), stratum=np.repeat(range(6), 9))
    found = saturation(series, 0.9)
    assert found.estimate == pytest.approx(true, rel=0.1)
    assert found.score > 14


def test_places_that_scatter_themselves_widen_the_interval(rng: np.random.Generator) -> None:
    depths = np.tile(2.0 ** np.arange(9), 12)
    place, blocks = np.tile(np.arange(9), 12), np.repeat(range(12), 9)
    series = Series.of(depths, depths / (depths + 4), stratum=blocks)
    moved = Series.of(depths * rng.lognormal(0, 0.1, 108), series.y, stratum=blocks)
    widths = []
    for each in (series, moved):
        low, high = saturation(each, 0.9, place=place).interval or (0, 0)
        widths.append(high / low - 1)
    assert widths[0] == pytest.approx(0, abs=1e-9)
    assert 0.03 < widths[1] < 0.3


def test_where_there_is_too_little_nothing_is_said() -> None:
    few = Series.of([1, 2, 3], [1.0, 1.0, 9.0])
    assert step(few).estimate is None
    assert recurrence(few, 2).estimate is None
    assert contrast(few).estimate is None
    assert period(few, [2]).estimate is None
    assert line(few)[0].estimate is None


def test_a_step_is_between_places(rng: np.random.Generator) -> None:
    """Of several values at a place the last is wild: they are before the step all the same."""
    x = np.repeat(np.arange(40), 8)
    values = np.where(x < 25, 1.0, 2.0) * (1 + 0.01 * rng.random(x.size))
    values[x == 24] = np.append(np.ones(7), 2.0)
    assert step(Series.of(x, values)).estimate == 25


def paired(
    rng: np.random.Generator, size: int, begins: int = 0, count: int = 1500
) -> tuple[Series, np.ndarray]:
    """Draw pairs, of which those in one cell are fast but for one in fifty."""
    lower = rng.integers(0, 10**6, count)
    apart = rng.choice([0, *(1 << np.arange(9)), *(3 << np.arange(8))], count)
    parted = (lower - begins) // size != (lower + apart - begins) // size
    wild = rng.random(count) < 0.02
    return Series.of(lower, np.where(parted ^ wild, 3.0, 1.0), stratum=apart), parted


@pytest.mark.parametrize(("size", "begins"), [(1, 0), (3, 2), (8, 0), (24, 21), (96, 5), (256, 0)])
def test_cells_are_told_from_their_parts_and_multiples(
    size: int, begins: int, rng: np.random.Generator
) -> None:
    series, parted = paired(rng, size, begins)
    found = cells(series, np.arange(1, 257))
    assert found.estimate == size
    assert found.margin > 7
    told = int(found.detail["begins"])
    same = (series.x - told) // size != (series.x + series.stratum - told) // size
    assert (same == parted).mean() > 0.99


def test_what_hangs_on_the_distance_alone_is_no_cell(rng: np.random.Generator) -> None:
    series, _ = paired(rng, 8)
    values = 1 + np.log2(1.0 + series.stratum) / 8 + 0.05 * rng.random(len(series))
    assert cells(series.with_y(values), np.arange(1, 257)).margin < 0


def test_what_lies_apart_and_shares_all_the_same_is_no_cell(rng: np.random.Generator) -> None:
    """As chunks of an array whose members keep several in a unit."""
    series, _ = paired(rng, 8)
    one, other = series.x, series.x + series.stratum
    chunks = one // 4, other // 4
    shared = (chunks[0] % 3 == chunks[1] % 3) & (chunks[0] // 12 == chunks[1] // 12)
    found = cells(series.with_y(np.where(shared, 1.0, 3.0)), np.arange(1, 257))
    assert found.margin < 7


def rows_ending(rng: np.random.Generator, at: float, width: float) -> Series:
    x = np.sort(rng.uniform(0, 200, (150, 10)), axis=1)
    ends = at + width * rng.random((150, 1))
    large = (x >= ends) ^ (rng.random(x.shape) < 0.02)
    return Series.of(x, 1.0 + large, stratum=np.repeat(range(150), 10))


@pytest.mark.parametrize(("at", "width"), [(20, 0), (100, 4), (100, 60), (60, 20)])
def test_rows_end_where_they_were_rounded_up_from(
    at: float, width: float, rng: np.random.Generator
) -> None:
    found = ending(rows_ending(rng, at, width), np.arange(201), 100)
    assert found.interval is not None
    low, high = found.interval
    assert low - 1 <= at <= high + 1
    assert found.estimate == pytest.approx(at, abs=max(width / 4, 2))
    assert found.margin > 7


def test_rows_that_end_here_and_there_have_no_end(rng: np.random.Generator) -> None:
    series = rows_ending(rng, 100, 0)
    fast = (series.x // 10).astype(int) % 3 == 0
    assert ending(series.with_y(2.0 - fast), np.arange(201), 50).margin < 0


@pytest.mark.parametrize("size", [20, 300, 5000])
def test_cells_reach_about_as_far_as_they_are_large(size: int, rng: np.random.Generator) -> None:
    lower, apart = rng.integers(0, 10**6, 2000), 2 ** rng.integers(0, 17, 2000)
    values = np.where(lower // size == (lower + apart) // size, 1.0, 1.5) + 0.1 * rng.random(2000)
    found = reach(Series.of(apart, values), np.geomspace(1, 10**5, 400))
    assert found.estimate == pytest.approx(size, rel=0.3)
    assert found.score > 100
    assert reach(Series.of(apart, rng.random(2000)), np.geomspace(1, 10**5, 400)).score < 10
    assert reach(Series.of([], []), [1, 2]).estimate is None


def test_medians_of_groups_are_those_of_each(rng: np.random.Generator) -> None:
    values, group = rng.normal(size=200), rng.integers(0, 40, 200)
    group[group == 7] = 8
    found = group_medians(values, group, 41)
    for number, median in enumerate(found):
        there = values[group == number]
        assert median == np.median(there) if there.size else np.isnan(median)
    assert np.isnan(found[[7, 40]]).all()


def test_the_gain_of_shares_is_that_of_a_likelihood_ratio_test(rng: np.random.Generator) -> None:
    above = np.concatenate([rng.random(300) < 0.02, rng.random(200) < 0.2])
    places, gains = share_gains(above, 8)
    k = int(places[np.argmax(gains)])
    table = [[above[:k].sum(), (~above[:k]).sum()], [above[k:].sum(), (~above[k:]).sum()]]
    test = scipy_stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert gains.max() == pytest.approx(test.statistic / 2)


def test_shares_that_never_rise_gain_nothing() -> None:
    assert not share_gains(np.zeros(50, bool), 8)[1].size
    assert not (share_gains(np.repeat([True, False], 50), 8)[1] > 0).any()
