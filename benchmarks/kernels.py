"""Large kernels: a region and its rays, compared with one eigendecomposition of the matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

import unassuming as ua
from benchmarks.clock import best_times, peak_memory
from benchmarks.result import Check, Comparison, Result

N, M, RAYS, GAMMA = 5000, 100, 100, 1.0
TARGET = 1.6
TITLE = f"Kernel ridge regression, n = {N:,}, m = {M}, the region and {RAYS} rays at all levels"


def measure(kernel: str) -> Result:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 10, size=(N, 1)), axis=0)
    y = np.sin(X[:, 0]) + rng.laplace(size=N)
    directions = rng.normal(size=(RAYS, N))
    K = pairwise_kernels(X, metric=kernel, gamma=GAMMA)
    model = KernelRidge(kernel=kernel, gamma=GAMMA, alpha=1.0)

    def rays() -> np.ndarray:
        region = ua.confidence_region(model, X, y, m=M, random_state=0)
        return region.reach(directions, level=None)

    (seconds, floor), (ends, _) = best_times(rays, lambda: eigh(K), rounds=1)
    whole = ends.shape == (RAYS, M - 1) and not np.isnan(ends).any() and bool((ends >= 0).all())
    return Result(
        kernel,
        seconds,
        [Comparison("scipy.linalg.eigh of K", floor, round(1 / TARGET, 3))],
        [Check("ends of rays", f"{ends.shape[0]} × {ends.shape[1]}", whole)],
        peak_memory(),
    )


CASES = {"laplacian": measure, "rbf": measure}
