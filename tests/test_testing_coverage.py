"""The coverage harness: its counts, its intervals, and the methods it compares with."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import beta
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua
from unassuming.testing.methods import LeastSquares, gaussian_process, process_bounds


def parabola(X):
    return 1 + X[:, 0] - X[:, 0] ** 2


def make_data(rng, n=20):
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, parabola(X) + (0.1 + np.abs(X[:, 0])) * rng.standard_t(2, size=n), parabola


QUADRATIC = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())


def measure(estimator=QUADRATIC, data=make_data, **options):
    options = {"level": 0.9, "m": 100, "random_state": 0, **options}
    options = {"repetitions": 6, "resamples": 9, **options}
    return ua.testing.coverage(data, estimator, **options)


def rows(measured):
    return {row.method: row for row in measured.methods}


def test_a_wrong_assumption_is_seen():
    """Skewed noise with symmetric sign changes: the region loses its level."""

    def skewed(rng):
        X = rng.uniform(size=(60, 1))
        return X, X[:, 0] + rng.exponential(size=60), lambda X: X[:, 0]

    measured = measure(LinearRegression(), skewed, repetitions=60, compare=False)
    assert measured.region.high < 0.9


def test_the_interval_is_that_of_clopper_and_pearson():
    row = measure(repetitions=40, compare=False, confidence=0.99).region
    k, n = row.covered, row.runs
    assert row.low == pytest.approx(beta.ppf(0.005, k, n - k + 1), rel=1e-9)
    assert row.high == pytest.approx(beta.ppf(0.995, k + 1, n - k) if k < n else 1.0, rel=1e-9)


def draws(measured, data=make_data):
    """The data of every repetition, drawn again."""
    for child in np.random.SeedSequence(measured.seed).spawn(measured.repetitions):
        yield data(np.random.default_rng(child.spawn(3)[0]))


@pytest.mark.slow
def test_bands_are_judged_at_all_inputs_and_at_each():
    """Student's bounds of every repetition, by statsmodels: counts, shares and widths."""
    measured = measure(repetitions=12)
    everywhere, shares, widths = [], [], []
    for X, y, _ in draws(measured):
        Phi = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 0] ** 2])
        lower, upper = sm.OLS(y, Phi).fit().get_prediction(Phi).conf_int(alpha=0.1).T
        inside = (lower <= parabola(X)) & (parabola(X) <= upper)
        everywhere.append(inside.all())
        shares.append(inside.mean())
        widths.append(np.median(upper - lower))
    found = rows(measured)["least squares, t bounds"]
    assert (found.covered, found.runs) == (sum(everywhere), 12)
    assert 0 < found.covered < 12  # otherwise nothing is compared
    assert found.pointwise == pytest.approx(np.mean(shares), abs=1e-12)
    assert found.width == pytest.approx(np.median(widths), rel=1e-9)


def one_region():
    X, y, _ = make_data(np.random.default_rng(1))
    return ua.confidence_region(QUADRATIC, X, y, random_state=0, m=100), X, y


def test_t_bounds_are_those_of_statsmodels():
    region, X, y = one_region()
    Phi = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 0] ** 2])
    expected = sm.OLS(y, Phi).fit().get_prediction(Phi).conf_int(alpha=0.1)
    lower, upper, _ = LeastSquares.of(region, y, "function").t(0.9)
    np.testing.assert_allclose(np.column_stack([lower, upper]), expected, rtol=1e-9)


def test_the_bounds_of_the_gaussian_process_are_those_of_its_posterior():
    """K(K + σ²I)⁻¹y and K - K(K + σ²I)⁻¹K, with the kernel that maximum likelihood chose."""
    _, X, y = one_region()
    lower, upper = process_bounds(gaussian_process(X, y, 0), X, 0.9)
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    fit = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)
    K, noise = fit.kernel_.k1(X), fit.kernel_.k2.noise_level
    solved = np.linalg.solve(
        K + (noise + 1e-10) * np.eye(len(y)), np.column_stack([K, y - y.mean()])
    )
    mean = y.mean() + K @ solved[:, -1]
    deviation = y.std() * np.sqrt(np.diag(K - K @ solved[:, :-1]))
    np.testing.assert_allclose((lower + upper) / 2, mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(upper - lower, 2 * 1.6448536269514722 * deviation, rtol=1e-4)


def as_numbers(measured):
    return [
        (row.method, row.covered, row.runs, row.pointwise, row.width) for row in measured.methods
    ]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result_for_every_number_of_jobs():
    alone = measure(repetitions=2)
    again = measure(repetitions=2, random_state=alone.seed, n_jobs=2)
    np.testing.assert_equal(as_numbers(again), as_numbers(alone))
    assert as_numbers(measure(repetitions=2, random_state=1))[1:] != as_numbers(alone)[1:]


def small(sizes):
    def data(rng):
        n = int(rng.choice(sizes))
        X = rng.normal(size=(n, 1))
        return X, X[:, 0] + rng.laplace(size=n), lambda X: X[:, 0]

    return data


@pytest.mark.slow
def test_coverage_of_groups_of_different_sizes_is_the_average_level():
    """A sum of independent runs, each covered with its own level: mean and variance are known."""
    data, runs = small([2, 3]), 300
    measured = measure(
        Ridge(), data, m="all", level=0.55, repetitions=runs, compare=False, noise="symmetric"
    )
    group = np.array([2 ** len(y) for _, y, _ in draws(measured, data)])
    used = np.ceil(0.55 * group) / group
    band = 4.9 * np.sqrt(np.sum(used * (1 - used)))
    assert abs(measured.region.covered - used.sum()) <= band
    assert used.sum() - 0.55 * runs > band  # the level that was asked for is outside


def never(rng):
    raise AssertionError("the work has begun")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repetitions": 0}, "repetitions is out of range"),
        ({"repetitions": -1}, "repetitions is out of range"),
        ({"repetitions": 1.5}, "repetitions is out of range"),
        ({"repetitions": "many"}, "repetitions is out of range"),
        ({"level": 90}, "level must be a number strictly between 0 and 1.*Pass 0.9"),
        ({"level": 0.995, "m": 100}, r"level is too high: expected at most 0\.99 with m = 100"),
        ({"level": 0.0, "m": "all"}, "level must be a number strictly between 0 and 1"),
        ({"m": 1}, "m must be an integer"),
        ({"noise": "gaussian"}, "noise is not a known assumption"),
        ({"norm_bound": -1.0}, "norm_bound is out of range"),
        ({"norm_bound": "x"}, "norm_bound is out of range"),
        ({"resamples": 0}, "resamples is out of range"),
        ({"confidence": 95}, "confidence is out of range"),
        ({"random_state": "x"}, "random_state is"),
        ({"data": 3}, "make_data is out of range: expected a function"),
    ],
    ids=str,
)
def test_mistakes_are_found_before_the_first_repetition(options, message):
    with pytest.raises(ValueError, match=message):
        measure(**{"data": never, **options})


def growing(rng, n=30):
    """Noise whose scale grows with the input; the truth is 1 + 2 x."""
    X = rng.normal(size=(n, 1))
    return X, 1 + 2 * X[:, 0] + X[:, 0] ** 2 * rng.normal(size=n), lambda X: 1 + 2 * X[:, 0]


BLOCKS = np.repeat(np.arange(10), 3)


@pytest.mark.parametrize("blocks", [None, BLOCKS], ids=["rows", "clusters"])
def test_intervals_of_coefficients_are_those_of_statsmodels(blocks):
    X, y, _ = growing(np.random.default_rng(0))
    noise = None if blocks is None else ua.noise.BlockSymmetric(blocks)
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=100)
    fit, ols = LeastSquares.of(region, y, "coefficients"), sm.OLS(y, sm.add_constant(X))
    robust = {"cov_type": "HC3", "use_t": True}
    if blocks is not None:
        robust = {"cov_type": "cluster", "use_t": True, "cov_kwds": {"groups": blocks}}
    for found, theirs in ((fit.t(0.8), ols.fit()), (fit.robust(0.8), ols.fit(**robust))):
        np.testing.assert_allclose(np.column_stack(found[:2]), theirs.conf_int(0.2), rtol=1e-9)
        assert found[2] == 0.8


@pytest.mark.parametrize("blocks", [None, [0, 0, 1, 2, 2, 3, 4, 4]], ids=["rows", "clusters"])
def test_the_wild_bootstrap_draws_signs_of_residuals(blocks):
    rng, draws = np.random.default_rng(0), 49
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    noise = None if blocks is None else ua.noise.BlockSymmetric(blocks)
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=100)
    fit = LeastSquares.of(region, y, "coefficients")
    lower, upper, level = fit.wild(0.8, draws, np.random.default_rng(1))
    assert level == 0.8
    design, robust, scale = sm.add_constant(X), {"cov_type": "HC3"}, 1.0
    units = np.arange(8) if blocks is None else np.array(blocks)
    if blocks is None:
        scale = 1 - np.diag(design @ np.linalg.pinv(design))
    else:
        robust = {"cov_type": "cluster", "cov_kwds": {"groups": units}}
    ols = sm.OLS(y, design).fit(**robust)
    again = (
        sm.OLS(ols.resid / scale * (2.0 * signs[units] - 1), design).fit(**robust)
        for signs in np.random.default_rng(1).integers(0, 2, size=(draws, units.max() + 1))
    )
    statistics = np.sort([np.abs(one.params / one.bse) for one in again], axis=0)
    half = statistics[40 - 1] * ols.bse  # 0.8 (49 + 1) = 40
    np.testing.assert_allclose(lower, ols.params - half, rtol=1e-6)
    np.testing.assert_allclose(upper, ols.params + half, rtol=1e-6)
