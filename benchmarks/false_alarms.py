"""How often ``region.diagnose()`` raises a false alarm at 5 %.

Run it with ``python -m benchmarks.false_alarms``, or with the number of runs of each setting. The
rows are in the order of their inputs, where a biased fit is most visible. Kernel ridge is measured
with two truths, two numbers of rows and seven laws of the noise, classifiers with four probability
functions. The worst rates are the constants ``KERNEL_FALSE_ALARMS`` and ``LABEL_FALSE_ALARMS`` of
``unassuming/regions/diagnosis.py``. With 200 runs the standard error of a rate of 5 %
is 1.5 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier

import unassuming as ua
from unassuming._typing import Array
from unassuming.regions import diagnosis

Draw = Callable[[np.random.Generator, Array], Array]

LAWS: dict[str, Draw] = {
    "gaussian": lambda rng, x: rng.normal(size=len(x)),
    "laplace": lambda rng, x: rng.laplace(size=len(x)),
    "t(2)": lambda rng, x: rng.standard_t(2, size=len(x)),
    "cauchy": lambda rng, x: rng.standard_cauchy(size=len(x)),
    "discrete": lambda rng, x: rng.choice([-1.0, 0.0, 1.0], size=len(x)),
    "growing scale": lambda rng, x: np.exp(1.5 * x) * rng.normal(size=len(x)),
    "clustered scale": lambda rng, x: (
        np.where(np.arange(len(x)) % 10 < 2, 5.0, 0.5) * rng.laplace(size=len(x))
    ),
}
UNEQUAL = ("growing scale", "clustered scale")
"""Laws under which equal spread is false: an alarm is right."""

TRUTHS: dict[str, Callable[[Array], Array]] = {
    "smooth": lambda x: 2 * np.sin(3 * x),
    "wiggly": lambda x: 2 * np.sin(8 * x),
    "linear": lambda x: 2 * x - 1,
}


def regression(model: Any, truths: tuple[str, ...], runs: int) -> Iterator[tuple[str, str, float]]:
    """Yield setting, test and rate of alarms."""
    for truth in truths:
        for n in (30, 100):
            for law, draw in LAWS.items():
                found: dict[str, int] = {}
                for seed in range(runs):
                    rng = np.random.default_rng([seed, n])
                    x = np.sort(rng.uniform(-1, 1, size=n))
                    y = TRUTHS[truth](x) + 0.5 * draw(rng, x)
                    count(found, model, x[:, None], y, seed)
                for name, alarms in found.items():
                    if name != "equal spread" or law not in UNEQUAL:
                        yield f"{truth}, n = {n}, {law}", name, alarms / runs


def labels(model: Any, runs: int) -> Iterator[tuple[str, str, float]]:
    """Yield setting, test and rate of alarms for labels."""
    for slope in (0.5, 3.0) if isinstance(model, LogisticRegression) else (0.1, 0.45):
        for n in (30, 100):
            found: dict[str, int] = {}
            for seed in range(runs):
                rng = np.random.default_rng([seed, n])
                x = np.sort(rng.uniform(-1, 1, size=n))
                p = 0.5 + slope * x
                if isinstance(model, LogisticRegression):
                    p = 1 / (1 + np.exp(-slope * x))
                y = (rng.uniform(size=n) < p).astype(int)
                if 0 < y.sum() < n:
                    count(found, model, x[:, None], y, seed)
            for name, alarms in found.items():
                yield f"{type(model).__name__}, n = {n}, slope {slope}", name, alarms / runs


def count(found: dict[str, int], model: Any, X: Array, y: Array, seed: int) -> None:
    """Add the alarms of one run."""
    region = ua.confidence_region(model, X, y, m=20, random_state=seed)
    for indication in region.diagnose().indications:
        found.setdefault(indication.name, 0)
        found[indication.name] += indication.pvalue <= 0.05


def main(runs: int) -> None:
    """Print all rates and the worst of each group."""
    diagnosis.RANDOMISATIONS = 199  # a fifth of the usual number, with the same rates
    kernel = KernelRidge(kernel="rbf", gamma=10.0, alpha=0.1)
    groups = {
        "least squares": lambda: regression(LinearRegression(), ("linear",), runs),
        "kernel": lambda: regression(kernel, ("smooth", "wiggly"), runs),
        "labels": lambda: (
            row
            for model in (RidgeClassifier(), LogisticRegression(C=10.0))
            for row in labels(model, runs)
        ),
    }
    for group, rows in groups.items():
        worst: dict[str, float] = {}
        print(group)
        for setting, name, rate in rows():
            print(f"  {setting:<40}{name:<15}{rate:7.3f}", flush=True)
            worst[name] = max(rate, worst.get(name, 0.0))
        print("  worst:", worst)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
