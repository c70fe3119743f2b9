"""Directions along which sets of a quadratic region never end (docs/theory.md 4.4).

They decide whether a region is bounded: it is if fewer than q sets are unbounded, and it is not if
q sets share a direction. With signs and a kernel of full rank they are found by counting. Otherwise
all sets are diagonalised once, and named directions are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple, final

import numpy as np
from numpy.linalg import norm as _norm

from unassuming._batches import rows_that_fit, slices
from unassuming._products import accurate_product
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._careful import FINE, CarefulSets
from unassuming.geometry.quadratic._coordinates import (
    coordinate_matrix,
    coordinates,
    whitened_matrix,
)
from unassuming.geometry.quadratic._exact_sets import ExactSets
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._lines import along_lines
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.noise import Noise
from unassuming.objectives import FeatureWhitening, Quadratic

_BATCH_BYTES = 2**26
_RESOLVED = 1e-6
"""Fitted values that coefficients miss by less than this share are those of the coefficients."""
_TRIED = 8


class Along(Enum):
    """What moves along a direction; the value names it, given a coefficient or a row."""

    SHIFT = "a constant shift"
    COEFFICIENT = "the coefficient {} alone"
    FITTED_VALUE = "the fitted value of row {} (counted from zero) alone"
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
    unseen: int = 0
    """Number of independent directions that change coefficients, but no fitted value."""

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

    free: BoolArray  # (m - 1,): which ones
    along: Along
    which: str | int
    value: Array  # (n,): how it moves fitted values
    direction: Array | None = None  # (d,): in coefficients, if it is known

    certain: bool = False  # whether this holds in exact arithmetic

    @property
    def sets(self) -> int:
        """The number of these sets."""
        return int(self.free.sum())

    @property
    def indices(self) -> list[int]:
        """The numbers of these sets."""
        return [int(i) for i in np.flatnonzero(self.free)]


def counting_decides(objective: Quadratic, noise: Noise) -> bool:
    """Whether free directions are found by counting signs, without any decomposition.

    With a penalty and a full-rank kernel E_i is free exactly along the fitted values that G_i
    leaves alone, and, next to an intercept, along a constant that it reverses.
    """
    return objective.design.full_rank and flips_signs(noise) and objective.lam > 0


def free_directions(
    objective: Quadratic,
    maker: FormMaker,
    careful: CarefulSets | None = None,
    exact: Callable[[], list[ExactSets]] = list,
) -> FreeDirections:
    """Examine every set once; ``exact`` decides where double precision leaves a doubt."""
    if careful is not None:
        found = _of_features(objective, maker, careful, exact)
    else:
        found = _of_kernel(objective, maker, exact)
    return replace(found, unseen=_unseen(objective, exact))


def _unseen(objective: Quadratic, exact: Callable[[], list[ExactSets]]) -> int:
    """Return how many directions change no fitted value, in exact arithmetic if it is available."""
    design, white = objective.design, objective.whitening
    if not isinstance(white, FeatureWhitening) or design.rounding:
        return design.unseen
    if not white.null.shape[1]:
        return 0
    known = [design.matrix.shape[1] - one.rank for one in exact()]
    return int(min(known, default=white.null.shape[1]))


def _of_kernel(
    objective: Quadratic, maker: FormMaker, exact: Callable[[], list[ExactSets]]
) -> FreeDirections:
    """Examine the sets of a kernel."""
    design, counting = objective.design, counting_decides(objective, maker.perturbations.noise)
    F = coordinate_matrix(objective)
    if counting:
        fixed, shifted = _by_signs(objective, maker)
        # Where rounding alone makes Z_i and Z_0 tie, a set may have points.
        still = (maker.perturbations.apply(np.ones(objective.n)) == 1).all(axis=1)
        possible = ~(maker.without_points & still)
        cylinders = np.asarray((fixed.any(axis=0) | shifted) & possible)
        most = max(int(part.sum()) for part in (*(fixed & possible), shifted & possible))
        fixed, shifted = fixed & ~maker.without_points, shifted & ~maker.without_points
        shift = _Found(shifted, Along.SHIFT, "", np.sqrt(objective.w))
        found = [_single_value(objective, F, fixed), shift]
        if design.strict:
            return _the_best(objective, maker, found, cylinders, most)
    else:
        cylinders, projector = _projector(maker, F)
        found, most = _named(objective, F, maker, projector), int(cylinders.sum())
        if design.full_rank:
            found.append(_single_value(objective, F, _fixed(maker, F)))
    if known := exact():
        every = np.ones_like(cylinders)
        return _exactly(objective, maker, found, every, known)
    if design.full_rank and not design.spans_everything:
        # The rank is unknown. Counting it as full bounds the number of sets from above; directions
        # are certain only in the numerical range.
        F = whitened_matrix(objective)
        found = _named(objective, F, maker, _projector(maker, F)[1])
        found.append(_Found(np.zeros_like(cylinders), Along.COMMON, "", F[:, 0]))
    return _the_best(objective, maker, found, cylinders, most)


def _the_best(
    objective: Quadratic,
    maker: FormMaker,
    found: list[_Found],
    cylinders: BoolArray,
    most: int,
    undecided: int = 0,
) -> FreeDirections:
    """Return the direction that most sets share."""
    best = max(found, key=lambda one: one.sets)
    direction = best.direction
    if direction is None:
        direction = _direction(objective, maker, best)
    along, count = (best.along, best.which), int(cylinders.sum())
    return FreeDirections(count, best.sets, most, direction, *along, undecided)


def _of_features(
    objective: Quadratic,
    maker: FormMaker,
    careful: CarefulSets,
    exact: Callable[[], list[ExactSets]],
) -> FreeDirections:
    """Examine sets of features: double precision first, exact arithmetic for the rest."""
    cylinders, undecided, null = _examined(objective, maker, careful)
    found, most = _tried(objective, maker, null), int(cylinders.sum())
    assert isinstance(objective.whitening, FeatureWhitening)
    dependent = bool(objective.whitening.null.shape[1])
    certain = [one for one in found if one.certain]
    decided = not undecided and max((one.sets for one in certain), default=0) == most
    if (dependent or not decided) and (known := exact()):
        every = np.ones_like(cylinders) if dependent else cylinders
        return _exactly(objective, maker, found, every, known)
    return _the_best(objective, maker, found, cylinders, most, undecided)


def _exactly(
    objective: Quadratic,
    maker: FormMaker,
    found: list[_Found],
    suspects: BoolArray,
    known: list[ExactSets],
) -> FreeDirections:
    """Count the free directions of some sets in exact arithmetic; all others are bounded.

    Directions that double precision suggests are kept if their sets do share one.
    """
    one, two = known[0], known[-1]
    some = np.flatnonzero(suspects & ~maker.certainly_empty)
    cylinders = [int(i) for i in some if one.free(int(i)).shape[1]]
    usable = [i for i in cylinders if maker.certainly_not_empty[i]]
    own = [part._replace(free=part.free & _which(usable, suspects)) for part in found]
    own = sorted((part for part in own if part.sets), key=lambda part: -part.sets)
    best = next((part for part in own if all(p.share(part.indices) for p in known)), None)
    shared = one.most(usable, best.indices if best else ())
    most = len(shared.sets) if shared.exact and len(usable) == len(cylinders) else len(cylinders)
    direction = None
    if best is not None and best.sets == len(shared.sets):
        direction = best.direction
        if direction is None:
            direction = _direction(objective, maker, best)
    else:
        agreed = shared.sets if two.share(shared.sets) else []
        best = _Found(_which(agreed, suspects), Along.COMMON, "", np.sqrt(objective.w))
    return FreeDirections(len(cylinders), best.sets, most, direction, best.along, best.which)


def _which(some: list[int], like: BoolArray) -> BoolArray:
    """Return a mask of some sets."""
    mask = np.zeros_like(like)
    mask[some] = True
    return mask


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
) -> tuple[BoolArray, int, Array]:
    """Return which sets may be unbounded, how many of them undecided, and free directions."""
    where = coordinates(objective, np.zeros((0, objective.d)), maker.perturbations.noise)
    assert where.basis is not None
    cylinders = np.zeros(maker.perturbations.m - 1, dtype=np.bool_)
    undecided, null = 0, [np.zeros((objective.d, 0))]
    for which, forms in maker.batches_in(where):
        _, sure = forms.outward(FINE)
        assert forms.errors is not None
        flat = forms.errors.flat & (sure & ~forms.empty)[:, None]
        cylinders[which] = flat.any(axis=1)
        null.append(objective.whitening.back @ where.basis[:, flat.any(axis=0)])
        for i in np.flatnonzero(~sure & ~forms.empty) + which.start:
            one = careful.one(int(i))
            cylinders[i] = not one.bounded
            undecided += not one.decided
            null.append(one.free())
    return cylinders, undecided, np.hstack(null)


def _tried(objective: Quadratic, maker: FormMaker, null: Array) -> list[_Found]:
    """Try a constant shift, every coefficient, and free directions (d, f) of single sets."""
    design, d = objective.design, objective.d
    tried: list[tuple[Along, str | int, Array]] = []
    ones = design.coefficients(design.one[None, :])[0]
    if np.abs(design.matrix @ ones - design.one).max() < 1e-8 * np.abs(design.one).max():
        tried.append((Along.SHIFT, "", np.eye(d)[0] if design.intercept else ones))
    columns = np.flatnonzero(design.matrix.any(axis=0))
    tried += [(Along.COEFFICIENT, objective.names[j], np.eye(d)[j]) for j in columns]
    unit = np.where(design.matrix.any(axis=0), np.abs(design.matrix).max(axis=0), 1.0)
    scaled = null * unit[:, None]
    scaled = scaled / np.where(scaled.any(axis=0), _norm(scaled, axis=0), 1.0)
    if scaled.shape[1]:
        _, vectors = np.linalg.eigh(scaled @ scaled.T)
        some = np.hstack([vectors[:, ::-1][:, :_TRIED], scaled[:, :_TRIED]])
        tried += [(Along.COMMON, "", v) for v in (some / unit[:, None]).T]
    return [_free_along(objective, maker, *one) for one in tried]


def _free_along(
    objective: Quadratic, maker: FormMaker, along: Along, which: str | int, v: Array
) -> _Found:
    """Return which sets a direction (d,) never leaves.

    What it moves by no more than rounding, in the terms of each row, it does not move at all. A
    single coefficient moves fitted values by a column, which is known exactly.
    """
    design, root = objective.design, np.sqrt(objective.w)
    value = accurate_product(design.matrix, v[:, None])[:, 0]
    certain = np.count_nonzero(v) == 1 and not design.rounding
    cut = 8 * (len(v) + 1) * EPS * (np.abs(design.matrix) @ np.abs(v))
    if certain:
        value, cut = design.matrix[:, np.flatnonzero(v)[0]], np.zeros_like(cut)
    value = np.where(np.abs(value) <= cut, 0.0, value)
    moved, slack = maker.perturbations.apply(value), np.abs(maker.perturbations.apply(cut)) + cut
    free = (np.abs(moved - value) <= slack).all(axis=1)
    if not (objective.lam * design.penalty_matrix() @ v).any():
        free |= (np.abs(moved + value) <= slack).all(axis=1)
    free = np.asarray(free & maker.certainly_not_empty & bool(value.any()))
    return _Found(free, along, which, root * value, v, certain)


def _by_signs(objective: Quadratic, maker: FormMaker) -> tuple[BoolArray, BoolArray]:
    """Return which inputs (k, m - 1) have no row that changes sign, and which sets hold a shift."""
    first, which = objective.design.distinct
    signs = maker.perturbations.apply(np.ones(len(which)))
    flips = np.zeros((len(first), len(signs)), dtype=np.bool_)
    np.logical_or.at(flips, which, (signs < 0).T)
    shifted = (signs == 1).all(axis=1) | (objective.design.intercept & (signs == -1).all(axis=1))
    return ~flips, np.asarray(shifted)


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
    return _Found(fixed[best], Along.FITTED_VALUE, row, F[:, best])


def _projector(maker: FormMaker, F: Array) -> tuple[BoolArray, Array]:
    """Return which sets are unbounded, and the sum of the projectors on free directions."""
    cylinders = np.zeros(maker.perturbations.m - 1, dtype=np.bool_)
    projector = np.zeros((F.shape[1],) * 2)
    for which, forms in maker.batches(F):
        found = forms.sets()
        cylinders[which] = ~found.bounded
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
        found.append(_Found((lines.free & ~lines.empty)[0], along, which, value))
    return found
