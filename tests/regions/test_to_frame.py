"""Results as tables, and as one for each of several levels."""

import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import Ridge

import unassuming as ua

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
Y = X @ [3.0, -2.0] + RNG.laplace(size=25)
INDEX = [f"p{j}" for j in range(25)]
FRAME = pd.DataFrame(X, columns=["dose", "age"], index=INDEX)


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge() if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 20, "random_state": 0, **options})


# Tables


def test_to_frame_keeps_the_index_and_the_columns_of_the_inputs():
    found = region_of(inputs=FRAME).band(FRAME[4:7], method="joint", level=0.9).to_frame()
    assert list(found.index) == INDEX[4:7]
    assert list(found.columns) == ["dose", "age", "estimate", "lower", "upper"]
    pd.testing.assert_frame_equal(found[["dose", "age"]], FRAME[4:7])
    assert found["lower"].notna().all()


def test_to_frame_of_a_polars_table_and_of_a_single_feature():
    table = pl.DataFrame(X, schema=["dose", "age"])
    found = region_of(inputs=table).band(table[:3], method="joint", level=0.9).to_frame()
    np.testing.assert_array_equal(found[["dose", "age"]], X[:3])
    single = region_of(inputs=X[:, :1]).band([[0.25], [0.5]], method="joint", level=0.9).to_frame()
    assert list(single["x0"]) == [0.25, 0.5]
    assert list(region_of().band([[0.25, 0.5]], method="joint", level=0.9).to_frame().index) == [0]


def test_to_frame_keeps_inputs_apart_that_are_called_like_a_bound():
    frame = FRAME.set_axis(["lower", "age"], axis=1)
    band = region_of(inputs=frame).band(frame, method="joint", level=0.9)
    found = band.to_frame()
    np.testing.assert_array_equal(found["lower"], band.lower)
    np.testing.assert_array_equal(found["input lower"], frame["lower"])


# What was assumed
