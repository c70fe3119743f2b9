"""Ties: decimals, lines on which two statistics are the same, one rank however it is asked."""

import numpy as np
import pytest
from scipy.stats import binom, chi2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

# --- decimals are not binary numbers --------------------------------------------------------------

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


# --- crossings and membership ---------------------------------------------------------------------

KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "least squares": LinearRegression(),
    "without intercept": LinearRegression(fit_intercept=False),
    "ridge": Ridge(1.0),
    "ridge without intercept": Ridge(0.3, fit_intercept=False),
    "kernel ridge": KernelRidge(alpha=0.5, **KERNEL),
    "linear kernel": KernelRidge(kernel="linear", alpha=0.5),
    "lasso": Lasso(0.05),
    "kernel lasso": ua.KernelLasso(0.2, **KERNEL),
    "kernel Huber": ua.KernelHuber(0.5, delta=0.6, **KERNEL),
    "SVR": SVR(C=3.0, **KERNEL),
    "labels": RidgeClassifier(1.0),
}


def noises(name, n):
    if name == "labels":
        return ["labels"]
    blocks, within = ua.noise.BlockSymmetric(np.arange(n) // 2), ua.noise.ExchangeableWithin(2)
    names = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]
    return [*names, blocks, within]


def lines(region, rng):
    """Random lines, and lines through zero and the estimate along axes, where penalties vanish."""
    d = region.objective.d
    zero, axis = np.zeros(d), np.eye(d)[rng.integers(d)]
    return [
        (rng.normal(size=d), rng.normal(size=d)),
        (zero, np.eye(d)[0]),
        (zero, axis),
        (region.estimate, axis),
        (np.round(rng.normal(size=d)), np.eye(d)[0]),
    ]


@pytest.mark.parametrize("name", slow_but(MODELS, "least squares"))
def test_crossings_and_membership_agree_on_every_line_of_tiny_data(name):
    asked = 0
    for n in (3, 5):
        for k, noise in enumerate(noises(name, n)):
            if name not in ("ridge", "labels") and (k // 2 % 2 == 0) == (n == 3):
                continue  # each noise with one of the sizes
            rng = np.random.default_rng([n, k])
            x, y = rng.normal(size=(n, 1)), rng.normal(size=n)
            if k % 2:
                x, y = np.round(x, 1), np.round(y)
            if name == "labels":
                y = np.where(np.arange(n) % 2, 1.0, -1.0)
            region = ua.confidence_region(MODELS[name], x, y, noise=noise, m=20, random_state=n)
            for origin, direction in lines(region, rng):
                crossings = region.crossings(direction, (0.4, 0.8), origin=origin)
                t = np.concatenate([3 * rng.normal(size=4), 100 * rng.normal(size=2)])
                members = region.contains(origin + t[:, None] * direction, (0.4, 0.8))
                for level, found in crossings.items():
                    ends = found[np.isfinite(found)]
                    clear = (abs(t[:, None] - ends) > 1e-7 * (1 + abs(t[:, None]))).all(axis=1)
                    covered = [((found[:, 0] <= s) & (s <= found[:, 1])).any() for s in t]
                    np.testing.assert_array_equal(np.array(covered)[clear], members[level][clear])
                    asked += np.count_nonzero(clear)
    assert asked > 100


@pytest.mark.slow
def test_minus_one_ties_on_the_line_where_the_penalty_vanishes():
    """Whole space or empty, as the tie order says, and so does every ray."""
    outcomes = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(3, 1)), rng.normal(size=3)
        region = ua.confidence_region(Ridge(2.0), x, y, m=30, random_state=seed)
        moved = region.perturbations.apply(np.ones(3))
        flipped = np.abs(moved.sum(axis=1)) == 3  # I and -I
        wins = np.count_nonzero(flipped & (region.tie_order[1:] > region.tie_order[0]))
        outcomes.add(wins > 0)
        for q in (wins, wins + 1):
            if q > 0:
                found = region.crossings("intercept", 1 - q / 30, origin=[0.0, 0.0])
                assert bool(np.isinf(found).all() and len(found)) == (q == wins)
    assert outcomes == {True, False} or outcomes == {True}


# --- one answer -----------------------------------------------------------------------------------


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
