"""Linear functionals over every set and one ball, if signs change: half the size (4.4).

For signs, with D = I - S, r̂ = Dy the residuals of the estimate and J the rows that change sign, a
candidate f with residuals r = y - f satisfies

    n (Z_0 - Z_i) = 4 [r_JᵀD_JJ r_J - r_Jᵀr̂_J],      so      E_i = {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}

depends on f_J alone. The ball gives f and the functionals the joint Gram matrix [G C; Cᵀ k]. With
G_JJ = LLᵀ and g = L⁻¹C_J

    f_J = L u,    f(z) = gᵀu + p s,    ‖u‖² + s² <= B²,    p² = k - ‖g‖²:

everything that does not change sign, and z, collapses into the one coordinate s. All functionals
share one eigendecomposition of LᵀD_JJL, about half as large as that of the whole problem.

Rounding: bounds have to hold for the numbers as given.
- G_JJ and k are enlarged by a share of their diagonals that exceeds the backward errors of
  Cholesky's method and of the substitution: a larger Gram matrix has a larger ball. These errors
  are relative to the diagonal, row by row, so weights of any size do no harm.
- D is known to within an error: D_JJ less this error takes its place, and what it does to r̂ and to
  yᵀDy loosens the inequality (see `_sets_and_ball`).
- Errors of the products and of the decomposition move the inequality by a multiple of ‖u‖² or ‖u‖,
  and ‖u‖ <= B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import NamedTuple, TypeVar, final

import numpy as np
from scipy.linalg.lapack import dtrtrs

from unassuming._progress import progress
from unassuming._rounding import EPS, gamma, powers_of_two
from unassuming._threads import each_in_threads
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.geometry.quadratic._multipliers import Multipliers
from unassuming.noise import Perturbations
from unassuming.objectives import BallCoordinates, Complement

T = TypeVar("T")

LOOSE = 0.01
_LARGEST_SHARE = 2.0**200
"""The largest ratio of values in the ball to outputs at which sets are intersected with it."""
_OUTWARD = 1 + 64 * EPS
_CANCELS = 1e9
"""A p² below this multiple of its rounding error is computed without a difference."""
_SHORT = 2**16
"""Numbers of an array up to which operations on it are so short that threads hinder each other."""
_SMALL = 64
"""The size up to which a product of matrices is not divided into blocks."""


@final
@dataclass(frozen=True, eq=False)
class RowsAndBall:
    """The sets E_i and the ball {‖x‖² + s² <= B²}; y in units of the square roots of the weights.

    Functions in the ball may move fitted values by ``ball.lost`` B outside the coordinates x. At
    the rows ``at`` (N,), unless they are negative, the functionals are the fitted values.
    """

    perturbations: Perturbations
    complement: Complement
    y: Array
    ball: BallCoordinates
    root: Array  # (n,): W^{1/2}
    at: IntArray | None = None

    @staticmethod
    def pays(perturbations: Perturbations, complement: Complement, ball: BallCoordinates) -> bool:
        """Whether this form of the problem exists, and is the smaller one."""
        n, k = ball.F.shape
        return (
            flips_signs(perturbations.noise)
            and complement.dense is not None
            and bool((np.diagonal(ball.N) == 1).all())
            and 2 * k > n
        )

    def supports(self, empty: BoolArray) -> tuple[Array, Array]:
        """Return max gᵀx + p s and max -gᵀx + p s over every set and the ball, (N, m - 1) each.

        Minus infinity for sets that have no point (m - 1,), or none in the ball.
        """
        alone = self._functional_lengths * self._bound * _OUTWARD
        bounds = np.repeat(np.stack([alone, alone])[:, :, None], len(empty), axis=2)
        for i, found in self._each(self._supports_of_one):
            bounds[:, :, i] = np.minimum(bounds[:, :, i], found)
        bounds *= self._unit
        bounds[:, self.ball.hidden] = np.inf
        bounds[:, :, empty] = -np.inf
        return bounds[0], bounds[1]

    def least_norms(self, empty: BoolArray) -> Array:
        """Return lower bounds of the norm over every set, but at most B, (m - 1,).

        Infinity for sets that have no point.
        """
        norms = np.zeros(len(empty))
        for i, found in self._each(self._least_norm_of_one):
            norms[i] = found * self._size
        return np.where(empty, np.inf, norms)

    def loose(self, up: Array, down: Array) -> bool:
        """Whether the ball is so large that the sets alone bound most functionals."""
        with np.errstate(invalid="ignore"):  # empty sets
            alone = self._unit * self._bound * np.median(self._functional_lengths)
            return bool(np.median(up + down) < LOOSE * 2 * alone)

    def _each(self, work: Callable[[int], T]) -> Iterator[tuple[int, T]]:
        """Yield the results for every set, with a line of progress."""
        sets = self.perturbations.m - 1
        if not np.isfinite(self.complement.relative) or too_large(self.ball, self._share_of_size):
            return
        # Once, before the threads begin.
        _ = self._gram, self._across, self._lengths, self._limits, self._corner, self._turn
        found = each_in_threads(work, range(sets))
        numbered = ((slice(i, i + 1), item) for i, item in enumerate(found))
        for which, item in progress(numbered, sets, "sets"):
            yield which.start, item

    # The unit of fitted values is near the largest output, and that of x is near B.

    @cached_property
    def _unit(self) -> float:
        return float(powers_of_two(np.abs(self.y).max(initial=0.0)))

    @cached_property
    def _size(self) -> float:
        return float(powers_of_two(np.array(self.ball.bound)))

    @cached_property
    def _share_of_size(self) -> float:
        return self._size / self._unit

    @property
    def _bound(self) -> float:
        return self.ball.bound / self._size

    @cached_property
    def _features(self) -> Array:
        """F, (n, k)."""
        return self.ball.F * self._share_of_size

    @cached_property
    def _lengths(self) -> Array:
        """The lengths of the rows of F, (n,)."""
        return np.asarray(np.linalg.norm(self._features, axis=1))

    @cached_property
    def _gram(self) -> Array:
        """G, (n, n)."""
        return np.asarray(self._features @ self._features.T)

    @cached_property
    def _across(self) -> Array:
        """Cᵀ, (N, n)."""
        return np.asarray((self.ball.functionals * self._share_of_size) @ self._features.T)

    @cached_property
    def _functional_lengths(self) -> Array:
        """The norm of each functional, (N,)."""
        squares = (self.ball.functionals**2).sum(axis=1) + self.ball.beyond**2
        return np.asarray(self._share_of_size * np.sqrt(squares))

    @cached_property
    def _corner(self) -> Array:
        """The squared norm of each functional, (N,)."""
        ball, share = self.ball, self._share_of_size
        return np.asarray(
            ((ball.functionals * share) ** 2).sum(axis=1) + (ball.beyond * share) ** 2
        )

    @cached_property
    def _limits(self) -> _Limits:
        return _Limits.of(self)

    # One set

    def _one(self, i: int) -> _OneSet:
        J = self.perturbations.take(slice(i, i + 1)).apply(np.ones(len(self.y)))[0] < 0
        return _OneSet.of(self, np.flatnonzero(J))

    def _least_norm_of_one(self, i: int) -> float:
        found, shared = self._one(i).multipliers, self._limits
        c = found.c - shared.slack + shared.still
        return Multipliers(found.sigma, found.b, c, found.bound).beside(shared.pull).least_norm()

    def _supports_of_one(self, i: int) -> Array:
        """Return the bounds (2, N)."""
        one = self._one(i)
        with self._turn:
            return self._bounds(one)

    @cached_property
    def _turn(self) -> AbstractContextManager[object]:
        """What a thread holds while it works on the functionals."""
        return Lock() if self._across.size <= _SHORT else nullcontext()

    def _bounds(self, one: _OneSet) -> Array:
        """Return the bounds (2, N)."""
        rows, lower = one.rows, one.lower
        g = _solved(lower, self._across.take(rows, axis=1))
        extra = _share(len(self.y)) * self._corner
        own = np.maximum(self._corner + extra - (g**2).sum(axis=1), 0.0) + extra
        if (few := np.flatnonzero(own < _CANCELS * extra)).size:
            other, square = self._without_cancellation(rows, lower, g[few], few)
            whole = (other**2).sum(axis=1) + square
            better = (square < own[few]) & (whole <= self._corner[few] + 2 * extra[few])
            g[few[better]], own[few[better]] = other[better], square[better]
        if self.at is not None:
            # At a row that changes sign the functional is a coordinate of f_J.
            place = np.full(len(self.y) + 1, -1)
            place[rows] = np.arange(len(rows))
            known = np.flatnonzero(place[self.at] >= 0)
            j = self.at[known]
            g[known] = lower[place[j]] / self.root[j][:, None]
            own[known] = (self.ball.beyond[known] * self._share_of_size) ** 2
        error = _share(len(rows)) * np.linalg.norm(g, axis=1) * self._bound
        return np.asarray(one.multipliers.supports(g @ one.turn, own) + error)

    def _without_cancellation(
        self, rows: IntArray, lower: Array, g: Array, which: IntArray
    ) -> tuple[Array, Array]:
        """Return g and p² for some functionals whose p² would be a difference of equal numbers.

        With any c, f(z) = cᵀf_J + vᵀx + p s for v = functional - F_Jᵀc. If the part v is nearly
        orthogonal to the rows F_J, up to e = F_J v, and LLᵀ - G_JJ >= X, then g = Lᵀc and
        ‖v‖² + p² + eᵀX⁻¹e in place of p² give a larger Gram matrix.
        """
        F, wanted = self._features[rows], self.ball.functionals[which] * self._share_of_size
        c = _solved(lower, g, transposed=True)
        # L belongs to an enlarged Gram matrix: one step of refinement.
        c = c + _solved(lower, _solved(lower, (wanted - c @ F) @ F.T), transposed=True)
        v = wanted - c @ F
        # Rounding of v, of its products and of Lᵀc.
        lengths = np.linalg.norm(wanted, axis=1) + np.abs(c) @ self._lengths[rows]
        size = EPS * lengths[:, None]
        diagonal = np.diagonal(self._gram)[rows]
        e = np.abs(v @ F.T) + size * np.sqrt(diagonal)
        length = np.linalg.norm(v, axis=1) + size[:, 0]
        margin = _share(len(self.y)) / 4 * np.where(diagonal > 0, diagonal, 1.0)
        own = length**2 + (self.ball.beyond[which] * self._share_of_size) ** 2
        return c @ lower, own * _OUTWARD + (e**2 / margin).sum(axis=1)


class Limit(NamedTuple):
    """A bound of yᵀDy, with what functions do outside the coordinates of the ball.

    A unit of norm there moves D^{1/2} y_i by at most μ = 2√‖D‖ times ``lost``, so that s units add
    at most 2√(yᵀDy) μ s + μ²s² to the bound.
    """

    whole: float  # for every s in the ball
    still: float  # without the part that is linear in s,
    pull: float  # which is twice this times s

    @classmethod
    def of(cls, D: Complement, own: float, blur: float, lost: float, bound: float) -> Limit:
        """Return the bound for yᵀDy, its absolute error ``blur`` and the ball."""
        base = (1 + D.relative) * max(own, 0.0) + blur
        root, moved = float(np.sqrt(base)), 2 * float(np.sqrt(D.size)) * lost
        still = base + (moved * bound) ** 2
        return cls((root + moved * bound) ** 2, still, root * moved * _OUTWARD)


@final
@dataclass(frozen=True, eq=False)
class _Limits:
    """What all sets share: D r̂ and how far rounding loosens the inequality."""

    D: Array  # less its error
    y: Array
    residual: Array  # r̂ = Dy
    slack: float  # of the inequality
    still: float  # the same if nothing outside the coordinates moves it,
    pull: float  # and half of what a unit of norm there adds
    length: float  # a bound of ‖L‖²

    @classmethod
    def of(cls, whole: RowsAndBall) -> _Limits:
        D, y = whole.complement, whole.y / whole._unit
        assert D.dense is not None
        residual = D(y)
        blur = D.absolute * float(y @ y)
        own = max(float(y @ residual), 0.0)
        limit = Limit.of(D, own, blur, whole.ball.lost * whole._share_of_size, whole._bound)
        # ‖y_i‖² <= 2‖y‖² + 8‖r_J‖²; the errors of r̂ and Dy times r_J are of the same kind.
        slack, still = (max(one - own, 0.0) / 4 + 8 * blur for one in (limit.whole, limit.still))
        length = float(np.abs(whole._gram).sum(axis=1).max(initial=0.0))
        less = D.dense - 8 * D.absolute * np.eye(len(y))
        return cls(less, y, residual, slack, still, limit.pull / 4, length)


@final
@dataclass(frozen=True, eq=False)
class _OneSet:
    """One set in coordinates u with f_J = L u, and its inequality in eigenvectors."""

    rows: IntArray  # J
    lower: Array  # L
    turn: Array  # U, eigenvectors of LᵀD_JJL
    multipliers: Multipliers

    @classmethod
    def of(cls, whole: RowsAndBall, rows: IntArray) -> _OneSet:
        shared, bound, h = whole._limits, whole._bound, len(rows)
        lower = _root(whole._gram[rows][:, rows], _share(len(whole.y)))
        D = shared.D[rows][:, rows]
        y, r = shared.y[rows], shared.residual[rows]
        Dy = D @ y
        sigma, turn = np.linalg.eigh(_between(lower, D))
        half = Dy - r / 2
        # Two products of h terms each, or two vectors; lengths bound their absolute values.
        unit, size = gamma(2 * h + 8), float(np.abs(sigma).max(initial=0.0))
        bend = unit * shared.length * whole.complement.size + 8 * EPS * h * size
        bend += max(-float(sigma.min(initial=0.0)), 0.0)
        tilt = (unit + _share(h)) * np.sqrt(shared.length) * float(np.linalg.norm(half))
        c = float(y @ (r - Dy)) + shared.slack + bend * bound**2 + 2 * tilt * bound
        found = Multipliers(np.maximum(sigma, 0.0), (lower.T @ half) @ turn, c, bound)
        return cls(rows, lower, turn, found)


def too_large(ball: BallCoordinates, share_of_size: float) -> bool:
    """Whether squares overflow in a ball; long before, rounding hides the sets."""
    return bool(share_of_size * float(np.abs(ball.F).max(initial=0.0)) > _LARGEST_SHARE)


def _share(n: int) -> float:
    """Return a relative error of Cholesky's method and of substitution, with a margin."""
    return 4 * EPS * (n + 4)


def _solved(lower: Array, rows: Array, *, transposed: bool = False) -> Array:
    """Return the rows x (N, h) with Lx, or Lᵀx, equal to the rows given."""
    if not rows.size:
        return rows
    # Columns first, as LAPACK wants them: it sees Lᵀ.
    found, info = dtrtrs(lower.T, rows.T, lower=0, trans=0 if transposed else 1)
    if info:
        raise np.linalg.LinAlgError("the triangle is singular")
    return np.asarray(found.T)


def _root(G: Array, share: float) -> Array:
    """Return L with LLᵀ >= G, not much larger."""
    place = np.arange(len(G))
    diagonal = G[place, place].copy()
    while True:
        # Rows of zeros get a little as well: no share of zero makes the matrix definite.
        G[place, place] = np.where(diagonal > 0, diagonal * (1 + share), share)
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.cholesky(G), dtype=np.float64)
        share *= 16


def _between(lower: Array, D: Array) -> Array:
    """Return the lower triangle of LᵀDL, in blocks that leave out what is zero."""
    h = len(D)
    if h <= _SMALL:
        return np.asarray(lower.T @ D @ lower)
    cut = h // 2
    product = np.empty((h, h))
    left = D @ lower[:, :cut]
    product[:cut, :cut] = lower[:, :cut].T @ left
    product[cut:, :cut] = lower[cut:, cut:].T @ left[cut:]
    product[:cut, cut:] = 0.0
    product[cut:, cut:] = _between(lower[cut:, cut:], D[cut:, cut:])
    return product
