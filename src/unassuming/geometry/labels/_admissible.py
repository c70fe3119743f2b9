"""Coefficients whose fitted values lie in [-1, 1], as E[y|x] of labels ±1 does.

This constraint alone bounds every functional that is determined by the fitted values, by linear
programming duality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog, nnls

from unassuming._rounding import exceeds, rank_cut
from unassuming._typing import Array, BoolArray

OUTWARD = 1 + 1e-11
"""Bounds are multiplied by this, to allow for rounding and for the tolerance of [-1, 1]."""


@final
@dataclass(frozen=True, eq=False)
class Admissible:
    """{a : |Φa| <= 1}, in coordinates x on the range of Φ: Φa = Qx with orthonormal columns."""

    phi: Array  # (n, d): Φ
    q: Array  # (n, r): Q
    back: Array  # (d, r): a = back x, of least norm
    null: Array  # (d, d - r): directions that change no fitted value
    inputs_only: bool
    """Whether only values at the inputs are determined.

    A bias beside a kernel of full rank leaves other values undetermined, however little they
    change, and rounding may hide that."""

    @classmethod
    def of(cls, phi: Array, distinct: int = 0) -> Admissible:
        """Decompose Φ; ``distinct`` is the number of values of f that are free, if it is known."""
        u, s, vt = svd(phi, full_matrices=True)
        r = int((s > rank_cut(phi.shape) * s[0]).sum())
        return cls(phi, u[:, :r], vt[:r].T / s[:r], vt[r:].T, 0 < distinct != r)

    def hidden(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) the fitted values do not determine: they are unbounded."""
        if self.inputs_only:
            return ~self.at_inputs(g)
        return exceeds((g @ self.null) @ self.null.T, g)

    def bounds(self, g: Array) -> Array:
        """Return upper bounds of |gᵀa|, (N,); infinite for hidden functionals.

        The linear programme max gᵀa subject to |Φa| <= 1 has the dual min ‖λ‖₁ subject to
        Φᵀλ = g. The solver's answer is made feasible, and every feasible λ gives a bound.
        """
        found = np.array([self._multipliers(f) for f in g @ self.back]) * OUTWARD
        found = np.where(self.at_inputs(g), np.minimum(found, OUTWARD), found)
        return np.where(self.hidden(g), np.inf, found)

    def at_inputs(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) are values at inputs, the rows of Φ."""
        found = np.zeros(len(g), dtype=np.bool_)
        for row in self.phi:
            found |= np.abs(g - row).max(axis=1) <= 1e-12 * np.abs(row).max()
        return found

    def _multipliers(self, f: Array) -> float:
        """Return ‖λ‖₁ of a λ with Qᵀλ = f, as small as the solver finds."""
        n, r = self.q.shape
        best = self.q @ f
        if r < n:
            both = np.concatenate([self.q.T, -self.q.T], axis=1)
            answer = linprog(np.ones(2 * n), A_eq=both, b_eq=f, bounds=(0, None), method="highs")
            if answer.x is not None:
                found = answer.x[:n] - answer.x[n:]
                found = found + self.q @ (f - self.q.T @ found)
                best = min(best, found, key=lambda part: float(np.abs(part).sum()))
        return float(np.abs(best).sum())

    def nearest(self, a: Array, pull: Array, push: Array) -> Array:
        """Return the admissible coefficients with the smallest change of z = pull r - push a, (d,).

        Lawson and Hanson's least distance programme: one nonnegative least squares problem. The
        result is shrunk a little, so that rounding leaves its fitted values within [-1, 1].
        """
        G = pull @ self.phi + push  # z moves by -G
        _, s, vt = svd(G @ self.back, full_matrices=False)
        keep = s > rank_cut(G.shape) * s[0]
        steps = self.back @ (vt[keep].T / s[keep])  # unit changes of z
        move, f = self.phi @ steps, self.phi @ a
        E = np.vstack([np.concatenate([-move, move]).T, np.concatenate([f - 1, -f - 1])])
        target = np.zeros(len(E))
        target[-1] = 1.0
        try:
            rest = E @ nnls(E, target)[0] - target
            found = a - steps @ (rest[:-1] / rest[-1])
        except (RuntimeError, ZeroDivisionError):  # the solver did not converge
            found = a
        largest = float(np.abs(self.phi @ found).max())
        return np.asarray(found * ((1 - 1e-9) / max(largest, 1.0)))
