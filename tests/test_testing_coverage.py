"""The coverage harness: its counts, its intervals, and the methods it compares with."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import beta, binom
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua
from unassuming import testing


def parabola(X):
    return 1 + X[:, 0] - X[:, 0] ** 2


def make_data(rng, n=20):
    X = rng.uniform(-1, 1, size=(n, 1))
    return X, parabola(X) + (0.1 + np.abs(X[:, 0])) * rng.standard_t(2, size=n), parabola


QUADRATIC = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())


def measure(estimator=QUADRATIC, data=make_data, **options):
    options = {"repetitions": 6, "resamples": 9, "random_state": 0, **options}
    return ua.testing.coverage(data, estimator, **options)


def rows(measured):
    return {row.method: row for row in measured.methods}


def test_the_exact_region_has_its_level():
    measured = measure(repetitions=1500, compare=False, m=10, level=0.8)
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], 1500, 0.8)
    assert low <= measured.region.covered <= high
    assert measured.level == 0.8


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


def test_bands_are_judged_at_all_inputs_and_at_each():
    for row in rows(measure()).values():
        assert row.runs == 6
        if "membership" not in row.method:
            assert row.rate <= row.pointwise <= 1
            assert row.width > 0


def test_the_band_covers_whenever_the_region_does():
    found = rows(measure(repetitions=30, level=0.5))
    region, band = found["region, membership of the truth"], found["region, outer band"]
    assert region.covered < 30
    assert band.covered >= region.covered


def one_region():
    X, y, _ = make_data(np.random.default_rng(1))
    return ua.confidence_region(QUADRATIC, X, y, random_state=0), X, y


def test_t_bounds_are_those_of_statsmodels():
    region, X, y = one_region()
    Phi = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 0] ** 2])
    expected = sm.OLS(y, Phi).fit().get_prediction(Phi).conf_int(alpha=0.1)
    lower, upper = testing._t_bounds(region, y, 0.9)
    np.testing.assert_allclose(np.column_stack([lower, upper]), expected, rtol=1e-9)


def test_the_bounds_of_the_gaussian_process_are_those_of_its_posterior():
    """K(K + σ²I)⁻¹y and K - K(K + σ²I)⁻¹K, with the kernel that maximum likelihood chose."""
    region, X, y = one_region()
    lower, upper = testing._process(region, y, 0.9, seed=0)
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


def test_the_bootstrap_has_the_spread_of_least_squares():
    X, y, _ = make_data(np.random.default_rng(1), n=60)
    rng = np.random.default_rng(0)
    lower, upper = testing._bootstrap(QUADRATIC, X, y, 0.9, 600, rng)
    Phi = np.column_stack([np.ones(60), X[:, 0], X[:, 0] ** 2])
    H = Phi @ np.linalg.solve(Phi.T @ Phi, Phi.T)
    r = y - H @ y
    deviation = np.sqrt(np.mean((r - r.mean()) ** 2) * np.diag(H))
    np.testing.assert_allclose(upper - lower, 2 * 1.645 * deviation, rtol=0.25)


def test_a_kernel_compares_least_squares_on_the_inputs():
    measured = measure(KernelRidge(kernel="rbf"), norm_bound=20.0, repetitions=3)
    found = rows(measured)
    assert np.isfinite(found["region, outer band"].width)
    assert found["least squares, t bounds"].runs == 3


def test_a_method_that_cannot_be_used_says_so():
    def few(rng):
        X = rng.normal(size=(4, 6))
        return X, rng.normal(size=4), lambda X: np.zeros(len(X))

    measured = measure(Ridge(), few)
    assert rows(measured)["least squares, t bounds"].runs == 0
    assert "least squares, t bounds          not available for these data" in str(measured)
    assert np.isnan(rows(measured)["least squares, t bounds"].rate)


def test_models_without_a_band_and_classifiers_are_measured_by_membership():
    measured = measure(Lasso(0.1), repetitions=3)
    assert measured.region.runs == 3

    def labels(rng):
        return ua.datasets.labels(n=30, random_state=rng)

    measured = measure(RidgeClassifier(), labels, repetitions=20)
    assert [row.method for row in measured.methods] == ["region, membership of the truth"]


def as_numbers(measured):
    return [
        (row.method, row.covered, row.runs, row.pointwise, row.width) for row in measured.methods
    ]


def test_the_same_seed_gives_the_same_result_for_every_number_of_jobs():
    alone = measure(repetitions=5)
    np.testing.assert_equal(as_numbers(measure(repetitions=5, n_jobs=2)), as_numbers(alone))
    again = measure(repetitions=5, random_state=alone.seed)
    np.testing.assert_equal(as_numbers(again), as_numbers(alone))
    assert as_numbers(measure(repetitions=5, random_state=1))[1:] != as_numbers(alone)[1:]


def test_the_table_prints_and_becomes_a_frame():
    measured = measure()
    frame = measured.to_frame()
    assert list(frame["method"]) == [row.method for row in measured.methods]
    assert list(frame["simultaneous"]) == [row.rate for row in measured.methods]
    text = str(measured)
    assert text.startswith("Coverage of the truth at level 0.9, 6 repetitions")
    assert len(text.splitlines()) == 2 + 5


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (lambda rng: (1, 2), "2 values"),
        (lambda rng: None, "NoneType"),
        (lambda rng: (np.ones((3, 1)), np.ones(3), np.ones(3)), "a third value of type ndarray"),
    ],
)
def test_a_generator_of_something_else_is_told_what_is_expected(made, given):
    with pytest.raises(TypeError, match=f"make_data returned something else.*given {given}"):
        measure(data=made)


@pytest.mark.parametrize("repetitions", [0, -1, 1.5, "many"])
def test_repetitions_are_positive(repetitions):
    with pytest.raises(ValueError, match="repetitions is out of range"):
        measure(repetitions=repetitions)


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    measure(repetitions=3, compare=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("time.monotonic", iter(range(0, 1000, 5)).__next__)
    list(testing._told(iter("abc"), 3))
    assert "2 of 3 repetitions" in capsys.readouterr().err


def test_random_features_are_the_same_for_the_same_seed():
    def data(rng):
        X = rng.uniform(0, 3, size=(20, 1))
        return X, X[:, 0] + rng.laplace(size=20), lambda X: X[:, 0]

    model = make_pipeline(RBFSampler(n_components=4), Ridge(0.1))
    one, two = (
        ua.testing.coverage(data, model, repetitions=3, resamples=9, random_state=0).to_frame()
        for _ in range(2)
    )
    assert one.equals(two)
