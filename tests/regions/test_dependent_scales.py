"""A copy in another unit, among rows of very different sizes, changes no bound of other numbers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.regions import Status


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_bounds_are_those_without_the_copy(seed):
    rng = np.random.default_rng(seed)
    n = 24
    x, z = (rng.normal(size=n) * 2.0 ** rng.integers(-k, k + 1, n) for k in (40, 20))
    few = np.zeros(n)
    few[rng.integers(0, n, 8)] = rng.normal(size=8)
    alone, copied = np.column_stack([x, few, z]), np.column_stack([x, few, z, x * 2.0**-29])
    y = alone.sum(axis=1) + rng.normal(size=n)
    model = LinearRegression(fit_intercept=bool(seed % 2))
    found, expected = (
        (region.band(table[:6], 0.5), region.interval("x2", 0.5))
        for table in (copied, alone)
        for region in [ua.confidence_region(model, table, y, random_state=0)]
    )
    for one, other in zip(found, expected, strict=True):
        assert one.status is Status.CERTIFIED
        width = other.upper - other.lower
        assert (np.abs(one.upper - other.upper) <= 1e-6 * width).all()
        assert (np.abs(one.lower - other.lower) <= 1e-6 * width).all()
