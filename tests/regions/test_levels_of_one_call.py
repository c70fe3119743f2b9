"""Levels of one call share their cells: bounds of lower levels lie inside those of higher ones."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

import unassuming as ua

LEVELS = [0.5, 0.9, 0.8]
GRID = np.linspace(-1, 11, 15)[:, None]


def region_of(model, n=150):
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    return ua.confidence_region(model, X, y, m=20, random_state=0)


def assert_nested(found):
    for lower, higher in ((0.5, 0.8), (0.8, 0.9)):
        assert (found[lower].lower >= found[higher].lower).all()
        assert (found[lower].upper <= found[higher].upper).all()
        assert found[lower].method == found[higher].method
        assert (found[lower].attained >= lower).all()


@pytest.mark.parametrize("options", [{"simultaneous": False}, {"method": "cells"}], ids=str)
@pytest.mark.parametrize("model", [SVR(gamma=0.5), KernelRidge(kernel="rbf", gamma=0.5)], ids=repr)
def test_values_of_a_function(model, options):
    region = region_of(model)
    found = region.band(GRID, LEVELS, norm_bound=20, **options)
    assert list(found) == LEVELS
    assert_nested(found)
    alone = region.band(GRID, 0.9, norm_bound=20, **options)
    np.testing.assert_array_equal(alone.lower, found[0.9].lower)


@pytest.mark.parametrize("options", [{"simultaneous": False}, {"method": "cells"}], ids=str)
def test_features(options):
    X, y, _ = ua.datasets.linear(n=300, d=3, random_state=0)
    region = ua.confidence_region(LinearRegression(), X, y, m=20, random_state=0)
    assert_nested(region.interval(level=LEVELS, **options))


def test_the_highest_level_chooses_the_method_of_all():
    X, y, _ = ua.datasets.linear(n=120, d=3, random_state=0)
    region = ua.confidence_region(LinearRegression(), X, y, m=100, random_state=0)
    assert region.interval(level=0.5, method="auto").method == "balanced cells"
    found = region.interval(level=[0.5, 0.99], method="auto")  # too few rows for so many cells
    assert [one.method for one in found.values()] == ["joint region"] * 2


def test_a_level_that_no_cells_attain_does_not_spoil_the_others():
    region = region_of(SVR(gamma=0.5))
    found = region.band(GRID[5:6], [0.9, 0.9999999], norm_bound=20, simultaneous=False)
    alone = region.band(GRID[5:6], 0.9, norm_bound=20, simultaneous=False)
    assert np.isinf(found[0.9999999].upper).all()
    assert found[0.9].upper == alone.upper
