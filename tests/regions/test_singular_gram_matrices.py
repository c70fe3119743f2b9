"""Ranks where everything ties, along null vectors of Gram matrices, and in other units."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua

pytestmark = pytest.mark.slow_but_first


# --- everything ties: the tie order decides alone ----------------------------------------------

rng = np.random.default_rng(11)
FIVE = rng.normal(size=(5, 5))
Y5 = rng.normal(size=5)
Y6 = rng.normal(size=6)
X6 = rng.normal(size=(6, 6))
KERNEL = {"kernel": "rbf", "gamma": 0.5}
WHOLE = np.array([[1.0, -2.0], [3.0, 1.0], [-1.0, 4.0], [2.0, 2.0], [0.0, -3.0]])  # no rounding
NO_CONSTANT = LinearRegression(fit_intercept=False)
EVERY = ("symmetric", "exchangeable", "symmetric-exchangeable", "spherical")

ALL_TIE = {
    # name: estimator, X, y, candidate, noises, options
    "a mean, permuted": (NO_CONSTANT, np.ones((5, 1)), Y5, [0.3], ("exchangeable",), {}),
    "an intercept, permuted": (
        LinearRegression(),
        np.zeros((5, 1)),
        Y5,
        [0.3, 9.0],
        ("exchangeable",),
        {},
    ),
    "a ridge intercept, permuted": (
        Ridge(alpha=1.0),
        np.zeros((5, 1)),
        Y5,
        [0.3, 0.7],
        ("exchangeable",),
        {},
    ),
    "a saturated design": (NO_CONSTANT, FIVE, Y5, [0.1, -0.2, 0.3, 1.4, -1.5], EVERY, {}),
    "a saturated design, six rows": (NO_CONSTANT, X6, Y6, np.arange(6) / 7, EVERY, {}),
    "a saturated design with an intercept": (
        LinearRegression(),
        FIVE[:, 1:],
        Y5,
        [0.1, -0.2, 0.3, 1.4, -1.5],
        EVERY,
        {},
    ),
    "SVR at zero": (
        SVR(gamma=0.5),
        FIVE,
        Y5,
        [0.1, 0, 0, 0, 0, 0],
        ("symmetric", "exchangeable", "symmetric-exchangeable"),
        {"weighting": "identity"},
    ),
    "a constant, permuted": (
        Ridge(alpha=1.0),
        FIVE[:, :2],
        np.full(5, 2.7),
        [0.1, 0, 0],
        ("exchangeable",),
        {},
    ),
    "a constant, met": (LinearRegression(), FIVE[:, :2], np.full(5, 2.7), [2.7, 0, 0], EVERY, {}),
    "residuals beyond the threshold, permuted": (
        ua.KernelHuber(delta=0.1, **KERNEL),
        FIVE,
        np.array([3.1, 2.7, 5.3, 4.9, 9.1]),
        [0.1, 0.2, -0.1, 0.3, 0.1],
        ("exchangeable",),
        {},
    ),
}
EXACT_FITS = {
    "LinearRegression": (LinearRegression(), [1.0, 2.0, -1.0]),
    "Ridge": (Ridge(alpha=0.7), [1.0, 2.0, -1.0]),
    "Lasso": (Lasso(alpha=0.3), [1.0, 2.0, -1.0]),
    "Lasso, sparse": (Lasso(alpha=0.3), [1.0, 0.0, -1.0]),
    "KernelRidge": (KernelRidge(alpha=0.7), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "KernelLasso": (ua.KernelLasso(alpha=0.3), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "KernelHuber": (ua.KernelHuber(alpha=0.3), [1.0, 2.0, -1.0, 0.0, 3.0]),
    "SVR": (SVR(kernel="linear"), [1.0, 1.0, 2.0, -1.0, 0.0, 3.0]),
}


def fitted(estimator, a):
    """Whole numbers in, whole numbers out."""
    a = np.asarray(a)
    if not hasattr(estimator, "kernel"):
        return a[0] + WHOLE @ a[1:]
    dual = WHOLE @ WHOLE.T @ a[-5:]
    return a[0] + dual if isinstance(estimator, SVR) else dual


CASES = [
    pytest.param(estimator, X, y, a, noise, options, id=f"{name}-{noise}")
    for name, (estimator, X, y, a, noises, options) in ALL_TIE.items()
    for noise in noises
] + [
    pytest.param(estimator, WHOLE, fitted(estimator, a), a, noise, {}, id=f"exact {name}-{noise}")
    for name, (estimator, a) in EXACT_FITS.items()
    for noise in EVERY
]


@pytest.mark.parametrize(("estimator", "X", "y", "a", "noise", "options"), CASES)
def test_where_everything_ties_the_tie_order_is_the_rank(estimator, X, y, a, noise, options):
    seen = set()
    for seed in range(2):
        region = ua.confidence_region(
            estimator, X, y, noise=noise, m=50, random_state=seed, **options
        )
        order = region.tie_order
        expected = 1 + sum(order[i] < order[0] for i in range(1, 50))
        assert region.rank(np.array(a)) == expected
        if seed == 0:  # among many
            assert region.rank(np.tile(a, (40, 1))).tolist() == [expected] * 40
        seen.add(expected)
    assert len(seen) == 2


@pytest.mark.parametrize(("estimator", "X", "y", "a", "noise", "options"), CASES)
def test_ties_in_favour_of_the_candidate_give_rank_one(estimator, X, y, a, noise, options):
    region = ua.confidence_region(
        estimator, X, y, noise=noise, m=50, ties="conservative", random_state=0, **options
    )
    assert region.rank(np.array(a)) == 1
    assert region.rank(np.tile(a, (40, 1))).tolist() == [1] * 40


# --- singular Gram matrices: the quotient space (THEORY.md 1) ----------------------------------

DOUBLED = np.array([[0.0], [1.0], [1.0], [2.5], [2.5], [2.5], [4.0], [5.0]])
DOUBLED_NULL = np.array(
    [[0, 1, -1, 0, 0, 0, 0, 0], [0, 0, 0, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -2, 0, 0.0]]
)
PLANE = np.array([[1.0, 0], [0, 1], [1, 1], [1, -1], [2, 1], [-1, 2], [3, 0], [1, 3]])
PLANE_NULL = np.array(
    [[1.0, 1, -1, 0, 0, 0, 0, 0], [1, -1, 0, -1, 0, 0, 0, 0], [2, 1, 0, 0, -1, 0, 0, 0]]
)
Y8 = np.random.default_rng(21).normal(size=8) * 2


@pytest.mark.parametrize(
    ("noise", "weight"),
    list(zip(EVERY, 2 * [None, np.array([1, 2, 0.5, 1, 3, 1, 1, 0.7])], strict=True)),
)
@pytest.mark.parametrize(
    ("kernel", "X", "null"),
    [
        ({"kernel": "rbf", "gamma": 0.5}, DOUBLED, DOUBLED_NULL),
        ({"kernel": "laplacian", "gamma": 1.0}, DOUBLED, DOUBLED_NULL),
        ({"kernel": "linear"}, PLANE, PLANE_NULL),
    ],
    ids=["rbf", "laplacian", "linear"],
)
def test_a_null_vector_of_the_gram_matrix_changes_no_rank(kernel, X, null, weight, noise):
    estimator = KernelRidge(alpha=0.5, **kernel)
    region = ua.confidence_region(
        estimator, X, Y8, noise=noise, sample_weight=weight, random_state=4
    )
    rng = np.random.default_rng(0)
    near = region.estimate + rng.normal(size=(60, 8)) * np.geomspace(0.01, 2, 60)[:, None]
    moved = near + rng.normal(size=(60, 3)) * [1.0, 10.0, 100.0] @ null
    ranks = region.rank(near)
    assert len(np.unique(ranks)) > 10
    np.testing.assert_array_equal(region.rank(moved), ranks)
    assert [region.rank(a) for a in moved] == ranks.tolist()


@pytest.mark.filterwarnings("ignore:Ranks and p-values may follow rounding:UserWarning")
@pytest.mark.parametrize("noise", EVERY)
@pytest.mark.parametrize("weight", [None, np.array([1, 2, 0.5, 1, 3, 1, 1, 0.7])])
@pytest.mark.parametrize("alpha", [0.5, 0.0])
def test_a_linear_kernel_gives_the_ranks_of_ridge_in_its_features(alpha, weight, noise):
    """Without a penalty, a direction that only rounding makes would weigh as much as any other."""
    options = {"noise": noise, "sample_weight": weight, "m": 100, "random_state": 4}
    dual = ua.confidence_region(KernelRidge(alpha=alpha), PLANE, Y8, **options)
    primal = ua.confidence_region(Ridge(alpha=alpha, fit_intercept=False), PLANE, Y8, **options)
    np.testing.assert_allclose(PLANE.T @ dual.estimate, primal.estimate, rtol=1e-10)
    rng = np.random.default_rng(0)
    near = dual.estimate + rng.normal(size=(100, 8)) * np.geomspace(0.01, 1, 100)[:, None]
    ranks = primal.rank(near @ PLANE)
    assert len(np.unique(ranks)) > 15
    np.testing.assert_array_equal(dual.rank(near), ranks)
    assert [dual.rank(a) for a in near[:30]] == ranks[:30].tolist()
    np.testing.assert_allclose(
        dual.statistics(near), primal.statistics(near @ PLANE), rtol=1e-9, atol=1e-14
    )
