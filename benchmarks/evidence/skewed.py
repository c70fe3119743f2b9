"""Coverage where the noise is not symmetric: sums over cells beside HC3 (docs/theory.md 11.2).

    python -m benchmarks.evidence.skewed

Writes skewed.txt. No interval here is exact: the noise is skewed. The columns are the coverage of
HC3 with t quantiles, and of the intervals from 16 and from 32 cells, at 95 %.
"""

from pathlib import Path

import numpy as np

from benchmarks.evidence.single_numbers import hc3, numbers_of, with_outputs
from unassuming.inputs import SingleOptions

RUNS, LEVEL, CELLS = 1000, 0.95, (16, 32)


def settings():
    """Name, number of rows, inputs (n, p), the coefficient, and a law of skewed noise."""

    def columns(n, *, log=False):
        X = np.random.default_rng(n).normal(size=(n, 3))
        return np.exp(X) if log else X

    def exponential(rng, X):
        return rng.exponential(size=len(X)) - 1

    def growing(rng, X):
        return exponential(rng, X) * X[:, 0]

    def lognormal(rng, X):
        return rng.lognormal(size=len(X)) - np.exp(0.5)

    for n in (200, 1000, 5000):
        dummy = (np.arange(n) % 5 == 0).astype(float)[:, None]
        yield "normal columns, exponential noise", columns(n), 1, exponential
        yield "normal columns, log-normal noise", columns(n), 1, lognormal
        yield "log-normal columns, exponential × x", columns(n, log=True), 1, growing
        yield "20 % dummy, log-normal noise", dummy, 1, lognormal
        yield "a mean, log-normal noise", np.zeros((n, 0)), 0, lognormal


def shares(X, j, law):
    """The shares of runs in which each interval covers zero, HC3 first."""
    n = len(X)
    g, rng = np.eye(X.shape[1] + 1)[[j]], np.random.default_rng(1)
    Y = np.array([law(rng, X) for _ in range(RUNS)])
    beta, half, _ = hc3(np.column_stack([np.ones(n), X]), Y, LEVEL)
    found = [np.mean(np.abs(beta[:, j]) <= half[:, j])]
    # A region needs a column: that of a mean is one of zeros, which leaves the intercept alone.
    numbers = numbers_of(X if X.shape[1] else np.zeros((n, 1)))
    if not X.shape[1]:
        g = np.array([[1.0, 0.0]])
    for cells in CELLS:
        outcomes = (with_outputs(numbers, y).outcome(g, LEVEL, SingleOptions(cells)) for y in Y)
        found.append(np.mean([bool(one.lower[0] <= 0 <= one.upper[0]) for one in outcomes]))
    return found


def main():
    lines = [f"coverage at nominal {LEVEL}, {RUNS} runs", ""]
    lines.append(f"{'':<38}{'n':>5}{'HC3':>8}" + "".join(f"{k:>4} cells" for k in CELLS))
    for name, X, j, law in settings():
        found = "".join(f"{share:>9.3f} " for share in shares(X, j, law))
        lines.append(f"{name:<38}{len(X):>5}{found}".rstrip())
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
