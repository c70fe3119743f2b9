"""Ties: decimals, lines on which two statistics are the same, one rank however it is asked."""

import numpy as np
import pytest
from scipy.stats import binom, chi2
from sklearn.linear_model import Lasso, LinearRegression, Ridge

import unassuming as ua

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
