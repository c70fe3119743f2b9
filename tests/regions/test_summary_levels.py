"""One division serves all levels and all orders of the rows, and y plays no part in it."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def region_of(n, d=2, noise="symmetric", order=None, **options):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = X @ np.arange(1.0, d + 1) + rng.standard_t(3, size=n)
    order = np.arange(n) if order is None else order
    return ua.confidence_region(
        LinearRegression(), X[order], y[order], noise=noise, m=10, random_state=1, **options
    )


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "symmetric-exchangeable"])
def test_several_levels_use_the_cells_of_the_highest_one_and_are_nested(noise):
    region = region_of(100, noise=noise)
    found = region.interval(["x0", "x1"], level=LEVELS)
    highest = region.interval(["x0", "x1"], level=LEVELS[-1])
    assert highest.upper.tolist() == found[LEVELS[-1]].upper.tolist()
    for low, high in pairwise(LEVELS):
        narrow, wide = found[low], found[high]
        assert (narrow.attained >= low).all()
        assert (wide.lower <= narrow.lower).all()
        assert (narrow.upper <= wide.upper).all()
        assert narrow.estimate.tolist() == wide.estimate.tolist()


@pytest.mark.parametrize("noise", ["symmetric", ua.noise.BlockSymmetric(np.arange(48) // 2)])
def test_rows_may_come_in_any_order_with_their_cells(noise):
    order, labels = np.random.default_rng(0).permutation(48), np.arange(48) // 6
    plain = region_of(48, noise=noise)
    if not isinstance(noise, str):
        noise = ua.noise.BlockSymmetric((np.arange(48) // 2)[order])
    moved = region_of(48, noise=noise, order=order)
    for weights in ("design", "residuals"):
        first = plain.summary(cells=labels, cell_weights=weights)
        second = moved.summary(cells=labels[order], cell_weights=weights)
        np.testing.assert_allclose(second.lower, first.lower, rtol=1e-9)
        np.testing.assert_allclose(second.upper, first.upper, rtol=1e-9)
        assert second.pvalue.tolist() == first.pvalue.tolist()
        assert second.level.tolist() == first.level.tolist()
    several = [
        region.hypothesis(["x0", "x1"], [1.0, 2.0], cells=cells)
        for region, cells in ((plain, labels), (moved, labels[order]))
    ]
    assert several[0].pvalue == several[1].pvalue


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_shifts_and_scales_of_y(noise):
    rng = np.random.default_rng(5)
    X, c = rng.normal(size=(60, 2)), np.array([3.0, -2.0, 0.5])
    y = X[:, 0] + rng.lognormal(size=60)

    def answer(y, tau=0.0):
        region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=10, random_state=2)
        found = region.summary(functionals=["x0", "x1"])
        together = region.hypothesis(["x0", "x1"], np.zeros(2) + tau).pvalue
        return np.array([found.lower, found.upper]), together

    plain, pvalue = answer(y)
    shifted, same = answer(y + c[0] + X @ c[1:], c[1:])
    np.testing.assert_allclose(shifted, plain + c[1:], rtol=1e-9)
    assert same == pvalue
    scaled, same = answer(-4 * y)
    np.testing.assert_allclose(scaled, -4 * plain[::-1], rtol=1e-9)
    assert same == pvalue
