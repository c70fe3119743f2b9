"""Outer bounds of a label region with linear f (docs/theory.md 8).

E[y|x] lies in [-1, 1] at the inputs, which alone bounds every functional that fitted values
determine. Over a box of candidates only the fresh labels whose U lies between the bounds of
(1 + f)/2 are uncertain, and Z_i - Z_0 is affine given the labels. This bounds the number of sets
that hold a point of the box, and a box with fewer than q is discarded.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog, nnls

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import EPS, Factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.branch_and_bound import (
    GAP,
    LARGEST_RANK,
    NODES,
    BoxSpace,
    Support,
    branch_and_bound,
)
from unassuming.geometry.labels.lines import LabelModel

_OUTWARD = 1 + 1e-9
_PAD = 1e-11  # more than the rounding of fitted values within [-1, 1]
_BATCH_BYTES = 2**25


@final
@dataclass(frozen=True, eq=False)
class Admissible:
    """{a : |Φa| <= 1}, given the factor of Φ without weights and penalty."""

    phi: Array
    factor: Factor

    def bounds(self, g: Array) -> Array:
        """Return upper bounds of |gᵀa|, (N,); infinite where fitted values do not determine gᵀa.

        The linear programme max gᵀa subject to |Φa| <= 1 has the dual min ‖λ‖₁ subject to
        Φᵀλ = g. The solver's answer is made feasible, and every feasible λ gives a bound.
        """
        found = np.array([self._multipliers(one) for one in g @ self.factor.back])
        return np.where(self.factor.unseen(g), np.inf, _OUTWARD * found)

    def _multipliers(self, f: Array) -> float:
        """Return ‖λ‖₁ of a λ with Qᵀλ = f, as small as the solver finds."""
        Q, unit = self.factor.Q, np.abs(f).max(initial=0.0) or 1.0
        found = [Q @ f]
        if Q.shape[1] < len(Q):
            both = np.concatenate([Q.T, -Q.T], axis=1)
            answer = linprog(np.ones(2 * len(Q)), A_eq=both, b_eq=f / unit, bounds=(0, None))
            if answer.x is not None:
                plus, minus = np.split(unit * answer.x, 2)
                found.append(plus - minus + Q @ (f - Q.T @ (plus - minus)))
        return float(min(np.abs(one).sum() for one in found))

    def nearest(self, a: Array, model: LabelModel) -> Array:
        """Return the admissible coefficients with the smallest change of z, (d,).

        Lawson and Hanson's least distance programme: one nonnegative least squares problem. The
        result is shrunk a little, so that rounding leaves its fitted values within [-1, 1].
        """
        moves = (model.pull @ self.phi + model.push) @ self.factor.back
        _, s, vt = svd(moves, full_matrices=False)
        keep = s > 1e-11 * s.max(initial=0.0)
        steps = self.factor.back @ (vt[keep].T / s[keep])  # unit changes of z
        move, f = self.phi @ steps, self.phi @ a
        E = np.vstack([np.concatenate([-move, move]).T, np.concatenate([f - 1, -f - 1])])
        target, found = np.append(np.zeros(len(E) - 1), 1.0), a  # unless the solver finds better
        with suppress(RuntimeError):
            rest = E @ nnls(E, target)[0] - target
            if rest[-1] != 0:
                found = a - steps @ (rest[:-1] / rest[-1])
        return np.asarray(found * ((1 - 1e-9) / max(float(np.abs(self.phi @ found).max()), 1.0)))


@final
@dataclass(frozen=True, eq=False)
class LabelBoxes(BoxSpace):
    """Boxes of coordinates x, a = back x, in which z_0 = pull y - diag(s) x as far as it moves."""

    model: LabelModel
    f: Array  # (n, r): fitted values are f x
    back: Array  # (d, r)
    pull: Array  # (k, n): that of the model, rotated: row j moves with x_j, rows beyond r do not
    s: Array  # (r,)
    corner: Array  # (r,): |x| <= corner wherever |f x| <= 1

    @classmethod
    def of(cls, model: LabelModel, admissible: Admissible) -> LabelBoxes | None:
        """Choose the coordinates, or return None if boxes do not apply."""
        back, null = admissible.factor.back, admissible.factor.null
        r, seen = back.shape[1], model.pull.T @ model.push
        blind = np.abs(seen @ null) <= 1e-9 * (np.abs(seen) @ np.abs(null))
        if model.curved or r > LARGEST_RANK or len(model.pull) < r or not blind.all():
            return None
        u, s, vt = svd((model.pull @ model.phi + model.push) @ back)
        unit = np.where(s > 1e-8 * s[0], s, s[0])
        corner = _OUTWARD * np.array([admissible._multipliers(one) for one in unit[:, None] * vt])
        back = back @ (vt.T / unit)
        return cls(model, model.phi @ back, back, u.T @ model.pull, s / unit, corner)

    def support(
        self,
        g: Array,
        q: int,
        nearby: Callable[[Array], Array],
        nodes: int = NODES,
        gap: float = GAP,
        within: Array | None = None,
    ) -> Support:
        """Bound gᵀa over the region, g (N, d), as `branch_and_bound` does.

        ``within`` restricts the region to the ball ‖within x‖ <= 1.
        """

        def keeps(centre: Array, half: Array) -> BoolArray:
            keep = np.ones(len(centre), dtype=np.bool_)
            if within is not None:
                least = np.abs(centre @ within.T) - half @ np.abs(within).T
                keep = (np.maximum(least, 0.0) ** 2).sum(axis=1) <= _OUTWARD
            keep[keep] = self.possible(centre[keep], half[keep]) >= q
            return keep

        return branch_and_bound(self, keeps, g, nearby, nodes, gap)

    def first(self) -> tuple[Array, Array]:
        """Return the box that holds all admissible coefficients."""
        return np.zeros((1, len(self.s))), self.corner[None]

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
        (sets, n), count = self.model.turning.shape, np.empty(len(centre), dtype=np.intp)
        for some in slices(len(centre), rows_that_fit(_BATCH_BYTES, sets * n)):
            count[some] = self.holding(centre[some], half[some]).sum(axis=1)
        return count

    def holding(self, centre: Array, half: Array) -> BoolArray:
        """Return which sets may hold a point of each box, (B, m - 1); none that does is missed."""
        model, (k, n) = self.model, self.pull.shape
        middle, reach = centre @ self.f.T, half @ np.abs(self.f).T + _PAD
        inside = (np.abs(middle) <= 1 + reach).all(axis=1)
        every = np.zeros((len(centre), len(model.wins)), dtype=np.bool_)
        low, high = (middle - reach)[inside], (middle + reach)[inside]
        sure, may = model.turning < low[:, None], model.turning < high[:, None]
        # Each entry of p = ΨL(y⁽ⁱ⁾ - y) lies between these, whatever the uncertain labels are.
        up, down = 2 * np.maximum(self.pull, 0).T, 2 * np.minimum(self.pull, 0).T
        base = self.pull @ (1 + model.y)
        first, last = sure.astype(np.float64), may.astype(np.float64)
        least, most = first @ up + last @ down - base, last @ up + first @ down - base
        z, spread = np.tile(2 * self.pull @ model.y, (len(first), 1)), np.zeros((len(first), k))
        z[:, : len(self.s)] -= 2 * self.s * centre[inside]
        spread[:, : len(self.s)] = 2 * self.s * half[inside]
        z, spread = z[:, None], spread[:, None]
        # p(p + 2z_0) is convex in p and affine in z_0: it is largest at a corner.
        gap = np.maximum(
            least * (least + z) + np.abs(least) * spread, most * (most + z) + np.abs(most) * spread
        ).sum(axis=-1)
        size = np.linalg.norm(np.maximum(np.abs(least), np.abs(most)), axis=-1)
        error = 16 * EPS * (n + k) * model.norm * np.sqrt(n)
        tolerance = error * (2 * size + np.linalg.norm(np.abs(z) + spread, axis=-1) + 2 * error)
        # Where p is zero for all labels, and these are certain, the tie order decides.
        tied = size <= error
        holds = np.where(tied & (sure == may).all(axis=-1), model.wins, tied | (gap >= -tolerance))
        # The entries of p depend on each other. This bound is exact for one uncertain label.
        box, which = np.nonzero(holds & ~tied)
        p, w = ((most + sign * least)[box, which] / 2 for sign in (1, -1))
        z, spread = z[box, 0], spread[box, 0]
        turned = np.abs((2 * p + z) @ self.pull) * (sure[box, which] != may[box, which])
        together = (p * (p + z) + w * w + (np.abs(p) + w) * spread).sum(axis=1) + turned.sum(axis=1)
        holds[box, which] = together >= -tolerance[box, which]
        every[inside] = holds
        return every
