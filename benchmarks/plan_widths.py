"""Half-widths that `ua.plan` predicts, beside the median of measured ones.

Run it with ``python -m benchmarks.plan_widths``, or with the number of data sets of each setting.
The settings were fixed before any of them was looked at: Gaussian and Laplacian kernels, one and
two input columns, splines, 50 to 300 rows, three laws of the noise. The target is a ratio between
0.85 and 1.15 for the joint region, balanced cells and cells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua
from unassuming._typing import Array

LAWS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "laplace": lambda rng, n: rng.laplace(size=n) / np.sqrt(2),
    "gaussian": lambda rng, n: rng.standard_normal(n),
    "t(5)": lambda rng, n: rng.standard_t(5, size=n) * np.sqrt(3 / 5),
}
METHODS: dict[str, dict[str, Any]] = {
    "joint region": {},
    "balanced cells": {"method": "cells"},
    "cells": {"simultaneous": False},
}


class Setting(NamedTuple):
    """A model, data with a known truth, and what is assumed of them."""

    model: Any
    X: Array
    f: Callable[[Array], Array]
    norm_bound: float
    law: str
    scale: float
    level: float = 0.9


def kernel(name: str, gamma: float) -> KernelRidge:
    return KernelRidge(kernel=name, gamma=gamma)


def sine(model: Any, n: int, bound: float, law: str, level: float = 0.9) -> Setting:
    """Return x sin x with a bound of about twice its norm."""
    X, _, f = ua.datasets.sine(n=n, random_state=0)
    return Setting(model, X, f, bound, law, 0.7, level)


def bumps(model: Any, n: int, seed: int, law: str) -> Setting:
    """Return eight kernel functions of two columns with a bound of twice the norm of their sum."""
    rng = np.random.default_rng(seed)
    X, centres = rng.uniform(0, 4, (n, 2)), rng.uniform(0, 4, (8, 2))
    c, same = 3 * rng.standard_normal(8), {"metric": model.kernel, "gamma": model.gamma}
    bound = float(f"{2 * np.sqrt(c @ pairwise_kernels(centres, **same) @ c):.2g}")
    return Setting(model, X, lambda Z: pairwise_kernels(Z, centres, **same) @ c, bound, law, 0.4)


SETTINGS: dict[str, Callable[[], Setting]] = {
    "rbf 0.5, n = 50": lambda: sine(kernel("rbf", 0.5), 50, 30, "laplace"),
    "rbf 0.1, n = 50": lambda: sine(kernel("rbf", 0.1), 50, 73, "laplace"),
    "rbf 0.5, n = 300": lambda: sine(kernel("rbf", 0.5), 300, 30, "laplace"),
    "rbf 0.1, n = 200": lambda: sine(kernel("rbf", 0.1), 200, 73, "gaussian"),
    "laplacian 0.5, n = 100": lambda: sine(kernel("laplacian", 0.5), 100, 30, "laplace"),
    "laplacian 0.5, n = 250": lambda: sine(kernel("laplacian", 0.5), 250, 30, "gaussian", 0.8),
    "two columns, rbf 0.3, n = 100": lambda: bumps(kernel("rbf", 0.3), 100, 1, "gaussian"),
    "two columns, rbf 0.5, n = 200": lambda: bumps(kernel("rbf", 0.5), 200, 2, "t(5)"),
    "two columns, laplacian 0.3, n = 150": lambda: bumps(
        kernel("laplacian", 0.3), 150, 3, "gaussian"
    ),
    "splines, n = 100": lambda: sine(
        make_pipeline(SplineTransformer(8), Ridge()), 100, 40, "laplace"
    ),
}


def compared(setting: Setting, runs: int) -> dict[str, tuple[float, float]]:
    """Return the predicted half-width and the median of the measured ones, for each method."""
    model, X, f, B, law, scale, level = setting
    alphas = np.array([10, 100, 1000]) * (scale / B) ** 2
    plan = ua.plan(model, X, norm_bound=B, noise_scale=scale, level=level, alphas=alphas)
    best = {
        method: min(
            one.half_width
            for one in plan.predictions
            if one.method == method and one.alpha in (None, plan.alpha)
        )
        for method in METHODS
    }
    measured: dict[str, list[float]] = {method: [] for method in METHODS}
    for run in range(runs):
        y = f(X) + scale * LAWS[law](np.random.default_rng(run), len(X))
        region = ua.confidence_region(plan.estimator, X, y, random_state=run)
        for method, options in METHODS.items():
            if options:
                options = {**options, "noise_scale": scale}
            band = region.band(plan.setting.inputs, level, norm_bound=B, **options)
            measured[method].append(float(np.median(band.upper - band.lower)) / 2)
    return {method: (best[method], float(np.median(measured[method]))) for method in METHODS}


def main(runs: int) -> None:
    """Print a line for each setting and method."""
    print(f"{'setting':36} {'method':14} predicted  measured  ratio")
    for name, setting in SETTINGS.items():
        for method, (expected, found) in compared(setting(), runs).items():
            ratio = expected / found
            note = "" if 0.85 <= ratio <= 1.15 else "  missed"
            print(
                f"{name:36} {method:14} {expected:9.3f} {found:9.3f}  {ratio:.2f}{note}", flush=True
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
