"""Growth of the cost with n, d and m: times on a grid, and a fitted exponent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import unassuming as ua
from benchmarks.clock import best_times, peak_memory
from benchmarks.result import Growth, Result

ROUNDS = 3
TITLE = "Growth: seconds for each size, and the exponent of the larger half of them"


def sine(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = ua.datasets.sine(n=n, noise="laplace", random_state=0)
    return X, y


def kernel_ranks(n: int = 20, m: int = 100) -> Callable[[], Any]:
    """Ranks of 20,000 candidates of kernel ridge regression, with a kernel of full rank."""
    X, y = sine(n)
    region = ua.confidence_region(KernelRidge(kernel="laplacian"), X, y, m=m, random_state=0)
    a = region.estimate + np.random.default_rng(0).normal(size=(20_000, n))
    region.rank(a[:100])
    return lambda: region.rank(a)


def ridge_band(n: int = 500, d: int = 20, m: int = 100) -> Callable[[], Any]:
    """A region of ridge regression and its band at 100 inputs."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(n, d)), rng.normal(size=(100, d))
    y = X.sum(axis=1) + rng.laplace(size=n)
    return lambda: ua.confidence_region(Ridge(), X, y, m=m, random_state=0).band(Z, method="joint")


def stream(n: int = 100_000, d: int = 20, m: int = 128) -> Callable[[], Any]:
    """One pass over n rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X.sum(axis=1) + rng.laplace(size=n)
    return lambda: ua.StreamingRegion(Ridge(), m=m, random_state=0).partial_fit(X, y)


SERIES: dict[str, tuple[Callable[..., Callable[[], Any]], str, list[int]]] = {
    "ranks, kernel ridge, n": (kernel_ranks, "n", [10, 14, 20, 28, 40, 56, 80]),
    "ranks, kernel ridge, m": (kernel_ranks, "m", [50, 100, 200, 400, 800]),
    "band, ridge, n": (ridge_band, "n", [500, 1000, 2000, 4000, 8000, 16_000]),
    "band, ridge, d": (ridge_band, "d", [5, 10, 20, 40, 80, 160]),
    "band, ridge, m": (ridge_band, "m", [50, 100, 200, 400, 800]),
    "stream, ridge, rows": (stream, "n", [25_000, 50_000, 100_000, 200_000]),
    "stream, ridge, d": (stream, "d", [10, 20, 40, 80]),
    "stream, ridge, m": (stream, "m", [64, 128, 256, 512]),
}


def measure(name: str) -> Result:
    prepare, variable, sizes = SERIES[name]
    seconds = []
    for size in sizes:
        (best,), _ = best_times(prepare(**{variable: size}), rounds=ROUNDS)
        seconds.append(best)
    larger = slice(len(sizes) // 2 - 1, None)
    exponent, factor = np.polyfit(np.log(sizes[larger]), np.log(seconds[larger]), 1).tolist()
    growth = Growth(variable, sizes, seconds, exponent, float(np.exp(factor)))
    return Result(name, seconds[-1], [], [], peak_memory(), growth)


CASES = dict.fromkeys(SERIES, measure)
