"""Rows on a dask cluster: two worker processes compared with one, with one thread each."""

from __future__ import annotations

import contextlib
import sys
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

import unassuming as ua
from benchmarks.result import Check, Comparison, Result

ROWS, D, M, PARTITION = 1_000_000, 50, 100, 25_000
TARGET = 1.6
TITLE = f"dask on this machine, {ROWS:,} rows, d = {D}, m = {M}"


def partition(block_info: Any = None) -> np.ndarray:
    """Make the rows of one partition where they are needed: [X, y]."""
    number = block_info[None]["chunk-location"][0]
    rng = np.random.default_rng(number)
    X = rng.normal(size=(PARTITION, D))
    return np.column_stack([X, X.sum(axis=1) + rng.laplace(size=PARTITION)])


def region(rows: int = ROWS) -> Any:
    import dask.array as da

    chunks = ((PARTITION,) * (rows // PARTITION), (D + 1,))
    table = da.map_blocks(partition, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return ua.confidence_region(LinearRegression(), table[:, :D], table[:, D], m=M, random_state=0)


def timed(workers: int) -> tuple[float, Any]:
    """Return the wall-clock time on so many worker processes, and the region."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster),
    ):
        region(4 * PARTITION)  # everything is imported by then
        start = perf_counter()
        found = region()
        return perf_counter() - start, found


def measure(name: str) -> Result:
    with contextlib.redirect_stdout(sys.stderr):
        one, alone = timed(1)
        two, both = timed(2)
    a = alone.estimate + np.random.default_rng(0).normal(size=(100, D + 1)) * 0.003
    equal = int((alone.rank(a) == both.rank(a)).sum())
    return Result(
        name,
        two,
        [Comparison("one such worker", one, TARGET)],
        [Check("equal ranks", f"{equal} of 100", equal == 100)],
    )


CASES = {"two workers": measure}
