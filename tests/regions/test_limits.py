"""Limits and special cases in which two methods, or a method and a one-line formula, must agree."""

from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier

import oracles
import unassuming as ua

NOISES = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]
N = 14
RNG = np.random.default_rng(31)
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + RNG.laplace(size=N)
LABELS = np.where(X[:, 0] + RNG.normal(size=N) > 0, 1.0, -1.0)


def build(estimator, X=X, y=Y, noise="symmetric", m=60, **options):
    return ua.confidence_region(estimator, X, y, noise=noise, m=m, random_state=8, **options)


def candidates(region, scale, size=50):
    rng = np.random.default_rng(2)
    steps = scale * rng.normal(size=(size, region.objective.d))
    return region.estimate + steps * np.linspace(0.01, 1, size)[:, None]


def assert_same_ranks(one, other, a, b=None):
    """The same ranks, which must take many values for this to say anything."""
    ranks = one.rank(a)
    assert ranks.tolist() == other.rank(a if b is None else b).tolist()
    assert len(np.unique(ranks)) > 8


# --- large thresholds ------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_huber_with_a_huge_threshold_is_kernel_ridge(noise):
    huber = build(ua.KernelHuber(0.7, delta=1e9, kernel="rbf"), noise=noise)
    ridge = build(KernelRidge(alpha=0.7, kernel="rbf"), noise=noise)
    a = candidates(ridge, 1.0)
    assert_same_ranks(huber, ridge, a)
    np.testing.assert_allclose(huber.statistics(a), ridge.statistics(a), rtol=1e-12, atol=1e-12)
    assert huber.estimate == pytest.approx(ridge.estimate, rel=1e-8)


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_huber_regressor_that_clips_nothing_is_least_squares(noise):
    # Then σ is the root mean square of the residuals, which these transformations do not change.
    huber = build(HuberRegressor(epsilon=1e3, alpha=0.0), noise=noise)
    plain = build(LinearRegression(), noise=noise)
    a = candidates(plain, 1.0)
    assert_same_ranks(huber, plain, a)
    assert huber.estimate == pytest.approx(plain.estimate, abs=1e-8)


# --- no penalty ------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_ridge_without_much_penalty_is_least_squares(noise):
    ridge, plain = build(Ridge(alpha=1e-12), noise=noise), build(LinearRegression(), noise=noise)
    a = candidates(plain, 1.0)
    assert_same_ranks(ridge, plain, a)
    np.testing.assert_allclose(ridge.statistics(a), plain.statistics(a), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_ridge_with_penalty_zero_is_least_squares_with_ties_and_all(noise):
    ridge, plain = build(Ridge(alpha=0.0), noise=noise), build(LinearRegression(), noise=noise)
    assert_same_ranks(ridge, plain, candidates(plain, 1.0))


@pytest.mark.parametrize("noise", NOISES)
def test_lasso_with_penalty_zero_is_unweighted_least_squares(noise):
    lasso = build(Lasso(alpha=0.0), noise=noise, weighting="identity")
    plain = build(LinearRegression(), noise=noise, weighting="identity")
    a = candidates(plain, 1.0)
    assert_same_ranks(lasso, plain, a)
    np.testing.assert_allclose(lasso.statistics(a), plain.statistics(a), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "spherical"])
def test_a_model_that_fits_everything_without_penalty_knows_nothing(noise):
    # Φ is square and invertible: every transformation keeps the length, everything ties.
    kernel = build(KernelRidge(alpha=0.0, kernel="rbf", gamma=2.0), noise=noise)
    linear = build(LinearRegression(), RNG.normal(size=(4, 3)), Y[:4], noise=noise)
    for region in (kernel, linear):
        a = RNG.normal(size=(40, region.objective.d))
        pi = region.tie_order
        lost = region is kernel
        told = pytest.warns(UserWarning, match="the penalty is lost") if lost else nullcontext()
        with told:
            assert set(region.rank(a).tolist()) == {1 + int((pi < pi[0]).sum())}


# --- primal and dual -------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_kernel_ridge_with_a_linear_kernel_is_ridge(noise):
    dual = build(KernelRidge(alpha=0.5, kernel="linear"), noise=noise)
    primal = build(Ridge(alpha=0.5, fit_intercept=False), noise=noise)
    a = candidates(dual, 0.3)
    assert_same_ranks(dual, primal, a, a @ X)
    np.testing.assert_allclose(dual.statistics(a), primal.statistics(a @ X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("noise", ["labels", "symmetric"])
@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.filterwarnings("ignore:The published region:UserWarning")
def test_ridge_classifier_is_linear_ls_svc_with_alpha_one_over_two_C(noise, C):
    ridge = build(RidgeClassifier(alpha=1 / (2 * C)), y=LABELS, noise=noise)
    svc = build(ua.LSSVC(C=C), y=LABELS, noise=noise)
    a = 0.15 * np.random.default_rng(1).normal(size=(60, 4))
    assert_same_ranks(ridge, svc, a)
    np.testing.assert_allclose(ridge.statistics(a), svc.statistics(a), rtol=1e-12, atol=1e-12)
    assert ridge.estimate == pytest.approx(svc.estimate, rel=1e-8)


# --- weights ---------------------------------------------------------------------------------


def test_weighted_kernel_ridge_is_the_plain_one_on_the_scaled_problem_for_signs():
    w = RNG.uniform(0.2, 3.0, size=N)
    root = np.sqrt(w)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    precomputed = KernelRidge(alpha=0.7, kernel="precomputed")
    weighted = build(precomputed, K, Y, sample_weight=w)
    plain = build(precomputed, root[:, None] * K * root, root * Y)
    scaled = candidates(plain, 1.0)  # ã, with a = W^½ ã
    assert_same_ranks(weighted, plain, root * scaled, scaled)
    assert weighted.estimate == pytest.approx(root * plain.estimate, rel=1e-8)


@pytest.mark.parametrize("estimator", [Ridge(alpha=0.6), KernelRidge(alpha=0.6, kernel="rbf")])
def test_a_constant_weight_is_a_smaller_penalty(estimator):
    lighter = type(estimator)(**{**estimator.get_params(), "alpha": 0.2})
    weighted = build(estimator, sample_weight=np.full(N, 3.0))
    plain = build(lighter)
    a = candidates(plain, 0.8)
    assert_same_ranks(weighted, plain, a)
    np.testing.assert_allclose(
        weighted.statistics(a), 3 * plain.statistics(a), rtol=1e-9, atol=1e-12
    )


# --- the smallest problems -------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_one_feature_compares_absolute_sums(noise):
    x = X[:, :1]
    region = build(LinearRegression(fit_intercept=False), x, noise=noise)
    a = candidates(region, 1.0)

    def plain(slope):
        r = Y - slope * x[:, 0]
        sums = [sum(x[:, 0] * v) ** 2 for v in [r, *region.perturbations.apply(r)]]
        return oracles.rank(sums, region.tie_order)

    ranks = region.rank(a).tolist()
    assert ranks == [plain(float(slope[0])) for slope in a]
    assert len(set(ranks)) > 8


@pytest.mark.parametrize("estimator", [LinearRegression(fit_intercept=False), Ridge(0.1)], ids=str)
def test_two_rows_are_enough(estimator):
    x, y = np.array([[1.0], [3.0]]), np.array([0.5, 2.0])
    region = build(estimator, x, y, m="all")
    assert region.m == (2 if isinstance(estimator, LinearRegression) else 4)
    assert region.rank(region.estimate) == 1
    assert region.contains(region.estimate, 0.5)


def test_two_rows_and_one_feature_by_hand():
    # r = (½ - a, 2 - 3a), x = (1, 3). One sign vector is left modulo ±I: (1, -1), and
    # Z_1 < Z_0 iff |r_1 - 3 r_2| < |r_1 + 3 r_2| iff r_1 r_2 > 0 iff a lies outside [½, ⅔].
    region = build(
        LinearRegression(fit_intercept=False),
        np.array([[1.0], [3.0]]),
        np.array([0.5, 2.0]),
        m="all",
        ties="conservative",
    )
    a = np.array([[0.0], [0.49], [0.5], [0.6], [0.66], [0.67], [1.0]])
    assert region.rank(a).tolist() == [2, 2, 1, 1, 1, 2, 2]


def test_an_intercept_alone_compares_absolute_means():
    # n = 4 and no other feature: the classical sign-flip test of a mean.
    y = np.array([0.4, 1.1, -0.3, 2.2])
    estimator = LinearRegression(fit_intercept=False)
    region = build(estimator, np.ones((4, 1)), y, m="all", ties="conservative")
    for mean in np.linspace(-1, 2, 13):
        r = y - mean
        flips = [abs(np.dot(s, r)) for s in product([1, -1], repeat=4) if s[0] == 1]
        expected = 1 + sum(f < abs(r.sum()) - 1e-12 for f in flips)
        assert region.rank([mean]) == expected
