"""Tests of one functional or of several at once (docs/theory.md 11.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import fdtrc

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN, Factor
from unassuming._typing import Array, IntArray
from unassuming.cells.codes import fewest_cells, number_of_words, words
from unassuming.cells.division import Division
from unassuming.cells.estimates import CellSums, Coordinates, Sample
from unassuming.cells.several import Several, division, joint_rank, predicted
from unassuming.inputs import SingleOptions
from unassuming.ranking import RankTest
from unassuming.regions.single.numbers import CERTIFIED, Numbers
from unassuming.regions.single.summary import tested

AN_UPPER_BOUND = "The p-value is an upper bound, from halves or permutations of the rows."
HIDDEN = "The rows do not determine what is tested, so they cannot refute it."
PART = "The rows determine {} of the {} equations; no more is tested."
_STREAMED = (32, 16, 10, 8, 7, 6, 5)


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
    >>> spherical = ua.confidence_region(LinearRegression(), X, y, noise="spherical", m=20)
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
    said = tested(names, tau)
    require_independent(g)
    asked = len(g)
    if asked > 1:
        g, tau = _determined(numbers.evidence.whole.factor, g, tau)
    if numbers.takes_t(options):
        return _f_test(numbers.evidence.plain, g, tau, said)
    test = _one if len(g) == 1 else _several
    found = replace(test(numbers, g, level, options, tau), tested=said)
    if len(g) == asked:
        return found
    return replace(found, caveat=f"{PART.format(len(g), asked)} {found.caveat}".strip())


def _determined(factor: Factor, g: Array, tau: Array) -> tuple[Array, Array]:
    """Return the part of a hypothesis that the columns determine; all of it if there is none."""
    size = np.linalg.norm(g @ factor.scales, axis=1)
    U, s, _ = np.linalg.svd((g @ factor.null) / size[:, None])
    L = U[:, np.count_nonzero(s > SEEN) :].T / size
    return (L @ g, L @ tau) if 0 < len(L) < len(g) else (g, tau)


def _one(numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array) -> RankTest:
    """Test one functional, with the p-value of its row in a summary."""
    out = numbers.outcome(g, level, options, tau)
    rank, m = int(out.rank[0]), int(out.m[0])
    if out.method[0] in CERTIFIED:
        return RankTest(rank, m, np.zeros(0), AN_UPPER_BOUND)
    if not out.cells[0]:
        return RankTest(1, 1, np.zeros(1), HIDDEN)
    (way,) = numbers.ways(g, level, options)
    beta, weights = (part[0] for part in numbers.in_cells(g, way, options))
    at = numbers.coordinates(way)
    away = (tau - at.estimates(g))[0] / at.vectors(g)[1][0]
    u = (weights * (beta - away))[weights > 0]
    return RankTest(rank, m, np.abs(words(len(u)) @ u), _least(len(u), level))


def _least(cells: int, level: float) -> str:
    """Return a caveat if no p-value of so many cells could reject at the level."""
    least = 1 / number_of_words(cells)
    if least <= 1 - level + 1e-9:
        return ""
    return f"Groups that determine what is tested: {cells}. So the p-value is at least {least:.4g}."


def _several(
    numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array
) -> RankTest:
    """Test several functionals at once: a nested model."""
    if options.robust or options.weights != "design" or options.method in CERTIFIED:
        raise NotAvailable(
            "several functionals at once are tested by least squares in cells or pairs alone: "
            "leave out cell_weights, cell_estimate and method, or test one functional at a time."
        )
    found = [one for one in _candidates(numbers, g, level, options) if np.isfinite(one[0])]
    if not found:
        whole = numbers.evidence.whole
        few = HIDDEN if whole.factor.unseen(g).any() else few_rows(level, whole.rank)
        return RankTest(1, 1, np.zeros(1), few)
    _, sums, at = min(found, key=lambda one: one[0])
    C = g @ at.factor.back
    size = np.linalg.norm(C, axis=1)
    several = Several.of(sums.G, sums.h[..., None], C / size[:, None])
    rank, statistics = joint_rank(several.at((tau - at.estimates(g)) / size))
    cells = len(several.V)
    return RankTest(rank, number_of_words(cells), statistics, _least(cells, level))


def few_rows(level: float, rank: int) -> str:
    """Return why nothing can be rejected at a level, and how many rows would do."""
    rows = fewest_cells(level) * rank
    return f"Rows are too few for a test at level {level:.6g}: about {rows} would do."


def _candidates(
    numbers: Numbers, g: Array, level: float, options: SingleOptions
) -> Iterator[tuple[float, CellSums, Coordinates]]:
    """Yield predicted widths, sums and coordinates of cells that may serve several functionals."""
    evidence, labels = numbers.evidence, options.labels
    if (kept := evidence.kept) is not None:
        tried = _STREAMED if options.number is None else (options.number,)
        seen = not evidence.whole.factor.unseen(g).any()
        for K in [K for K in tried if seen and kept.number >= K]:
            sums = kept.sums.merged(K)
            yield predicted(sums.G, _unit(g, kept.at), level), sums, kept.at
        return
    samples: list[tuple[Sample, IntArray | None]] = []
    if evidence.flips and options.method in ("auto", "cells"):
        samples.append((evidence.signed, labels))
    if evidence.swaps is not None and options.method in ("auto", "pairs"):
        for c in g:
            pairs = evidence.pairs(c, labels)
            own = None if labels is None else labels[pairs[:, 0]]
            samples.append((evidence.paired(pairs), own))
    for sample, own in samples:
        made = best_cells(sample, g, level, options.number, own)
        if made.places is not None:
            yield made.width, sample.atoms.sums(made.places), sample.at


def best_cells(
    sample: Sample, g: Array, level: float, number: int | None, labels: IntArray | None
) -> Division:
    """Return the cells of rows for functionals (N, d), or those that labels of the rows give."""
    if sample.at.factor.unseen(g).any():
        return Division()
    if labels is not None:
        number = int(labels.max()) + 1
    if number is not None:  # a level that so many cells attain
        level = min(level, 1 - 1 / number_of_words(number))
    C = _unit(g, sample.at)
    if labels is None:
        return division(sample.atoms, C, level, number)
    places = sample.places(labels)
    return Division(places, predicted(sample.atoms.products(places), C, level))


def _unit(g: Array, at: Coordinates) -> Array:
    """Return functionals (k, d) as vectors of length 1 in coordinates (k, r)."""
    C = g @ at.factor.back
    return np.asarray(C / np.linalg.norm(C, axis=1, keepdims=True))


def _f_test(sample: Sample, g: Array, tau: Array, said: str) -> FTest:
    at = sample.at
    k, freedom = len(g), at.rows - at.rank
    freedoms = float(k), float(freedom)
    if freedom < 1 or at.factor.unseen(g).any():
        return FTest(0.0, freedoms, 1.0, said)
    C, away = g @ at.factor.back, at.estimates(g) - tau
    distance = np.float64(away @ np.linalg.solve(C @ C.T, away))
    with np.errstate(divide="ignore", invalid="ignore"):
        F = float(np.nan_to_num(distance / k / (at.rest**2 / freedom)))
    return FTest(F, freedoms, float(fdtrc(k, freedom, F)), said)


def require_independent(g: Array) -> None:
    """Refuse functionals of which one follows from the others."""
    scaled = g / np.abs(g).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(scaled) < len(g):
        raise ValueError(
            "functionals are linearly dependent: expected independent ones, given "
            f"{len(g)} rows of rank {np.linalg.matrix_rank(scaled)}. Leave out those that follow "
            "from others."
        )
