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
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import unassuming as ua
from in_memory import contents

N = 40_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
FRAME = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "y": Y})
STREAMED = contents(ua.StreamingRegion(Ridge(2.0), m=8, random_state=5).partial_fit(X, Y).region())


def build(X, y, model=None, **options):
    return ua.confidence_region(model or Ridge(2.0), X, y, **{"m": 8, "random_state": 5, **options})


def frames(npartitions=4):
    table = dd.from_pandas(FRAME, npartitions=npartitions)
    return table[["size", "age"]], table["y"]


def parts(columns=("size", "age")):
    """As from several files: the index of each partition begins at 0."""
    names = columns if isinstance(columns, str) else list(columns)
    rows = [slice(start, start + 9000) for start in range(0, N, 9000)]
    pieces = [FRAME[names][part].reset_index(drop=True) for part in rows]
    return dd.from_map(lambda piece: piece, pieces, meta=FRAME[names].iloc[:0])


def chunks(rows=7000):
    return da.from_array(X, chunks=(rows, 1)), da.from_array(Y, chunks=11_000)


ARRAYS = {
    "chunks": chunks,
    "one chunk": lambda: (da.from_array(X, chunks=-1), da.from_array(Y, chunks=-1)),
    "y in memory": lambda: (da.from_array(X, chunks=(9000, 2)), Y),
    "unknown lengths": lambda: (
        (whole := da.from_array(X, chunks=(9000, 2)))[whole[:, 0] > -100],
        da.from_array(Y, chunks=9000),
    ),
    "frames": frames,
    "frame and array": lambda: (frames()[0], da.from_array(Y, chunks=9000)),
    "frame and series that count the rows of their parts": lambda: (parts(), parts("y")),
    "frame and series of which one counts": lambda: (parts(), frames()[1]),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_collections_have_the_region_of_the_data(kind):
    region = build(*ARRAYS[kind]())
    assert contents(region) == STREAMED
    names = ["size", "age"] if kind.startswith("frame") else ["x0", "x1"]
    assert region.objective.names[1:] == names


def test_weights_blocks_and_ties_go_along():
    w, noise = RNG.uniform(0.5, 2, size=N), ua.noise.BlockSymmetric(np.arange(N) // 9)
    expected = ua.StreamingRegion(Ridge(2.0), noise=noise, m=8)
    expected = contents(expected.partial_fit(X, Y, sample_weight=w).region())
    for weight in (w, da.from_array(w, chunks=8000)):
        options = {"noise": noise, "ties": "conservative"}
        region = build(*chunks(), sample_weight=weight, **options)
        assert contents(region) == expected
        assert region.tie_order.tolist() == list(range(8))


REFUSED = {
    "a scaler": (make_pipeline(StandardScaler(), Ridge()), {}, TypeError, "see all rows"),
    "permutations": (Ridge(), {"noise": "exchangeable"}, ValueError, "does not fit a stream"),
    "weighting": (Ridge(), {"weighting": "identity"}, ValueError, "weighting needs all rows"),
    "group": (Ridge(), {"m": "all"}, ValueError, "m does not fit a stream"),
    "ties": (Ridge(), {"ties": "never"}, ValueError, "ties must be 'random'"),
    "classes": (Ridge(), {"classes": ["a", "b"]}, ValueError, "only for classifiers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_all_rows_is_refused(name):
    model, options, error, match = REFUSED[name]
    with pytest.raises(error, match=match):
        build(*chunks(20_000), model=model, **options)


def test_errors_say_where_the_partition_begins():
    damaged = X.copy()
    damaged[1500, 1] = np.nan
    arrays = da.from_array(damaged, chunks=(1000, 2)), da.from_array(Y, chunks=1000)
    with pytest.raises(ValueError, match=r"begins at row 1000, .* given nan at position 500, 1"):
        build(*arrays)


@pytest.mark.parametrize("order", [np.arange(N)[::-1], np.arange(N) / 2], ids=["order", "names"])
def test_a_series_in_memory_with_another_index_is_refused(order):
    with pytest.raises(ValueError, match="y has another index than X"):
        build(frames()[0], FRAME["y"].set_axis(order))


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
    for rows in (7000, 32_768, N):
        arrays = da.from_array(X, chunks=(rows, 2)), da.from_array(Y, chunks=rows)
        region = build(*arrays, model=LinearRegression(), m=128)
        summary, band = region.summary(), region.band(X[:5])
        test = region.hypothesis(["x0", "x1"], [1.0, -1.0])
        ends = summary.lower, summary.upper, summary.pvalue, band.lower, band.upper
        found.append([*(part.tobytes() for part in ends), test.pvalue])
    assert found[0] == found[1] == found[2]
    memory = ua.confidence_region(LinearRegression(), X, Y).summary()
    width = memory.upper - memory.lower  # other cells: about as wide, not the same
    assert summary.upper - summary.lower == pytest.approx(width, rel=0.3)


def test_functions_that_have_travelled_are_the_same_model():
    model = make_pipeline(FunctionTransformer(lambda x: x**2), Ridge())
    one, two = (cloudpickle.loads(cloudpickle.dumps(model)) for _ in range(2))
    assert repr(one) != repr(two)  # addresses of functions
    first, rest = (ua.StreamingRegion(model, m=8, random_state=5) for model in (one, two))
    first.partial_fit(X[:9], Y[:9]).merge(rest.partial_fit(X[9:], Y[9:], first_row=9))
    assert first.region().n == N


def shuffled(number, folder):
    """A source whose order of rows changes with every reading."""
    (folder / f"{number}-{time.monotonic_ns()}").touch()
    rows = FRAME.iloc[number * 8000 : (number + 1) * 8000]
    return rows.sample(frac=1.0, random_state=np.random.default_rng())


def test_x_and_y_of_one_table_are_read_together(tmp_path):
    table = dd.from_map(shuffled, range(5), folder=tmp_path, meta=FRAME.iloc[:0])
    region = build(table[["size", "age"]], table["y"], model=LinearRegression())
    fitted = LinearRegression().fit(X, Y)
    assert region.estimate == pytest.approx([fitted.intercept_, *fitted.coef_], rel=1e-9)
    assert len(list(tmp_path.iterdir())) <= 15  # the lengths of both, and the rows


# --- a cluster -----------------------------------------------------------------------------------


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
        lazy = da.from_array(X, chunks=(1600, 2))
        lazy = lazy.map_blocks(slow, tmp_path, dtype=float, meta=X[:0])
        killer = threading.Thread(target=kill_one)
        killer.start()
        region = build(lazy, da.from_array(Y, chunks=1600))
        killer.join()
        pids = set(client.run(os.getpid).values())
    assert len(killed) == 1
    assert killed[0] not in pids
    assert len(list(tmp_path.iterdir())) > 25  # some partitions were lost and done again
    assert contents(region) == STREAMED
