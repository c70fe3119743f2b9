"""Values of a function one at a time: what is chosen before y is seen, and what it does not see."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import unassuming as ua
from unassuming.functionals import value

GRID = np.linspace(0.2, 9.8, 13)[:, None]
KERNEL = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.05)
ASSUMED = {"norm_bound": 29.2, "noise_scale": 0.7}


def sine(n, seed=0):
    X, _, f = ua.datasets.sine(n=n, random_state=0)
    return X, f(X) + 0.7 * np.random.default_rng(seed).standard_normal(n)


def half(band):
    return (band.upper - band.lower) / 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 40, 60, 120])
def test_an_interval_is_not_wider_than_the_band(n):
    """With 30 rows cells alone would be twice as wide as the joint region."""
    alone, at_once, methods = [], [], set()
    for seed in range(6):
        region = ua.confidence_region(KERNEL, *sine(n, seed))
        one = region.band(GRID, 0.9, simultaneous=False, **ASSUMED)
        methods.add(one.method)
        alone.append(half(one))
        at_once.append(half(region.band(GRID, 0.9, **ASSUMED)))
    assert (np.mean(alone, axis=0) <= 1.15 * np.mean(at_once, axis=0)).all()
    assert len(methods) == 1  # y decides nothing
    assert ("joint region" in methods.pop()) == (n < 120)


def test_a_value_of_a_kernel_is_the_band_at_one_input_and_dual_to_its_test():
    region = ua.confidence_region(KERNEL, *sine(30))
    band = region.band(GRID[[6]], 0.9, simultaneous=False, **ASSUMED)
    found = region.interval(value(GRID[[6]]), 0.9, **ASSUMED)
    assert band.method == found.method == "joint region"
    assert (found.lower[0], found.upper[0]) == pytest.approx((band.lower[0], band.upper[0]))
    for end, inside in ((found.lower[0], -1), (found.upper[0], 1)):
        for step in (-1e-4, 1e-4):
            test = region.hypothesis(value(GRID[[6]]), end + step, level=0.9, **ASSUMED)
            assert (test.pvalue > 1 - found.attained[0]) == (step * inside < 0)


def two_columns(n=90):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 3, (n, 2))
    return X, np.sin(X.sum(axis=1)) + 0.3 * rng.standard_t(3, size=n)


@pytest.mark.parametrize("make", [lambda: sine(90), two_columns], ids=["one", "two"])
@pytest.mark.parametrize("model", [KERNEL, Ridge(0.1)], ids=["kernel", "features"])
def test_neither_seeds_nor_the_order_of_rows_matter(make, model):
    X, y = make()
    Z = X[:4] + 0.05
    options = {"norm_bound": 20.0, "noise_scale": 0.4}
    region = ua.confidence_region(model, X, y)
    plain = [region.band(Z, simultaneous=one, method="cells", **options) for one in (False, True)]
    seeded = ua.confidence_region(model, X, y, random_state=5)
    order = np.random.default_rng(0).permutation(len(X))
    moved = ua.confidence_region(model, X[order], y[order])
    for band, one in zip(plain, (False, True), strict=True):
        same = seeded.band(Z, simultaneous=one, method="cells", **options)
        assert np.array_equal([same.lower, same.upper], [band.lower, band.upper])
        other = moved.band(Z, simultaneous=one, method="cells", **options)
        for name in ("lower", "upper"):
            np.testing.assert_allclose(getattr(other, name), getattr(band, name), atol=1e-6)


def test_rows_that_are_sorted_by_y_among_equal_inputs_keep_the_level():
    """Five inputs with thirty rows each: rows of one input are ordered by a fixed permutation."""
    X = np.repeat(np.linspace(0, 4, 5), 30)[:, None]
    truth, inside = np.sin(X[:, 0]), 0
    for seed in range(200):
        y = truth + 0.5 * np.random.default_rng(seed).standard_normal(150)
        y = np.sort(y.reshape(5, 30), axis=1).ravel()
        region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y)
        found = region.band([[2.0]], 0.8, norm_bound=3.0, simultaneous=False, method="cells")
        inside += bool(found.lower[0] <= np.sin(2.0) <= found.upper[0])
    assert inside > 120
