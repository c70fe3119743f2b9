"""Coverage and width of intervals of one number at a time (docs/theory.md 11).

    python -m benchmarks.evidence.single_numbers [coverage] [sorted] [widths] [tables]

Writes single_numbers.txt: coverage with the two-sided 1e-6 band of a binomial share, widths over
those of HC3, and a line for each of 24 real data sets, with seconds of the processor. Cells and
halves depend on the inputs alone, so those of the first run serve all runs of a setting.
"""

import sys
import warnings
from copy import copy
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
from scipy.stats import binom, t
from sklearn.linear_model import LinearRegression

import unassuming as ua
from benchmarks.evidence.tables import tables
from unassuming.cells.division import divide
from unassuming.cells.estimates import Sample, fits
from unassuming.cells.theorem import intervals
from unassuming.inputs import SingleOptions
from unassuming.regions.single.numbers import Numbers

RUNS, DRAWS, LEVEL = 2000, 200, 0.95
AUTO = SingleOptions()
LAWS = {
    "Gaussian": lambda rng, X: rng.normal(size=len(X)),
    "t(2)": lambda rng, X: rng.standard_t(2, size=len(X)),
    "Cauchy": lambda rng, X: rng.standard_cauchy(size=len(X)),
    "grows with x": lambda rng, X: np.exp(X[:, 0] / X[:, 0].std()) * rng.standard_t(3, len(X)),
    "at leverage": lambda rng, X: (
        (1 + 20 * (np.abs(X[:, 0]) > 1.5 * X[:, 0].std())) * rng.laplace(size=len(X))
    ),
    "discrete": lambda rng, X: rng.integers(-2, 3, size=len(X)).astype(float),
}
CLUSTERS = np.repeat(np.arange(14), [3, 4, 5, 6, 8, 11, 15, 3, 4, 5, 6, 8, 11, 15])


def numbers_of(X, noise="symmetric"):
    """Single numbers of a region with these inputs."""
    region = ua.confidence_region(LinearRegression(), X, np.zeros(len(X)), noise=noise)
    return Numbers(region.problem)


def with_outputs(numbers, y):
    """The same numbers for other outputs, answered in the ways chosen until now."""
    other = copy(numbers)
    other.evidence, other._paired = replace(numbers.evidence, y=y), {}
    return other


def hc3(Phi, Y, level):
    """Estimates, half-widths and p-values of HC3 with t quantiles, for each y, (runs, d)."""
    U, s, V = np.linalg.svd(Phi / np.linalg.norm(Phi, axis=0), full_matrices=False)
    keep = s > 1e-11 * s[0]
    A = (V[keep].T / s[keep]) @ U[:, keep].T / np.linalg.norm(Phi, axis=0)[:, None]
    beta, free = Y @ A.T, len(Phi) - keep.sum()
    less = np.maximum(1 - np.square(U[:, keep]).sum(axis=1), 1e-10)
    error = np.sqrt(np.square((Y - beta @ Phi.T) / less) @ np.square(A).T)
    half = t.ppf(0.5 + level / 2, free) * error
    return beta, half, 2 * t.sf(np.abs(beta) / np.maximum(error, 1e-300), free)


def coverage(settings):
    """Yield a line for each setting and law."""
    for name, X, noise, laws, js in settings:
        numbers, g = numbers_of(X, noise), np.eye(X.shape[1] + 1)[js]
        ways = numbers.ways(g, LEVEL, AUTO)
        for law in laws:
            rng, hits, level = np.random.default_rng(1), np.zeros(len(g), dtype=int), None
            for _ in range(RUNS):
                draw = LAWS[law] if isinstance(law, str) else law[1]
                out = with_outputs(numbers, draw(rng, X)).outcome(g, LEVEL, AUTO)
                hits += (out.lower <= 0) & (out.upper >= 0)
                level = out.level
            for way, count, p in zip(ways, hits, level, strict=True):
                low, high = binom.ppf([5e-7, 1 - 5e-7], RUNS, p) / RUNS
                at_least = way.method in ("halves", "palmrt") or law == "discrete"
                share = count / RUNS
                met = share >= low and (at_least or share <= high)
                label = law if isinstance(law, str) else law[0]
                yield (
                    f"{name:<26}{label:<14}{way.method:<8}{p:.4f}  {share:.4f}  "
                    f"{low:.4f} to {'1' if at_least else f'{high:.4f}':<7}{'' if met else 'MISSED'}"
                )


def settings():
    """Inputs, noise classes and laws; the coefficients whose coverage is counted."""

    def normal(n, d, seed=0):
        return np.random.default_rng(seed).normal(size=(n, d - 1))

    for n, d in ((24, 6), (40, 10), (60, 5), (200, 4), (200, 20), (300, 3)):
        yield f"normal ({n}, {d})", normal(n, d), "symmetric", LAWS, [0, 1]
    yield "log-normal (60, 5)", np.exp(normal(60, 5)), "symmetric", LAWS, [0, 1]
    levels = (np.arange(90) % 3 == np.arange(1, 3)[:, None]).T.astype(float)
    yield "three levels (90, 3)", levels, "symmetric", ["Gaussian", "t(2)", "Cauchy"], [0, 1]
    effects = (
        "effects",
        lambda rng, X: (
            rng.standard_t(2, size=14)[CLUSTERS]
            + rng.standard_cauchy(14)[CLUSTERS] * X[:, 0]
            + rng.normal(size=len(X))
        ),
    )
    blocks = ua.noise.BlockSymmetric(CLUSTERS)
    yield "14 unequal clusters", normal(len(CLUSTERS), 2, 3), blocks, [effects], [0, 1]
    skewed = ("skewed", lambda rng, X: rng.lognormal(sigma=1.5, size=len(X)))
    yield "exchangeable (80, 4)", normal(80, 4, 4), "exchangeable", [skewed], [1]
    yield "exchangeable (30, 5)", normal(30, 5, 4), "exchangeable", [skewed], [1]


def sorted_by_y():
    """Yield coverage in tables sorted by y: rows with equal inputs are ordered by a fixed key.

    For a mean, where all rows tie, exactness is on average over the key: 200 keys take turns.
    """
    for n in (60, 240, 2000):
        for kind, count in (("half dummy", 2), ("three levels", 3), ("mean", 1)):
            levels = np.arange(n) % count
            Phi = np.column_stack([np.ones(n), *(levels == k for k in range(1, count))])
            rng, hits, level = np.random.default_rng(3), 0, 1.0
            g = np.eye(count)[-1:]
            for run in range(RUNS):
                y = rng.standard_t(3, size=n)
                order = np.argsort(y)
                sample = Sample.of(Phi[order].astype(float), y[order], intercept=True)
                U, size, _ = sample.at.vectors(g)
                key = run % 200 if kind == "mean" else 0
                (division,) = divide(sample.atoms, U, LEVEL, key=key)
                sums = sample.atoms.sums(division.places)
                v, beta = fits(sums.G, sums.h, U)
                found = intervals(beta, v, LEVEL, -sample.at.estimates(g) / size)
                hits += int(found.pvalue[0] > 1 - found.level[0])
                level = float(found.level[0])
            low, high = binom.ppf([5e-7, 1 - 5e-7], RUNS, level) / RUNS
            share = hits / RUNS
            met = "" if low <= share <= high else "MISSED"
            yield (
                f"sorted by y, {kind:<13}{n:>5}  {level:.4f}  {share:.4f}  "
                f"{low:.4f} to {high:.4f} {met}"
            )


def widths():
    """Yield the median over the coefficients of mean widths over those of HC3, and over t."""

    def designs():
        for n, d in ((60, 5), (100, 6), (200, 6), (200, 20), (24, 6), (40, 10), (100, 20)):
            yield f"normal ({n}, {d})", np.random.default_rng(d).normal(size=(n, d - 1))
        for name, X, _, _ in tables():
            if name in ("diabetes", "wine", "statecrime", "star98", "breast cancer"):
                yield name, X

    for name, X in designs():
        n, d = len(X), X.shape[1] + 1
        numbers, Phi = numbers_of(X), np.column_stack([np.ones(n), X])
        Y = np.random.default_rng(2).normal(size=(DRAWS, n))
        found = [with_outputs(numbers, y).outcome(np.eye(d), LEVEL, AUTO) for y in Y]
        ours = np.mean([out.upper - out.lower for out in found], axis=0)
        robust = 2 * hc3(Phi, Y, LEVEL)[1].mean(axis=0)
        Q = np.linalg.qr(Phi / np.linalg.norm(Phi, axis=0))[0]
        rest = np.linalg.norm(Y - Y @ Q @ Q.T, axis=1).mean() / np.sqrt(n - d)
        size = np.array([numbers.evidence.whole.vectors(np.eye(d))[1]])[0]
        plain = 2 * t.ppf(0.5 + LEVEL / 2, n - d) * rest * size
        kinds = {way.method for way in numbers.ways(np.eye(d), LEVEL, AUTO)}
        yield (
            f"{name:<20}over HC3 {np.median(ours / robust):.3f}   "
            f"over t {np.median(ours / plain):.3f}   {', '.join(sorted(kinds))}"
        )


def real():
    """Yield a line for each real table: seconds, widths over HC3, verdicts at 0.05 that differ."""
    ua.confidence_region(LinearRegression(), np.eye(40)[:, :2], np.arange(40.0)).summary()
    alone = [0, 0]
    for name, X, y, names in tables():
        start = process_time()
        table = ua.confidence_region(LinearRegression(), X, y).summary()
        seconds = process_time() - start
        _, half, p = hc3(np.column_stack([np.ones(len(y)), X]), y[None], LEVEL)
        ratio = (table.upper - table.lower) / (2 * half[0])
        ours, theirs = table.pvalue <= 1 - table.level, p[0] <= 1 - LEVEL
        only = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
        alone = [alone[0] + only[0], alone[1] + only[1]]
        finite = np.isfinite(ratio)
        width = f"{np.median(ratio[finite]):.2f}" if finite.any() else "inf"
        yield (
            f"{name:<15}{len(y):>6} x {len(names) + 1:<4}{seconds:8.3f} s   over HC3 {width:<6}"
            f"{int((~finite).sum()):>3} infinite   alone: here {only[0]}, HC3 {only[1]}"
        )
    yield f"verdicts at 0.05 in all: here alone {alone[0]}, HC3 alone {alone[1]}"


PARTS = {
    "coverage": lambda: coverage(settings()),
    "sorted": sorted_by_y,
    "widths": widths,
    "tables": real,
}


def main(chosen):
    warnings.simplefilter("ignore")
    path = Path(__file__).with_suffix(".txt")
    lines = []
    for name in chosen or PARTS:
        lines += ["", name]
        for line in PARTS[name]():
            print(line, flush=True)
            lines.append(line)
    if not chosen:
        path.write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
