"""Boxes of coefficients for regression quantiles, out to infinity (docs/theory.md 13).

In homogeneous coordinates (σ, v) the candidate is a = origin + back R v / σ, and a residual has the
sign of σ r_j - R F_j v, which is linear. Boxes with σ = 1 and |v| <= 1 hold the candidates near the
origin, and boxes on the faces v_k = ±1 with 0 <= σ <= 1 all others, the directions at σ = 0
included. A box leaves the signs of few residuals open. With these indicators anywhere in [0, 1] the
least Z_0 has a lower bound, and the box is discarded if the rank of that is too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import TINY, rank_cut
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._branch_and_bound import LARGEST_RANK, BoxSpace, halves
from unassuming.geometry.signs._model import SignModel, least_squares_below

_NEAR = 4.0  # R: the size of the first box, in units of a typical residual
_SMALL = 1e-6  # relative to y; residuals of an exact fit are nothing but rounding
_PAD = 1e-12  # relative; more than the errors within which a residual counts as zero
_FARTHEST = 1e-9  # σ of the farthest points at which members are looked for
_STILL = 1e-9  # what changes by less, in units of the boxes, does not change
_STEPS = 3  # of the search for the shortest gradient in a box
_BATCH_BYTES = 2**23


@final
@dataclass(frozen=True, eq=False)
class SignBoxes(BoxSpace):
    """Boxes of homogeneous coordinates (σ, v)."""

    model: SignModel
    origin: Array  # (d,)
    back: (
        Array  # (d, r): a = origin + back v / σ; fitted values move by orthonormal columns times R
    )
    rows: Array  # (n, 1 + r): the residuals times σ
    row_sizes: Array  # (n, 1 + r): the sizes of the terms that they sum

    @classmethod
    def of(cls, model: SignModel, origin: Array) -> SignBoxes | None:
        """Choose the coordinates around the origin, or return None if there are too many."""
        phi, penalised = model.phi, model.score.penalised
        _, s, vt = svd(phi, full_matrices=False)
        r = int((s > rank_cut(phi.shape) * s[0]).sum())
        # The penalty depends on coefficients, which the fitted values have to determine.
        if r > LARGEST_RANK or (penalised and r < phi.shape[1]):
            return None
        residuals = model.y - phi @ origin
        size = np.abs(residuals)
        unit = max(float(np.median(size)), _SMALL * float(np.abs(model.y).max())) or 1.0
        back = _NEAR * unit * (vt[:r].T / s[:r])
        rows = np.concatenate([residuals[:, None], -(phi @ back)], axis=1)
        sizes = np.abs(phi) @ np.concatenate([np.abs(origin)[:, None], np.abs(back)], axis=1)
        sizes[:, 0] += np.abs(model.y)
        return cls(model, origin, back, rows, sizes)

    @property
    def null(self) -> Array:
        """Directions (d, d - r) that change no fitted value."""
        d, r = self.back.shape
        u, *_ = svd(self.back)
        return np.asarray(u[:, r:d])

    # The space

    def first(self) -> tuple[Array, Array]:
        """Return the box about the origin, and one for each face."""
        r = self.back.shape[1]
        centre, half = np.zeros((1 + 2 * r, 1 + r)), np.ones((1 + 2 * r, 1 + r))
        centre[0, 0], half[0, 0] = 1.0, 0.0
        centre[1:, 0], half[1:, 0] = 0.5, 0.5
        for k in range(r):
            for face, sign in ((1 + 2 * k, -1.0), (2 + 2 * k, 1.0)):
                centre[face, 1 + k], half[face, 1 + k] = sign, 0.0
        return centre, half

    def most(self, centre: Array, half: Array, g: Array) -> Array:
        """Return the largest values of gᵀa over boxes; infinite where σ = 0 and gᵀa grows."""
        slope = g @ self.back
        along = centre[:, 1:] @ slope.T + half[:, 1:] @ np.abs(slope).T
        low, high = centre[:, :1] - half[:, :1], centre[:, :1] + half[:, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(along == 0, 0.0, along / np.where(along > 0, low, high))
        return np.asarray(g @ self.origin + far)

    def points(self, centre: Array) -> Array:
        """Return the coefficients at the centres of boxes, or on the way if these are far out."""
        sigma = np.maximum(centre[:, :1], _FARTHEST)
        return np.asarray(self.origin + (centre[:, 1:] / sigma) @ self.back.T)

    def margin(self, g: Array) -> Array:
        """Return more than the rounding errors of the values of g (N, d), (N,)."""
        size = np.abs(g) @ np.abs(self.origin) + np.abs(g @ self.back).sum(axis=1)
        return np.asarray(1e-11 * size)

    # Membership

    def keeps(self, centre: Array, half: Array, q: int) -> BoolArray:
        """Return which boxes may hold a member at level 1 - q/m."""
        return np.asarray(self.least_ranks(centre, half) <= self.model.m - q)

    def meets(self, root: Array, bound: float, centre: Array, half: Array) -> BoolArray:
        """Which boxes may hold coefficients with ‖root a‖ <= bound."""
        W = root @ np.concatenate([self.origin[:, None], self.back], axis=1)
        least = np.maximum(np.abs(centre @ W.T) - half @ np.abs(W).T, 0.0)
        largest = bound * (centre[:, 0] + half[:, 0])
        return np.asarray(np.linalg.norm(least, axis=1) <= largest * (1 + 1e-9))

    def far(self, q: int, nodes: int) -> tuple[Array, Array]:
        """Return the boxes at infinity that may hold members: none if the region is bounded.

        The search ends before it has examined more than so many boxes.
        """
        centre, half = self.first()
        examined = len(centre)
        while True:
            left = (centre[:, 0] <= half[:, 0]) & self.keeps(centre, half, q)
            centre, half = centre[left], half[left]
            if not len(centre) or examined + 2 * len(centre) > nodes:
                return centre, half
            centre, half = halves(centre, half)
            examined += len(centre)

    def outward(self, centre: Array, half: Array) -> tuple[Array, Array]:
        """Return lines that leave through boxes at infinity, as origins and directions (L, d).

        One leads from the origin through the centre of a box. A region may also end in a strip or
        in a single ray, along which some residuals (or penalised coefficients) do not change. So
        other lines are parallel to those whose signs the box leaves open. They begin where these
        are zero, and half way between.
        """
        F = np.concatenate([self.rows, self._coefficients])
        out = [(np.zeros((1, F.shape[1] - 1)), v[None, 1:]) for v in centre]
        for v, h in zip(centre[:, 1:], half[:, 1:], strict=True):
            still = np.flatnonzero(np.abs(F[:, 1:] @ v) <= np.abs(F[:, 1:]) @ (h + _STILL))
            if not len(still):
                continue
            c, A = F[still, 0], F[still, 1:]
            along = v - np.linalg.pinv(A) @ (A @ v)
            each = -A * (c / np.maximum((A**2).sum(axis=1), TINY))[:, None]
            each = each[np.argsort(each @ A[0])]
            starts = [each, (each[1:] + each[:-1]) / 2, (-np.linalg.pinv(A) @ c)[None]]
            if np.linalg.norm(along) > _STILL:
                origins = np.concatenate(starts)
                out.append((origins, np.broadcast_to(along, origins.shape)))
        origins, directions = (np.concatenate(part) for part in zip(*out, strict=True))
        return self.origin + origins @ self.back.T, directions @ self.back.T

    def least_ranks(self, centre: Array, half: Array) -> IntArray:
        """Bound the ranks of the points of each box from below."""
        least = np.full(len(centre), self.model.m, dtype=np.intp)
        for some in slices(len(centre), rows_that_fit(_BATCH_BYTES, 6 * len(self.rows))):
            least[some] = self._least_ranks(centre[some], half[some])
        return least

    def _least_ranks(self, centre: Array, half: Array) -> IntArray:
        score, fresh = self.model.score, self.model.fresh
        middle = centre @ self.rows.T
        reach = half @ np.abs(self.rows).T
        reach += _PAD * ((np.abs(centre) + half) @ self.row_sizes.T)
        open_ = (np.abs(middle) <= reach) / 2  # half of what an open indicator can move
        rho = score.tau - np.where(open_ > 0, 0.5, middle < 0)
        pulled = rho @ score.pull.T
        least = np.full(len(centre), self.model.m, dtype=np.intp)
        for signs, here in self._patterns(centre, half):
            free, table = open_[here], fresh.table(signs)
            kinks = np.where(signs[0] == 0, score.penalty, 0.0)
            z = pulled[here] - (signs * score.penalty) @ score.weighting.T
            floor = self._shortest(z, free, kinks)
            found = table.least_ranks(floor)
            if not kinks.any():
                sure = ~free.any(axis=1)
                found[sure] = table.ranks(z[sure])
            least[here] = np.minimum(least[here], found)
        return least

    def _shortest(self, z: Array, free: Array, kinks: Array) -> Array:
        """Bound Z_0 from below, with indicators that move by ``free`` (B, n) either way.

        The best bound is that in the direction of the shortest z, which conditional gradients find.
        """
        score = self.model.score
        spread = free @ np.abs(score.pull).T + kinks @ np.abs(score.weighting).T
        best, now = np.zeros(len(z)), z
        for _ in range(_STEPS):
            size = np.linalg.norm(now, axis=1)
            unit = now / np.where(size > 0, size, 1.0)[:, None]
            rows, columns = unit @ score.pull, unit @ score.weighting
            down_rows, down_columns = -free * np.sign(rows), -kinks * np.sign(columns)
            support = -(down_rows * rows).sum(axis=1) - (down_columns * columns).sum(axis=1)
            along = np.maximum(np.einsum("bk,bk->b", z, unit) - support, 0.0)
            best = np.maximum(best, along**2)
            step = z + down_rows @ score.pull.T + down_columns @ score.weighting.T - now
            length = np.einsum("bk,bk->b", step, step)
            share = -np.einsum("bk,bk->b", now, step) / np.where(length > 0, length, 1.0)
            now = now + np.clip(share, 0.0, 1.0)[:, None] * step
        return np.maximum(best, least_squares_below(z, spread, np.full(len(z), np.inf)))

    def _patterns(self, centre: Array, half: Array) -> Iterator[tuple[Array, IntArray]]:
        """Yield the patterns of signs of coefficients, (1, d), and the boxes that may have them."""
        held, signs = self._held, np.ones((1, len(self.origin)))
        if not len(held):
            yield signs, np.arange(len(centre))
            return
        middle = centre @ self._coefficients.T
        reach = half @ np.abs(self._coefficients).T
        reach += _PAD * ((np.abs(centre) + half) @ np.abs(self._coefficients).T)
        low, high = middle - reach, middle + reach
        may = {-1: low < 0, 0: (low <= 0) & (high >= 0), 1: high > 0}
        for pattern in product((-1, 0, 1), repeat=len(held)):
            here = np.all([may[sign][:, j] for j, sign in enumerate(pattern)], axis=0)
            if here.any():
                signs = np.ones((1, len(self.origin)))
                signs[0, held] = pattern
                yield signs, np.flatnonzero(here)

    @cached_property
    def _held(self) -> IntArray:
        return np.flatnonzero(self.model.score.penalty > 0)

    @cached_property
    def _coefficients(self) -> Array:
        """The penalised coefficients times σ, (p, 1 + r)."""
        return np.concatenate([self.origin[:, None], self.back], axis=1)[self._held]
