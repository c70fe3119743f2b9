"""Coverage of the sets of an endogenous coefficient, for instruments of every strength.

Run it with ``python -m benchmarks.instrument_coverage``, or with a number of runs. Everything goes
through the public interface. A count is binomial, and it has to lie in the two-sided band of
probability 1e-6. Two-stage least squares with its usual standard errors is counted beside it.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
from scipy.stats import binom, norm

import unassuming as ua
from unassuming._typing import Array

LEVEL = 0.9
SETTINGS = (
    # strength, instruments, rows, noise
    (0.0, 1, 60, "gaussian"),
    (0.1, 1, 60, "student"),
    (1.0, 1, 60, "heteroscedastic"),
    (0.1, 3, 60, "laplace"),
)


def two_stage(X: Array, y: Array, instruments: int, truth: float) -> bool:
    """Whether the usual interval of two-stage least squares covers the truth."""
    n, one = len(y), np.ones((len(y), 1))
    R, W = np.hstack([one, X[:, [1, 0]]]), np.hstack([one, X[:, 1 : 2 + instruments]])
    fitted = W @ np.linalg.lstsq(W, R, rcond=None)[0]
    theta = np.linalg.lstsq(fitted, y, rcond=None)[0]
    r = y - R @ theta
    variance = r @ r / (n - 3) * np.linalg.inv(fitted.T @ fitted)[-1, -1]
    return bool(abs(theta[-1] - truth) <= norm.ppf(0.5 + LEVEL / 2) * np.sqrt(variance))


def run(number: int, strength: float, k: int, n: int, noise: str, runs: int) -> None:
    """Print the counts of one setting."""
    covered = joint = usual = unbounded = parts = 0
    level = LEVEL
    for seed in range(runs):
        rng = np.random.default_rng([number, seed])
        X, y, truth = ua.datasets.instrumented(n, strength, k, noise, rng)
        model = ua.InstrumentalRegression(endogenous=0, instruments=range(2, 2 + k))
        region = ua.confidence_region(model, X, y, m=20, random_state=seed)
        found = region.interval(level=LEVEL, simultaneous=False)
        assert found.sets is not None
        level = float(found.attained[0])
        covered += bool(found.sets[0].contains(truth[-1]))
        unbounded += not found.sets[0].bounded
        parts += len(found.sets[0]) > 1
        joint += bool(region.contains(truth, level=LEVEL))
        usual += two_stage(X, y, k, float(truth[-1]))
    print(f"strength {strength}, {k} instruments, n = {n}, {noise}, {runs} runs")
    for what, count, p in (("one number", covered, level), ("joint region", joint, LEVEL)):
        low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, p)
        verdict = "met" if low <= count <= high else "MISSED"
        print(f"  {what:<13}{count / runs:.4f} at {p:.4f}: {verdict}")
    print(f"  usual two-stage interval {usual / runs:.4f} at {LEVEL}")
    print(f"  unbounded sets {unbounded / runs:.3f}, of several parts {parts / runs:.3f}")


def main() -> None:
    """Run all settings."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for number, (strength, k, n, noise) in enumerate(SETTINGS):
        run(number, strength, k, n, noise, runs)
    print(f"{process_time():.0f} s of processor time")


if __name__ == "__main__":
    main()
