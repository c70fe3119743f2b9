"""Limits and special cases in which two methods, or a method and a one-line formula, must agree."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier

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


# --- primal and dual -------------------------------------------------------------------------


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


# --- the smallest problems -------------------------------------------------------------------


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
