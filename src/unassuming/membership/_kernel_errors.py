"""Errors of computed kernel values, where the terms of fitted values cancel.

A kernel value in double precision is rounded. Coefficients whose terms cancel multiply its error:
far along a nearly null direction of K it moves fitted values by as much as the noise. The rank is
then that of the computed values or that of the kernel itself, which need not be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from unassuming._rounding import length
from unassuming._typing import Array
from unassuming.objectives import Moves, Quadratic, entry_errors


@final
@dataclass(frozen=True, eq=False)
class KernelErrors:
    """What errors of kernel values may change in Z_i - Z_0."""

    objective: Quadratic
    entries: Array  # (n, n): bounds on the errors of K

    @classmethod
    def of(cls, objective: Quadratic) -> KernelErrors | None:
        """Return them, or None for features and for a kernel matrix that was given."""
        entries = entry_errors(objective.design)
        if entries is None:
            return None
        return cls(objective, entries[:, int(objective.design.intercept) :])

    def of_values(self, a: Array) -> Array:
        """Bound the errors of fitted values of a candidate (d,), shape (n,)."""
        return np.asarray(self.entries @ np.abs(a[int(self.objective.design.intercept) :]))

    @np.errstate(all="ignore")
    def change(self, a: Array, sides: Sides, moves: Moves) -> Array:
        """Bound what they change in Z_i - Z_0 of one candidate (d,), shape (k,).

        With f = Φa, in units of the roots of the weights,

            Z_i - Z_0 = ⟨(G_i - I) r, v_i + v_0⟩,    v_i = S G_i r - (I - S) f.

        To first order dZ = alpha zᵀ dK z - 2 slopeᵀ dK a with z of x = (b, z) and slope = GᵀWv, as
        in `KernelRounding`. Fitted values move by e = E|a| at most. S = A(A + alpha)⁻¹ moves by
        ‖E‖/alpha at most, and by one at most, since 0 <= S <= I; an intercept is projected out.
        What is left are products of two such changes.
        """
        o, first = self.objective, int(self.objective.design.intercept)
        root, own, alpha = np.sqrt(o.w), a[first:], o.lam * o.n
        g, v, z, step = sides.g, sides.v, sides.x[:, first:], sides.step[:, first:]
        slope = moves.back((o.w * v[1:])[None])[0] - o.w * v[0]
        outer = alpha * (step[:, :, None] * z[1:, None, :] + z[0][:, None] * step[:, None, :])
        across = slope[:, :, None] * own
        linear = np.abs(outer - across - np.swapaxes(across, 1, 2)) * self.entries
        e = self.of_values(a)
        both = length(root * (e[moves.rows] + e))  # of (G_i - I) r, and of (G_i + I) r
        rest = both + 2 * length(root * e)
        turned = min(1.0, float(np.linalg.norm(self.entries) * o.w.max() / alpha))
        moved = length(root * (g[1:] - g[0]))
        seen = length(root * (g[1:] + g[0] + 2 * (o.y - g[0])))
        second = both * rest + turned * (moved * rest + both * (seen + rest))
        return np.asarray(linear.sum(axis=(1, 2)) + second + turned**2 * moved * seen)


class Sides(NamedTuple):
    """Both sides of a comparison in double precision, r and G_i r in the rows, and so on."""

    g: Array  # (1 + k, n)
    v: Array  # (1 + k, n): Φx
    x: Array  # (1 + k, d)
    step: Array  # (k, d): x_i - x_0
