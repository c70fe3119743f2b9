"""Refusals of scikit-learn's transformers and kernels say which part fails, and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import unassuming as ua

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(30, 3)), columns=list("abc"))
TEXT = TABLE.assign(d=["x", "y"] * 15)
Y = RNG.normal(size=30)


def region_of(model, X=TABLE):
    return ua.confidence_region(model, X, Y, m=10, random_state=0)


@pytest.mark.parametrize(
    ("step", "X", "said"),
    [
        (PolynomialFeatures(-1), TABLE, "'degree' parameter of PolynomialFeatures"),
        (Nystroem(kernel="rfb"), TABLE, "Got 'rfb' instead"),
        (SplineTransformer(n_knots=1), TABLE, "Got 1 instead"),
        (make_column_transformer((StandardScaler(), ["zz"])), TABLE, "'zz'"),
    ],
    ids=str,
)
def test_a_transformer_that_cannot_be_fitted(step, X, said):
    pattern = f"the transformer '{type(step).__name__.lower()}' fails: .*{said}.* Change its param"
    with pytest.raises(ValueError, match=pattern):
        region_of(make_pipeline(step, Ridge()), X)


def with_nan(X, row, column):
    table = X.copy()
    table.iloc[row, column] = np.nan
    return table


ENCODED = make_column_transformer((OneHotEncoder(), ["d"]), remainder="passthrough")
MISSING = "contains NaN. Change"
ENTRIES = {
    "text": (StandardScaler(), TEXT, "'standardscaler' fails: .*'x'. Change"),
    "refused": (Nystroem(n_components=3), with_nan(TABLE, 4, 1), f"'nystroem' fails: .*{MISSING}"),
    "of polars": (
        Nystroem(n_components=3),
        pl.DataFrame(with_nan(TABLE, 4, 1).to_dict("list")),
        f"'nystroem' fails: .*{MISSING}",
    ),
    "passed on": (
        StandardScaler(),
        with_nan(TABLE, 4, 1),
        r"^after the step 'standardscaler', .* given nan at position 4, 1\. Drop",
    ),
    "made": (
        FunctionTransformer(np.log),
        TABLE.abs().mul(np.arange(30) != 3, axis=0),
        "^after the step 'functiontransformer', column 'a' of X has .*given -inf at position 3",
    ),
    "made beside text that is encoded": (
        make_pipeline(ENCODED, FunctionTransformer(np.log1p)),
        TEXT.assign(a=-1.0),
        r"^after the step 'pipeline', X has .*given -inf at position 0, 2",
    ),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ENTRIES)
def test_the_step_that_stops_a_pipeline_is_named(name):
    step, X, said = ENTRIES[name]
    with pytest.raises(ValueError, match=said):
        region_of(make_pipeline(step, Ridge()), X)


def test_the_step_that_does_not_take_a_new_input_is_named_too():
    region = region_of(make_pipeline(ENCODED, StandardScaler(), Ridge()), TEXT)
    with pytest.raises(
        ValueError, match=r"^after the step 'standardscaler', .*given nan at .* 1, "
    ):
        region.band(with_nan(TEXT[:3], 1, 1), method="joint", level=0.9)
    with pytest.raises(ValueError, match=r"'standardscaler' fails: .*'high'"):
        region.band(TEXT[:3].assign(b="high"), method="joint", level=0.9)


@pytest.mark.parametrize(
    ("step", "X", "new"),
    [
        (OneHotEncoder(), TEXT[["d"]], pd.DataFrame({"d": ["z"]})),
        (SplineTransformer(extrapolation="error"), TABLE, 9 * TABLE),
    ],
    ids=["category", "range"],
)
def test_a_transformer_that_does_not_take_new_inputs(step, X, new):
    region = region_of(make_pipeline(step, Ridge()), X)
    pattern = f"the transformer '{type(step).__name__.lower()}' fails: .* Change its param"
    with pytest.raises(ValueError, match=pattern):
        region.band(new, method="joint", level=0.9)


def test_other_columns_are_named_as_they_are_without_a_pipeline():
    region = region_of(make_pipeline(StandardScaler(), Ridge()))
    with pytest.raises(ValueError, match="X has different columns from the data: expected"):
        region.band(TABLE[["a", "b"]], method="joint", level=0.9)
    plain = region_of(make_pipeline(StandardScaler(), Ridge()), TABLE.to_numpy())
    with pytest.raises(ValueError, match="wrong number of features: expected 3, as in the data"):
        plain.band(TABLE.to_numpy()[:, :2], method="joint", level=0.9)


def test_a_transformer_may_take_columns_by_name_in_another_order():
    chosen = make_column_transformer((StandardScaler(), ["a", "c"]))
    region = region_of(make_pipeline(chosen, Ridge()))
    one, two = (
        region.band(X[:3], method="joint", level=0.9) for X in (TABLE, TABLE[["c", "b", "a"]])
    )
    np.testing.assert_array_equal(one.upper, two.upper)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (KernelRidge(kernel="rbf", gamma=-1.0), "KernelRidge's gamma"),
        (KernelRidge(kernel="rbf", gamma="scale"), "KernelRidge's gamma"),
        (KernelRidge(kernel="poly", degree=-1), "KernelRidge's degree"),
        (SVR(gamma=-1.0), "SVR's gamma"),
        (ua.KernelHuber(kernel="laplacian", gamma=np.nan), "KernelHuber's gamma"),
    ],
    ids=str,
)
def test_parameters_of_a_kernel_are_checked(model, name):
    with pytest.raises(ValueError, match=f"{name} is out of range: expected one finite number"):
        region_of(model)
