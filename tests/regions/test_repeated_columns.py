"""A column that nearly repeats another one: the other coefficients keep their intervals."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def summary(X, model=None, y=Y):
    return ua.confidence_region(model or LinearRegression(), X, y, random_state=0).summary()


COPIES = {
    "noise": lambda x: 2 * x + 1e-9 * np.random.default_rng(0).normal(size=len(x)),
    "single precision": lambda x: (x / 2.54).astype(np.float32).astype(float),
}


@pytest.mark.parametrize("name", COPIES)
def test_other_coefficients_keep_their_intervals(name):
    plain, found = summary(X), summary(X.assign(copy=COPIES[name](X["bmi"])))
    others = [j for j, column in enumerate(plain.names) if column != "bmi"]
    width = (found.upper - found.lower)[others] / (plain.upper - plain.lower)[others]
    assert width.max() < 2.5  # other cells; they were a million times as wide
    assert found.pvalue[plain.names.index("bp")] < 0.01
    copies = [found.names.index("bmi"), found.names.index("copy")]
    assert ((found.upper - found.lower)[copies] > 1e6).all()
    assert "copy repeats bmi up to " in str(found)
    assert "of its spread" in str(found)


def test_nothing_is_said_of_other_columns():
    x = np.linspace(1950, 2020, 200)[:, None]
    y = np.sin(x[:, 0] / 9) + np.random.default_rng(0).laplace(size=200)
    powers = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression())
    for found in (summary(X), summary(x, powers, y)):
        assert "repeats" not in str(found)


def test_every_copy_is_named_once():
    rng = np.random.default_rng(0)
    near = {f"t{k}": X["bmi"] + 2e-3 * rng.normal(size=len(X)) for k in range(4)}
    copies = {"one": 2 * X["age"], "two": 0.1 * X["age"] + 3, "float": COPIES["noise"](X["bp"])}
    found = " ".join(str(summary(X.assign(**near, **copies))).split())
    assert "one repeats age up to rounding." in found
    assert "two repeats age up to rounding." in found
    assert "float repeats bp up to " in found
    assert found.count("repeats") == 3


UNITS = {"affine": lambda x: 2 * x + 32, "kilograms": lambda x: 0.4536 * x}


@pytest.mark.parametrize("name", UNITS)
def test_the_estimate_beside_a_column_in_another_unit_is_that_of_scikit_learn(name):
    """In exact arithmetic the columns are independent, with coefficients of 1e15 that cancel."""
    table = X.assign(copy=UNITS[name](X["bmi"]))
    region = ua.confidence_region(LinearRegression(), table, Y, random_state=0)
    model = LinearRegression().fit(table, Y)
    np.testing.assert_allclose(region.estimate[1:], model.coef_, rtol=1e-6)
    values = region.band(table.iloc[:5], 0.5).estimate
    np.testing.assert_allclose(values, model.predict(table.iloc[:5]), rtol=1e-9)
    assert region.rank(region.estimate) == 1


def beside_a_copy(factor, mean):
    """A table that is too large for exact ranks."""
    rng = np.random.default_rng(0)
    X = rng.normal(mean, 1, size=(3000, 10))
    y = X[:, 0] + rng.laplace(size=3000)
    X = np.column_stack([X, factor * X[:, 2]])
    return ua.confidence_region(LinearRegression(), X, y, random_state=0)


def test_lines_of_many_rows_beside_a_copy_end_where_ranks_do():
    region = beside_a_copy(2.20462, 5)
    steps = [np.eye(12)[1], np.eye(12)[3] + np.eye(12)[11], np.arange(12.0)]
    for step in steps:
        (ends,) = region.crossings(step, 0.9)
        for end in ends:
            points = region.estimate + end * np.array([[1 - 1e-6], [1 + 1e-6]]) * step
            assert region.contains(points, 0.9).tolist() == [True, False]


def test_a_copy_that_hides_the_ends_of_lines_is_named():
    region = beside_a_copy(1 / 3, 0)
    for call in (region.crossings, region.reach):
        with pytest.raises((ValueError, ArithmeticError), match="given x2 and x10, which"):
            call(np.eye(12)[1], 0.9)
    interval = region.interval("x0", 0.9)
    assert interval.upper[0] - interval.lower[0] < 0.3


def test_candidates_far_away_are_no_members_beside_a_copy():
    """Double precision does not determine this range, so that exact numbers decide."""
    X, y = load_diabetes(return_X_y=True)
    region = ua.confidence_region(
        LinearRegression(), np.column_stack([X, 2.20462 * X[:, 2]]), y, random_state=0
    )
    step = np.eye(12)[2]
    assert region.rank(region.estimate) == 1
    assert region.rank(region.estimate + 1e6 * step) == region.m
    (ends,) = region.crossings(step, 0.9)
    points = region.estimate + np.outer([0.99, 1.01], ends[1] * step)
    assert region.contains(points, 0.9).tolist() == [True, False]
