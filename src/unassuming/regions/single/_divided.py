"""Rows in cells: divisions that are made once, and the estimates in their cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells import (
    Division,
    Estimates,
    Factor,
    KeptCells,
    approximate_width,
    candidates,
    divide,
    estimates,
    factor_of_all,
    factors_of_rows,
    fewest_cells,
    residual_weights,
    robust_estimates,
    settled,
)
from unassuming.regions.single._evidence import Rows


class Divided(ABC):
    """Rows in cells: one or more divisions that serve some functionals.

    The divisions depend on the design, the level and the seed. They never see y.

    Attributes
    ----------
    level : float
    n : int
        Number of rows.
    sizes : integer array of shape (D,)
        Number of cells of each division.
    which : integer array of shape (N,)
        The division that serves each of the functionals.
    """

    level: float
    n: int
    sizes: IntArray
    which: IntArray

    @property
    @abstractmethod
    def whole(self) -> Factor:
        """The factor of all rows."""

    @abstractmethod
    def factors(self, k: int) -> Sequence[Factor]:
        """Return the factors of the cells of division k."""

    def in_cells(self, k: int, g: Array) -> tuple[Estimates, Array]:
        """Return the estimates of functionals in the cells of division k.

        Return also the information of all rows about them (N,), which the same call finds.
        """
        found = estimates([*self.factors(k), self.whole], g)
        return found.without_last(), found.v[:, -1]

    @abstractmethod
    def robustly(self, k: int, g: Array) -> tuple[Estimates, Array]:
        """Return what `in_cells` does, with robust estimates."""

    def information(self, k: int, g: Array) -> Array:
        """Return v_b of functionals (N, d) in the cells of division k, shape (N, K)."""
        return estimates(self.factors(k), g).v

    def all_information(self, g: Array) -> Array:
        """Return the information of all rows about functionals (N, d), shape (N,)."""
        return estimates([self.whole], g).v[:, 0]

    def best(self, g: Array) -> tuple[IntArray, Array]:
        """Return the division that serves each functional best, and the share that it keeps.

        The share counts as 0 if too few cells for the level identify the functional.
        """
        fewest, whole = fewest_cells(self.level), self.all_information(g)
        widths, shares = [], []
        for k in range(len(self.sizes)):
            v = self.information(k, g)
            share = np.divide(v, whole[:, None], out=np.zeros_like(v), where=whole[:, None] > 0)
            widths.append(approximate_width(self.n * share, self.level))
            enough = (v > 0).sum(axis=1) >= fewest
            served = enough & (whole > 0)
            shares.append(np.divide(v.sum(axis=1), whole, out=np.zeros(len(g)), where=served))
        which = np.argmin(settled(np.array(widths) * np.sqrt(self.n)), axis=0).astype(np.intp)
        return which, np.take_along_axis(np.array(shares), which[None], axis=0)[0]


@final
class DividedRows(Divided):
    """Divisions of rows that were searched for."""

    def __init__(
        self, rows: Rows, functionals: Array, level: float, cells: int | None, seed: int
    ) -> None:
        self.rows, self.level, self.n = rows, level, len(rows.y)
        self.division: Division = divide(
            rows.Phi,
            rows.coordinates(functionals),
            level,
            seed=seed,
            clusters=rows.clusters,
            cells=cells if rows.cells is None else rows.cells,
        )
        self.sizes, self.which = self.division.sizes, self.division.which
        self._factors: dict[int, list[Factor]] = {}

    @cached_property
    def whole(self) -> Factor:
        """The factor of all rows."""
        return factor_of_all(self.factors(0), self.n)

    def factors(self, k: int) -> Sequence[Factor]:
        """Return the factors of the cells of division k."""
        if k not in self._factors:
            rows, labels = self.rows, self.division.labels[k]
            K = int(self.division.sizes[k])
            self._factors[k] = factors_of_rows(rows.Phi, rows.y, labels, K, rows.centre)
        return self._factors[k]

    def robustly(self, k: int, g: Array) -> tuple[Estimates, Array]:
        """Return robust estimates of functionals in the cells of division k."""
        labels, K = self.division.labels[k], int(self.division.sizes[k])
        rows = self.rows
        found = robust_estimates(rows.Phi, rows.y, labels, K, rows.coordinates(g))
        beta = np.where(found.v > 0, found.beta + rows.offset(g)[:, None], 0.0)
        return replace(found, beta=beta), self.all_information(g)


@final
class DividedSums(Divided):
    """The cells of a stream, merged to the numbers of cells that may be narrowest."""

    def __init__(
        self, kept: KeptCells, n: int, functionals: Array, level: float, cells: int | None
    ) -> None:
        self.kept, self.level, self.n = kept, level, n
        numbers = candidates(level, kept.number)
        if kept.number <= numbers[-1] or len(numbers) == 1:
            numbers = sorted({*numbers, kept.number})
        self.sizes = np.array(numbers if cells is None else [cells], dtype=np.intp)
        self._factors: dict[int, list[Factor]] = {}
        self.which = self.best(functionals)[0]

    @cached_property
    def whole(self) -> Factor:
        """The factor of all rows."""
        return self.kept.whole()

    def factors(self, k: int) -> Sequence[Factor]:
        """Return the factors of the cells of division k."""
        if k not in self._factors:
            self._factors[k] = self.kept.factors(int(self.sizes[k]))
        return self._factors[k]

    def robustly(self, k: int, g: Array) -> tuple[Estimates, Array]:
        """Refuse: the options of a stream do not get here."""
        raise AssertionError


@final
@dataclass(frozen=True, eq=False)
class Place:
    """Where a functional is estimated: a division of some rows."""

    divided: Divided
    which: int


def by_place(places: Sequence[Place]) -> Iterator[tuple[Place, list[int]]]:
    """Yield the different places, each with the positions of the functionals that share it."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, place in enumerate(places):
        groups.setdefault((id(place.divided), place.which), []).append(i)
    for members in groups.values():
        yield places[members[0]], members


@final
@dataclass(frozen=True, eq=False)
class InCells:
    """Estimates of N functionals in cells; cells that a functional does not have have v = 0.

    ``whole`` (N,) is the information of all rows.
    """

    beta: Array
    v: Array
    weights: Array
    error: Array
    whole: Array

    @property
    def shares(self) -> Array:
        """The information of the cells as a share of that of all rows, (N, K)."""
        whole = self.whole[:, None]
        return np.divide(self.v, whole, out=np.zeros_like(self.v), where=whole > 0)

    @property
    def kept(self) -> Array:
        """The share of the information that the cells keep, (N,)."""
        return np.asarray(self.shares.sum(axis=1))

    @classmethod
    def of(cls, places: Sequence[Place], g: Array, *, robust: bool, weights: str) -> InCells:
        """Collect the estimates of each functional from its place."""
        K = max(int(place.divided.sizes[place.which]) for place in places)
        zeros = [np.zeros((len(g), K)) for _ in range(4)]
        out = cls(zeros[0], zeros[1], zeros[2], zeros[3], np.zeros(len(g)))
        for place, members in by_place(places):
            estimated = place.divided.robustly if robust else place.divided.in_cells
            found, out.whole[members] = estimated(place.which, g[members])
            used = found.v if weights == "design" else residual_weights(found)
            k = found.v.shape[1]
            for target, part in zip(
                (out.beta, out.v, out.weights, out.error),
                (found.beta, found.v, used, found.error),
                strict=True,
            ):
                target[members, :k] = part
        return out
