"""Measure one case in a process of its own: ``python -m benchmarks.measure NAME CANDIDATES``.

Prints one line of JSON. Times are those of the processor, on one thread, the best of a few rounds:
other programs on the same machine disturb them little.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

import unassuming as ua
from benchmarks import plain

N, M, GAMMA = 20, 100, 0.5
PLAIN_CANDIDATES = 300
ROUNDS = 3
BATCH = 10_000


def case(name: str, K: np.ndarray) -> tuple[Any, plain.Model]:
    """Return an estimator, and its gradient written plainly."""
    kernel = {"kernel": "rbf", "gamma": GAMMA}
    if name == "kernel ridge":
        return KernelRidge(alpha=2.0, **kernel), plain.kernel_ridge(K, lam=2.0 / N)
    if name == "kernel lasso":
        return ua.KernelLasso(alpha=0.5, **kernel), plain.kernel_lasso(K, lam=0.5)
    return SVR(C=10.0, epsilon=0.1, **kernel), plain.svr(K, epsilon=0.1)


def measure(name: str, count: int) -> dict[str, Any]:
    """Rank the candidates with the library, and some of them plainly."""
    X, y, _ = ua.datasets.sine(n=N, noise="laplace", random_state=0)
    estimator, model = case(name, rbf_kernel(X, gamma=GAMMA))
    region = ua.confidence_region(estimator, X, y, m=M, random_state=0)
    a = draw_candidates(region.estimate, count)
    seconds, ranks = best_time(lambda: region.rank(a))
    memory = peak_memory()

    signs = region.perturbations.apply(np.ones(N))
    some = np.linspace(0, count - 1, min(count, PLAIN_CANDIDATES), dtype=int)
    plain_seconds, expected = best_time(
        lambda: [plain.rank(a[j], y, model, signs, region.tie_order) for j in some]
    )
    extrapolated = plain_seconds / len(some) * count
    return {
        "case": name,
        "n": N,
        "m": M,
        "candidates": count,
        "ratio": extrapolated / seconds,
        "library_seconds": seconds,
        "plain_seconds_extrapolated": extrapolated,
        "compared_ranks": len(some),
        "equal_ranks": int(np.sum(ranks[some] == expected)),
        "peak_memory_bytes": memory,
    }


def best_time(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest processor time of a few rounds, and the result."""
    times = []
    for _ in range(ROUNDS):
        start = process_time()
        result = function()
        times.append(process_time() - start)
    return min(times), result


def draw_candidates(estimate: np.ndarray, count: int) -> np.ndarray:
    """Draw coefficients around the estimate, near and far; in batches, to spare memory."""
    rng = np.random.default_rng(1)
    a = np.empty((count, len(estimate)))
    for start in range(0, count, BATCH):
        batch = a[start : start + BATCH]
        distance = 10 ** rng.uniform(-1.5, 0.5, size=(len(batch), 1))
        batch[:] = estimate + distance * rng.standard_normal(batch.shape)
    return a


def peak_memory() -> int | None:
    """Return the largest memory of this process so far, or None where it cannot be asked."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
