"""Neither seeds nor orders matter: nested models, sets of coefficients, balanced bands."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

NOISES = ["symmetric", "exchangeable", "symmetric-exchangeable", "spherical"]


def table(n=96, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(d) + rng.standard_t(3, size=n)


@pytest.mark.parametrize("noise", NOISES)
def test_a_nested_model(noise):
    X, y = table()
    order = np.random.default_rng(1).permutation(len(y))
    wanted, values = ["x0", "x1"], [0.1, 1.2]
    plain = ua.confidence_region(LinearRegression(), X, y, noise=noise)
    seeded = ua.confidence_region(LinearRegression(), X, y, noise=noise, random_state=7)
    moved = ua.confidence_region(LinearRegression(), X[order], y[order], noise=noise)
    units = X * [1.0, 1e3, 1e-3, 1.0] + [0.0, 5.0, 0.0, 1.0]
    scaled = ua.confidence_region(LinearRegression(), units, y, noise=noise)
    p = plain.hypothesis(wanted, values).pvalue
    assert p == seeded.hypothesis(wanted, values).pvalue
    assert moved.hypothesis(wanted, values).pvalue == pytest.approx(p, abs=1e-9)
    other = scaled.hypothesis(wanted, [0.1, 1.2e-3]).pvalue
    assert other == pytest.approx(p, abs=1e-9)
    assert plain.hypothesis(["x2", "x3"]).pvalue < 0.01 < p


def test_an_extra_dependent_column_changes_nothing():
    X, y = table()
    more = np.column_stack([X, 1.8 * X[:, 3] + 32])
    one, two = (ua.confidence_region(LinearRegression(), Z, y) for Z in (X, more))
    wanted = ["x0", "x1"]
    assert one.hypothesis(wanted).pvalue == two.hypothesis(wanted).pvalue
    part = two.hypothesis(["x0", "x3"])
    assert (part.pvalue, "1 of the 2" in part.caveat) == (two.hypothesis("x0").pvalue, True)
    hidden = two.hypothesis("x3")
    assert (hidden.pvalue, "do not determine" in hidden.caveat) == (1.0, True)


@pytest.mark.parametrize("k", [1, 2])
def test_a_set_of_an_endogenous_coefficient(k):
    X, y, _ = ua.datasets.instrumented(80, 0.8, k, "laplace", 0)
    order = np.random.default_rng(1).permutation(len(y))
    model = ua.InstrumentalRegression(endogenous=0, instruments=list(range(2, 2 + k)))
    plain = ua.confidence_region(model, X, y).interval()
    seeded = ua.confidence_region(model, X, y, random_state=7).interval()
    moved = ua.confidence_region(model, X[order], y[order]).interval()
    assert (plain.sets[0].ends == seeded.sets[0].ends).all()
    np.testing.assert_allclose(moved.sets[0].ends, plain.sets[0].ends, rtol=1e-8)
    scaled = ua.confidence_region(model, X * [2.0] + [0.0], 1e3 * y).interval()
    np.testing.assert_allclose(scaled.sets[0].ends / 500, plain.sets[0].ends, rtol=1e-8)


def test_too_few_rows_for_a_nested_model_say_how_many_would_do():
    X, y = table(9)
    few = ua.confidence_region(LinearRegression(), X, y).hypothesis(["x0", "x1"])
    assert (few.pvalue, few.caveat) == (
        1.0,
        "Rows are too few for a test at level 0.95: about 30 would do.",
    )
    chosen = ua.confidence_region(LinearRegression(), *table(30)).hypothesis(["x0", "x1"], cells=4)
    assert (chosen.m, "at least 0.125" in chosen.caveat) == (8, True)
    enough = ua.confidence_region(LinearRegression(), *table(30)).hypothesis(["x0", "x1"])
    assert enough.m == 32


def test_a_balanced_band():
    X, y = table(320)
    order = np.random.default_rng(1).permutation(len(y))
    options = {"simultaneous": True, "method": "cells"}
    plain = ua.confidence_region(LinearRegression(), X, y)
    seeded = ua.confidence_region(LinearRegression(), X, y, random_state=7)
    moved = ua.confidence_region(LinearRegression(), X[order], y[order])
    first = plain.summary(**options)
    assert (first.lower == seeded.summary(**options).lower).all()
    again = moved.summary(**options)
    for name in ("estimate", "lower", "upper", "pvalue"):
        np.testing.assert_allclose(getattr(again, name), getattr(first, name), atol=1e-9)
    assert set(first.level) == {1 - 1 / 32}
    outside = (first.lower > 0) | (first.upper < 0)
    assert (outside == (first.pvalue <= 1 / 32)).all()
