"""Coverage of intervals of one number, through the public interface, whatever the noise.

Run it with ``python -m benchmarks.cell_coverage``, or with the number of runs of each setting and
with words that the names of the settings contain. A count of an exact interval is binomial, and it
has to lie in the two-sided band of probability 1e-6. The division of the rows depends on the
design, the level and the seed, so one division serves all runs of a setting. It is remembered here;
everything else is what a user calls. Only the first runs of intervals and of power are asked one by
one. The bounds of all runs are then computed at once, since the estimates in the cells are linear
in y, and those of the first runs have to be the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from time import monotonic
from typing import Any

import numpy as np
from scipy.stats import binom, t
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming import cells
from unassuming._typing import Array
from unassuming.cells import Method
from unassuming.inputs import SingleOptions
from unassuming.regions.single import _at_once, _divided

Draw = Callable[[np.random.Generator, Array], Array]
LEVELS = (0.9, 0.95)
ONE_BY_ONE = 50
"""Runs that are asked one by one where the others can be computed at once."""

LAWS: dict[str, Draw] = {
    "Gaussian": lambda rng, X: rng.normal(size=len(X)),
    "t(2)": lambda rng, X: rng.standard_t(2, size=len(X)),
    "Cauchy": lambda rng, X: rng.standard_cauchy(size=len(X)),
    "scale grows with x": lambda rng, X: np.exp(X[:, 0]) * rng.standard_t(3, size=len(X)),
    "large at high leverage": lambda rng, X: (
        (1 + 20 * (np.abs(X[:, 0]) > 1.5)) * rng.laplace(size=len(X))
    ),
}
SIZES = {2: 40, 5: 60, 12: 150}
CLUSTERS = np.repeat(np.arange(7), [3, 4, 5, 6, 8, 11, 15])


@dataclass(frozen=True)
class Row:
    """Counts of a setting, one for each number, with the probability that each should have."""

    setting: str
    what: str
    counts: Array
    runs: int
    p: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether all counts lie in the band."""
        low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], self.runs, self.p)
        return bool((self.counts >= low).all() and (self.at_least or (self.counts <= high).all()))

    def __str__(self) -> str:
        low, high = self.counts.min() / self.runs, self.counts.max() / self.runs
        rates = f"{low:.4f}" if low == high else f"{low:.4f} to {high:.4f}"
        expected = f"{'at least ' * self.at_least}{self.p:.4f}"
        verdict = "met" if self.met else "MISSED"
        return f"{self.setting:<42}{self.what:<30}{expected:<17}{rates:<19}{verdict}"


@dataclass(frozen=True)
class Power:
    """How often the hypothesis that a slope is zero is rejected."""

    law: str
    slope: float
    level: float
    cells: float
    hc3: float

    def __str__(self) -> str:
        setting = f"power, {self.law}, slope {self.slope}"
        rates = f"cells {self.cells:.3f}, HC3 {self.hc3:.3f}"
        return f"{setting:<42}rejected at {self.level:.4f}: {rates}"


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Divide the rows once for every design, level and seed."""
    kept: dict[object, Any] = {}

    @wraps(function)
    def divide(*arguments: Any, **options: Any) -> Any:
        parts = (*arguments, *sorted(options.items()))
        key = tuple(
            part.tobytes() if isinstance(part, np.ndarray) else repr(part) for part in parts
        )
        if key not in kept:
            kept[key] = function(*arguments, **options)
        return kept[key]

    return divide


def intervals(
    setting: str,
    X: Array,
    law: Draw,
    runs: int,
    *,
    noise: Any = None,
    first: int = 0,
    at_least: bool = False,
) -> Iterator[Row]:
    """Count how often the interval of each coefficient covers it, from coefficient ``first`` on."""
    rng, truth = np.random.default_rng(1), np.arange(1.0, X.shape[1] + 2)
    Y = np.array([truth[0] + X @ truth[1:] + law(rng, X) for _ in range(runs)])
    ends = {level: np.empty((2, runs, len(truth))) for level in LEVELS}
    for run in range(min(runs, ONE_BY_ONE)):
        region = ua.confidence_region(
            LinearRegression(), X, Y[run], noise=noise, m=2, random_state=0
        )
        found = region.interval(level=LEVELS, simultaneous=False)
        for level in LEVELS:
            ends[level][:, run] = found[level].lower, found[level].upper
    for level in LEVELS:
        assert found[level].method in ("cells", "pairs")
        first_runs = ends[level][:, :ONE_BY_ONE, first:].copy()
        ends[level] = all_at_once(region, Y, level, first)
        np.testing.assert_allclose(ends[level][:, :ONE_BY_ONE, first:], first_runs, rtol=1e-6)
        covered = ((ends[level][0] <= truth) & (truth <= ends[level][1])).sum(axis=0)
        for p in np.unique(found[level].attained[first:]):
            same = np.flatnonzero(found[level].attained == p)
            same = same[same >= first]
            what = f"{found[level].method}, coefficients: {len(same)}"
            yield Row(setting, what, covered[same], runs, float(p), at_least)


def all_at_once(region: ua.Region, Y: Array, level: float, first: int = 0) -> Array:
    """Return lower and upper bounds of each coefficient for each y, shape (2, runs, d).

    Coefficients before ``first`` get no bounds.
    """
    d, numbers = region.estimate.size, region._numbers
    ends = np.empty((2, len(Y), d))
    ends[0], ends[1] = -np.inf, np.inf
    kind = Method.CELLS if numbers.evidence.flips else Method.PAIRS
    for j in range(first, d):
        beta, v = in_cells(region, Y, np.eye(d)[j], kind, level)
        found = cells.intervals(beta, v, level, seed=region.problem.seed)
        ends[:, :, j] = found.lower, found.upper
    return ends


def in_cells(
    region: ua.Region, Y: Array, c: Array, kind: Method, level: float, chosen: Any = None
) -> tuple[Array, Array]:
    """Return the estimates of one functional in its cells for each y, and v, both (runs, K)."""
    options = SingleOptions(chosen)
    (place,) = region._numbers.places(kind, c[None], level, options)
    inside, labels = place.divided.rows, place.divided.division.labels[place.which]
    v = place.divided.information(place.which, c[None])[0]
    if kind is Method.PAIRS:  # differences of rows, which are linear in y
        evidence, unit = region._numbers.evidence, np.eye(Y.shape[1])
        columns = [replace(evidence, y=one).paired(c, chosen).y for one in unit]
        Y = Y @ np.array(columns)
    coordinates = inside.coordinates(c[None])[0]
    beta = np.zeros((len(Y), len(v)))
    for b in np.flatnonzero(v):
        rows = labels == b
        beta[:, b] = Y[:, rows] @ (coordinates @ np.linalg.pinv(inside.Phi[rows]))
    return beta, np.tile(v, (len(Y), 1))


def rows_in_cells(runs: int) -> Iterator[Row]:
    for d, n in SIZES.items():
        X = np.random.default_rng(d).normal(size=(n, d - 1))
        for name, law in LAWS.items():
            yield from intervals(f"{name}, n = {n}, d = {d}", X, law, runs)


def ties(runs: int) -> Iterator[Row]:
    """Discrete noise: intervals count ties in favour of the truth, tests break them at random."""
    for d, n in SIZES.items():
        X = np.round(np.random.default_rng(d).normal(size=(n, d - 1)))
        law: Draw = lambda rng, X: rng.choice([-1.0, 0.0, 1.0], size=len(X))  # noqa: E731
        setting = f"discrete noise with ties, n = {n}, d = {d}"
        yield from intervals(setting, X, law, runs, at_least=True)
        region = ua.confidence_region(LinearRegression(), X, np.zeros(n), random_state=0)
        first = np.eye(d)[1:2]
        place = region._numbers.places(Method.CELLS, first, 0.9, SingleOptions())[0]
        labels = place.divided.division.labels[place.which]
        rng, small, m = np.random.default_rng(2), np.zeros(3, dtype=int), 0
        for run in range(runs):
            y = X[:, 0] + law(rng, X)
            region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=run)
            found = region.hypothesis("x0", 1.0, cells=labels)
            small += found.pvalue <= np.array([0.125, 0.25, 0.5])
            m = found.m
        assert m % 8 == 0
        for p, count in zip((0.125, 0.25, 0.5), small, strict=True):
            yield Row(setting, f"test, p-value <= {p}", np.array([count]), runs, p)


def dummies(runs: int) -> Iterator[Row]:
    rng, n = np.random.default_rng(0), 60
    levels = np.arange(n) % 5
    X = np.column_stack([rng.normal(size=n), *(levels == k for k in range(1, 5))])
    yield from intervals("dummies: 5 levels of 12 rows, t(2)", X, LAWS["t(2)"], runs)
    grows = LAWS["scale grows with x"]
    yield from intervals("dummies: 5 levels of 12 rows, scale grows", X, grows, runs)


def clusters(runs: int) -> Iterator[Row]:
    noise, X = ua.noise.BlockSymmetric(CLUSTERS), np.random.default_rng(3).normal(size=(52, 1))

    def law(rng: np.random.Generator, X: Array) -> Array:
        effects = rng.standard_t(2, size=(2, 7))[:, CLUSTERS]
        return np.asarray(effects[0] + effects[1] * X[:, 0] + rng.normal(size=len(X)))

    yield from intervals("7 unequal clusters, random effects", X, law, runs, noise=noise)


def pairs(runs: int) -> Iterator[Row]:
    for d, n in ((2, 40), (5, 80)):
        X = np.random.default_rng(4).normal(size=(n, d - 1))
        law: Draw = lambda rng, X: rng.lognormal(sigma=1.5, size=len(X))  # noqa: E731
        setting = f"skewed exchangeable noise, n = {n}, d = {d}"
        yield from intervals(setting, X, law, runs, noise="exchangeable", first=1)


def nested(runs: int) -> Iterator[Row]:
    rng, n = np.random.default_rng(5), 60
    X = rng.normal(size=(n, 4))
    small = np.zeros(3, dtype=int)
    shares = np.array([0.125, 0.25, 0.5])
    for _ in range(runs):
        y = X @ np.arange(4.0) + LAWS["scale grows with x"](rng, X)
        region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=0)
        found = region.hypothesis(["x0", "x1"], [0.0, 1.0])
        small += found.pvalue <= shares
    for p, count in zip(shares.tolist(), small, strict=True):
        yield Row("nested models, n = 60, d = 5", f"p-value <= {p}", np.array([count]), runs, p)


def balanced(runs: int) -> Iterator[Row]:
    for n, d, level in ((200, 5, 0.9), (400, 5, 0.95), (96, 2, 0.9)):
        rng = np.random.default_rng(6)
        X, Z = rng.normal(size=(n, d - 1)), rng.normal(size=(30, d - 1))
        truth = np.arange(1.0, d + 1)
        values, everywhere, attained = truth[0] + Z @ truth[1:], np.zeros(2, dtype=int), 0.0
        for _ in range(runs):
            y = truth[0] + X @ truth[1:] + LAWS["scale grows with x"](rng, X)
            region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=0)
            table = region.interval(level=level, method="cells", simultaneous=True)
            band = region.band(Z, level=level, method="cells")
            everywhere[0] += bool(((table.lower <= truth) & (truth <= table.upper)).all())
            everywhere[1] += bool(((band.lower <= values) & (values <= band.upper)).all())
            attained = float(table.attained[0])
        setting = f"balanced cells, n = {n}, d = {d}"
        for what, count in zip(("all coefficients", "band at 30 inputs"), everywhere, strict=True):
            yield Row(setting, what, np.array([count]), runs, attained)


def power(runs: int) -> Iterator[Row | Power]:
    """Reject that a slope is zero, cells and HC3 at the level that the cells attain."""
    n, d = 60, 5
    X = np.random.default_rng(7).normal(size=(n, d - 1))
    Phi = np.column_stack([np.ones(n), X])
    P = np.linalg.pinv(Phi)
    less, asked = 1 - np.einsum("ij,ji->i", Phi, P), np.empty(ONE_BY_ONE)
    for name in ("Gaussian", "scale grows with x"):
        for slope in (0.0, 0.25, 0.5, 1.0):
            rng = np.random.default_rng(8)
            Y = np.array([slope * X[:, 0] + LAWS[name](rng, X) for _ in range(runs)])
            for run in range(min(runs, ONE_BY_ONE)):
                region = ua.confidence_region(LinearRegression(), X, Y[run], m=2, random_state=0)
                asked[run] = region.hypothesis("x0", level=0.9).pvalue
            beta, v = in_cells(region, Y, np.eye(d)[1], Method.CELLS, 0.9)
            found = cells.ranks(beta, v, np.zeros(runs))
            pvalues, m = found.pvalue, int(found.m[0])
            assert pvalues[:ONE_BY_ONE].tolist() == asked[: min(runs, ONE_BY_ONE)].tolist()
            level = cells.largest_q(0.9, m) / m
            a = Y @ P.T
            errors = np.sqrt(np.square((Y - a @ Phi.T) / less) @ np.square(P[1]))
            critical = t.ppf(1 - level / 2, n - d)
            exact = float((pvalues <= level + 1e-12).mean())
            robust = float((np.abs(a[:, 1]) > critical * errors).mean())
            if slope == 0:
                count = np.array([np.count_nonzero(pvalues <= level + 1e-12)])
                yield Row(f"size, {name}", f"p-value <= {level:.4f}", count, runs, level)
            yield Power(name, slope, level, exact, robust)


SETTINGS: dict[str, Callable[[int], Iterator[Any]]] = {
    "rows": rows_in_cells,
    "ties": ties,
    "dummies": dummies,
    "clusters": clusters,
    "pairs": pairs,
    "nested": nested,
    "balanced": balanced,
    "power": power,
}


def main(runs: int, chosen: list[str]) -> int:
    """Print all rates, and return how many lie outside their band."""
    _divided.divide = remembered(_divided.divide)
    _at_once.balanced_division = remembered(_at_once.balanced_division)
    missed = 0
    print(f"{'setting':<42}{'what':<30}{'level':<17}{'measured':<19}{runs} runs")
    for name in chosen or SETTINGS:
        start = monotonic()
        for row in SETTINGS[name](runs):
            missed += isinstance(row, Row) and not row.met
            print(row, flush=True)
        print(f"  {name}: {monotonic() - start:.0f} s", file=sys.stderr)
    print(f"{missed} outside their band." if missed else "All in their band.")
    return missed


if __name__ == "__main__":
    numbers = [word for word in sys.argv[1:] if word.isdigit()]
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    sys.exit(main(int(numbers[0]) if numbers else 2000, words))
