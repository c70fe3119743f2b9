"""Coverage of regions of dynamical systems: heavy tails of changing scale, up to unstable systems.

Run it with ``python -m benchmarks.arx_coverage``, or with the number of runs of each setting. A
count of an exact region is binomial, and it has to lie in the two-sided band of probability 1e-6.
For comparison: the region of LinearRegression with the lagged output as a column of X, which is not
exact, since its transformations do not run through the system.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming._typing import Array

N, M, LEVELS, RUNS = 30, 20, (0.5, 0.9), 2_000
SCALE = 0.2 + np.abs(np.sin(np.arange(N)))
CLUSTERS = np.r_[0, np.repeat(np.arange(10), 3)]  # the initial value belongs to the first


@dataclass(frozen=True)
class Setting:
    """A system, its noise, and what is assumed of the noise."""

    a: tuple[float, ...]
    b: tuple[float, ...] = (1.0,)
    intercept: float | None = None
    assumed: str = "symmetric"

    @property
    def truth(self) -> list[float]:
        """The coefficients in the order of a region."""
        return [*([] if self.intercept is None else [self.intercept]), *self.a, *self.b]

    def noise(self, rng: np.random.Generator) -> Array:
        """Draw noise that satisfies the assumption."""
        if self.assumed == "exchangeable":
            return rng.lognormal(size=N) - 1.0
        if self.assumed == "blocks":
            common = np.repeat(rng.standard_t(2, size=N // 3), 3)
            return np.asarray(common * (1 + rng.random(N)) * SCALE)
        return np.asarray(SCALE * rng.standard_t(2, size=N))

    def assumption(self) -> Any:
        """Return what is passed to the region."""
        return ua.noise.BlockSymmetric(CLUSTERS) if self.assumed == "blocks" else self.assumed


SETTINGS = {
    "a = 0.8": Setting((0.8,)),
    "a = 0.99": Setting((0.99,)),
    "a = 1.0": Setting((1.0,)),
    "a = 1.3": Setting((1.3,)),
    "a = 1.2, -0.4, with intercept": Setting((1.2, -0.4), intercept=0.5),
    "a = 1.5, -0.5 (unit root), no input": Setting((1.5, -0.5), ()),
    "a = 0.8, skewed, exchangeable": Setting((0.8,), assumed="exchangeable"),
    "a = 0.8, clusters of 3 times": Setting((0.8,), assumed="blocks"),
}


def draw(setting: Setting, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return inputs and outputs; the first outputs are the initial values."""
    first = max(len(setting.a), len(setting.b))
    u, e = rng.normal(size=first + N), setting.noise(rng)
    y = np.concatenate([rng.normal(size=first), np.empty(N)])
    for t in range(first, first + N):
        y[t] = (setting.intercept or 0.0) + e[t - first]
        y[t] += sum(a * y[t - k] for k, a in enumerate(setting.a, start=1))
        y[t] += sum(b * u[t - k] for k, b in enumerate(setting.b, start=1))
    return u, y


def exact(setting: Setting, u: Array, y: Array, seed: int) -> ua.Region:
    """Return the region of the system."""
    fit_intercept = setting.intercept is not None
    model = ua.ARX(len(setting.a), len(setting.b), fit_intercept=fit_intercept)
    data = u if setting.b else None
    return ua.confidence_region(model, data, y, noise=setting.assumption(), m=M, random_state=seed)


def with_lags(setting: Setting, u: Array, y: Array, seed: int) -> ua.Region:
    """Return the region of an ordinary model of ARX(1, 1)."""
    assert len(setting.a) == len(setting.b) == 1
    X = np.column_stack([y[:-1], u[:-1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ua.confidence_region(
            LinearRegression(fit_intercept=False), X, y[1:], m=M, random_state=seed
        )


def counts(
    setting: Setting, runs: int, build: Callable[[Setting, Array, Array, int], ua.Region]
) -> dict[float, int]:
    """Count the regions that contain the truth."""
    rng, found = np.random.default_rng(15), dict.fromkeys(LEVELS, 0)
    for seed in range(runs):
        region = build(setting, *draw(setting, rng), seed)
        rank = region.rank(setting.truth)
        for level in LEVELS:
            found[level] += rank <= region.level(level).largest_rank
    return found


def main(runs: int) -> int:
    missed = 0
    print(f"ARX, n = {N}, m = {M}, noise t(2) with changing scale unless said, {runs:,} runs")
    for name, setting in SETTINGS.items():
        for level, count in counts(setting, runs, exact).items():
            low, high = binom.ppf(5e-7, runs, level), binom.isf(5e-7, runs, level)
            met = low <= count <= high
            missed += not met
            band = f"{low / runs:.4f} to {high / runs:.4f}"
            print(
                f"{name:<40}{level:>6}{count / runs:>9.4f}   {band}   {'met' if met else 'MISSED'}"
            )
    print("Not exact: LinearRegression with a lagged column")
    for name in ("a = 0.8", "a = 1.0", "a = 1.3"):
        for level, count in counts(SETTINGS[name], runs, with_lags).items():
            print(f"{name:<40}{level:>6}{count / runs:>9.4f}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS) else 0)
