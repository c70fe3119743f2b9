"""The coverage harness: its counts, its intervals, and the methods it compares with."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import beta, binom
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import unassuming as ua
from unassuming.testing import _coefficients, _coverage, _methods


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


@pytest.mark.slow
def test_the_exact_region_has_its_level():
    measured = measure(repetitions=160, compare=False, m=5, level=0.8)
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], 160, 0.8)
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


def test_membership_is_that_of_the_regions():
    measured = measure(repetitions=20, level=0.5, compare=False)
    covered = 0
    for child, (X, y, f) in zip(
        np.random.SeedSequence(measured.seed).spawn(20), draws(measured), strict=True
    ):
        seed = int(child.spawn(3)[1].generate_state(1)[0])
        covered += ua.confidence_region(QUADRATIC, X, y, random_state=seed, m=100).contains(f, 0.5)
    assert measured.region.covered == covered
    assert 0 < covered < 20


@pytest.mark.slow
def test_the_band_covers_whenever_the_region_does():
    found = rows(measure(repetitions=15, level=0.5))
    region, band = found["region, membership of the truth"], found["region, outer band"]
    assert region.covered < 15
    assert band.covered >= region.covered


def one_region():
    X, y, _ = make_data(np.random.default_rng(1))
    return ua.confidence_region(QUADRATIC, X, y, random_state=0, m=100), X, y


def test_t_bounds_are_those_of_statsmodels():
    region, X, y = one_region()
    Phi = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 0] ** 2])
    expected = sm.OLS(y, Phi).fit().get_prediction(Phi).conf_int(alpha=0.1)
    lower, upper = _methods.t_bounds(region, y, 0.9)
    np.testing.assert_allclose(np.column_stack([lower, upper]), expected, rtol=1e-9)


def test_the_bounds_of_the_gaussian_process_are_those_of_its_posterior():
    """K(K + σ²I)⁻¹y and K - K(K + σ²I)⁻¹K, with the kernel that maximum likelihood chose."""
    region, X, y = one_region()
    lower, upper = _methods.process(region, y, 0.9, seed=0)
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


class Constant(RegressorMixin, BaseEstimator):
    """Fits the smallest output: its residuals are far from centred."""

    def fit(self, X, y):
        self.value_ = float(np.min(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def test_the_bounds_of_the_bootstrap_are_quantiles_of_refits_to_centred_residuals():
    """Of the smallest of n draws: its quantiles are those of the law of a minimum."""
    y = np.array([0.0, 1.0, 2.0, 5.0])
    X = np.zeros((4, 1))
    lower, upper = _methods.bootstrap(Constant(), X, y, 0.5, 4000, np.random.default_rng(0))
    # The fit is 0, the centred residuals are y - 2. The smallest of four draws with replacement is
    # -2 with probability 1 - (3/4)^4 = 0.68, at most -1 with 1 - (1/2)^4 = 0.94.
    np.testing.assert_array_equal(lower, [-2.0] * 4)  # at 0.25
    np.testing.assert_array_equal(upper, [-1.0] * 4)  # at 0.75


@pytest.mark.slow
def test_the_bootstrap_has_the_spread_of_least_squares():
    X, y, _ = make_data(np.random.default_rng(1), n=60)
    rng = np.random.default_rng(0)
    lower, upper = _methods.bootstrap(QUADRATIC, X, y, 0.9, 300, rng)
    Phi = np.column_stack([np.ones(60), X[:, 0], X[:, 0] ** 2])
    H = Phi @ np.linalg.solve(Phi.T @ Phi, Phi.T)
    r = y - H @ y
    deviation = np.sqrt(np.mean((r - r.mean()) ** 2) * np.diag(H))
    np.testing.assert_allclose(upper - lower, 2 * 1.645 * deviation, rtol=0.25)


def test_t_bounds_of_a_kernel_are_those_of_least_squares_on_the_inputs():
    X, y, _ = make_data(np.random.default_rng(1))
    region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0, m=100)
    expected = sm.OLS(y, sm.add_constant(X)).fit()
    expected = expected.get_prediction(sm.add_constant(X)).conf_int(alpha=0.1)
    found = np.column_stack(_methods.t_bounds(region, y, 0.9))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.slow
def test_a_kernel_compares_least_squares_on_the_inputs():
    measured = measure(KernelRidge(kernel="rbf"), norm_bound=20.0, repetitions=3)
    found = rows(measured)
    assert np.isfinite(found["region, outer band"].width)
    assert found["least squares, t bounds"].runs == 3


@pytest.mark.slow
def test_a_method_that_cannot_be_used_says_so():
    def few(rng):
        X = rng.normal(size=(4, 6))
        return X, rng.normal(size=4), lambda X: np.zeros(len(X))

    measured = measure(Ridge(), few, repetitions=2)
    assert rows(measured)["least squares, t bounds"].runs == 0
    assert "least squares, t bounds          not available for these data" in str(measured)
    assert np.isnan(rows(measured)["least squares, t bounds"].rate)


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result_for_every_number_of_jobs():
    alone = measure(repetitions=2)
    again = measure(repetitions=2, random_state=alone.seed, n_jobs=2)
    np.testing.assert_equal(as_numbers(again), as_numbers(alone))
    assert as_numbers(measure(repetitions=2, random_state=1))[1:] != as_numbers(alone)[1:]


OVERWRITING = make_pipeline(StandardScaler(copy=False), LinearRegression(copy_X=False))


@pytest.mark.slow
def test_models_that_overwrite_their_inputs_change_no_result():
    def data(rng):
        X = 5 + 3 * rng.normal(size=(20, 2))
        return X, X.sum(axis=1) + rng.laplace(size=20), lambda X: X.sum(axis=1)

    def plain(rng):
        return data(rng)

    gentle = make_pipeline(StandardScaler(), LinearRegression())
    found, expected = measure(OVERWRITING, data), measure(gentle, plain)
    assert (found.outside, expected.outside) == (0, 0)
    for ours, theirs in zip(as_numbers(found), as_numbers(expected), strict=True):
        assert ours[:3] == theirs[:3]
        np.testing.assert_allclose(ours[3:], theirs[3:], rtol=1e-9)


def test_models_that_overwrite_their_inputs_get_copies_in_every_refit():
    X, y, _ = make_data(np.random.default_rng(1))
    before = X.copy()
    found = _methods.bootstrap(OVERWRITING, X, y, 0.9, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(X, before)
    gentle = make_pipeline(StandardScaler(), LinearRegression())
    expected = _methods.bootstrap(gentle, X, y, 0.9, 20, np.random.default_rng(0))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


class OwnRidge(Ridge):
    """A model of the user's own, in a module that workers have not read."""


def own_factory(estimator, X, y, sample_weight):
    return ua.objectives.from_ridge(estimator, X, y, sample_weight)


@pytest.mark.slow
def test_models_of_ones_own_are_known_to_every_process():
    ua.register_objective(OwnRidge, own_factory)
    here = measure(OwnRidge(0.1), repetitions=4, compare=False)
    there = measure(OwnRidge(0.1), repetitions=4, compare=False, n_jobs=2)
    assert (there.region.covered, there.region.runs) == (here.region.covered, 4)


@pytest.mark.slow
def test_the_table_prints_and_becomes_a_frame():
    measured = measure()
    frame = measured.to_frame()
    assert list(frame["method"]) == [row.method for row in measured.methods]
    assert list(frame["simultaneous"]) == [row.rate for row in measured.methods]
    text = str(measured)
    assert text.startswith("Coverage of the truth at level 0.9, 6 repetitions")
    assert max(map(len, text.splitlines())) <= 100


def sentence(measured, method):
    """What is printed of a method under the table, as one line."""
    text = " ".join(str(measured).split("\n  - ", 1)[1].split())
    return next(part for part in text.split(" - ") if part.startswith(method))


@pytest.mark.slow
def test_the_table_says_what_each_method_claims_and_assumes():
    measured = measure(norm_bound=None, noise="exchangeable")
    assert "at all inputs at once. Assumes the noise terms are exchangeable" in sentence(
        measured, "region, membership of the truth"
    )
    band = sentence(measured, "region, outer band")
    assert "at all inputs at once. Assumes the same, and that the truth lies in the span" in band
    for method in ("Gaussian process", "least squares, t bounds", "residual bootstrap"):
        assert "at each single input. Assumes " in sentence(measured, method)
    frame = measured.to_frame()
    assert list(frame["claims"]) == ["all inputs at once"] * 2 + ["each single input"] * 3
    assert frame["assumes"].str.len().min() > 20


@pytest.mark.slow
def test_a_norm_bound_is_told_as_an_assumption():
    measured = measure(KernelRidge(kernel="rbf"), norm_bound=20.0, repetitions=2)
    assert "with a norm of 20 at most" in sentence(measured, "region, outer band")


@pytest.mark.parametrize(
    ("model", "outside"),
    [
        (QUADRATIC, 0),
        (LinearRegression(), 6),  # a straight line for a parabola
        (KernelRidge(kernel="rbf"), 0),
        (KernelRidge(kernel="linear"), 6),
    ],
    ids=["parabola", "line", "full-rank kernel", "linear kernel"],
)
def test_runs_with_the_truth_outside_the_span_are_counted(model, outside):
    measured = measure(model, compare=False)
    assert measured.outside == outside
    assert f"outside the span of the model in {outside} of 6 runs" in str(measured)


def test_a_truth_a_little_outside_the_span_is_outside():
    """A hundredth of the largest value is no rounding."""

    def bent(rng):
        X, y, f = make_data(rng)
        return X, y, lambda X: f(X) + 0.02 * np.sin(9 * X[:, 0])

    assert measure(QUADRATIC, bent, compare=False).outside == 6


def test_log_odds_in_the_span_are_told_from_others():
    def labels(truth):
        def data(rng):
            X = rng.normal(size=(30, 1))
            return X, np.where(rng.uniform(-1, 1, size=30) < truth(X), 1, -1), truth

        return data

    inside = measure(LogisticRegression(), labels(lambda X: np.tanh(X[:, 0] / 2)))
    beyond = measure(LogisticRegression(), labels(lambda X: 0.5 * np.sin(5 * X[:, 0])))
    assert (inside.outside, beyond.outside) == (0, 6)


def small(sizes):
    def data(rng):
        n = int(rng.choice(sizes))
        X = rng.normal(size=(n, 1))
        return X, X[:, 0] + rng.laplace(size=n), lambda X: X[:, 0]

    return data


def test_levels_of_groups_of_different_sizes_are_told_and_averaged():
    data = small([4, 6, 9])
    measured = measure(Ridge(), data, m="all", level=0.85, repetitions=30, compare=False)
    used = [np.ceil(0.85 * 2 ** len(y)) / 2 ** len(y) for _, y, _ in draws(measured, data)]
    assert len(set(used)) == 3
    assert measured.levels == (min(used), max(used))
    assert measured.level == pytest.approx(np.mean(used), abs=1e-15)
    text = f"at levels from {min(used):.4g} to {max(used):.4g}, {np.mean(used):.4g} on average"
    assert text in str(measured)


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


def test_one_level_is_told_alone():
    measured = measure(compare=False)
    assert measured.levels == (0.9, 0.9)
    assert str(measured).startswith("Coverage of the truth at level 0.9, 6 repetitions")


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


def test_a_model_without_a_region_is_refused_before_the_first_repetition():
    with pytest.raises(TypeError, match="chooses hyper-parameters with the same y"):
        measure(RidgeCV(), never)


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    measure(repetitions=3, compare=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("time.monotonic", iter(range(0, 1000, 5)).__next__)
    list(_coverage._with_progress(iter("abc"), 3))
    assert "2 of 3 repetitions" in capsys.readouterr().err


def test_random_features_are_the_same_for_the_same_seed():
    def data(rng):
        X = rng.uniform(0, 3, size=(20, 1))
        return X, X[:, 0] + rng.laplace(size=20), lambda X: X[:, 0]

    model = make_pipeline(RBFSampler(n_components=4), Ridge(0.1))
    one, two = (
        ua.testing.coverage(
            data, model, repetitions=3, resamples=9, random_state=0, m=100
        ).to_frame()
        for _ in range(2)
    )
    assert one.equals(two)


def growing(rng, n=30):
    """Noise whose scale grows with the input; the truth is 1 + 2 x."""
    X = rng.normal(size=(n, 1))
    return X, 1 + 2 * X[:, 0] + X[:, 0] ** 2 * rng.normal(size=n), lambda X: 1 + 2 * X[:, 0]


BLOCKS = np.repeat(np.arange(10), 3)


def recorded(monkeypatch, data, **options):
    """The bounds of every method in one run, with the data behind them."""
    bounds = {}
    outcome = _coverage._outcome

    def remember(found, truth, level):
        bounds[len(bounds)] = (*found, truth)
        return outcome(found, truth, level)

    monkeypatch.setattr(_coverage, "_outcome", remember)
    measured = measure(
        LinearRegression(), data, target="coefficients", repetitions=1, level=0.8, **options
    )
    names = [row.method for row in measured.methods[1:]]
    (X, y, _), *_ = draws(measured, data)
    return dict(zip(names, bounds.values(), strict=True)), sm.OLS(y, sm.add_constant(X))


@pytest.mark.parametrize("blocks", [None, BLOCKS], ids=["rows", "clusters"])
def test_intervals_of_coefficients_are_those_of_their_method(monkeypatch, blocks):
    noise = None if blocks is None else ua.noise.BlockSymmetric(blocks)
    found, ols = recorded(monkeypatch, growing, noise=noise)
    robust = {"cov_type": "HC3", "use_t": True}
    if blocks is not None:
        robust = {"cov_type": "cluster", "use_t": True, "cov_kwds": {"groups": blocks}}
    for method, fit in (
        ("least squares, t intervals", ols.fit()),
        ("least squares, robust", ols.fit(**robust)),
    ):
        lower, upper, truth = found[method]
        np.testing.assert_allclose(np.column_stack([lower, upper]), fit.conf_int(0.2), rtol=1e-9)
        np.testing.assert_allclose(truth, [1, 2], rtol=1e-9)
    joint, cells = found["region, joint bounds"], found["region, one coefficient at a time"]
    if blocks is None:  # ten clusters leave few cells
        assert (cells[1] - cells[0] < joint[1] - joint[0]).all()


@pytest.mark.parametrize("blocks", [None, [0, 0, 1, 2, 2, 3, 4, 4]], ids=["rows", "clusters"])
def test_the_wild_bootstrap_draws_signs_of_residuals(blocks):
    rng, draws = np.random.default_rng(0), 49
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    noise = None if blocks is None else ua.noise.BlockSymmetric(blocks)
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=100)
    fit = _coefficients.LeastSquares.of(region)
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


def test_a_table_of_coefficients_prints_levels():
    measured = measure(LinearRegression(), growing, target="coefficients", repetitions=3)
    assert measured.target == "coefficients"
    text = str(measured)
    assert max(map(len, text.splitlines())) <= 100
    heading = " ".join(text.splitlines()[1].split())
    assert heading == "method all coefs interval each coef median width level"
    cells = rows(measured)["region, one coefficient at a time"]
    assert cells.level >= 0.9
    assert cells.claims == "each single coefficient"
    assert list(measured.to_frame()["level"]) == [row.level for row in measured.methods]
    assert np.isfinite([row.width for row in measured.methods[1:]]).all()


@pytest.mark.slow
def test_too_few_rows_for_least_squares_are_said():
    def short(rng):
        X = rng.normal(size=(4, 4))
        return X, X[:, 0] + rng.normal(size=4), lambda X: X[:, 0]

    text = str(measure(Ridge(), short, target="coefficients", repetitions=2))
    assert "wild bootstrap                     not available for these data" in text


def test_coefficients_need_a_regression_with_features():
    with pytest.raises(ValueError, match="target is unknown: expected 'function' or"):
        measure(LinearRegression(), never, target="slopes")
    with pytest.raises(ValueError, match="target='coefficients' needs a regression"):
        measure(LogisticRegression(), never, target="coefficients")
    with pytest.raises(ua.NotAvailable, match="need a model with features"):
        measure(KernelRidge(kernel="rbf"), target="coefficients")
