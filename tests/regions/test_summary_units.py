"""Units and origins of the columns: they play no part in what is known about a slope."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

pytestmark = pytest.mark.slow_but_first
RNG = np.random.default_rng(0)
X = np.rint(RNG.normal(size=(120, 2)) * 2**10) / 2**10  # so that shifts round nothing
Y = 1 + X @ [1.0, 2.0] + RNG.standard_t(3, size=120)
W = RNG.uniform(0.5, 2.0, size=120)
NOISES = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]
OPTIONS = [
    {},
    {"method": "halves", "level": 0.8},
    {"cell_estimate": "median", "cells": 8, "level": 0.8},
    {"cell_weights": "residuals", "cells": np.arange(120) % 8},
    {"simultaneous": True, "method": "cells", "functionals": ["x0", "x1"], "level": 0.9},
]


def region_of(columns, noise="symmetric", **options):
    return ua.confidence_region(
        LinearRegression(), columns, Y, noise=noise, m=10, random_state=0, **options
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_units_scale_the_intervals_and_change_no_method(noise, unit):
    plain, scaled = (region_of(columns, noise).summary() for columns in (X, X * unit))
    assert scaled.method == plain.method
    for name in ("lower", "upper"):
        scale = np.array([1.0, unit, unit])
        found, expected = getattr(scaled, name) * scale, getattr(plain, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_array_equal(scaled.pvalue, plain.pvalue)


@pytest.mark.parametrize(
    ("noise", "options"),
    [*(("symmetric", options) for options in OPTIONS), *((noise, {}) for noise in NOISES[1:])],
    ids=str,
)
def test_slopes_do_not_depend_on_the_origin_of_the_columns(noise, options):
    """Shifted by 2^30: uncentred columns would lose all digits but a few."""
    weight = W if noise == "symmetric" else None
    plain, shifted = (
        region_of(columns, noise, sample_weight=weight).summary(**options)
        for columns in (X, X + 2.0**30)
    )
    assert shifted.method[-2:] == plain.method[-2:]
    for name in ("estimate", "lower", "upper"):
        found, expected = getattr(shifted, name)[-2:], getattr(plain, name)[-2:]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


ROUND = np.rint(Y * 2**8) / 2**8  # so that shifts round nothing
CASES = [*(("symmetric", options) for options in OPTIONS), *((noise, {}) for noise in NOISES[1:])]


def of_outputs(y, noise, **options):
    weight = W if noise == "symmetric" else None
    return ua.confidence_region(
        LinearRegression(), X, y, noise=noise, m=10, random_state=0, sample_weight=weight, **options
    )


@pytest.mark.parametrize(("noise", "options"), CASES, ids=str)
def test_slopes_do_not_depend_on_the_origin_of_the_outputs(noise, options):
    """Shifted by 2^44, some 10^13 times the noise."""
    plain, shifted = (of_outputs(y, noise).summary(**options) for y in (ROUND, ROUND + 2.0**44))
    for name in ("estimate", "lower", "upper", "pvalue"):
        found, expected = getattr(shifted, name)[-2:], getattr(plain, name)[-2:]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_instruments_do_not_depend_on_the_origin_of_the_outputs():
    rng = np.random.default_rng(5)
    z, e = rng.normal(size=(2, 100))
    table = np.column_stack([z + e, rng.normal(size=100), z])
    y = np.rint((1 + 2 * table[:, 0] + table[:, 1] + e) * 2**8) / 2**8
    model = ua.InstrumentalRegression(endogenous=[0], instruments=[2])
    plain, shifted = (
        ua.confidence_region(model, table, outputs, m=10, random_state=0)
        for outputs in (y, y + 2.0**20)
    )
    a, b = (one.interval("x0", simultaneous=False, level=0.9) for one in (plain, shifted))
    np.testing.assert_allclose([b.lower, b.upper], [a.lower, a.upper], rtol=1e-9)
    a = plain.hypothesis(["x0", "intercept"], [2.0, 1.5])
    b = shifted.hypothesis(["x0", "intercept"], [2.0, 1.5 + 2.0**20])
    assert a.pvalue == b.pvalue
