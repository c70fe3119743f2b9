"""One pass over many rows, compared with the matrix product that it has to compute."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from time import process_time

import numpy as np
from sklearn.linear_model import LinearRegression

import unassuming as ua
from benchmarks.clock import best_times, peak_memory
from benchmarks.result import Check, Comparison, Result

ROWS, D, M = 1_000_000, 50, 128
FEW, MANY = 100_000, 10_000_000
CHUNK = 10_000
ROUNDS = 2
TARGET_RATIO, TARGET_GROWTH = 2.5, 0.1
TITLE = f"One pass over the rows, d = {D}, m = {M}"


def chunks(rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same few chunks over and over: making them takes no time that would be measured."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, CHUNK, D))
    y = X.sum(axis=2) + rng.laplace(size=(4, CHUNK))
    for start in range(0, rows, CHUNK):
        yield X[start // CHUNK % 4], y[start // CHUNK % 4]


def stream(rows: int) -> ua.StreamingRegion:
    one_pass = ua.StreamingRegion(LinearRegression(), m=M, random_state=0)
    for X, y in chunks(rows):
        one_pass.partial_fit(X, y)
    return one_pass


def bare(rows: int) -> None:
    """Add up XᵀX of the same chunks, without which there is no estimate."""
    total = np.zeros((D, D))
    for X, _ in chunks(rows):
        total += X.T @ X


def fit(name: str) -> Result:
    (seconds, floor), (one_pass, _) = best_times(
        lambda: stream(ROWS), lambda: bare(ROWS), rounds=ROUNDS
    )
    start = process_time()
    region = one_pass.region()
    bounds = region.interval(level=0.9, simultaneous=True, method="joint")
    after = process_time() - start
    finite = bool(np.isfinite(bounds.lower).all() and np.isfinite(bounds.upper).all())
    return Result(
        name,
        seconds,
        [Comparison("XᵀX of the same chunks", floor, round(1 / TARGET_RATIO, 3))],
        [
            Check("rows", f"{region.n:,}", region.n == ROWS),
            Check(f"{D + 1} intervals", f"{bounds.status.name}, {after:.2f} s more", finite),
        ],
        peak_memory(),
    )


def memory(name: str) -> Result:
    few, many = measured(FEW), measured(MANY)
    growth = many["memory"] / few["memory"] - 1
    found = f"{few['memory'] / 1e6:.0f} MB and {many['memory'] / 1e6:.0f} MB, {growth:+.1%}"
    what = f"memory with {FEW:,} and {MANY:,} rows"
    return Result(name, many["seconds"], [], [Check(what, found, abs(growth) <= TARGET_GROWTH)])


def measured(rows: int) -> dict[str, float]:
    """Run a pass in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.streaming", str(rows)]
    found: dict[str, float] = json.loads(subprocess.check_output(command))
    return found


def main(rows: int) -> None:
    start = process_time()
    stream(rows).region().interval(level=0.9, simultaneous=True, method="joint")
    print(json.dumps({"memory": peak_memory(), "seconds": process_time() - start}))


CASES = {f"fit, {ROWS:,} rows": fit, f"memory, {MANY:,} rows": memory}

if __name__ == "__main__":
    main(int(sys.argv[1]))
