"""The division of the rows into cells (docs/theory.md 9.3).

A division depends on the design, on the clusters, on the level and on the seed. It never sees y.
One division that balances second moments serves all numbers. Numbers of which it keeps too little
information, such as the coefficients of rare levels of a factor, get divisions of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array, IntArray
from unassuming.cells._signs import fewest_cells
from unassuming.cells._width import approximate_width, identified, predicted_width, width_factor
from unassuming.cells.division._balance import balance, deal
from unassuming.cells.division._basis import Basis, basis_of, information, second_moments
from unassuming.cells.division._improve import improve, narrowness
from unassuming.cells.division._units import ClusterUnits, RowUnits, Units

ENOUGH = 0.9
"""A number of which a division keeps less information gets a better one if there is any."""

_NEGLIGIBLE_LOSS = 0.02
_FEW_ROWS = 300
_MOST_JOINT = 64
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
    return search.run(numbers)


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
                    f"two cells for the cluster of row {split[0]}",
                    "Give whole clusters to cells, since the rows of a cluster may be dependent.",
                )
            )


def usually_kept(n: int, rank: int, numbers: list[int]) -> Array:
    """Return the share of the information that balanced cells usually keep, for each K.

    Random cells lose x = (K - 1)(r - 1)/(n - r + 1) of the information on average, and balanced
    cells about x (0.05 + 0.55 x): a fit to designs from (60, 5) to (1000, 20).
    """
    x = (np.array(numbers) - 1.0) * (rank - 1) / max(n - rank + 1, 1)
    return np.asarray(np.maximum(1 - x * (0.05 + 0.55 * x), 1e-3))


@dataclass
class Found:
    """A division of the units, and the information of its cells about each number."""

    units: IntArray
    v: Array = field(repr=False)


class Search:
    """The search for divisions: one for all numbers, then others for those it serves badly."""

    def __init__(self, basis: Basis, clusters: IntArray | None, level: float, seed: int) -> None:
        self.basis, self.clusters, self.level, self.seed = basis, clusters, level, seed
        self.n, self.rank = basis.rows.shape
        self.units: Units
        if clusters is None:
            self.units = RowUnits(basis.rows)
        else:
            self.units = ClusterUnits(second_moments(basis.rows, clusters, int(clusters.max()) + 1))
        self.count = len(self.units.leverage)
        self.fewest = fewest_cells(level)

    def run(self, numbers: list[int]) -> Division:
        """Return the divisions of the rows."""
        K = self._best_number(numbers)
        found = [self.shared(K)]
        weak = self._weak(found)
        if weak.size and self.rank > 1:
            found += [self.shared(other, search=True) for other in numbers]
            weak = self._weak(found)
        if 2 < weak.size <= _MOST_JOINT:
            some = sorted({K, numbers[min(1, len(numbers) - 1)]})
            found += [self._improved(other, weak, self._start(found, other)) for other in some]
            weak = self._weak(found)
            if not any(self._served(f)[weak].any() for f in found):
                weak = weak[:0]  # too few rows
        served = np.max([self._served(f) for f in found], axis=0)
        for number in weak[np.argsort(served[weak], kind="stable")][:_SINGLY].tolist():
            found += self._singly(number, K, numbers, found)
        return self._collect(found)

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

    def _served(self, found: Found) -> Array:
        """Return the share that is kept where enough cells for the level identify the number."""
        enough = identified(found.v).sum(axis=1) >= self.fewest
        return np.where(enough, self.kept(found.v), 0.0)

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

    def shared(self, K: int, *, search: bool | None = None) -> Found:
        """Return a division for all numbers; without a search if it can gain little."""
        if search is None:
            loss = (K - 1) * (self.rank - 1) / self.count
            search = loss >= _NEGLIGIBLE_LOSS and self.count > K
        rng = self._rng(K)
        labels = deal(self.units.leverage, K, rng)
        return self._found(balance(self.units, labels, K, rng) if search else labels, K)

    def _improved(self, K: int, numbers: IntArray, start: IntArray) -> Found:
        h = self.basis.functionals[numbers]
        rng = self._rng(K, 1)
        return self._found(improve(self.units, start, K, h, self.level, rng), K)

    def _singly(self, number: int, K: int, others: list[int], found: list[Found]) -> list[Found]:
        """Search for the best division for one number."""
        which = np.array([number])
        h = self.basis.functionals[number]
        new: list[Found] = []
        rows = isinstance(self.units, RowUnits)
        for k in dict.fromkeys((K, *others[1::-1]) if rows else (K,)):
            starts = [self._start(found, k)]
            if rows and self.n <= _FEW_ROWS:
                starts.append(deal(np.square(self.basis.rows @ h), k, self._rng(k, 2)))
            for start in starts:
                new.append(self._improved(k, which, start))
                all_cells = identified(new[-1].v[number]).all()
                if all_cells and self.kept(new[-1].v)[number] >= ENOUGH:
                    return new
        return new

    def _start(self, found: list[Found], K: int) -> IntArray:
        """Return a division into K cells that was found before."""
        return next(f.units for f in found if f.v.shape[1] == K)

    def _weak(self, found: list[Found]) -> IntArray:
        """Return the numbers that no division serves well."""
        served = np.max([self._served(f) for f in found], axis=0)
        return np.flatnonzero(self.basis.known & (served < ENOUGH))

    def _collect(self, found: list[Found]) -> Division:
        """Choose for each number by predicted width; the first division where it keeps enough."""
        which = np.zeros(len(self.basis.known), dtype=np.intp)
        if len(found) > 1:
            sums = [(f.v.sum(axis=1), np.square(f.v).sum(axis=1)) for f in found]
            rough = np.array([narrowness(*part, self.level) for part in sums])  # (D, N)
            rough[np.array([self._served(f) for f in found]) == 0] -= 1e3
            for i in np.flatnonzero(self.basis.known & (self._served(found[0]) < ENOUGH)).tolist():
                short = np.argsort(-rough[:, i], kind="stable")[:4]
                width = [predicted_width(found[k].v[[i]], self.level)[0] for k in short]
                which[i] = short[int(np.argmin(width))]
        used, which = np.unique(which, return_inverse=True)
        kept = np.array([self.kept(found[used[k]].v)[i] for i, k in enumerate(which)])
        widths = np.stack([self.width(found[k].v) for k in used])
        units = np.stack([found[k].units for k in used])
        labels = units if self.clusters is None else units[:, self.clusters]
        return Division(labels, which.astype(np.intp), kept, widths[which, np.arange(len(which))])
