"""Columns have names: a table with other columns, or in another order, is not the same table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import unassuming as ua

RNG = np.random.default_rng(0)
NAMES = ["bmi", "bp", "age"]
X = RNG.normal(size=(25, 3))
Y = X @ [3.0, -2.0, 0.5] + RNG.laplace(size=25)
FRAME = pd.DataFrame(X, columns=NAMES)


def region_of(model, inputs=FRAME):
    return ua.confidence_region(model, inputs, Y, m=20, random_state=0)


MODELS = [LinearRegression(), KernelRidge(kernel="rbf"), Lasso()]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_in_another_order_are_refused_with_the_order(model, library):
    frame = FRAME if library == "pandas" else pl.DataFrame(X, schema=NAMES)
    with pytest.raises(ValueError, match="another order") as caught:
        region_of(model, frame).band(frame[NAMES[::-1]], method="joint")
    assert str(caught.value) == (
        "X has its columns in another order: expected ['bmi', 'bp', 'age'], given "
        "['age', 'bp', 'bmi']. Pass X[['bmi', 'bp', 'age']]."
    )


def test_columns_of_other_names_are_refused():
    with pytest.raises(ValueError, match=r"different columns .*\['BMI', 'bp', 'age'\]\. Rename"):
        region_of(Ridge()).band(FRAME.rename(columns={"bmi": "BMI"}), method="joint")


def test_without_names_on_one_side_the_position_counts():
    by_name, by_place = region_of(Ridge()), region_of(Ridge(), X)
    for band in (by_name.band(X, method="joint"), by_place.band(FRAME, method="joint")):
        np.testing.assert_allclose(
            band.upper, by_name.band(FRAME, method="joint").upper, rtol=1e-12
        )


def test_a_transformer_that_goes_by_name_takes_any_order():
    columns = make_column_transformer(("passthrough", ["bmi"]), (FunctionTransformer(), ["age"]))
    region = region_of(make_pipeline(columns, Ridge()))
    expected = region.band(FRAME, method="joint").upper
    np.testing.assert_array_equal(region.band(FRAME[NAMES[::-1]], method="joint").upper, expected)


def test_features_that_keep_their_names_are_checked_behind_a_transformer():
    region = region_of(make_pipeline(FunctionTransformer(np.tanh), Ridge()))
    with pytest.raises(ValueError, match="features has its columns in another order"):
        region.band(FRAME[NAMES[::-1]], method="joint")


def test_a_table_of_functionals_has_the_columns_of_the_coefficients():
    region = region_of(Ridge(fit_intercept=False))
    frame = FRAME[:4]
    assert len(region.interval(frame, simultaneous=True, method="joint")) == 4
    with pytest.raises(ValueError, match="functionals has its columns in another order"):
        region.interval(frame[NAMES[::-1]], simultaneous=True, method="joint")


@pytest.mark.parametrize("model", [Ridge(1.0), LinearRegression()])
def test_a_column_of_zeros_hides_no_other_coefficient(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.laplace(size=40)
    X[:, 2] = 0.0
    found = ua.confidence_region(model, X, y, random_state=0).interval(
        level=0.9, simultaneous=True, method="joint"
    )
    without = ua.confidence_region(model, X[:, :2], y, random_state=0).interval(
        level=0.9, simultaneous=True, method="joint"
    )
    np.testing.assert_allclose(found.lower[:3], without.lower, rtol=1e-9)
    np.testing.assert_allclose(found.upper[:3], without.upper, rtol=1e-9)
    assert np.isinf([found.lower[3], found.upper[3]]).all()
