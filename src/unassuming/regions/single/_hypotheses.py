"""Tests of one functional or of several at once (docs/theory.md 9.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import fdtrc

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming._words import joined
from unassuming.cells import (
    Method,
    PseudoRows,
    enough_cells,
    fewest_cells,
    flipped_cells,
    joint_rank,
    number_of_statistics,
    pseudo_rows,
    t_pvalues,
)
from unassuming.inputs import SingleOptions
from unassuming.ranking import RankTest
from unassuming.regions.single._divided import Divided, InCells
from unassuming.regions.single._numbers import REFERENCE, Numbers

CERTIFIED = "The p-value is an upper bound, from random halves or permutations of the rows."
HIDDEN = "The rows do not determine what is tested, so they cannot refute it."


@final
@dataclass(frozen=True, eq=False)
class FTest:
    """The F test of a hypothesis about coefficients, which is exact for spherical noise.

    Attributes
    ----------
    statistic : float
        F; for one functional the square of t.
    freedoms : tuple of two float
        Degrees of freedom.
    pvalue : float
    tested : str
        The hypothesis.

    Examples
    --------
    >>> spherical = ua.confidence_region(
    ...     LinearRegression(), X, y, noise="spherical", m=20, random_state=0
    ... )
    >>> print(spherical.hypothesis("x1"))
    Hypothesis x1 = 0: p-value 0.024996 (F = 5.36181 on 1 and 47 degrees of freedom).
    """

    statistic: float
    freedoms: tuple[float, float]
    pvalue: float
    tested: str

    def __str__(self) -> str:
        first, second = self.freedoms
        return (
            f"Hypothesis {self.tested}: p-value {self.pvalue:.6g} (F = {self.statistic:.6g} on "
            f"{first:g} and {second:g} degrees of freedom)."
        )


def hypothesis_test(
    numbers: Numbers,
    g: Array,
    names: Sequence[str],
    level: float,
    options: SingleOptions,
    tau: Array,
) -> RankTest | FTest:
    """Test hypothetical values of one functional, or of several at once."""
    tested = joined(f"{n} = {t:.6g}" for n, t in zip(names, tau.tolist(), strict=True))
    require_independent(g)
    if numbers.takes_t(options):
        return _f_test(numbers, g, tau, tested)
    if len(g) == 1:
        return _one(numbers, g, level, options, tau, tested)
    return _several(numbers, g, level, options, tau, tested)


def _one(
    numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array, tested: str
) -> RankTest:
    """Test one functional, with the p-value of its row in a summary."""
    out = numbers.outcome(g, level, options, tau)
    method, rank, m = out.method[0], int(out.rank[0]), int(out.m[0])
    if method in (Method.HALVES, Method.PALMRT):
        return RankTest(rank, m, np.zeros(0), CERTIFIED, tested)
    if not out.cells[0]:
        return RankTest(rank, m, np.zeros(m), HIDDEN, tested)
    places = numbers.places(method, g, level, options)
    found = InCells.of(places, g, robust=options.robust, weights=options.weights)
    statistics = _statistics(found, tau[0], numbers.problem.seed)
    return RankTest(rank, m, statistics, _too_few(int(out.cells[0]), level), tested)


def _too_few(cells: int, level: float) -> str:
    """Return a caveat if no p-value of so many cells could reject at the level."""
    if cells >= fewest_cells(level):
        return ""
    least = 1 / number_of_statistics(cells)
    return f"Cells that determine what is tested: {cells}. So the p-value is at least {least:.4g}."


def _statistics(found: InCells, tau: float, seed: int) -> Array:
    """Return Z_0 and Z_s = |Σ_b s_b v_b (β_b - τ)|."""
    used = found.weights[0] > 0
    u = found.weights[0, used] * (found.beta[0, used] - tau)
    flipped = flipped_cells(len(u), seed)
    return np.asarray(np.abs(np.append(u.sum(), u.sum() - 2 * flipped @ u)))


def _several(
    numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array, tested: str
) -> RankTest:
    """Test several functionals at once: a nested model."""
    if options.robust or options.weights != "design" or options.method in ("halves", "palmrt"):
        raise NotAvailable(
            "several functionals at once are tested by least squares in cells or pairs alone: "
            "leave out weights, estimator and method, or test one functional at a time."
        )
    chosen = best_cells(numbers, g, level, options)
    if chosen.kept <= 0:
        return RankTest(1, 1, np.zeros(1), HIDDEN, tested)
    best = chosen.pseudo
    problem = numbers.problem
    rank, statistics = joint_rank(best, tau, problem.ties, problem.seed)
    cells = len(best.cells)
    return RankTest(rank, number_of_statistics(cells), statistics, _too_few(cells, level), tested)


@final
@dataclass(frozen=True, eq=False)
class BestCells:
    """The cells that keep most of the information about several functionals, and its share."""

    divided: Divided
    which: int
    pseudo: PseudoRows
    kept: float


def best_cells(numbers: Numbers, g: Array, level: float, options: SingleOptions) -> BestCells:
    """Return the best cells: those for the reference level if they are enough for this level."""
    best = _best_cells(numbers, g, REFERENCE, options)
    if level != REFERENCE and not (best.kept > 0 and enough_cells(len(best.pseudo.cells), level)):
        best = _best_cells(numbers, g, level, options)
    return best


def _best_cells(numbers: Numbers, g: Array, level: float, options: SingleOptions) -> BestCells:
    found = []
    for divided, k in _candidates(numbers, g, level, options):
        pseudo = pseudo_rows(divided.factors(k), g)
        kept = _kept(pseudo, pseudo_rows([divided.whole], g))
        found.append(BestCells(divided, k, pseudo, kept))
    needed = fewest_cells(level)
    return max(found, key=lambda one: (min(len(one.pseudo.cells), needed), one.kept))


def _candidates(
    numbers: Numbers, g: Array, level: float, options: SingleOptions
) -> Iterator[tuple[Divided, int]]:
    """Yield the divisions that may serve several functionals at once, before y is seen."""
    made: list[Divided] = []
    if numbers.evidence.cells is not None:
        (divided,) = numbers.divisions_for(g, level, options)
        yield divided, int(divided.best(g)[0].max())  # they differ in the number of cells alone
        return
    if numbers.evidence.flips and options.method in ("auto", "cells"):
        made += numbers.divisions_for(g, level, options)
    if numbers.evidence.swaps is not None and options.method in ("auto", "pairs"):
        made += numbers.pairs_for(g, level, options)
    for divided in made:
        for k in range(len(divided.sizes)):
            yield divided, k


def _kept(pseudo: PseudoRows, whole: PseudoRows) -> float:
    """Return the mean share of the information that cells keep; 0 if all rows leave some open."""
    if not len(whole.rows) or not len(pseudo.rows):
        return 0.0
    R = whole.rows[0]
    values = np.linalg.svd(R, compute_uv=False)
    if values[-1] <= 1e-12 * values[0]:
        return 0.0
    part = np.linalg.solve(R.T, pseudo.rows.reshape(-1, len(R)).T)
    return float(np.square(part).sum() / len(R))


def _f_test(numbers: Numbers, g: Array, tau: Array, tested: str) -> FTest:
    rows = numbers.evidence.plain
    factor = rows.factor()
    k, freedom = len(g), float(factor.rows - len(factor.T))
    pseudo = pseudo_rows([factor], g)
    if freedom < 1 or _kept(pseudo, pseudo) == 0:
        return FTest(0.0, (float(k), freedom), 1.0, tested)
    distance = float(np.square(pseudo.targets[0] - pseudo.rows[0] @ tau).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        F = float(np.nan_to_num(np.float64(distance) / k / (factor.rest**2 / freedom)))
    pvalue = float(fdtrc(k, freedom, F))
    if k == 1:  # as in a summary, to the last digit
        pvalue = float(t_pvalues(rows.Phi, rows.y, rows.coordinates(g), tau - rows.offset(g))[0])
    return FTest(F, (float(k), freedom), pvalue, tested)


def require_independent(g: Array) -> None:
    """Refuse functionals of which one follows from the others."""
    scaled = g / np.abs(g).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(scaled) < len(g):
        raise ValueError(
            "functionals are linearly dependent: expected independent ones, given "
            f"{len(g)} rows of rank {np.linalg.matrix_rank(scaled)}. Leave out those that follow "
            "from others."
        )
