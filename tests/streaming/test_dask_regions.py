"""Regions of dask collections: what is read, and how often."""

import subprocess
import sys
import time

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import unassuming as ua

N = 5000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
FRAME = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "y": Y})
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.03
OPTIONS = {"m": 16, "random_state": 5}
STATISTICS = (
    ua.StreamingRegion(Ridge(2.0), **OPTIONS).partial_fit(X, Y).region().statistics(CANDIDATES)
)


def frames(npartitions=4):
    table = dd.from_pandas(FRAME, npartitions=npartitions)
    return table[["size", "age"]], table["y"]


@pytest.mark.parametrize("order", [np.arange(N)[::-1], np.arange(N) / 2], ids=["order", "names"])
def test_a_series_in_memory_with_another_index_is_refused(order):
    with pytest.raises(ValueError, match="y has another index than X"):
        ua.confidence_region(Ridge(2.0), frames()[0], FRAME["y"].set_axis(order), **OPTIONS)


FRESH = """
import sys
import dask.array as da, numpy as np, unassuming as ua
from sklearn.linear_model import LinearRegression
x = np.random.default_rng(0).normal(size=(300, 2))
assert "unassuming.streaming" not in sys.modules
region = ua.confidence_region(LinearRegression(), da.from_array(x, chunks=(90, 2)), x[:, 0], m=16)
try:
    region.perturbations
except ua.NotAvailable as refusal:
    print(refusal)
"""


def test_a_process_that_has_not_streamed_before_streams_collections():
    command = [sys.executable, "-c", FRESH]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "built from sums" in found.stdout


def test_answers_do_not_depend_on_partitions():
    found = []
    for chunks in (700, 1024, 5000):
        arrays = da.from_array(X, chunks=(chunks, 2)), da.from_array(Y, chunks=chunks)
        region = ua.confidence_region(LinearRegression(), *arrays, **OPTIONS)
        summary = region.summary(0.9)
        test = region.hypothesis(["x0", "x1"], [1.0, -1.0])
        ends = (summary.lower, summary.upper, summary.pvalue, region.statistics(CANDIDATES))
        found.append([*(part.tobytes() for part in ends), test.pvalue])
    assert found[0] == found[1] == found[2]
    memory = ua.confidence_region(LinearRegression(), X, Y, **OPTIONS).summary(0.9)
    width = memory.upper - memory.lower  # other cells: about as wide, not the same
    assert summary.upper - summary.lower == pytest.approx(width, rel=0.5)


def test_arrays_stay_as_they_were():
    lazy = da.from_array(X, chunks=(900, 2))
    lazy = lazy[lazy[:, 0] > -100]
    ua.confidence_region(Ridge(2.0), lazy, da.from_array(Y, chunks=900), **OPTIONS)
    assert np.isnan(lazy.shape[0])


def test_empty_partitions_do_no_harm():
    whole = dd.from_pandas(FRAME, npartitions=6)
    table = dd.concat([whole[whole["size"] > 100], whole])
    region = ua.confidence_region(Ridge(2.0), table[["size", "age"]], table["y"], **OPTIONS)
    assert region.n == N
    assert region.statistics(CANDIDATES).tolist() == STATISTICS.tolist()


def test_one_weight_goes_for_all_rows():
    region = ua.confidence_region(Ridge(4.0), *frames(), sample_weight=2.0, **OPTIONS)
    found = region.statistics(CANDIDATES)  # twice the weight, twice the penalty
    assert found == pytest.approx(2 * STATISTICS, rel=1e-9)


def test_functions_that_have_travelled_are_the_same_model():
    model = make_pipeline(FunctionTransformer(lambda x: x**2), Ridge())
    one, two = (cloudpickle.loads(cloudpickle.dumps(model)) for _ in range(2))
    assert repr(one) != repr(two)  # addresses of functions
    first, rest = (ua.StreamingRegion(model, **OPTIONS) for model in (one, two))
    first.partial_fit(X[:9], Y[:9]).merge(rest.partial_fit(X[9:], Y[9:], first_row=9))
    assert first.region().n == N


def shuffled(number, folder):
    """A source whose order of rows changes with every reading."""
    (folder / f"{number}-{time.monotonic_ns()}").touch()
    rows = FRAME.iloc[number * 1000 : (number + 1) * 1000]
    return rows.sample(frac=1.0, random_state=np.random.default_rng())


def test_x_and_y_of_one_table_are_read_together(tmp_path):
    table = dd.from_map(shuffled, range(5), folder=tmp_path, meta=FRAME.iloc[:0])
    region = ua.confidence_region(LinearRegression(), table[["size", "age"]], table["y"], **OPTIONS)
    fitted = LinearRegression().fit(X, Y)
    assert region.estimate == pytest.approx([fitted.intercept_, *fitted.coef_], rel=1e-9)
    assert len(list(tmp_path.iterdir())) <= 15  # the lengths of both, and the rows
