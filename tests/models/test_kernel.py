"""The three kernel models: what they share, what each minimises, scikit-learn's conventions."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from conventions import follows
from unassuming.kernels import gram
from unassuming.models import LSSVC, KernelHuber, KernelLasso

RNG = np.random.default_rng(21)
X = RNG.normal(size=(24, 2))
Z = RNG.normal(size=(7, 2))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=24) > 0.0, 1.0, -1.0)
MODELS = [
    KernelLasso(0.1),
    KernelHuber(0.1, delta=0.4),
    LSSVC(2.0),
    LSSVC(2.0, fit_intercept=False),
]
ids = pytest.mark.parametrize("model", MODELS, ids=str)


def shifted_product(x, z, shift=1.0):
    return float(x @ z) + shift


def fitted_function(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@ids
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 0.7},
        {"kernel": "poly", "degree": 2, "coef0": 0.5},
        {"kernel": RBF(0.8)},
        {"kernel": shifted_product, "kernel_params": {"shift": 2.0}},
    ],
    ids=["linear", "rbf", "poly", "object", "callable"],
)
def test_every_kind_of_kernel_agrees_with_its_precomputed_gram_matrix(model, parameters):
    model = clone(model).set_params(**parameters).fit(X, Y)
    options = {"params" if k == "kernel_params" else k: v for k, v in parameters.items()}
    K, K_new = gram(X=X, **options), gram(X=Z, Z=X, **options)
    precomputed = clone(model).set_params(kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(precomputed.dual_coef_, model.dual_coef_, atol=1e-12)
    values = K_new @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(fitted_function(model, Z), values, atol=1e-12)
    np.testing.assert_allclose(fitted_function(precomputed, K_new), values, atol=1e-12)
    np.testing.assert_array_equal(model.X_fit_, X)
    assert model.n_features_in_ == 2


@ids
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", None, True])
def test_penalties_must_be_positive_numbers(model, value):
    names = {KernelLasso: ["alpha"], KernelHuber: ["alpha", "delta"], LSSVC: ["C"]}[type(model)]
    for name in names:
        message = rf"{name} of {type(model).__name__} is not usable: expected a positive number"
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**{name: value}).fit(X, Y)


# --- what each minimises --------------------------------------------------------------------------

GRID = np.linspace(0.0, 10.0, 60).reshape(-1, 1)
K = rbf_kernel(GRID, gamma=2.0)
TRUTH = GRID[:, 0] * np.sin(GRID[:, 0])
NOISY = TRUTH + RNG.standard_cauchy(60)
WEIGHTS = RNG.integers(0, 4, size=60).astype(float)
RBF2 = {"kernel": "rbf", "gamma": 2.0}
weighted = pytest.mark.parametrize("w", [np.ones(60), WEIGHTS], ids=["plain", "weighted"])


def test_kernel_huber_is_kernel_ridge_in_the_limit_and_safer_with_outliers():
    ridge = KernelRidge(0.7, **RBF2).fit(GRID, NOISY, sample_weight=WEIGHTS + 0.1)
    limit = KernelHuber(0.7, delta=1e6, **RBF2).fit(GRID, NOISY, sample_weight=WEIGHTS + 0.1)
    np.testing.assert_allclose(limit.predict(GRID), ridge.predict(GRID), rtol=1e-9)
    huber = KernelHuber(0.7, delta=1.0, **RBF2).fit(GRID, NOISY)
    error = np.mean((KernelRidge(0.7, **RBF2).fit(GRID, NOISY).predict(GRID) - TRUTH) ** 2)
    assert np.mean((huber.predict(GRID) - TRUTH) ** 2) < error / 2.0


@weighted
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e5])
def test_the_equations_of_lssvc(C, fit_intercept, w):
    y = np.where(TRUTH > 0, 1.0, -1.0)
    model = LSSVC(C, fit_intercept=fit_intercept, **RBF2).fit(GRID, y, sample_weight=w)
    a, b = model.dual_coef_, model.intercept_
    size = 1.0 + np.max(K @ np.abs(a))
    np.testing.assert_allclose(a / (2.0 * C), w * (y - b - K @ a), rtol=0.0, atol=1e-12 * size)
    assert abs(a.sum()) <= 1e-12 * np.abs(a).sum() if fit_intercept else b == 0.0


def test_cvxpy_solves_the_same_problem_with_slacks():
    model, w, b = LSSVC(0.7).fit(X, Y), cp.Variable(2), cp.Variable()
    slacks = 1.0 - cp.multiply(Y, X @ w + b)
    cp.Problem(cp.Minimize(cp.sum_squares(w) / 2.0 + 0.7 * cp.sum_squares(slacks))).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(X.T @ model.dual_coef_, w.value, atol=1e-6)
    assert model.intercept_ == pytest.approx(float(b.value), abs=1e-6)


# --- conventions ----------------------------------------------------------------------------------

INDEFINITE = (
    "the check changes a Gram matrix entry by entry, which makes it indefinite; "
    "a model that needs a positive semidefinite kernel must refuse it"
)


def expected_failures(model):
    if model.kernel == "precomputed" and not isinstance(model, KernelLasso):
        return {
            "check_positive_only_tag_during_fit": INDEFINITE,
            "check_estimators_dtypes": INDEFINITE,
        }
    return {}


def checks(*kernels):
    models = [clone(model).set_params(kernel=kernel) for kernel in kernels for model in MODELS]
    return parametrize_with_checks(models, expected_failed_checks=expected_failures)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.slow_but_first
@checks("rbf")
def test_scikit_learn_conventions(estimator, check):
    follows(estimator, check)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.slow
@checks("linear", "precomputed")
def test_scikit_learn_conventions_with_other_kernels(estimator, check):
    follows(estimator, check)
