"""Widths and coverages of conformal intervals and of intervals of the function, side by side.

Run it with ``python -m benchmarks.conformal``, or with the number of data sets of each setting.
Intervals of MAPIE are meant to cover the next observation, those of the library the regression
function at the same input. Each row counts both, for inputs like those of the data and for inputs
in the tenth of their range at its upper end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming._typing import Array

LEVEL, NEW = 0.9, 20
PARTS = (slice(NEW), slice(NEW, None))
"""New inputs like those of the data, then those at the upper end."""

Noise = Callable[[np.random.Generator, Array], Array]


def line(x: Array) -> Array:
    return 1 + 2 * x


def constant(rng: np.random.Generator, x: Array) -> Array:
    return rng.laplace(size=x.size)


def growing(rng: np.random.Generator, x: Array) -> Array:
    return (1 + x) * rng.laplace(size=x.size)


def skewed(rng: np.random.Generator, x: Array) -> Array:
    return np.exp(2 * rng.normal(size=x.size)) - np.exp(2)  # mean zero


@dataclass(frozen=True)
class Setting:
    """A function and a noise on [-1, 1]; the model is always a straight line."""

    name: str
    n: int
    f: Callable[[Array], Array] = line
    noise: Noise = constant

    def draw(self, n: int, rng: np.random.Generator, low: float = -1.0) -> tuple[Array, Array]:
        x = rng.uniform(low, 1, size=n)
        return x[:, None], self.f(x) + self.noise(rng, x)


SETTINGS = (
    *(Setting(f"line, {n}", n) for n in (50, 200, 800)),
    Setting("growing, 200", 200, noise=growing),
    Setting("skewed, 50", 50, noise=skewed),
    Setting("curve, 200", 200, f=lambda x: line(x) + 2 * x**2),
)
HEADING = ("setting, n", "method", "width", "new y", "f", "new y*", "f*")
FORM = "{:<14}{:<7}{:>6}{:>7}{:>6}{:>8}{:>6}"


def measure(setting: Setting, repetitions: int) -> None:
    rng = np.random.default_rng(0)
    found: dict[str, list[list[float]]] = {"MAPIE": [], "here": []}
    for _ in range(repetitions):
        X, y = setting.draw(setting.n, rng)
        new, edge = setting.draw(NEW, rng), setting.draw(NEW, rng, low=0.8)
        Z, observed = np.concatenate([new[0], edge[0]]), np.concatenate([new[1], edge[1]])
        conformal = CrossConformalRegressor(
            LinearRegression(), confidence_level=LEVEL, random_state=0
        )
        bounds = conformal.fit_conformalize(X, y).predict_interval(Z)[1][:, :, 0]
        region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        band = region.band(Z, level=LEVEL, simultaneous=False)
        for method, low, high in (("MAPIE", *bounds.T), ("here", band.lower, band.upper)):
            holds = [(low <= v) & (v <= high) for v in (observed, setting.f(Z[:, 0]))]
            shares = [
                part.mean() for part in (*(h[:NEW] for h in holds), *(h[NEW:] for h in holds))
            ]
            found[method].append([float(np.median((high - low)[:NEW])), *map(float, shares)])
    for method, rows in found.items():
        width, *shares = np.mean(rows, axis=0)
        print(FORM.format(setting.name, method, f"{width:.2f}", *(f"{s:.0%}" for s in shares)))


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{runs} data sets of each setting, level {LEVEL:.0%}; *: inputs above 0.8")
    print(FORM.format(*HEADING))
    for setting in SETTINGS:
        measure(setting, runs)
