"""Data on the dask scheduler in use: the same region, even if a worker dies."""

import os
import signal
import subprocess
import sys
import time

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import unassuming as ua

N = 5000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
FRAME = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "y": Y})
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.03
OPTIONS = {"m": 20, "random_state": 5}
STREAMED = ua.StreamingRegion(Ridge(2.0), cells=32, **OPTIONS).partial_fit(X, Y).region()


def assert_same(region):
    memory = ua.confidence_region(Ridge(2.0), X, Y, **OPTIONS)
    assert region.n == N
    assert region.rank(CANDIDATES).tolist() == memory.rank(CANDIDATES).tolist()
    same = STREAMED.statistics(CANDIDATES)
    assert region.statistics(CANDIDATES).tolist() == same.tolist()
    mine, theirs = region.problem.cells, STREAMED.problem.cells  # all numbers follow from these
    for name in ("G", "h", "squares", "rows"):
        assert getattr(mine.sums, name).tobytes() == getattr(theirs.sums, name).tobytes()


def frames(npartitions=4):
    table = dd.from_pandas(FRAME, npartitions=npartitions)
    return table[["size", "age"]], table["y"]


def parts(columns=("size", "age")):
    """As from several files: the index of each partition begins at 0."""
    names = columns if isinstance(columns, str) else list(columns)
    rows = [slice(start, start + 900) for start in range(0, N, 900)]
    pieces = [FRAME[names][part].reset_index(drop=True) for part in rows]
    return dd.from_map(lambda piece: piece, pieces, meta=FRAME[names].iloc[:0])


ARRAYS = {
    "chunks": lambda: (da.from_array(X, chunks=(700, 1)), da.from_array(Y, chunks=1100)),
    "one chunk": lambda: (da.from_array(X, chunks=-1), da.from_array(Y, chunks=-1)),
    "y in memory": lambda: (da.from_array(X, chunks=(900, 2)), Y),
    "unknown lengths": lambda: (
        (whole := da.from_array(X, chunks=(900, 2)))[whole[:, 0] > -100],
        da.from_array(Y, chunks=900),
    ),
    "frames": frames,
    "frame and array": lambda: (frames()[0], da.from_array(Y, chunks=900)),
    "frame and series in memory": lambda: (frames()[0], FRAME["y"]),
    "frame that counts the rows of its parts": lambda: (parts(), FRAME["y"]),
    "frame and series that count the rows of their parts": lambda: (parts(), parts("y")),
    "frame and series of which one counts": lambda: (parts(), frames()[1]),
    "frame and series apart": lambda: (frames()[0], dd.from_pandas(FRAME["y"], npartitions=4)),
    "array and series": lambda: (da.from_array(X, chunks=(700, 1)), frames()[1]),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("kind", ARRAYS)
def test_collections_have_the_region_of_the_data(kind):
    region = ua.confidence_region(Ridge(2.0), *ARRAYS[kind](), **OPTIONS)
    assert_same(region)
    assert region.names[1:] == (["size", "age"] if kind.startswith("frame") else ["x0", "x1"])


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
region = ua.confidence_region(LinearRegression(), da.from_array(x, chunks=(90, 2)), x[:, 0], m=20)
try:
    region.perturbations
except ua.NotAvailable as refusal:
    print(refusal)
"""


def test_a_process_that_has_not_streamed_before_streams_collections():
    command = [sys.executable, "-c", FRESH]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "this region was built from sums" in found.stdout


def test_summaries_and_balanced_bands_do_not_depend_on_partitions():
    found = []
    for chunks in (700, 1024, 5000):
        arrays = da.from_array(X, chunks=(chunks, 2)), da.from_array(Y, chunks=chunks)
        region = ua.confidence_region(LinearRegression(), *arrays, **OPTIONS)
        summary = region.summary(0.9)
        band = region.band(X[:5], 0.9, method="cells")
        test = region.hypothesis(["x0", "x1"], [1.0, -1.0])
        ends = (summary.lower, summary.upper, summary.pvalue, band.lower, band.upper)
        found.append([*(part.tobytes() for part in ends), test.pvalue])
    assert found[0] == found[1] == found[2]
    memory = ua.confidence_region(LinearRegression(), X, Y, **OPTIONS).summary(0.9)
    width = memory.upper - memory.lower  # searched cells: about as narrow, not the same
    assert summary.upper - summary.lower == pytest.approx(width, rel=0.5)


def test_permutations_within_blocks_have_no_cells():
    noise = ua.noise.ExchangeableWithin(20)
    region = ua.confidence_region(Ridge(2.0), *ARRAYS["chunks"](), noise=noise, **OPTIONS)
    with pytest.raises(ua.NotAvailable, match="one number at a time need cells or the rows"):
        region.summary()


def test_arrays_stay_as_they_were():
    lazy = da.from_array(X, chunks=(900, 2))
    lazy = lazy[lazy[:, 0] > -100]
    ua.confidence_region(Ridge(2.0), lazy, da.from_array(Y, chunks=900), **OPTIONS)
    assert np.isnan(lazy.shape[0])


def test_empty_partitions_do_no_harm():
    whole = dd.from_pandas(FRAME, npartitions=6)
    table = dd.concat([whole[whole["size"] > 100], whole])
    assert_same(ua.confidence_region(Ridge(2.0), table[["size", "age"]], table["y"], **OPTIONS))


def test_weights_blocks_and_ties_go_along():
    w = RNG.uniform(0.5, 2, size=N)
    options = {
        "noise": ua.noise.BlockSymmetric(np.arange(N) // 9),
        "ties": "conservative",
        **OPTIONS,
    }
    x, y = ARRAYS["chunks"]()
    for weight in (w, da.from_array(w, chunks=800)):
        region = ua.confidence_region(Ridge(2.0), x, y, sample_weight=weight, **options)
        memory = ua.confidence_region(Ridge(2.0), X, Y, sample_weight=w, **options)
        assert region.rank(CANDIDATES).tolist() == memory.rank(CANDIDATES).tolist()
        assert region.tie_order.tolist() == list(range(20))
        assert region._description().under("covers") == memory._description().under("covers")


def test_one_weight_goes_for_all_rows():
    region = ua.confidence_region(Ridge(4.0), *frames(), sample_weight=2.0, **OPTIONS)
    half = STREAMED.statistics(CANDIDATES)  # twice the weight, twice the penalty
    assert region.statistics(CANDIDATES) == pytest.approx(2 * half, rel=1e-9)


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
    memory = ua.confidence_region(LinearRegression(), X, Y, **OPTIONS)
    assert region.estimate == pytest.approx(memory.estimate, rel=1e-9)
    assert len(list(tmp_path.iterdir())) <= 15  # the lengths of both, and the rows


def test_a_pipeline_of_fixed_transformers():
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    region = ua.confidence_region(model, *ARRAYS["chunks"](), **OPTIONS)
    memory = ua.confidence_region(model, X, Y, **OPTIONS)
    near = memory.estimate + RNG.normal(size=(40, 6)) * 0.03
    assert region.rank(near).tolist() == memory.rank(near).tolist()
    # Both are rounded outward, one of them for sums of all rows.
    assert region.band(X[:3], method="joint").upper == pytest.approx(
        memory.band(X[:3], method="joint").upper, rel=1e-6
    )


REFUSED = {
    "a kernel": (KernelRidge(), {}, TypeError, "needs all rows at once"),
    "a scaler": (make_pipeline(StandardScaler(), Ridge()), {}, TypeError, "see all rows"),
    "permutations": (Ridge(), {"noise": "exchangeable"}, ValueError, "row by row"),
    "weighting": (Ridge(), {"weighting": "identity"}, ValueError, "weighting needs all rows"),
    "group": (Ridge(), {"m": "all"}, ValueError, "m must be known"),
    "ties": (Ridge(), {"ties": "never"}, ValueError, "ties must be 'random'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_all_rows_is_refused(name):
    model, options, error, match = REFUSED[name]
    with pytest.raises(error, match=match):
        ua.confidence_region(model, *ARRAYS["chunks"](), **{**OPTIONS, **options})


def test_errors_say_where_the_partition_begins():
    damaged = X.copy()
    damaged[1500, 1] = np.nan
    arrays = da.from_array(damaged, chunks=(1000, 2)), da.from_array(Y, chunks=1000)
    with pytest.raises(ValueError, match=r"begins at row 1000, .* given nan at position 500, 1"):
        ua.confidence_region(Ridge(), *arrays)


def test_x_in_memory_with_a_lazy_y_is_refused():
    with pytest.raises(TypeError, match="X is in memory while y or sample_weight is not"):
        ua.confidence_region(Ridge(), X, da.from_array(Y))


@pytest.mark.parametrize("y", [Y[:90], da.from_array(Y[:90]), FRAME["y"][:90]], ids=type)
def test_lengths_that_differ_are_refused(y):
    with pytest.raises(
        ValueError, match="differ in length: expected 5000 rows, as X has, given 90"
    ):
        ua.confidence_region(Ridge(), ARRAYS["chunks"]()[0], y)


# --- a cluster -------------------------------------------------------------------------------


def slow(part, folder):
    """Take a while over a partition, and say which process has taken it."""
    import time

    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(0.15)
    return part


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_that_is_killed_changes_nothing(tmp_path):
    import threading
    import time

    from distributed import Client, LocalCluster

    killed = []

    def kill_one():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            seen = {int(path.name.split("-")[0]) for path in tmp_path.iterdir()}
            if len(seen) == 2 and len(list(tmp_path.iterdir())) > 6:
                killed.append(max(seen))
                os.kill(max(seen), signal.SIGKILL)
                return
            time.sleep(0.01)

    config = {"distributed.worker.daemon": True, "distributed.admin.log-length": 10}
    with (
        dask.config.set(config),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):
        lazy = da.from_array(X, chunks=(200, 2)).map_blocks(slow, tmp_path, dtype=float, meta=X[:0])
        killer = threading.Thread(target=kill_one)
        killer.start()
        region = ua.confidence_region(Ridge(2.0), lazy, da.from_array(Y, chunks=200), **OPTIONS)
        killer.join()
        pids = set(client.run(os.getpid).values())
    assert len(killed) == 1
    assert killed[0] not in pids
    assert len(list(tmp_path.iterdir())) > 25  # some partitions were lost and done again
    assert_same(region)
