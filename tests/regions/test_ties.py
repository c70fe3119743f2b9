"""Ties: everything equal, null vectors, decimals, discrete noise, one rank however it is asked."""

import numpy as np
import pytest
from scipy.stats import binom, chi2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua

# --- everything ties: the tie order decides alone ---


rng = np.random.default_rng(11)
FIVE = rng.normal(size=(5, 5))
Y5 = rng.normal(size=5)
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
    "a saturated design": (NO_CONSTANT, FIVE, Y5, [0.1, -0.2, 0.3, 1.4, -1.5], EVERY, {}),
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


# --- decimals and discrete noise ---


GROUPS = np.repeat([0.0, 1.0], 3)[:, None]


def decimal_region(seed, offset, model, noise, m=10):
    """offset + 2.3 x ± 0.3, every number written with one decimal."""
    steps = np.random.default_rng([seed, 3]).choice([-3, 3], 6)
    tenths = 10 * offset + 23 * GROUPS[:, 0].astype(int) + steps
    y = np.array([float(f"{t / 10:.1f}") for t in tenths])
    return ua.confidence_region(model, GROUPS, y, noise=noise, m=m, random_state=seed)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["symmetric", "symmetric-exchangeable"])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.5), Lasso(0.1)], ids=repr)
def test_an_offset_of_decimals_changes_no_rank(model, noise):
    for seed in range(5):
        near, *far = (
            decimal_region(seed, offset, model, noise).rank([offset, 2.3])
            for offset in (0, 700, 90_000)
        )
        assert far == [near, near], seed


@pytest.mark.slow
def test_the_ranks_of_decimals_are_uniform():
    runs, m = 200, 5  # a rank that never occurs makes χ² at least 40; the band ends at 36
    ranks = [
        decimal_region(seed, 700, LinearRegression(), "symmetric", m).rank([700, 2.3])
        for seed in range(runs)
    ]
    counts = np.bincount(ranks, minlength=m + 1)[1:]
    assert ((counts - runs / m) ** 2).sum() * m / runs <= chi2.isf(5e-7, m - 1)
    for covered in (1, 2, 4):
        low, high = binom.ppf([5e-7, 1 - 5e-7], runs, covered / m)
        assert low <= counts[:covered].sum() <= high


@pytest.mark.parametrize("model", [Ridge(0.7), LinearRegression()], ids=repr)
def test_a_candidate_has_one_rank_alone_and_among_many(model):
    # Repeated rows of different weight: exchanging their residuals changes nothing.
    x = np.repeat([[-0.9], [0.3], [1.7], [2.2]], 2, axis=0)
    y, w = np.repeat([0.4, -1.3, 0.6, 0.1], 2), np.array([1.0, 3, 2, 1, 6, 5, 1, 4])
    noise = ua.noise.ExchangeableWithin(2)
    region = ua.confidence_region(model, x, y, sample_weight=w, noise=noise, m=20, random_state=1)
    first = 1 + np.count_nonzero(region.tie_order < region.tie_order[0])
    for size in (1.0, 1e6):
        a = size * np.random.default_rng(2).normal(size=(60, 2))
        alone = [region.rank(one) for one in a]
        assert region.rank(a).tolist() == alone == [first] * 60
