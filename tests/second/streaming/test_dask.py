"""Data on the dask scheduler in use: the same region, even if a worker dies."""

import os
import signal
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from second.streaming.memory import contents
from unassuming.noise import BlockSymmetric
from unassuming.streaming import StreamingRegion, build_from_dask

N = 40_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
FRAME = pd.DataFrame({"size": X[:, 0], "age": X[:, 1], "y": Y})
STREAMED = contents(StreamingRegion(Ridge(2.0), m=8, random_state=5).partial_fit(X, Y).region())


def build(X, y, model=None, sample_weight=None, **options):
    defaults = {"noise": None, "m": 8, "weighting": None, "ties": "random", "classes": None}
    model = model or Ridge(2.0)
    options = {**defaults, "seed": 5, **options}
    return build_from_dask(model, X, y, sample_weight=sample_weight, **options)


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
    assert region.engine.objective.names[1:] == names


def test_weights_blocks_and_ties_go_along():
    w, noise = RNG.uniform(0.5, 2, size=N), BlockSymmetric(np.arange(N) // 9)
    expected = StreamingRegion(Ridge(2.0), noise=noise, m=8)
    expected = contents(expected.partial_fit(X, Y, sample_weight=w).region())
    for weight in (w, da.from_array(w, chunks=8000)):
        options = {"noise": noise, "ties": "conservative"}
        region = build(*chunks(), sample_weight=weight, **options)
        assert contents(region) == expected
        assert region.engine.order.pi.tolist() == list(range(8))


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


def test_a_pipeline_of_fixed_transformers():
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    expected = StreamingRegion(model, m=8, random_state=5).partial_fit(X, Y).region()
    assert contents(build(*chunks(), model=model)) == contents(expected)


def test_errors_say_where_the_partition_begins():
    damaged = X.copy()
    damaged[1500, 1] = np.nan
    arrays = da.from_array(damaged, chunks=(1000, 2)), da.from_array(Y, chunks=1000)
    with pytest.raises(ValueError, match=r"begins at row 1000, .* given nan at position 500, 1"):
        build(*arrays)


@pytest.mark.parametrize("y", [Y[:90], da.from_array(Y[:90]), FRAME["y"][:90]], ids=type)
def test_lengths_that_differ_are_refused(y):
    with pytest.raises(ValueError, match=r"differ in length: expected 40000 rows, .* given 90"):
        build(chunks()[0], y)


def test_x_in_memory_with_a_lazy_y_is_refused():
    with pytest.raises(TypeError, match="X is in memory while y or sample_weight is not"):
        build(X, da.from_array(Y))


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
