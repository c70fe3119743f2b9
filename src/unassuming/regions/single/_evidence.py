"""What single numbers are computed from: rows whose noise changes its sign in units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, IntArray
from unassuming._words import joined
from unassuming.cells import (
    Factor,
    KeptCells,
    after_centring,
    centred,
    factor_of_rows,
    opposite_pairs,
    pair_differences,
)
from unassuming.noise import is_spherical, sign_units_of, swap_blocks_of
from unassuming.objectives import Design, LogisticObjective, in_basis
from unassuming.regions._problem import Problem
from unassuming.regions._sizes import require_moderate

_COLLECT = (
    "make it with StreamingRegion(..., cells=32) if the signs of its noise may change, or build "
    "the region in memory with ua.confidence_region(estimator, X, y)."
)

_NEED = "intervals and tests of one number at a time need"
_AT_ONCE = (
    "Use region.interval(simultaneous=True) or region.band(X), which hold for all numbers at once."
)
_LOGISTIC = (
    "Use region.test(coefficients) for a hypothesis about all of them, or RidgeClassifier(), whose "
    "interval() is finite with few columns."
)
_KERNEL = (
    f"{_NEED} a model with features: a kernel model has as many coefficients as rows, and no cell "
    "of rows determines a value."
)


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a linear model whose noise may change its sign in units.

    Attributes
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    clusters : integer array of shape (n,), or None
        The unit of each row, from 0; None if every row is a unit.
    cells : integer array of shape (n,), or None
        The cell of each row, if the user chose the cells.
    centre : array of shape (d + 1,), or None
        The multiples of the first column that were subtracted from the columns, as for `Factor`.
    like_y : callable
        From another column of outputs, one for each row of the data, to what takes its place here.
    """

    Phi: Array
    y: Array
    clusters: IntArray | None
    cells: IntArray | None = None
    centre: Array | None = None
    like_y: Callable[[Array], Array] = np.asarray

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.y) if self.clusters is None else int(self.clusters.max()) + 1

    def coordinates(self, g: Array) -> Array:
        """Return functionals (N, d) of the coefficients as functionals of those of ``Phi``."""
        return g if self.centre is None else after_centring(g, self.centre)

    def offset(self, g: Array) -> Array:
        """Return what functionals (N, d) of the coefficients are more than those of ``Phi``."""
        return np.zeros(len(g)) if self.centre is None else g[:, 0] * self.centre[-1]

    def factor(self) -> Factor:
        """Return the factor of all rows."""
        return factor_of_rows(self.Phi, self.y, centre=self.centre)


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of a region, or cells of a stream, and what the noise class declares about them.

    Attributes
    ----------
    n : int
        Number of rows.
    Phi, y : arrays of shapes (n, d) and (n,)
        With an intercept both are centred. Of a stream: fewer rows with the same inner
        products.
    weight : array of shape (n,), or None
        Sample weights.
    signs : integer array of shape (n,), or None
        The unit of each row that may change its sign.
    swaps : integer array of shape (n,), or None
        The block of each row within which rows may be swapped.
    spherical : bool
        Whether rotations leave the law of the noise unchanged.
    centre : array of shape (d + 1,), or None
        What was subtracted from the columns, as for `Factor`.
    cells : KeptCells or None
        The cells that a stream has collected; its noise may change signs in them.
    rotated : bool
        Whether the rows are coordinates in another basis.
    turn : callable
        From a column with one number for each row of the objective to one for each row here.
    """

    n: int
    Phi: Array
    y: Array
    weight: Array | None
    signs: IntArray | None
    swaps: IntArray | None
    spherical: bool
    centre: Array | None = None
    cells: KeptCells | None = None
    rotated: bool = False
    turn: Callable[[Array], Array] = np.asarray

    @classmethod
    def of(cls, problem: Problem) -> Evidence:
        """Collect them, or refuse a model or a noise class for which there is no answer."""
        if problem.classes is not None:
            logistic = isinstance(problem.objective, LogisticObjective)
            raise NotAvailable(
                f"{_NEED} a regression: labels are not a linear function of the coefficients plus "
                f"noise. {_LOGISTIC if logistic else _AT_ONCE}",
                f"{_NEED} a regression: labels are not a linear function of the coefficients plus "
                "noise. Use unassuming region without --pointwise: its bounds hold at once.",
            )
        if problem.objective.quantile is not None:
            raise NotAvailable(
                f"{_NEED} a model of the mean: for regression quantiles only joint regions are "
                "known. Use region.interval(simultaneous=True) or region.band(X), which hold for "
                "all numbers at once.",
                f"{_NEED} a model of the mean: for regression quantiles only joint regions are "
                "known. Use unassuming region without --pointwise: its bounds hold at once.",
            )
        if problem.objective.endogenous:
            raise NotAvailable(
                "least squares in cells needs columns that do not depend on the noise, and "
                f"{_listed_names(problem)} may depend on it. Use "
                "region.interval(simultaneous=True), whose bounds hold at once, or ask for the "
                "endogenous column alone: region.summary()."
            )
        design = problem.design("one number at a time")
        if design.dual:
            raise NotAvailable(
                f"{_KERNEL} Use region.band(X, norm_bound=B, simultaneous=False) for intervals and "
                "hypothesis(ua.functionals.value(X), norm_bound=B) for a test, or a pipeline "
                "such as make_pipeline(Nystroem(n_components=10), Ridge()).",
                f"{_KERNEL} Add --norm-bound B, or use --model spline.",
            )
        if problem.cells is not None:
            matrix, y = design.matrix, problem.objective.y
            require_moderate(_NEED, matrix, y, design.names)
            return cls(problem.n, matrix, y, None, None, None, spherical=False, cells=problem.cells)
        return cls.of_rows(problem, design)

    @classmethod
    def of_rows(cls, problem: Problem, design: Design) -> Evidence:
        """Collect the rows of a design that does not depend on the noise; refuse other noise."""
        n, y = problem.n, problem.objective.y
        turn: Callable[[Array], Array] = np.asarray
        Q, noise = problem.left_to_rotate
        if Q is not None:  # the loss does not allow to rotate the model
            turned, turn = design.in_basis(Q), partial(_rotated, Q)
            assert turned is not None
            design, y = turned, turn(y)
        require_moderate(_NEED, design.matrix, y, design.names)
        data = problem.data("intervals and tests of one number at a time need cells or", _COLLECT)
        constant = design.intercept and bool((design.one == 1).all())
        Phi, centre = design.matrix, None
        if constant:
            Phi, centre = centred(Phi)
            both, shift = centred(np.column_stack([np.ones(n), y]))
            y, centre[-1] = both[:, 1], shift[1]
        found = cls(
            n,
            Phi,
            y,
            data.weight,
            sign_units_of(noise, n),
            swap_blocks_of(noise, n),
            is_spherical(noise),
            centre,
            rotated=problem.rotated,
            turn=turn,
        )
        if found.signs is None and found.swaps is None and not found.spherical:
            raise NotAvailable(
                f"{_NEED} noise whose signs may change or whose rows may be swapped, and "
                f"{noise!r} declares neither. Use 'symmetric', "
                "ua.noise.BlockSymmetric(blocks), 'exchangeable' or 'spherical', or define "
                "sign_units(n) or swap_blocks(n) in the class if the assumption allows it."
            )
        return found

    @property
    def flips(self) -> bool:
        """Whether signs may change in units of rows."""
        return self.signs is not None or self.cells is not None

    @property
    def clusters(self) -> int | None:
        """Number of blocks of rows whose signs change together; None if every row is a unit."""
        if self.signs is None or not self.in_blocks:
            return None
        return int(self.signs.max()) + 1

    @property
    def in_blocks(self) -> bool:
        """Whether signs change in blocks of rows only."""
        if self.cells is not None:
            return self.cells.blocks
        return self.signs is not None and int(self.signs.max()) + 1 < len(self.signs)

    @cached_property
    def whole(self) -> Factor:
        """The factor of all rows."""
        if self.cells is not None:
            return self.cells.whole()
        return self.signed(None).factor()

    @property
    def plain(self) -> Rows:
        """The rows as they are, without weights."""
        return Rows(self.Phi, self.y, None, None, self.centre)

    def signed(self, cells: object) -> Rows:
        """Return the rows, scaled by the roots of their weights (docs/theory.md 9.1)."""
        units = self.signs if self.in_blocks else None
        labels = cells if isinstance(cells, np.ndarray) else None
        if units is not None and labels is not None:
            require_whole_blocks(labels, units)
        if self.weight is None:
            return Rows(self.Phi, self.y, units, labels, self.centre, self.turn)
        root = np.sqrt(self.weight)
        rows = self.Phi * root[:, None]
        turn = self.turn
        return Rows(rows, self.y * root, units, labels, self.centre, lambda t: turn(t) * root)

    def paired(self, c: Array, cells: object) -> Rows:
        """Return differences of pairs of rows that are opposite for one functional (11.4).

        They are divided by √2, so that the noise has the same size as that of rows. A pair has the
        weight that the difference of two rows with these weights has.
        """
        blocks = self.swaps
        labels = cells if isinstance(cells, np.ndarray) else None
        if labels is not None:
            assert blocks is not None
            blocks = np.unique(np.column_stack([blocks, labels]), axis=0, return_inverse=True)[1]
            blocks = blocks.reshape(-1).astype(np.intp)
        pairs = opposite_pairs(self.Phi, self.plain.coordinates(c[None])[0], blocks)
        scale = np.full(len(pairs), np.sqrt(0.5))
        if self.weight is not None:
            first, second = self.weight[pairs].T
            scale = np.sqrt(first * second / (first + second))
        chosen = None if labels is None else labels[pairs[:, 0]]

        def differences(t: Array) -> Array:
            return np.asarray(pair_differences(self.Phi, t, pairs)[1] * scale)

        def like_y(t: Array) -> Array:
            return differences(self.turn(t))

        Phi = pair_differences(self.Phi, self.y, pairs)[0] * scale[:, None]
        return Rows(Phi, differences(self.y), None, chosen, self.centre, like_y)


def _rotated(Q: Array, t: Array) -> Array:
    """Return Qᵀt for one column (n,)."""
    return np.asarray(in_basis(Q, t[:, None])[0][:, 0])


def _listed_names(problem: Problem) -> str:
    """Return the names of the columns that may depend on the noise."""
    return joined(problem.objective.names[j] for j in problem.objective.endogenous)


def require_whole_blocks(labels: IntArray, units: IntArray) -> None:
    """Refuse cells that divide a block."""
    first = np.full(int(units.max()) + 1, -1)
    first[units[::-1]] = labels[::-1]
    torn = np.flatnonzero(labels != first[units])
    if len(torn):
        raise ValueError(
            "cells divides a block of the noise: expected the same label for all rows of a block, "
            f"given {labels[torn[0]]} and {first[units[torn[0]]]} (numbered in order of "
            f"appearance) in the block of row {torn[0]} (counted from zero). Put whole blocks "
            "into a cell."
        )
