"""Permutations within blocks of consecutive rows, keyed by row number."""

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.linear_model import Ridge

import unassuming as ua
from unassuming.noise import ExchangeableWithin


def drawn(block_rows, n, size):
    return ExchangeableWithin(block_rows).draw(n, size, np.random.default_rng(7))


@pytest.mark.parametrize(("n", "rows"), [(3, [0, 1, 2]), (8, [3, 4, 5]), (5, [3, 4])])
def test_permutations_within_a_block_are_uniform(n, rows):
    order = drawn(3, n, size=60_000)[:, rows]
    _, counts = np.unique(order, axis=0, return_counts=True)
    cells = 2 if len(rows) == 2 else 6
    expected = len(order) / cells
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert len(counts) == cells
    assert chi2.ppf(5e-7, cells - 1) <= statistic <= chi2.isf(5e-7, cells - 1)


@pytest.mark.slow
def test_a_shift_of_one_block_is_not_seen():
    X = np.repeat(np.eye(3), 20, axis=0)
    y = np.random.default_rng(1).normal(size=60)
    model = Ridge(alpha=0.0, fit_intercept=False)
    region = ua.confidence_region(model, X, y, noise=ExchangeableWithin(20), random_state=0)
    verdict = region.bounded(0.9)
    assert not verdict
    assert "set no limit in one direction" in str(verdict)


@pytest.mark.parametrize("block_rows", [1, 0, -3, 2.0, "4", True])
def test_a_block_has_two_rows_or_more(block_rows):
    with pytest.raises(ValueError, match="block_rows must be an integer of at least 2"):
        ExchangeableWithin(block_rows)


def test_rows_of_weight_zero_are_refused():
    with pytest.raises(ValueError, match="given 1 of weight zero, or initial values"):
        ua.confidence_region(
            Ridge(),
            np.eye(4),
            np.ones(4),
            noise=ExchangeableWithin(2),
            sample_weight=[1, 1, 0, 1],
            random_state=0,
        )
