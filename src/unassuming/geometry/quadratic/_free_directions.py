"""Directions along which sets of a quadratic region never end (docs/theory.md 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.linalg import norm as _norm

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._coordinates import coordinate_matrix
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._lines import along_lines
from unassuming.noise import BlockSymmetric, Noise, Symmetric
from unassuming.objectives import Quadratic

_BATCH_BYTES = 2**26


class Along(Enum):
    """What moves along a direction; the value names it, given a coefficient or a row."""

    SHIFT = "a constant shift"
    COEFFICIENT = "the coefficient {} alone"
    FITTED_VALUE = "the fitted value of row {} (counted from 0) alone"
    COMMON = "a common free direction"


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """How many of the sets never end, and the direction along which most of them do not.

    Attributes
    ----------
    cylinders : int
        Number of unbounded sets: with q above it the region is bounded, since every point lies in
        a bounded set.
    shared : int
        Number of sets that contain the direction for ever: with q up to it the region is unbounded.
    direction : array of shape (d,)
        That direction, in coefficients.
    along : Along
        What moves along it.
    which : str or int
        The coefficient or the row, if it is a single one.
    exact : bool
        Whether no other direction can be shared by more sets.
    """

    cylinders: int
    shared: int
    direction: Array
    along: Along
    which: str | int
    exact: bool

    @property
    def smallest_bounded_q(self) -> int:
        """The region is certainly bounded from this q on."""
        return (self.shared if self.exact else self.cylinders) + 1

    @property
    def only_a_shift(self) -> bool:
        """Whether a constant shift accounts for every set that never ends."""
        return self.along is Along.SHIFT and self.shared == self.cylinders

    def __str__(self) -> str:
        return self.along.value.format(self.which)


@dataclass(frozen=True, eq=False)
class _Found:
    """How many sets never end along a direction, what it is, and how it moves fitted values."""

    sets: int
    along: Along
    which: str | int
    value: Array


def counting_decides(objective: Quadratic, noise: Noise) -> bool:
    """Whether free directions are found by counting signs, without any decomposition.

    With a penalty and a full-rank kernel E_i is free exactly along the fitted values that G_i
    leaves alone, and, next to an intercept, along a constant that it reverses.
    """
    signs = isinstance(noise, (Symmetric, BlockSymmetric))
    return objective.design.full_rank and signs and objective.lam > 0


def free_directions(objective: Quadratic, maker: FormMaker) -> FreeDirections:
    """Examine every set once."""
    design, F = objective.design, coordinate_matrix(objective)
    counting = counting_decides(objective, maker.perturbations.noise)
    if counting:
        fixed, shifted = (
            _fixed_by_signs(objective, maker),
            _constant(maker, reversed_too=design.intercept),
        )
        cylinders = int((fixed.any(axis=0) | shifted).sum())
        shift = _Found(int(shifted.sum()), Along.SHIFT, "", np.sqrt(objective.w))
        found = [_single_value(objective, F, fixed), shift]
    else:
        cylinders, projector = _projector(maker, F)
        found = _named(objective, F, maker, projector)
        if design.full_rank:
            found.append(_single_value(objective, F, _fixed(maker, F)))
    best = max(found, key=lambda one: one.sets)
    return FreeDirections(
        cylinders,
        best.sets,
        design.coefficients((best.value / np.sqrt(objective.w))[None, :])[0],
        best.along,
        best.which,
        exact=counting or best.sets == cylinders,
    )


def _fixed(maker: FormMaker, F: Array) -> BoolArray:
    """Return which columns of F each transformation leaves as they are, (k, m - 1)."""
    k, n, count = F.shape[1], F.shape[0], maker.perturbations.m - 1
    fixed = np.empty((k, count), dtype=np.bool_)
    step = max(1, _BATCH_BYTES // (16 * n * count))
    for start in range(0, k, step):
        columns = F.T[start : start + step]
        moved = maker.perturbations.apply(columns) != columns[:, None, :]
        fixed[start : start + step] = ~moved.any(axis=-1)
    return fixed & ~maker.without_points


def _fixed_by_signs(objective: Quadratic, maker: FormMaker) -> BoolArray:
    """Return at which distinct inputs no row changes sign, (k, m - 1)."""
    first, which = objective.design.distinct
    minus = maker.perturbations.apply(np.ones(len(which))) < 0
    flips = np.zeros((len(first), len(minus)), dtype=np.bool_)
    np.logical_or.at(flips, which, minus.T)
    return ~flips & ~maker.without_points


def _constant(maker: FormMaker, *, reversed_too: bool) -> BoolArray:
    """Return which transformations leave a constant as it is, or reverse it, (m - 1,)."""
    ones = maker.perturbations.apply(np.ones(len(maker.residual)))
    kept = (ones == 1).all(axis=1) | (reversed_too & (ones == -1).all(axis=1))
    return np.asarray(kept & ~maker.without_points)


def _single_value(objective: Quadratic, F: Array, fixed: BoolArray) -> _Found:
    """Return the fitted value at a distinct input that most sets leave alone."""
    counts = fixed.sum(axis=1)
    best = int(np.argmax(counts))
    row = int(objective.design.distinct[0][best])
    return _Found(int(counts[best]), Along.FITTED_VALUE, row, F[:, best])


def _projector(maker: FormMaker, F: Array) -> tuple[int, Array]:
    """Return the number of unbounded sets, and the sum of the projectors on free directions."""
    cylinders, projector = 0, np.zeros((F.shape[1],) * 2)
    for _, forms in maker.batches(F):
        found = forms.sets()
        cylinders += int((~found.bounded).sum())
        free = np.where(found.free & ~found.empty[:, None], 1.0, 0.0)
        projector += np.einsum("ska,sa,sla->kl", found.basis, free, found.basis)
    return cylinders, projector


def _named(objective: Quadratic, F: Array, maker: FormMaker, projector: Array) -> list[_Found]:
    """Try a constant shift, every coefficient, and what the free directions have in common."""
    design, root = objective.design, np.sqrt(objective.w)
    tried: list[tuple[Along, str | int, Array]] = []
    ones = design.coefficients(design.one[None, :])[0]
    if np.abs(design.matrix @ ones - design.one).max() < 1e-8 * np.abs(design.one).max():
        tried.append((Along.SHIFT, "", root * design.one))
    if not design.full_rank:
        columns = np.flatnonzero(design.matrix.any(axis=0))
        names, matrix = objective.names, design.matrix
        tried += [(Along.COEFFICIENT, names[j], root * matrix[:, j]) for j in columns]
    if projector.any():
        _, vectors = np.linalg.eigh(projector)
        tried += [(Along.COMMON, "", F @ x) for x in vectors.T[::-1][:8]]
    found = []
    for along, which, value in tried:
        error = np.array([8 * EPS * np.abs(value).max() + design.rounding * _norm(value)])
        lines = along_lines(maker, np.zeros((1, len(value))), value[None, :], error)
        found.append(_Found(int((lines.free & ~lines.empty).sum()), along, which, value))
    return found
