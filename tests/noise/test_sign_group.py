"""Signs from a group (docs/theory.md 17): exact for one fixed choice, without a seed."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.noise import Perturbations

RUNS, SORTED = 20_000, 600


def band(level, runs=RUNS):
    """The two-sided 1e-6 band of the share of runs that are covered."""
    return binom.ppf([5e-7, 1 - 5e-7], runs, level) / runs


def ranks(Q, E, moved):
    """Ranks of the noise E (N, n) itself among its transforms, as the article defines them."""
    statistics = ((moved @ Q) ** 2).sum(axis=-1)
    return 1 + (statistics < ((E @ Q) ** 2).sum(axis=-1)[:, None]).sum(axis=1)


def made_up(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 2))


def orthonormal(X):
    return np.linalg.qr(np.column_stack([np.ones(len(X)), X]))[0]


@pytest.mark.parametrize("n", [12, 20, 60])
@pytest.mark.parametrize("law", ["normal", "cauchy"])
def test_coverage_for_one_group(n, law):
    X, rng = made_up(n), np.random.default_rng(n)
    E = getattr(rng, f"standard_{law}")((RUNS, n)) * np.exp(X[:, 0])
    region = ua.confidence_region(LinearRegression(), X, E[0])
    assert region.m == 128
    parts = np.array_split(E, 50)
    found = [ranks(orthonormal(X), part, region.perturbations.apply(part)) for part in parts]
    for level in (0.5, 0.90625, 0.953125):
        low, high = band(level)
        covered = np.mean(np.concatenate(found) <= round(level * 128))
        assert low <= covered <= high, (level, covered)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("n", [12, 60])
def test_coverage_for_rows_sorted_by_y(n):
    """A continuous regressor: leverages differ, and the order of the file does not matter."""
    X, rng = made_up(n), np.random.default_rng(n)
    Q = orthonormal(X)
    E, covered = rng.standard_normal((SORTED, n)), 0
    for e in E:
        order = np.argsort(e)  # y = e: all coefficients are zero
        leverage = (Q[order] ** 2).sum(axis=1)
        drawn = Perturbations.sign_group(ua.noise.Symmetric(), leverage, 128, modulo_sign=True)
        one = e[order][None]
        covered += int(ranks(Q[order], one, drawn.apply(one))[0] <= 122)
    low, high = band(0.953125, SORTED)
    assert low <= covered / SORTED <= high


@pytest.mark.slow_but_first
@pytest.mark.parametrize("dummy", [False, True])
def test_coverage_for_tied_rows_sorted_by_y_on_average_over_keys(dummy):
    n, rng = 60, np.random.default_rng(5)
    X = np.ones((n, 1 + dummy))
    X[: n // 2, 1:] = 0
    E = rng.standard_normal((SORTED, n))
    noise, covered = ua.noise.Symmetric(), np.zeros(200)
    for key in range(200):
        for e in E[3 * key : 3 * (key + 1)]:
            order = np.argsort(e)
            Q = np.linalg.qr(X[order])[0]
            leverage = (Q**2).sum(axis=1)
            drawn = Perturbations.sign_group(noise, leverage, 128, modulo_sign=True, key=key)
            one = e[order][None]
            covered[key] += ranks(Q, one, drawn.apply(one))[0] <= 122
    low, high = band(0.953125, SORTED)
    assert low <= covered.sum() / SORTED <= high


BLOCKS = np.repeat([0, 1, 2, 3, 4], [1, 2, 3, 1, 4])


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.5)])
@pytest.mark.parametrize(
    ("n", "blocks", "m", "expected"),
    [
        (5, None, 128, {False: 16, True: 32}),
        pytest.param(8, None, 8, {False: 8, True: 8}, marks=pytest.mark.slow),
        pytest.param(9, None, 128, {False: 128, True: 128}, marks=pytest.mark.slow),
        (11, BLOCKS, 4, {False: 4, True: 4}),
        (11, BLOCKS, 128, {False: 16, True: 32}),
    ],
)
def test_every_rank_is_as_frequent_over_all_signs_of_the_noise(model, n, blocks, m, expected):
    """All sign patterns of the units: the rank of the true coefficients is uniform, exactly."""
    X = np.random.default_rng(1).standard_normal((n, 1))
    units = np.arange(n) if blocks is None else blocks
    size = np.random.default_rng(2).lognormal(size=n)
    truth, counts = np.array([0.3, -1.2]), None
    for code in range(2 ** len(np.unique(units))):
        e = np.where(code >> units & 1, -size, size)
        region = ua.confidence_region(model, X, X @ truth[1:] + 0.3 + e, clusters=blocks, m=m)
        counts = np.zeros(region.m, dtype=int) if counts is None else counts
        counts[region.rank(truth) - 1] += 1
    assert len(counts) == expected[isinstance(model, Ridge)]
    assert (counts == 2 ** len(np.unique(units)) // len(counts)).all(), counts


def test_nothing_but_the_data_matters():
    X, y, truth = ua.datasets.linear(n=50, d=2, random_state=3)
    region, order = ua.confidence_region(LinearRegression(), X, y), np.random.default_rng(0)
    rows = order.permutation(50)
    for other in (
        ua.confidence_region(LinearRegression(), X, y, random_state=7),
        ua.confidence_region(LinearRegression(), X[rows], y[rows]),
    ):
        assert other.rank(truth) == region.rank(truth)
        assert np.allclose(other.statistics(truth)[1:], region.statistics(truth)[1:], rtol=1e-9)
    other = ua.confidence_region(LinearRegression(), 3 * X[:, ::-1] + 1, y)
    shift = truth[1:].sum() / 3
    assert other.rank(np.append(truth[0] - shift, truth[:0:-1] / 3)) == region.rank(truth)


def test_instruments_decide_and_endogenous_columns_do_not():
    X, y, _ = ua.datasets.instrumented(n=60, random_state=0)
    model, other = ua.InstrumentalRegression(endogenous=0, instruments=2), X.copy()
    other[:, 0] = np.exp(other[:, 0])
    same = [ua.confidence_region(model, Z, y).perturbations.apply(np.ones(60)) for Z in (X, other)]
    assert np.array_equal(*same)


def test_own_signs_and_other_numbers_are_drawn():
    class Own(ua.noise.Symmetric):
        def draw(self, n, size, rng):
            return rng.choice(np.array([-1, 1], dtype=np.int8), size=(size, n))

    X, y = made_up(40), np.arange(40.0)
    for noise, m in ((Own(), 128), ("symmetric", 100)):
        regions = [
            ua.confidence_region(Ridge(), X, y, noise=noise, m=m, random_state=seed)
            for seed in (0, 1)
        ]
        one, two = (region.perturbations.apply(np.ones(40)) for region in regions)
        assert regions[0].m == m
        assert not np.array_equal(one, two)
    with pytest.raises(ValueError, match=r"m is too large for a group of signs: .* given 4096\."):
        ua.confidence_region(Ridge(), X, y, m=4096)


def test_kernels_count_the_leverage_of_their_inputs():
    X, y, f = ua.datasets.sine(n=30, random_state=0)
    X = X**1.5 / 4  # no two inputs have the same leverage
    rows = np.random.default_rng(0).permutation(30)
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
    region, moved = (ua.confidence_region(model, X[i], y[i]) for i in (np.arange(30), rows))
    assert region.rank(f) == moved.rank(f)


@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_signs_of_a_stream_depend_on_row_numbers_alone(chunk):
    X, y, truth = ua.datasets.linear(n=50, d=2, random_state=3)
    stream = ua.StreamingRegion(Ridge())
    for start in range(0, 50, chunk):
        stream.partial_fit(X[start : start + chunk], y[start : start + chunk])
    assert stream.m == 128
    whole = ua.StreamingRegion(Ridge(), random_state=1).partial_fit(X, y)
    assert stream.region().rank(truth) == whole.region().rank(truth)
