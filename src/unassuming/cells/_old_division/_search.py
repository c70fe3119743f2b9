"""The division of the rows into cells (docs/theory.md 9.3).

A division depends on the design, on the clusters, on the level and on the seed. It never sees y.
One division that balances second moments serves all numbers. Numbers of which it keeps too little
information, such as the coefficients of rare levels of a factor, get divisions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array, IntArray
from unassuming.cells._old_division._balance import balance, deal
from unassuming.cells._old_division._basis import Basis, basis_of, information, second_moments
from unassuming.cells._old_division._improve import improve
from unassuming.cells._old_division._settled import settled
from unassuming.cells._old_division._units import ClusterUnits, RowUnits, Units
from unassuming.cells._signs import MOST_ENUMERATED, fewest_cells
from unassuming.cells._width import (
    approximate_width,
    identified,
    predicted_width,
    width_factor,
)

ENOUGH = 0.9
"""A number with an interval wider than if this share of the information was kept gets a better
division, if there is any."""

_NEGLIGIBLE_LOSS = 0.02
_STARTS = 5
_MISSES, _HOPELESS = 3, 10.0
"""Numbers with so many times the good width, or no interval, before the search ends."""

_SINGLY = 32
"""Numbers that get a search of their own, the worst first."""


@dataclass(frozen=True, eq=False)
class Division:
    """Cells for N numbers.

    Attributes
    ----------
    labels : integer array of shape (D, n)
        D divisions: the cell of each row, from 0.
    which : integer array of shape (N,)
        The division that serves each number.
    kept : array of shape (N,)
        Share of the information of all rows that the cells keep; 0 if it is not identified.
    width : array of shape (N,)
        Approximate width of the intervals for Gaussian noise of variance one; infinite if too few
        cells identify the number.
    """

    labels: IntArray
    which: IntArray
    kept: Array
    width: Array

    @property
    def sizes(self) -> IntArray:
        """Number of cells of each division."""
        return np.asarray(self.labels.max(axis=1, initial=-1) + 1, dtype=np.intp)


def candidates(level: float, units: int) -> list[int]:
    """Return the numbers of cells that are compared: K_min, ..., 8, 10, 12, 16.

    Examples
    --------
    >>> candidates(0.95, 1000), candidates(0.95, 9)
    ([6, 7, 8, 10, 12, 16], [6, 7, 8])
    """
    fewest = fewest_cells(level)
    numbers = [K for K in (*range(2, 9), 10, 12, 16) if fewest <= K <= units]
    return numbers or [max(1, min(fewest, units))]


def divide(
    Phi: Array,
    functionals: Array,
    level: float,
    *,
    seed: int = 0,
    clusters: IntArray | None = None,
    cells: int | IntArray | None = None,
) -> Division:
    """Divide the rows into cells for intervals of N linear functionals of the coefficients.

    Parameters
    ----------
    Phi : array of shape (n, d)
        The design, its rows multiplied by the square roots of sample weights if there are any.
    functionals : array of shape (N, d)
        The numbers cᵀθ, one c a row.
    level : float
        The level that the intervals will have.
    seed : int
        Where the random start comes from.
    clusters : integer array of shape (n,), optional
        The cluster of each row, from 0; the rows of a cluster stay together.
    cells : int or integer array of shape (n,), optional
        The number of cells, or the cell of each row from 0.

    Examples
    --------
    >>> Phi = np.column_stack([np.ones(200), np.random.default_rng(0).normal(size=(200, 2))])
    >>> division = divide(Phi, np.eye(3), level=0.9)
    >>> division.labels.shape, division.which, bool(division.kept.min() > 0.97)
    ((1, 200), array([0, 0, 0]), True)
    """
    basis = basis_of(Phi, functionals)
    if cells is not None and np.ndim(cells) == 1:
        labels = np.asarray(cells, dtype=np.intp)
        _check_labels(labels, len(Phi), clusters)
        search = Search(basis, labels, level, seed)
        moments = second_moments(basis.rows, labels, int(labels.max()) + 1)
        v = information(moments, basis.functionals)
        which = np.zeros(len(functionals), dtype=np.intp)
        return Division(labels[None], which, search.kept(v), search.width(v))
    search = Search(basis, clusters, level, seed)
    numbers = candidates(level, search.count) if cells is None else [int(np.asarray(cells))]
    if not 1 <= numbers[0] <= search.count:
        what = "rows" if clusters is None else "clusters"
        raise ValueError(
            complaint(
                "cells",
                "does not fit the data",
                f"a number from 2 to the {search.count} {what}",
                numbers[0],
                f"Ask for fewer cells than there are {what}.",
            )
        )
    return search.run(numbers, fewer=cells is None)


def _check_labels(labels: IntArray, n: int, clusters: IntArray | None) -> None:
    """Raise unless there is a cell for each row, and one for all rows of a cluster."""
    if labels.shape != (n,) or labels.min(initial=0) < 0:
        raise ValueError(
            complaint(
                "cells",
                "does not fit the data",
                f"one cell for each of the {n} rows, numbered from 0",
                f"an array of shape {labels.shape}",
                "Pass an array as long as y, or a number of cells.",
            )
        )
    if clusters is not None:
        first = np.zeros(int(clusters.max(initial=0)) + 1, dtype=np.intp)
        first[clusters[::-1]] = labels[::-1]
        split = np.flatnonzero(first[clusters] != labels)
        if len(split):
            raise ValueError(
                complaint(
                    "cells",
                    "divides a cluster",
                    "the same cell for all rows of a cluster",
                    f"two cells for the cluster of row {split[0]} (counted from zero)",
                    "Give whole clusters to cells, since the rows of a cluster may be dependent.",
                )
            )


def usually_kept(n: int, rank: int, numbers: list[int]) -> Array:
    """Return the share of the information that balanced cells usually keep, for each K.

    Random cells lose x = (K - 1)(r - 1)/(n - r + 1) of the information on average, and balanced
    cells about x (0.05 + 0.55 x): a fit to designs from (60, 5) to (1000, 20).
    """
    x = (np.array(numbers) - 1.0) * (rank - 1) / max(n - rank + 1, 1)
    lost = np.minimum(x * (0.05 + 0.55 * x), 20.0)
    return np.exp(-lost * (1 + lost / 2))  # about 1 - lost, and never 0


@dataclass
class Found:
    """A division of the units, and the information of its cells about each number.

    ``standard`` are the half-widths as multiples of the standard errors, once they are needed.
    """

    units: IntArray
    v: Array = field(repr=False)
    standard: Array | None = field(default=None, repr=False)


class Search:
    """The search for divisions: one for all numbers, then others for those it serves badly."""

    def __init__(
        self,
        basis: Basis,
        clusters: IntArray | None,
        level: float,
        seed: int,
        made: dict[int, IntArray] | None = None,
    ) -> None:
        self.basis, self.clusters, self.level, self.seed = basis, clusters, level, seed
        self.made = {} if made is None else made  # divisions for all numbers, by number of cells
        self.n, self.rank = basis.rows.shape
        self.units: Units
        if clusters is None:
            self.units = RowUnits(basis.rows)
        else:
            self.units = ClusterUnits(second_moments(basis.rows, clusters, int(clusters.max()) + 1))
        self.count = len(self.units.leverage)

    def run(self, numbers: list[int], *, fewer: bool) -> Division:
        """Return the divisions of the rows, with ``fewer`` also those below the level."""
        K = self._best_number(numbers)
        good = width_factor(K, self.level) / np.sqrt(ENOUGH)
        found = [self.shared(K)]
        if min(numbers) < self.count:  # else every unit is a cell
            self._improve(found, numbers, K, good)
        if fewer:
            self._fewer(found)
        return self._collect(found, good)

    def _improve(self, found: list[Found], numbers: list[int], K: int, good: float) -> None:
        """Add divisions for the numbers that the first one, of K cells, serves badly."""
        for k in (K, *(other for other in reversed(numbers) if other < K)):
            weak = self._weak(found, good)
            if not weak.size:
                break
            found.append(self._aimed(k, weak))
        weak = self._weak(found, good)
        widths = np.min([self._standard(f) for f in found], axis=0)
        misses = 0
        for number in weak[np.argsort(-widths[weak], kind="stable")][:_SINGLY].tolist():
            found += self._singly(number, K, found, good)
            misses += min(self._standard(f)[number] for f in found) > _HOPELESS * good
            if misses == _MISSES:  # too few rows
                break

    def _fewer(self, found: list[Found]) -> None:
        """Add divisions into fewer cells for the numbers that too few cells for the level identify.

        Their intervals are infinite. The cells still say how much the rows fall short, and serve
        lower levels.
        """
        most = np.max([identified(f.v).sum(axis=1) for f in found], axis=0)
        for K in reversed(range(1, min(fewest_cells(self.level), self.count))):
            short = np.flatnonzero(self.basis.known & (most < K))
            if short.size:
                found.append(self._aimed(K, short))
                most = np.maximum(most, identified(found[-1].v).sum(axis=1))

    def kept(self, v: Array) -> Array:
        """Return the share of the information that cells keep, for each number."""
        return np.where(self.basis.known, v.sum(axis=1) / self.n, 0.0)

    def width(self, v: Array) -> Array:
        """Return the approximate width of the intervals for noise of variance one."""
        known = self.basis.known
        width = np.full(len(v), np.inf)
        width[known] = approximate_width(v[known], self.level) * np.sqrt(
            self.n / self.basis.whole[known]
        )
        return width

    def _standard(self, found: Found) -> Array:
        """Return the approximate half-widths, as multiples of the standard errors of all rows."""
        if found.standard is None:
            width = approximate_width(found.v, self.level) * np.sqrt(self.n) / 2
            found.standard = settled(np.where(self.basis.known, width, np.inf))
        return found.standard

    def _weak(self, found: list[Found], good: float) -> IntArray:
        """Return the numbers that no division serves well, if the level can be reached at all."""
        widths = np.min([self._standard(f) for f in found], axis=0)
        hopeful = np.isfinite(good) and self.rank > 1
        return np.flatnonzero(self.basis.known & (widths > good) & hopeful)

    def _rng(self, *key: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *key])

    def _best_number(self, numbers: list[int]) -> int:
        """Return the number of cells by the width that balanced cells usually give."""
        kept = usually_kept(self.n, self.rank, numbers)
        width = np.array([width_factor(K, self.level) for K in numbers]) / np.sqrt(kept)
        if not np.isfinite(width).any():
            return numbers[0]
        return numbers[int(np.flatnonzero(width <= 1.01 * width.min())[0])]

    def _found(self, units: IntArray, K: int) -> Found:
        moments = np.stack([self.units.total(np.flatnonzero(units == b)) for b in range(K)])
        return Found(units, information(moments, self.basis.functionals))

    def shared(self, K: int, *, search: bool = False) -> Found:
        """Return a division for all numbers, which depends neither on them nor on the level.

        Unless ``search`` demands it there is no search where random cells lose little.
        """
        if K not in self.made:
            self.made[K] = self._shared(K, search=search)
        return self._found(self.made[K], K)

    def _shared(self, K: int, *, search: bool) -> IntArray:
        rng = self._rng(K)
        labels = deal(self.units.leverage, K, rng)
        lossy = (K - 1) * (self.rank - 1) >= _NEGLIGIBLE_LOSS * self.count
        if self.count > K and (search or lossy):
            labels = balance(self.units, labels, K, rng)
        return labels

    def _aimed(self, K: int, numbers: IntArray, start: int = 0) -> Found:
        """Return a division for some of the numbers."""
        units, rng = self.units.aimed(self.basis.functionals[numbers]), self._rng(K, 1, start)
        return self._found(balance(units, deal(units.leverage, K, rng), K, rng), K)

    def _singly(self, number: int, K: int, found: list[Found], good: float) -> list[Found]:
        """Search for the best division for one number, from several starts until it is good."""
        new: list[Found] = []
        for start in self._starts(number, K, found):
            new.append(start)
            if self._standard(start)[number] > good:
                cells, h = start.v.shape[1], self.basis.functionals[number]
                better = improve(self.units, start.units, cells, h, self.level, self._rng(cells, 2))
                new.append(self._found(better, cells))
            widths = [float(self._standard(f)[number]) for f in new]
            if min(widths) <= good or (len(new) > 2 and np.isfinite(min(widths))):
                break
        return new

    def _starts(self, number: int, K: int, found: list[Found]) -> Iterator[Found]:
        """Yield a division for the number alone, the best one so far, and others with few cells.

        Each pair of cells is compared for the first and the last of them. Many cells have many
        pairs, so the best one so far has to do for them.
        """
        alone = np.array([number])
        best = min(found, key=lambda f: (float(self._standard(f)[number]), f.v.shape[1]))
        if K > MOST_ENUMERATED:
            yield best
            return
        yield self._aimed(K, alone)
        yield best
        for start in range(1, _STARTS):
            yield self._aimed(best.v.shape[1], alone, start)

    def _collect(self, found: list[Found], good: float) -> Division:
        """Choose for each number by predicted width; the first division where it is good enough."""
        which = np.zeros(len(self.basis.known), dtype=np.intp)
        rough = np.array([self._standard(f) for f in found])  # (D, N)
        sizes = [f.v.shape[1] for f in found]
        if len(found) > 1:
            for i in np.flatnonzero(self.basis.known & (rough[0] > good)).tolist():
                short = np.lexsort((sizes, rough[:, i]))[:3]
                width = [predicted_width(found[k].v[[i]], self.level)[0] for k in short]
                which[i] = short[int(np.argmin(settled(np.array(width) * np.sqrt(self.n))))]
            without = self.basis.known & np.isinf(rough).all(axis=0)
            cells = np.array([identified(f.v).sum(axis=1) for f in found])
            which[without] = cells[:, without].argmax(axis=0)
        used, which = np.unique(which, return_inverse=True)
        kept = np.array([self.kept(found[used[k]].v)[i] for i, k in enumerate(which)])
        widths = np.stack([self.width(found[k].v) for k in used])
        units = np.stack([found[k].units for k in used])
        labels = units if self.clusters is None else units[:, self.clusters]
        return Division(labels, which.astype(np.intp), kept, widths[which, np.arange(len(which))])
