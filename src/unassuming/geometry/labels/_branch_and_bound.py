"""Outer bounds of a label region by branch and bound over boxes (docs/theory.md 8.2).

Over a box of candidates only the fresh labels whose U lies between the bounds of (1 + f)/2 are
uncertain, and Z_i - Z_0 is affine given the labels. This bounds the number of sets that hold a
point of the box, and a box with fewer than q is discarded. The remaining boxes cover the region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import svd

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import gamma
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._branch_and_bound import (
    GAP,
    LARGEST_RANK,
    NODES,
    BoxSpace,
    Support,
    branch_and_bound,
)
from unassuming.geometry.labels._admissible import Admissible
from unassuming.geometry.labels._lines import LabelModel

_PAD = 4e-12  # more than the rounding of sums of fitted values and the tolerance of [-1, 1]
_BATCH_BYTES = 2**25


@final
@dataclass(frozen=True, eq=False)
class Boxes(BoxSpace):
    """Boxes of coordinates x with a = back x, in which z_0 = z - diag(s) x as far as it moves."""

    model: LabelModel
    f: Array  # (n, r): fitted values are f x
    back: Array  # (d, r)
    pull: Array  # (k, n): that of the model, rotated: row j moves with x_j, rows beyond r do not
    s: Array  # (r,)
    corner: Array  # (r,): |x| <= corner wherever |f x| <= 1
    pad: Array  # (n,): more than the errors of fitted values, and the tolerance of [-1, 1]
    blur: Array  # (k,): bounds on the errors of z_0
    error: float  # a bound of the errors of Z_i - Z_0 that come from those of ΨL
    vanish: Callable[[Array], BoolArray]  # which changes of labels (N, n) change no z at all

    @classmethod
    def of(
        cls,
        model: LabelModel,
        admissible: Admissible,
        vanish: Callable[[Array], BoolArray],
        penalty: Array | None = None,
    ) -> Boxes | None:
        """Choose the coordinates, or return None if boxes do not apply.

        ``vanish`` says for which changes δ of labels ΦᵀWδ is zero in exact arithmetic, and
        ``penalty`` is λP, if Ψ = H^{-1/2}.
        """
        r, k = admissible.back.shape[1], len(model.pull)
        if not admissible.resolved or r > LARGEST_RANK or k < r:
            return None
        if not model.follows_values(admissible.null):
            return None
        moves = (model.pull @ model.phi + model.push) @ admissible.back
        u, s, vt = svd(moves)
        unit = np.where(s > 1e-8 * s[0], s, s[0])
        back = admissible.back @ (vt.T / unit)
        corner = admissible.bounds_of(unit[:, None] * vt)
        size = np.abs(model.phi) @ np.abs(back)
        carried = admissible.carried(back)
        pad = _PAD + (2 * gamma(len(back)) * size + carried) @ corner
        size = np.abs(model.pull) @ size + np.abs(model.push) @ np.abs(back)
        blur = np.abs(u.T @ moves @ (vt.T / unit) - np.eye(k, r) * (s / unit))
        blur += 2 * gamma(sum(model.phi.shape) + k) * (np.abs(u.T) @ size)
        blur += np.abs(u.T) @ (np.abs(model.pull) @ carried)
        turned = u.T @ model.pull
        error = _of_the_smoother(model, penalty, back, corner)
        parts = (model, model.phi @ back, back, turned, s / unit, corner, pad, blur @ corner)
        return cls(*parts, error, vanish)

    def support(
        self,
        g: Array,
        q: int,
        nearby: Callable[[Array], Array],
        nodes: int = NODES,
        gap: float = GAP,
        within: Array | None = None,
    ) -> Support:
        """Bound gᵀa over the region, g (N, d), and return members that come near the bounds.

        ``nearby`` returns members near given coefficients, (N, d) -> (M, d). A bound is settled if
        a member comes as close to it as the gap. The search stops when all bounds are settled, or
        before it has examined more than ``nodes`` boxes. If no box is left, the region is empty.
        ``within`` restricts the region to the ball ‖within x‖ <= 1.
        """

        def keeps(centre: Array, half: Array) -> BoolArray:
            keep = (
                np.ones(len(centre), dtype=np.bool_)
                if within is None
                else _meets(within, centre, half)
            )
            keep[keep] = self.possible(centre[keep], half[keep]) >= q
            return keep

        return branch_and_bound(self, keeps, g, nearby, nodes, gap)

    def first(self) -> tuple[Array, Array]:
        """Return the box that holds all admissible coefficients."""
        return np.zeros((1, len(self.s))), self.corner[None, :]

    def most(self, centre: Array, half: Array, g: Array) -> Array:
        """Return the largest values of gᵀa, g (N, d), over boxes (B, r): shape (B, N)."""
        both = g @ self.back
        return np.asarray(centre @ both.T + half @ np.abs(both).T)

    def points(self, centre: Array) -> Array:
        """Return the coefficients at the centres of boxes."""
        return np.asarray(centre @ self.back.T)

    def margin(self, g: Array) -> Array:
        """Return more than the rounding errors of the values of g (N, d), (N,)."""
        return np.asarray(1e-11 * (np.abs(g) @ np.abs(self.back) @ self.corner))

    def possible(self, centre: Array, half: Array) -> IntArray:
        """Bound the number of sets that hold a point of each box, boxes of shape (B, r)."""
        (sets, n), count = self.model.uniforms.shape, np.empty(len(centre), dtype=np.intp)
        for some in slices(len(centre), rows_that_fit(_BATCH_BYTES, sets * n)):
            count[some] = self.holding(centre[some], half[some]).sum(axis=1)
        return count

    def holding(self, centre: Array, half: Array) -> BoolArray:
        """Return which sets may hold a point of each box, (B, m - 1); none that does is missed."""
        model, k = self.model, len(self.pull)
        middle, reach = centre @ self.f.T, half @ np.abs(self.f).T + self.pad
        low, high = middle - reach, middle + reach
        inside = ((low <= 1) & (high >= -1)).all(axis=1)
        every = np.zeros((len(centre), model.m - 1), dtype=np.bool_)
        centre, half, low, high = centre[inside], half[inside], low[inside], high[inside]
        sure = model.uniforms < (1 + low[:, None, :]) / 2
        may = model.uniforms < (1 + high[:, None, :]) / 2
        by_sure, by_may = (part.astype(np.float64) @ self._weights for part in (sure, may))
        # Each entry of p = ΨL(y⁽ⁱ⁾ - y) lies between these, whatever the uncertain labels are.
        least = by_sure[..., :k] + by_may[..., k:] - self._base
        most = by_may[..., :k] + by_sure[..., k:] - self._base
        z, spread = (np.tile(one, (len(centre), 1)) for one in (self.pull @ model.y, self.blur))
        z[:, : len(self.s)] -= self.s * centre
        spread[:, : len(self.s)] += self.s * half
        z, spread = 2 * z[:, None, :], 2 * spread[:, None, :]
        # p(p + 2z) is convex in p and affine in z: it is largest at a corner.
        gap = np.maximum(
            least * (least + z) + np.abs(least) * spread, most * (most + z) + np.abs(most) * spread
        ).sum(axis=-1)
        size = np.maximum(np.abs(least), np.abs(most))
        error = 1e-12 * size + model.rounding
        tolerance = (error * (2 * size + np.abs(z) + spread)).sum(axis=-1) + self.error
        # Where p is zero for all labels the tie order decides: the fresh labels are the observed
        # ones, or these exchanged between equal inputs.
        tied = (size <= model.rounding).all(axis=-1)
        holds = np.where(tied, True, gap >= -tolerance)
        self._order(holds, tied & ~model.tie_wins, sure, may)
        # The entries of p depend on each other. This bound is exact for one uncertain label.
        box, which = np.nonzero(holds)
        p = (least[box, which] + most[box, which]) / 2
        w = (most[box, which] - least[box, which]) / 2
        z, spread = z[box, 0], spread[box, 0]
        turned = np.abs((2 * p + z) @ self.pull)
        turned *= sure[box, which] != may[box, which]
        together = (p * (p + z) + w * w + (np.abs(p) + w) * spread).sum(axis=1)
        together += turned.sum(axis=1)
        holds[box, which] = together >= -tolerance[box, which]
        every[inside] = holds
        return every

    def _order(self, holds: BoolArray, lost: BoolArray, sure: BoolArray, may: BoolArray) -> None:
        """Let the tie order discard the sets where labels are certain, and z_i = z_0 exactly."""
        lost = lost & (sure == may).all(axis=-1)
        box, which = np.nonzero(lost)
        if len(box):
            change = sure[box, which] - (1 + self.model.y) / 2
            distinct, back = np.unique(change, axis=0, return_inverse=True)
            holds[box, which] = ~self.vanish(distinct)[back.reshape(-1)]

    @cached_property
    def _base(self) -> Array:
        """The constant in p, if a label +1 counts 2 and a label -1 counts 0."""
        return np.asarray(self.pull @ (1 + self.model.y))

    @cached_property
    def _weights(self) -> Array:
        """The positive and the negative part of 2ΨL, in columns: the weights of the labels in p."""
        return 2 * np.concatenate([np.maximum(self.pull, 0.0), np.minimum(self.pull, 0.0)]).T


def _of_the_smoother(model: LabelModel, penalty: Array | None, back: Array, corner: Array) -> float:
    """Bound the errors of Z_i - Z_0 by those of the smoother.

    With h_i the stacked residuals [(y_i - f)/√n; -(λP)^{1/2}a], Z_i - Z_0 changes by
    (h_i - h_0)ᵀD(h_i + h_0) if the projector on the range of the stacked design changes by D. With
    weights its upper rows are W^{1/2}(y_i - f)/√n.
    """
    if model.whitened is None or model.row_weights is None or penalty is None:
        return 0.0
    heaviest = np.sqrt(len(model.y) * float(model.row_weights.max()))
    held = np.sqrt(max(float(corner @ np.abs(back.T @ penalty @ back) @ corner), 0.0))
    return float(model.whitened * 2 * heaviest * (4 * heaviest + 2 * held))


def _meets(ball: Array, centre: Array, half: Array) -> BoolArray:
    """Which boxes may hold a point with ‖ball x‖ <= 1."""
    least = np.maximum(np.abs(centre @ ball.T) - half @ np.abs(ball).T, 0.0)
    return np.asarray((least**2).sum(axis=1) <= 1 + 1e-9)
