"""Directions along which sets of a quadratic region never end (docs/theory.md 4.4).

They decide whether a region is bounded: it is if fewer than q sets are unbounded, and it is not if
q sets share a direction. With signs and a kernel of full rank they are found by counting. Otherwise
all sets are diagonalised once, and named directions are tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, final

import numpy as np
from numpy.linalg import norm as _norm

from unassuming._batches import rows_that_fit, slices
from unassuming._factors import accurate_product
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._careful import FINE, CarefulSets
from unassuming.geometry.quadratic._coordinates import (
    coordinate_matrix,
    coordinates,
    whitened_matrix,
)
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._lines import along_lines
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.noise import Noise
from unassuming.objectives import Quadratic

_BATCH_BYTES = 2**26
_TRIED = 8
_RESOLVED = 1e-6
"""Fitted values that coefficients miss by less than this share are those of the coefficients."""
_TRIED = 8


class Along(Enum):
    """What moves along a direction; the value names it, given a coefficient or a row."""

    SHIFT = "a constant shift"
    COEFFICIENT = "the coefficient {} alone"
    FITTED_VALUE = "the fitted value of row {} (counted from 0) alone"
    COMMON = "a common free direction"


@final
@dataclass(frozen=True, eq=False)
class FreeDirections:
    """How many of the sets never end, and the direction along which most of them do not."""

    cylinders: int
    """Number of unbounded sets. With q above it the region is bounded: every point of the region
    lies in a bounded set."""
    shared: int
    """Number of sets that contain the direction for ever. With q up to it the region is
    unbounded."""
    most: int
    """No direction is shared by more sets than that."""
    direction: Array | None
    """That direction in coefficients (d,); None if double precision does not resolve them."""
    along: Along  # what moves along it
    which: str | int  # the coefficient or the row, if it is a single one
    undecided: int = 0
    """Number of sets of which double precision does not decide whether they are bounded. They count
    among the unbounded ones."""

    @property
    def exact(self) -> bool:
        """Whether no other direction can be shared by more sets."""
        return self.shared == self.most

    @property
    def smallest_bounded_q(self) -> int:
        """The region is certainly bounded from this q on."""
        return self.most + 1

    @property
    def only_a_shift(self) -> bool:
        """Whether a constant shift accounts for every set that never ends."""
        return self.along is Along.SHIFT and self.shared == self.cylinders

    def __str__(self) -> str:
        return self.along.value.format(self.which)


class _Found(NamedTuple):
    """A direction along which some sets never end."""

    sets: int  # how many
    along: Along
    which: str | int
    value: Array  # (n,): how it moves fitted values
    direction: Array | None = None  # (d,): in coefficients, if it is known


def counting_decides(objective: Quadratic, noise: Noise) -> bool:
    """Whether free directions are found by counting signs, without any decomposition.

    With a penalty and a full-rank kernel E_i is free exactly along the fitted values that G_i
    leaves alone, and, next to an intercept, along a constant that it reverses.
    """
    return objective.design.full_rank and flips_signs(noise) and objective.lam > 0


def free_directions(
    objective: Quadratic, maker: FormMaker, careful: CarefulSets | None = None
) -> FreeDirections:
    """Examine every set once."""
    design, undecided = objective.design, 0
    counting = counting_decides(objective, maker.perturbations.noise)
    if careful is not None:
        cylinders, undecided, null = _examined(objective, maker, careful)
        found, most = _tried(objective, maker, null), cylinders
    elif counting:
        F = coordinate_matrix(objective)
        fixed, shifted = _by_signs(objective, maker)
        cylinders = int((fixed.any(axis=0) | shifted).sum())
        shift = _Found(int(shifted.sum()), Along.SHIFT, "", np.sqrt(objective.w))
        found = [_single_value(objective, coordinate_matrix(objective), fixed), shift]
        most = max(one.sets for one in found)
    else:
        F = coordinate_matrix(objective)
        cylinders, projector = _projector(maker, F)
        found, most = _named(objective, F, maker, projector), cylinders
        if design.full_rank:
            found.append(_single_value(objective, F, _fixed(maker, F)))
    if design.full_rank and not design.spans_everything:
        # The rank is unknown. Counting it as full bounds the number of sets from above; directions
        # are certain only in the numerical range.
        F = whitened_matrix(objective)
        found = _named(objective, F, maker, _projector(maker, F)[1])
        found.append(_Found(0, Along.COMMON, "", F[:, 0]))
    best = max(found, key=lambda one: one.sets)
    direction = best.direction
    if direction is None:
        direction = _direction(objective, maker, best)
    along = (best.along, best.which)
    return FreeDirections(cylinders, best.sets, most, direction, *along, undecided)


def _direction(objective: Quadratic, maker: FormMaker, best: _Found) -> Array | None:
    """Return coefficients that move fitted values like that, if the same sets never end along them.

    A nearly singular kernel matrix has coefficients for every single value, but they are too large
    for double precision.
    """
    design, root = objective.design, np.sqrt(objective.w)
    direction = design.coefficients((best.value / root)[None, :])[0]
    step = root * (design.matrix @ direction)
    if _norm(step - best.value) > _RESOLVED * _norm(best.value):
        return None
    terms = _norm(root * (np.abs(design.matrix) @ np.abs(direction)))
    error = np.array([(EPS * sum(design.matrix.shape) + design.rounding) * terms])
    lines = along_lines(maker, np.zeros((1, len(step))), step[None, :], error)
    return direction if (lines.free & ~lines.empty).sum() >= best.sets else None


def _examined(
    objective: Quadratic, maker: FormMaker, careful: CarefulSets
) -> tuple[int, int, Array]:
    """Return how many sets may be unbounded, how many of them undecided, and free directions."""
    where = coordinates(objective, np.zeros((0, objective.d)), maker.perturbations.noise)
    assert where.basis is not None
    cylinders, undecided, null = 0, 0, [np.zeros((objective.d, 0))]
    for which, forms in maker.batches_in(where):
        _, sure = forms.outward(FINE)
        assert forms.errors is not None
        flat = forms.errors.flat & (sure & ~forms.empty)[:, None]
        cylinders += int(flat.any(axis=1).sum())
        null.append(objective.whitening.back @ where.basis[:, flat.any(axis=0)])
        for i in np.flatnonzero(~sure & ~forms.empty) + which.start:
            one = careful.one(int(i))
            cylinders += not one.bounded
            undecided += not one.decided
            null.append(one.free())
    return cylinders, undecided, np.hstack(null)


def _tried(objective: Quadratic, maker: FormMaker, null: Array) -> list[_Found]:
    """Try a constant shift, every coefficient, and free directions (d, f) of single sets."""
    design, d = objective.design, objective.d
    tried: list[tuple[Along, str | int, Array]] = []
    ones = design.coefficients(design.one[None, :])[0]
    if np.abs(design.matrix @ ones - design.one).max() < 1e-8 * np.abs(design.one).max():
        tried.append((Along.SHIFT, "", ones))
    columns = np.flatnonzero(design.matrix.any(axis=0))
    tried += [(Along.COEFFICIENT, objective.names[j], np.eye(d)[j]) for j in columns]
    unit = np.where(design.matrix.any(axis=0), np.abs(design.matrix).max(axis=0), 1.0)
    scaled = null * unit[:, None]
    scaled = scaled / np.where(scaled.any(axis=0), _norm(scaled, axis=0), 1.0)
    if scaled.shape[1]:
        _, vectors = np.linalg.eigh(scaled @ scaled.T)
        some = np.hstack([vectors[:, ::-1][:, :_TRIED], scaled[:, :_TRIED]])
        tried += [(Along.COMMON, "", v) for v in (some / unit[:, None]).T]
    found = []
    for along, which, v in tried:
        value, free = _free_along(objective, maker, v)
        found.append(_Found(int(free.sum()), along, which, value, v))
    return found


def _free_along(objective: Quadratic, maker: FormMaker, v: Array) -> tuple[Array, BoolArray]:
    """Return how a direction moves fitted values, and which sets it never leaves, (m - 1,).

    What it moves by no more than rounding, in the terms of each row, it does not move at all.
    """
    design, root = objective.design, np.sqrt(objective.w)
    value = root * accurate_product(design.matrix, v[:, None])[:, 0]
    cut = 8 * (len(v) + 1) * EPS * root * (np.abs(design.matrix) @ np.abs(v))
    value = np.where(np.abs(value) <= cut, 0.0, value)
    moved, slack = maker.perturbations.apply(value), np.abs(maker.perturbations.apply(cut)) + cut
    free = (np.abs(moved - value) <= slack).all(axis=1)
    if not (objective.lam * design.penalty_matrix() @ v).any():
        free |= (np.abs(moved + value) <= slack).all(axis=1)
    return value, np.asarray(free & ~maker.certainly_empty & bool(value.any()))


def _by_signs(objective: Quadratic, maker: FormMaker) -> tuple[BoolArray, BoolArray]:
    """Return which inputs (k, m - 1) have no row that changes sign, and which sets hold a shift."""
    first, which = objective.design.distinct
    signs = maker.perturbations.apply(np.ones(len(which)))
    flips = np.zeros((len(first), len(signs)), dtype=np.bool_)
    np.logical_or.at(flips, which, (signs < 0).T)
    shifted = (signs == 1).all(axis=1) | (objective.design.intercept & (signs == -1).all(axis=1))
    return ~flips & ~maker.without_points, np.asarray(shifted & ~maker.without_points)


def _fixed(maker: FormMaker, F: Array) -> BoolArray:
    """Return which columns of F each transformation leaves as they are, (k, m - 1)."""
    (n, k), sets = F.shape, maker.perturbations.m - 1
    fixed = np.empty((k, sets), dtype=np.bool_)
    for some in slices(k, rows_that_fit(_BATCH_BYTES, 2 * n * sets)):
        columns = F.T[some]
        moved = maker.perturbations.apply(columns) != columns[:, None, :]
        fixed[some] = ~moved.any(axis=-1)
    return fixed & ~maker.without_points


def _single_value(objective: Quadratic, F: Array, fixed: BoolArray) -> _Found:
    """Return the fitted value at a distinct input that most transformations leave alone."""
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
    """Try a constant shift, every coefficient, and the directions that most sets share."""
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
