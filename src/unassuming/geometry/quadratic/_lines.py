"""Quadratic regions along lines: each set is an interval of t (docs/theory.md 4.1).

Z_i - Z_0 is a quadratic in t along a line. Its roots, computed without cancellation, are the ends
of the set, and the region is where at least q intervals overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._order_statistic import order_statistic
from unassuming.geometry.quadratic._forms import FormMaker
from unassuming.geometry.quadratic._sets import SURE


@final
@dataclass(frozen=True, eq=False)
class LineQuadratics:
    """n (Z_i - Z_0) = c - 2bt - At² along N lines, arrays of shape (N, m - 1)."""

    A: Array
    b: Array
    c: Array
    noise: Array  # the rounding error of A: a line with A up to it is free
    empty: BoolArray
    errors: Array | None = None  # (3, N, m - 1): bounds of the errors of c, b and A, if asked for

    @property
    def free(self) -> BoolArray:
        """Lines that never leave the set (if they meet it at all)."""
        return self.noise >= self.A


@final
@dataclass(frozen=True)
class OriginErrors:
    """What is not known of the residuals and of the gradient at an estimate.

    Attributes
    ----------
    residual : float or array of shape (m - 1,)
        Length of the error of the residuals, or a quarter of that of E r̂ and r̂ together.
    gradient : float
        Length of the error of the whitened gradient at the estimate.
    defect : float
        Error of the smoother S, as an operator.
    """

    residual: Array | float
    gradient: float
    defect: float


def along_lines(
    maker: FormMaker,
    start: Array,
    step: Array,
    error: Array,
    start_error: Array | None = None,
    origin: OriginErrors | None = None,
) -> LineQuadratics:
    """Restrict the sets to lines of fitted values f̂ + start + t step, each (N, n).

    ``error`` and ``start_error`` (N,) bound the rounding errors of ``step`` and ``start``. The
    errors of the result are bounded if those of the estimate are given.
    """
    start_error = error if start_error is None else start_error
    shape, unit = (len(step), maker.perturbations.m - 1), 8 * EPS * sum(maker.q.shape)
    A, b, c, noise = np.empty((4, *shape))
    errors = None if origin is None else np.empty((3, *shape))
    complement = maker.complement(len(step))
    known = None if maker.accurate is None else maker.accurate.gradient
    gradient = 0.0 if known is None else float(np.linalg.norm(known))
    for lines, which in complement.blocks(*shape):
        at, perturbations = (lines, which), maker.perturbations.take(which)
        slope, seen, zero = maker.slope[which], maker.seen[which], maker.tied[which]
        if known is not None:  # the estimate is the minimum up to rounding only
            slope = slope - maker.q @ known
        starts = [start[lines]] if start[lines].any() else []
        vectors = np.stack([perturbations.apply(x) - x[:, None, :] for x in (step[lines], *starts)])
        products = complement.products(vectors)
        A[at] = products[0, 0]
        b[at] = np.where(zero, 0.0, -_dot(vectors[0], slope))
        square = _dot(seen, seen) + (0.0 if known is None else 2 * seen @ known)
        c[at] = np.where(zero, 0.0, square + maker.margin[which])
        if starts:
            base, here = vectors[1], products[1, 1]
            b[at] += products[0, 1]
            c[at] = c[at] + np.where(zero, 0.0, 2 * _dot(base, slope)) - here
            # A tied set consists of its free directions: a start among them, up to rounding, is in.
            away = np.linalg.norm(base, axis=-1)
            off = unit * away + 2 * start_error[lines, None]
            within = zero & (here <= off * (2 * away + off))
            b[at], c[at] = np.where(within, 0.0, b[at]), np.where(within, 0.0, c[at])
        size = np.linalg.norm(vectors[0], axis=-1)
        off = unit * size + 2 * error[lines, None]
        noise[at] = off * (2 * size + off)
        if origin is not None and errors is not None:
            moved, seen_size = (np.linalg.norm(x, axis=1) for x in (maker.moved[which], seen))
            base_size = np.linalg.norm(vectors[1], axis=-1) if starts else np.zeros(1)
            base = np.linalg.norm(start[lines], axis=1)[:, None] if starts else 0.0
            away_error = start_error[lines, None] if starts else np.zeros(1)
            whole = np.asarray(np.linalg.norm(maker.residual) + base)
            parts = (size, error[lines, None]), (moved, seen_size), whole, (base_size, away_error)
            # What is not known, or overflows, is not confirmed.
            with np.errstate(over="ignore", invalid="ignore"):
                own = np.broadcast_to(origin.residual, shape[1:])[which]
                found = _errors(maker, replace(origin, residual=own), gradient, *parts)
            found[0] += maker.margin[which]
            errors[(slice(None), *at)] = np.where(zero, np.inf, found)
    return LineQuadratics(A, b, c, noise, np.broadcast_to(maker.without_points, shape), errors)


def _errors(
    maker: FormMaker,
    origin: OriginErrors,
    gradient: float,
    step: tuple[Array, Array],
    residual: tuple[Array, Array],
    whole: Array,
    start: tuple[Array, Array],
) -> Array:
    """Bound the errors of c, b and A by lengths.

    They are those of the gradient, of E step and its error, of E r̂ and qᵀE r̂, of the residuals at
    the start, and of E start and its error. With s = E step, e = E start and γ, which is minus the
    whitened gradient at the estimate,

        c = ‖qᵀEr̂‖² + 2⟨qᵀEr̂, γ⟩ + 2⟨e, (I - S)Er̂ + r̂ - qγ⟩ - ⟨e, (I - S)e⟩,
        b = -⟨s, (I - S)(Er̂ - e) + r̂ - qγ⟩,      A = ⟨s, (I - S)s⟩.

    Each inner product of n terms has an error of nEPS relative to the lengths, and one with S of
    about √k times that. S is nearly a projector, of a stacked vector: an error δ of it changes
    ‖qᵀx‖² by 2δ‖qᵀx‖‖x‖, and otherwise by multiples of δ²‖x‖². That matters with many rows, where
    qᵀEr̂ is much shorter than Er̂.
    """
    n, k = maker.q.shape
    unit = 2 * EPS * (n + 4) * (2 + np.sqrt(k)) + origin.defect
    (size, step_error), (moved, seen), (away, away_error) = step, residual, start
    step_error, away_error = 2 * step_error, 2 * away_error
    lost = 4 * origin.residual + away_error  # of E r, the entries set to zero included
    slope = 2 * (moved + away) + whole + gradient
    off = unit * moved + 4 * origin.residual  # of qᵀE r̂
    c = 4 * off * (seen + off) + 2 * (seen + off) * origin.gradient
    c = c + 2 * (off + unit * (seen + off)) * gradient
    c = c + away * (4 * unit * slope + 6 * lost + 2 * origin.gradient)
    c = c + away_error * (2 * slope + 3 * lost + 2 * origin.gradient)
    b = (unit * size + step_error) * slope + (size + step_error) * (3 * lost + origin.gradient)
    A = unit * size**2 + step_error * (2 * size + step_error)
    return np.stack(np.broadcast_arrays(c, b, A))


def undecided_ends(
    lines: LineQuadratics, error: float, step: Array, off: Array, residual: Array, lost: float
) -> BoolArray:
    """Return where sums over the rows have too few digits for the ends of a set, (N, m - 1).

    ``error`` is that of transformations, ``step`` (N,) is the length by which lines move fitted
    values, ``off`` (N,) that of errors of these, ``residual`` (N,) that of the residuals at the
    origins, and ``lost`` that of their errors. See `FormMaker` for the factors.
    """
    root = np.sqrt(np.abs(lines.b**2 + lines.A * lines.c))
    off_A = 8 * error * step**2 + 16 * off * (step + off)
    off_b = step * (8 * error * residual + 3 * lost) + 16 * off * residual
    found = (off_A[:, None] > SURE * lines.A) | (off_b[:, None] > SURE * root)
    return np.asarray(found & ~lines.empty)


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))


def exits(lines: LineQuadratics) -> Array:
    """Return the largest t >= 0 in each set on rays from the estimate, shape (N, m - 1).

    Infinity on free rays, minus infinity for sets without a point: quick, not confirmed.
    """
    A = np.where(lines.free, 1.0, lines.A)
    b, c = lines.b, np.maximum(lines.c, 0.0)
    root = np.sqrt(b**2 + A * c)
    with np.errstate(divide="ignore", invalid="ignore"):
        towards = np.where(c > 0, c / (b + root), 0.0)  # b >= 0: no cancellation
    t = np.where(b >= 0, towards, (root - b) / A)
    return np.where(lines.empty, -np.inf, np.where(lines.free, np.inf, t))


def intervals(lines: LineQuadratics, inside: BoolArray | None = None) -> tuple[Array, Array]:
    """Return the ends of each set on each line, (N, m - 1) twice; an empty one has low > high.

    On a free line Z_i - Z_0 is constant, and zero if the two tie identically there. So the line
    lies in the set as a whole or not at all, and the tie order may decide it (4). ``inside``
    (N, m - 1), or an array that broadcasts to it, says which; without it, the sign of c does.
    """
    A = np.where(lines.free, 1.0, lines.A)
    disc = lines.b**2 + A * lines.c
    hit = disc >= 0
    root = np.sqrt(np.where(hit, disc, 0.0))
    # The two roots of At² + 2bt - c, without cancellation.
    far = -(lines.b + np.where(lines.b >= 0, root, -root))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = far / A, np.where(far != 0, -lines.c / far, 0.0)
    low, high = np.minimum(one, two), np.maximum(one, two)
    inside = lines.c >= 0 if inside is None else inside
    low = np.where(lines.free, np.where(inside, -np.inf, np.inf), low)
    high = np.where(lines.free, np.where(inside, np.inf, -np.inf), high)
    out = lines.empty | (~hit & ~lines.free)
    return np.where(out, np.inf, low), np.where(out, -np.inf, high)


def covered(low: Array, high: Array, q: int) -> Array:
    """Return the closed intervals of t that lie in at least q of the intervals, shape (k, 2)."""
    proper = low <= high
    low, high = low[proper], high[proper]
    ends, change = np.concatenate([low, high]), np.repeat([1, -1], len(low))
    order: IntArray = np.lexsort((-change, ends))  # at equal ends, openings first: closed sets
    ends, depth = ends[order], np.cumsum(change[order])
    enough = depth >= q
    before = np.concatenate([[False], enough[:-1]])
    starts, stops = ends[enough & ~before], ends[~enough & before]
    return np.stack([starts, stops], axis=1)


def first_ends(low: Array, high: Array, qs: Sequence[int]) -> list[Array]:
    """Return where rays from t = 0 first leave at least q of the intervals (N, m - 1), (N,) each.

    Minus infinity if fewer than q hold t = 0.
    """
    here = (low <= 0) & (high >= 0)
    ends = order_statistic(np.where(here, high, -np.inf))
    found = [ends[:, q - 1].copy() for q in qs]
    # A set may begin after the origin, which is a rounded number.
    for row in np.flatnonzero(((low > 0) & (low <= high)).any(axis=1)):
        for q, end in zip(qs, found, strict=True):
            spans = covered(low[row], high[row], q)
            held = spans[(spans[:, 0] <= 0) & (spans[:, 1] >= 0), 1]
            end[row] = held.max(initial=-np.inf)
    return found
