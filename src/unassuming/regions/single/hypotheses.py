"""Tests of one functional or of several at once (docs/theory.md 11.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN, Factor
from unassuming._typing import Array, IntArray
from unassuming.cells.choose import Division
from unassuming.cells.codes import fewest_cells, number_of_words, words
from unassuming.cells.estimates import CellSums, Sample
from unassuming.cells.several import Several, division, joint_rank, predicted
from unassuming.cells.spherical import f_test
from unassuming.inputs import SingleOptions
from unassuming.ranking import RankTest
from unassuming.regions.single.evidence import require_whole_blocks
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
    found = test(numbers, g, level, options, tau, said)
    if len(g) == asked:
        return found
    return replace(found, caveat=f"{PART.format(len(g), asked)} {found.caveat}".strip())


def _determined(factor: Factor, g: Array, tau: Array) -> tuple[Array, Array]:
    """Return the part of a hypothesis that the columns determine; all of it if there is none."""
    size = np.linalg.norm(g @ factor.scales, axis=1)
    U, s, _ = np.linalg.svd((g @ factor.null) / size[:, None])
    L = U[:, np.count_nonzero(s > SEEN) :].T / size
    return (L @ g, L @ tau) if 0 < len(L) < len(g) else (g, tau)


def _one(
    numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array, said: str
) -> RankTest:
    """Test one functional, with the p-value of its row in a summary."""
    out = numbers.outcome(g, level, options, tau)
    rank, m = int(out.rank[0]), int(out.m[0])
    if out.method[0] in CERTIFIED:
        return RankTest(rank, m, np.zeros(0), AN_UPPER_BOUND, said)
    if not out.cells[0]:
        return RankTest(1, 1, np.zeros(1), HIDDEN, said)
    (way,) = numbers.ways(g, level, options)
    beta, _, weights = numbers.in_cells(g, way, options)
    at = numbers.coordinates(way)
    away = (tau - at.estimates(g))[0] / at.vectors(g)[1][0]
    used = weights[0] > 0
    u = weights[0, used] * (beta[0, used] - away)
    statistics = np.abs(words(len(u)) @ u)
    return RankTest(rank, m, statistics, _least(int(out.cells[0]), level), said)


def _least(cells: int, level: float) -> str:
    """Return a caveat if no p-value of so many cells could reject at the level."""
    least = 1 / number_of_words(cells)
    if least <= 1 - level + 1e-9:
        return ""
    return f"Cells that determine what is tested: {cells}. So the p-value is at least {least:.4g}."


def _several(
    numbers: Numbers, g: Array, level: float, options: SingleOptions, tau: Array, said: str
) -> RankTest:
    """Test several functionals at once: a nested model."""
    if options.robust or options.weights != "design" or options.method in CERTIFIED:
        raise NotAvailable(
            "several functionals at once are tested by least squares in cells or pairs alone: "
            "leave out cell_weights, cell_estimate and method, or test one functional at a time."
        )
    found = [one for one in _candidates(numbers, g, level, options) if np.isfinite(one.width)]
    if not found:
        whole = numbers.evidence.whole
        few = HIDDEN if whole.factor.unseen(g).any() else too_few(level, whole.rank)
        return RankTest(1, 1, np.zeros(1), few, said)
    best = min(found, key=lambda one: one.width)
    at = numbers.evidence.whole if best.sample is None else best.sample.at
    several = Several.of(best.sums.G, best.sums.h[..., None], g @ at.factor.back)
    rank, statistics = joint_rank(several.at(tau - at.estimates(g)))
    cells = len(several.V)
    return RankTest(rank, number_of_words(cells), statistics, _least(cells, level), said)


def too_few(level: float, rank: int) -> str:
    """Return why nothing can be rejected at a level, and how many rows would do."""
    rows = fewest_cells(level) * rank
    return f"Rows are too few for a test at level {level:.6g}: about {rows} would do."


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """Sums over cells that may serve several functionals, and their predicted width."""

    sums: CellSums
    width: float
    sample: Sample | None


def _candidates(
    numbers: Numbers, g: Array, level: float, options: SingleOptions
) -> Iterator[Candidate]:
    """Yield the divisions that may serve several functionals at once; y is not seen."""
    evidence, given = numbers.evidence, options.cells
    if evidence.kept is not None:
        C = evidence.whole.factor.back
        if evidence.whole.factor.unseen(g).any():
            return
        for K in _STREAMED if given is None else (given,):
            if isinstance(K, int) and evidence.kept.number >= K:
                sums = evidence.kept.sums.merged(K)
                yield Candidate(sums, predicted(sums.G, g @ C, level), None)
        return
    samples: list[tuple[Sample, IntArray | None]] = []
    labels = given if isinstance(given, np.ndarray) else None
    if evidence.flips and options.method in ("auto", "cells"):
        samples.append((evidence.signed, labels))
    if evidence.swaps is not None and options.method in ("auto", "pairs"):
        for c in g:
            pairs = evidence.pairs(c, labels)
            own = None if labels is None else labels[pairs[:, 0]]
            samples.append((evidence.paired(pairs), own))
    for sample, own in samples:
        made = best_cells(sample, g, level, given if own is None else own)
        if made.places is not None and not sample.at.factor.unseen(g).any():
            yield Candidate(sample.atoms.sums(made.places), made.width, sample)


def best_cells(sample: Sample, g: Array, level: float, cells: int | IntArray | None) -> Division:
    """Return the cells of rows for functionals (N, d), or those that labels of the rows give."""
    C = g @ sample.at.factor.back
    if cells is not None:  # a level that so many cells attain
        number = int(cells.max()) + 1 if isinstance(cells, np.ndarray) else cells
        level = min(level, 1 - 1 / number_of_words(number))
    if isinstance(cells, np.ndarray):
        if sample.units is not None:
            require_whole_blocks(cells, sample.units)
        places = sample.places(cells)
        return Division(places, predicted(sample.atoms.products(places), C, level))
    if sample.at.factor.unseen(g).any():
        return Division(None, np.inf)
    return division(sample.atoms, C, level, cells)


def _f_test(sample: Sample, g: Array, tau: Array, said: str) -> FTest:
    at = sample.at
    k, freedom = len(g), at.rows - at.rank
    freedoms = float(k), float(freedom)
    if freedom < 1 or at.factor.unseen(g).any():
        return FTest(0.0, freedoms, 1.0, said)
    C, away = g @ at.factor.back, at.estimates(g) - tau
    distance = float(away @ np.linalg.solve(C @ C.T, away))
    F, pvalue = f_test(distance, k, at.rest, freedom)
    return FTest(F, freedoms, pvalue, said)


def require_independent(g: Array) -> None:
    """Refuse functionals of which one follows from the others."""
    scaled = g / np.abs(g).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(scaled) < len(g):
        raise ValueError(
            "functionals are linearly dependent: expected independent ones, given "
            f"{len(g)} rows of rank {np.linalg.matrix_rank(scaled)}. Leave out those that follow "
            "from others."
        )
