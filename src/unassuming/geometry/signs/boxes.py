"""Boxes of coefficients for regression quantiles, out to infinity (docs/theory.md 13).

In homogeneous coordinates (σ, v) the candidate is a = origin + back v / σ, and a residual has the
sign of σ r_j - F_j v, which is linear. Boxes with σ = 1 and |v| <= 1 hold the candidates near the
origin, and boxes on the faces v_k = ±1 with 0 <= σ <= 1 all others, the directions at σ = 0
included. Directions along which the region never ends may be set apart, with coordinates w of their
own, a = origin + back v / σ + free w: functionals that do not see them then have finite bounds.

A box leaves the signs of few residuals open. With these indicators anywhere in [0, 1] the least Z_0
has a lower bound, and the box is discarded if the rank of that is too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import EPS, Factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.branch_and_bound import LARGEST_RANK, BoxSpace, halves
from unassuming.geometry.signs.model import SignModel

_NEAR = 4.0  # the size of the first box, in units of a typical residual
_SMALL = 1e-6  # relative to y; residuals of an exact fit are nothing but rounding
_PAD = 1e-12  # relative; more than the errors within which a residual counts as zero
_FARTHEST = 1e-9  # σ of the farthest points at which members are looked for
_STILL = 1e-9  # what changes by less, in units of the boxes, does not change
_STEPS = 3  # of the search for the shortest gradient in a box
_BATCH_BYTES = 2**23


@final
@dataclass(frozen=True, eq=False)
class SignBoxes(BoxSpace):
    """Boxes of coordinates (σ, v, ω), w = ω / (1 - |ω|)."""

    model: SignModel
    origin: Array  # (d,)
    back: Array  # (d, r): fitted values move by orthogonal columns
    free: Array  # (d, f): other directions, apart

    @classmethod
    def of(
        cls, model: SignModel, origin: Array, factor: Factor, apart: Array | None = None
    ) -> SignBoxes | None:
        """Choose the coordinates around the origin, or return None if there are too many."""
        # ``factor`` is that of Φ without weights; the directions ``apart`` (d, f) are kept apart.
        # The penalty depends on coefficients, which the fitted values have to determine.
        if factor.Q.shape[1] > LARGEST_RANK or (len(model.held) and factor.null.size):
            return None
        size = np.abs(model.y - model.phi @ origin)
        unit = max(float(np.median(size)), _SMALL * float(np.abs(model.y).max())) or 1.0
        back, free = factor.back, np.zeros((len(origin), 0))
        if apart is not None:
            # The coordinates v are orthogonal to the directions apart, in the fitted values.
            turn = np.linalg.qr(factor.Q.T @ (model.phi @ apart), mode="complete")[0]
            back = back @ turn[:, apart.shape[1] :]
            free = apart / np.linalg.norm(model.phi @ apart, axis=0)
        return cls(model, origin, _NEAR * unit * back, _NEAR * unit * free)

    # The space

    def first(self) -> tuple[Array, Array]:
        """Return the box about the origin, and one for each face."""
        (_, r), f = self.back.shape, self.free.shape[1]
        centre, half = np.zeros((1 + 2 * r, 1 + r + f)), np.ones((1 + 2 * r, 1 + r + f))
        centre[0, 0], half[0, 0] = 1.0, 0.0
        centre[1:, 0] = half[1:, 0] = 0.5
        for k in range(r):
            for face, sign in ((1 + 2 * k, -1.0), (2 + 2 * k, 1.0)):
                centre[face, 1 + k], half[face, 1 + k] = sign, 0.0
        return centre, half

    def most(self, centre: Array, half: Array, g: Array) -> Array:
        """Return the largest values of gᵀa over boxes; infinite where σ = 0 and gᵀa grows."""
        r, slope = self.back.shape[1], g @ self.back
        along = centre[:, 1 : 1 + r] @ slope.T + half[:, 1 : 1 + r] @ np.abs(slope).T
        low, high = centre[:, :1] - half[:, :1], centre[:, :1] + half[:, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(along == 0, 0.0, along / np.where(along > 0, low, high))
        own = g @ self.free
        own[np.abs(own) <= _STILL * np.linalg.norm(slope, axis=1)[:, None]] = 0.0
        ends = self._apart(centre, half)
        return np.asarray(g @ self.origin + far + _largest(ends, own))

    def points(self, centre: Array) -> Array:
        """Return the coefficients at the centres of boxes, or on the way if these are far out."""
        r, sigma = self.back.shape[1], np.maximum(centre[:, :1], _FARTHEST)
        w = centre[:, 1 + r :] / np.maximum(1 - np.abs(centre[:, 1 + r :]), _FARTHEST)
        return np.asarray(
            self.origin + (centre[:, 1 : 1 + r] / sigma) @ self.back.T + w @ self.free.T
        )

    def margin(self, g: Array) -> Array:
        """Return more than the rounding errors of the values of g (N, d), (N,)."""
        size = np.abs(g) @ np.abs(self.origin) + np.abs(g @ self.back).sum(axis=1)
        return np.asarray(1e-11 * size)

    # Membership

    def keeps(self, centre: Array, half: Array, q: int) -> BoolArray:
        """Return which boxes may hold a member at level 1 - q/m."""
        return np.asarray(self.least_ranks(centre, half) <= self.model.m - q)

    def meets(self, root: Array, bound: float, centre: Array, half: Array) -> BoolArray:
        """Which boxes may hold coefficients with ‖root a‖ <= bound; nothing may be apart."""
        W = root @ np.concatenate([self.origin[:, None], self.back], axis=1)
        least = np.maximum(np.abs(centre @ W.T) - half @ np.abs(W).T, 0.0)
        largest = bound * (centre[:, 0] + half[:, 0])
        return np.asarray(np.linalg.norm(least, axis=1) <= largest * (1 + 1e-9))

    def far(self, q: int, nodes: int) -> tuple[Array, Array]:
        """Return the boxes at infinity that may hold members: none if the region is bounded."""
        # The search ends before it has examined more than so many boxes.
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
        """Return lines that leave through boxes at infinity, as origins and directions (L, d)."""
        # One leads from the origin through the centre of a box. A region may also end in a strip or
        # in a single ray, along which some residuals (or penalised coefficients) do not change. So
        # other lines are parallel to those whose signs the box leaves open. They begin where these
        # are zero, and half way between.
        F = np.concatenate([self._forms(rows, value)[0] for rows, value in self._lines])
        out = [(np.zeros((1, F.shape[1] - 1)), v[None, 1:]) for v in centre]
        for v, h in zip(centre[:, 1:], half[:, 1:], strict=True):
            still = np.flatnonzero(np.abs(F[:, 1:] @ v) <= np.abs(F[:, 1:]) @ (h + _STILL))
            if not len(still):
                continue
            c, A = F[still, 0], F[still, 1:]
            along = v - np.linalg.pinv(A) @ (A @ v)
            each = -A * (c / np.maximum((A**2).sum(axis=1), 1e-300))[:, None]
            each = each[np.argsort(each @ A[0])]
            starts = [each, (each[1:] + each[:-1]) / 2, (-np.linalg.pinv(A) @ c)[None]]
            if np.linalg.norm(along) > _STILL:
                origins = np.concatenate(starts)
                out.append((origins, np.broadcast_to(along, origins.shape)))
        origins, directions = (np.concatenate(part) for part in zip(*out, strict=True))
        return self.origin + origins @ self.back.T, directions @ self.back.T

    def least_ranks(self, centre: Array, half: Array) -> IntArray:
        """Bound the ranks of the points of each box from below."""
        model, least = self.model, np.full(len(centre), self.model.m, dtype=np.intp)
        for some in slices(len(centre), rows_that_fit(_BATCH_BYTES, 6 * len(model.y))):
            low, high = self._range(centre[some], half[some], *self._lines[0])
            open_ = ((low <= 0) & (high >= 0)) / 2  # half of what an open indicator can move
            rho = model.tau - np.where(open_ > 0, 0.5, high < 0)
            z, part = rho @ model.pull.T, least[some]
            for signs, here in self._patterns(centre[some], half[some]):
                free, table = open_[here], model.table(signs)
                kinks = np.where(signs == 0, model.l1, 0.0)
                own = z[here] - (signs * model.l1) @ model.weighting.T
                part[here] = np.minimum(part[here], table.ranks(self._shortest(own, free, kinks)))
        return least

    def _shortest(self, z: Array, free: Array, kinks: Array) -> Array:
        """Bound Z_0 from below, with indicators that move by ``free`` (B, n) either way."""
        # The best bound is that in the direction of the shortest z: conditional gradients find it.
        columns = np.concatenate([self.model.pull, self.model.weighting], axis=1)
        free = np.concatenate([free, np.broadcast_to(kinks, (len(free), len(kinks)))], axis=1)
        spread = free @ np.abs(columns).T
        best, now = (np.maximum(np.abs(z) - spread, 0.0) ** 2).sum(axis=1), z
        for _ in range(_STEPS):
            size = np.linalg.norm(now, axis=1)
            unit = now / np.where(size > 0, size, 1.0)[:, None]
            seen = unit @ columns
            down = -free * np.sign(seen)
            along = (z * unit).sum(axis=1) + (down * seen).sum(axis=1)
            best = np.maximum(best, np.maximum(along, 0.0) ** 2)
            step = z + down @ columns.T - now
            length = (step * step).sum(axis=1)
            share = -(now * step).sum(axis=1) / np.where(length > 0, length, 1.0)
            now = now + np.clip(share, 0.0, 1.0)[:, None] * step
        return np.asarray(best)

    def _patterns(self, centre: Array, half: Array) -> Iterator[tuple[Array, IntArray]]:
        """Yield the patterns of signs of coefficients, (d,), and the boxes that may have them."""
        held = self.model.held
        low, high = self._range(centre, half, *self._lines[1])
        may = {-1: low < 0, 0: (low <= 0) & (high >= 0), 1: high > 0}
        for pattern in product((-1, 0, 1), repeat=len(held)):
            here = np.ones(len(centre), dtype=np.bool_)
            for j, sign in enumerate(pattern):
                here &= may[sign][:, j]
            if here.any():
                signs = np.ones(len(self.origin))
                signs[held] = pattern
                yield signs, np.flatnonzero(here)

    @property
    def _lines(self) -> list[tuple[Array, Array]]:
        """Of residuals, and of penalised coefficients: rows (N, d) and values, value - rows a."""
        model = self.model
        own = -np.eye(len(self.origin))[model.held]
        return [(model.phi, model.y), (own, np.zeros(len(own)))]

    def _forms(self, rows: Array, value: Array) -> tuple[Array, Array]:
        """Return value - rows a times σ, as forms of (σ, v), and the sizes of their terms."""
        forms = np.column_stack([value - rows @ self.origin, -(rows @ self.back)])
        moves = np.column_stack([self.origin, self.back])
        sizes = np.abs(rows) @ np.abs(moves)
        sizes[:, 0] += np.abs(value)
        return forms, sizes

    def _range(self, centre: Array, half: Array, rows: Array, value: Array) -> tuple[Array, Array]:
        """Return bounds of value - rows a over boxes, (B, N), up to positive factors."""
        forms, sizes = self._forms(rows, value)
        cut = forms.shape[1]
        near, reach = centre[:, :cut], half[:, :cut]
        middle = near @ forms.T
        reach = reach @ np.abs(forms).T + _PAD * ((np.abs(near) + reach) @ sizes.T)
        low, high = middle - reach, middle + reach
        slope = rows @ self.free
        slope[np.abs(slope) <= _STILL * np.abs(slope).max(axis=0, initial=0.0)] = 0.0
        if slope.any():
            sigma = centre[:, :1] - half[:, :1], centre[:, :1] + half[:, :1]
            with np.errstate(divide="ignore", invalid="ignore"):
                low = np.where(low == 0, 0.0, low / np.where(low < 0, *sigma))
                high = np.where(high == 0, 0.0, high / np.where(high > 0, *sigma))
            ends = self._apart(centre, half)
            low, high = low - _largest(ends, slope), high + _largest(ends, -slope)
        return low, high

    def _apart(self, centre: Array, half: Array) -> Array:
        """Return the ends of w, (2, B, f)."""
        cut = 1 + self.back.shape[1]
        low, high = centre[:, cut:] - half[:, cut:], centre[:, cut:] + half[:, cut:]
        omega = np.stack([np.minimum(low, 1 - EPS), np.maximum(high, EPS - 1)])  # never inf - inf
        with np.errstate(divide="ignore"):
            return np.asarray(omega / (1 - np.abs(omega)))


def _largest(ends: Array, slope: Array) -> Array:
    """Return the largest values of slope (N, f) times w between ends (2, B, f), (B, N)."""
    with np.errstate(invalid="ignore"):
        values = ends[:, :, None] * slope
    return np.asarray(np.where(slope == 0, 0.0, values.max(axis=0)).sum(axis=-1))
