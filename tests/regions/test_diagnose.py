"""region.diagnose(): residual plots' data, indications, and what the guarantee rests on."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    Ridge,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR

import unassuming as ua

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
TRUTH = X @ [1.0, -1.0]


def diagnose(noise_terms, model=None, noise="symmetric", **options):
    model = LinearRegression() if model is None else model
    y = TRUTH + noise_terms
    options = {"m": 100, "random_state": 0, **options}
    return ua.confidence_region(model, X, y, noise=noise, **options).diagnose()


def by_name(diagnosis):
    return {indication.name: indication for indication in diagnosis.indications}


GOOD = RNG.laplace(size=N)
SKEWED = RNG.exponential(size=N) ** 2
WIDENING = np.exp(1.5 * TRUTH) * RNG.normal(size=N)
DRIFTING = np.sin(np.arange(N) / 5) + 0.1 * RNG.normal(size=N)


def test_residuals_and_fitted_values_are_those_of_the_estimate():
    y = TRUTH + GOOD
    diagnosis = diagnose(GOOD)
    fit = LinearRegression().fit(X, y)
    np.testing.assert_allclose(diagnosis.fitted, fit.predict(X), rtol=1e-10)
    np.testing.assert_allclose(diagnosis.residuals, y - fit.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(diagnosis.inputs["x1"], X[:, 1])


@pytest.mark.parametrize(
    ("noise_terms", "name"),
    [(SKEWED, "symmetry"), (WIDENING, "equal spread"), (DRIFTING, "no order")],
    ids=["skewed", "widening", "drifting"],
)
def test_what_is_wrong_is_indicated(noise_terms, name):
    assert by_name(diagnose(noise_terms, noise="spherical"))[name].pvalue <= 0.02


def test_nothing_is_indicated_where_nothing_is_wrong():
    for noise in ("symmetric", "exchangeable", "spherical"):
        assert all(i.pvalue > 0.02 for i in diagnose(GOOD, noise=noise).indications)


@pytest.mark.parametrize(
    ("noise", "assumed"),
    [
        ("symmetric", {"symmetry", "no order"}),
        ("exchangeable", {"equal spread", "no order"}),
        ("symmetric-exchangeable", {"symmetry", "equal spread", "no order"}),
        ("spherical", {"symmetry", "equal spread", "no order"}),
    ],
)
def test_it_says_what_the_region_assumes(noise, assumed):
    found = diagnose(GOOD, noise=noise).indications
    assert {indication.name for indication in found if indication.assumed} == assumed


def test_dependence_within_blocks_is_no_objection_to_block_symmetry():
    blocks = np.repeat(np.arange(20), 3)
    together = np.repeat(RNG.choice([-1.0, 1.0], size=20), 3) * RNG.uniform(1, 2, size=N)
    assert by_name(diagnose(together, noise="symmetric"))["no order"].pvalue <= 0.02
    allowed = diagnose(together, noise=ua.noise.BlockSymmetric(blocks))
    assert by_name(allowed)["no order"].pvalue > 0.02


def test_the_same_seed_gives_the_same_p_values_whatever_m_is():
    one, two, other = (
        [i.pvalue for i in diagnose(GOOD, m=m, random_state=seed).indications]
        for m, seed in ((10, 0), (100, 0), (10, 1))
    )
    assert one == two
    assert one != other


def test_the_statistics_are_those_of_least_squares_residuals():
    y = TRUTH + WIDENING
    r = y - LinearRegression().fit(X, y).predict(X)
    found = by_name(diagnose(WIDENING))
    assert found["symmetry"].statistic == pytest.approx(np.sum(np.sign(r) * r**2) / np.sum(r**2))
    assert found["no order"].statistic == pytest.approx(np.sum(r[1:] * r[:-1]) / np.sum(r**2))
    share = LinearRegression().fit(X, abs(r)).score(X, abs(r))
    assert found["equal spread"].statistic == pytest.approx(share)


# --- strong penalties -----------------------------------------------------------------------------


def cubic(X):
    return 5 * X[:, 0] ** 3 - 2 * X[:, 0]


def waves(X):
    return 6 * X[:, 0] * np.sin(5 * X[:, 0])


CUBES = PolynomialFeatures(4, include_bias=False)
PENALISED = {
    "ridge": (cubic, make_pipeline(CUBES, Ridge(1e3))),
    "lasso": (cubic, make_pipeline(CUBES, Lasso(0.3))),
    "kernel ridge": (waves, KernelRidge(kernel="rbf", gamma=10.0, alpha=100.0)),
}


def alarms(kind, noise, runs=15):
    """Of rows in order, how often each test says that something is wrong, at 0.05."""
    truth, model = PENALISED[kind]
    found = dict.fromkeys(("symmetry", "equal spread", "no order"), 0)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        inputs = np.sort(rng.uniform(-1, 1, size=(N, 1)), axis=0)
        y = truth(inputs) + 0.5 * noise(rng)
        region = ua.confidence_region(model, inputs, y, m=20, random_state=seed)
        for indication in region.diagnose().indications:
            found[indication.name] += indication.pvalue <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", PENALISED)
def test_a_strong_penalty_raises_no_false_alarm(kind):
    """The residuals of these estimates are in order, and far from symmetric or equal in spread."""
    most = binom.ppf(1 - 1e-6, 15, 0.1)  # 9 of 15; tests of residuals keep 0.05 about
    assert max(alarms(kind, lambda rng: rng.laplace(size=N)).values()) <= most


@pytest.mark.parametrize("intercept", [False, True])
def test_tests_of_kernels_look_at_eigenfunctions_chosen_by_generalised_cross_validation(intercept):
    inputs = np.sort(RNG.uniform(-1, 1, size=(N, 1)), axis=0)
    y = 3 + waves(inputs) + GOOD
    model = SVR(gamma=10.0) if intercept else KernelRidge(kernel="rbf", gamma=10.0, alpha=100.0)
    diagnosis = ua.confidence_region(model, inputs, y, random_state=0, m=100).diagnose()
    K, centre = np.exp(-10 * (inputs - inputs.T) ** 2), np.eye(N) - intercept / N
    directions = np.linalg.svd(centre @ K @ centre)[0]
    scores, fits = [], []
    for count in range(1, N // 4 + 1):
        U = np.column_stack([np.ones((N, int(intercept))), directions[:, :count]])
        r = y - U @ np.linalg.lstsq(U, y, rcond=None)[0]
        scores.append(np.sum(r**2) / (N - U.shape[1]) ** 2)
        fits.append(r)
    best = int(np.argmin(scores))
    np.testing.assert_allclose(diagnosis.tested, fits[best], rtol=1e-6, atol=1e-8)
    assert f"the leading {best + 1} eigenfunctions" in diagnosis.caveat
    assert "Dependence between neighbours may be mistaken for variation" in diagnosis.caveat


@pytest.mark.slow
def test_p_values_are_exact_for_the_noise_itself():
    """With no input that explains anything and nothing fitted, residuals are the noise."""
    rejected, zeros = 0, np.zeros((30, 1))
    for seed in range(200):
        y = np.random.default_rng(seed).standard_t(3, size=30)
        model = Ridge(alpha=1.0, fit_intercept=False)
        region = ua.confidence_region(model, zeros + 1e-9, y, m=20, random_state=seed)
        rejected += by_name(region.diagnose())["symmetry"].pvalue <= 0.2
    # Ties between sums of ranks count against a rejection, and there are a few.
    low, high = binom.ppf(0.5e-6, 200, 0.17), binom.ppf(1 - 0.5e-6, 200, 0.2)
    assert low <= rejected <= high


def test_rows_of_weight_zero_are_left_out():
    weight = np.ones(N)
    weight[[3, 10]] = 0
    diagnosis = diagnose(GOOD, sample_weight=weight)
    assert len(diagnosis.residuals) == N - 2
    assert not {3, 10} & set(diagnosis.rows)
    np.testing.assert_array_equal(diagnosis.inputs["x0"], X[diagnosis.rows, 0])


def test_a_perfect_fit_indicates_nothing():
    region = ua.confidence_region(LinearRegression(), X, np.zeros(N), random_state=0, m=100)
    assert all(indication.pvalue == 1 for indication in region.diagnose().indications)


def test_real_data():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = by_name(ua.confidence_region(Lasso(0.1), X, y, random_state=0, m=100).diagnose())
    assert not found["equal spread"].assumed
    assert found["equal spread"].pvalue < 0.01  # the spread grows with the fitted values
