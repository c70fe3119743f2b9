"""Coefficients whose fitted values stay within [-1, 1], and what that alone bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog, nnls

from unassuming._rounding import EPS, exceeds
from unassuming._typing import Array, BoolArray

OUTWARD = 1 + 1e-11
"""What rounding, and that of the edge of [-1, 1], is worth: bounds are moved outward by it."""


@dataclass(frozen=True, eq=False)
class Admissible:
    """{a : |Φa| <= 1}, in coordinates x on the range of Φ: Φa = Qx with orthonormal columns.

    Attributes
    ----------
    phi : array of shape (n, d)
    q : array of shape (n, r)
    back, forward : arrays of shape (d, r) and (r, d)
        a = back x, of least norm, and x = forward a.
    null : array of shape (d, d - r)
        Directions that no fitted value sees.
    inputs_only : bool
        Whether values at the inputs are all that is determined: a bias beside a kernel of full
        rank leaves others open, however little they move, and rounding may hide that.
    """

    phi: Array
    q: Array
    back: Array
    forward: Array
    null: Array
    inputs_only: bool

    @classmethod
    def of(cls, phi: Array, distinct: int = 0) -> Admissible:
        """Decompose Φ; ``distinct`` is the number of values of f that are free, if it is known."""
        u, s, vt = svd(phi, full_matrices=True)
        r = int((s > max(phi.shape) * EPS * s[0]).sum())
        s = s[:r]
        return cls(phi, u[:, :r], vt[:r].T / s, s[:, None] * vt[:r], vt[r:].T, 0 < distinct != r)

    def hidden(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) fitted values do not determine: nothing bounds them."""
        if self.inputs_only:
            return ~self.at_inputs(g)
        unseen = (g @ self.null) @ self.null.T
        return exceeds(unseen, g)

    def bounds(self, g: Array) -> Array:
        """Return upper bounds of |gᵀa|, (N,); infinite for functionals that are hidden.

        The linear programme max gᵀa subject to |Φa| <= 1 has the dual min ‖λ‖₁ subject to
        Φᵀλ = g. What its solver returns is made feasible, and any feasible λ is a bound.
        """
        functionals = g @ self.back
        found = np.array([self._multipliers(f) for f in functionals]) * OUTWARD
        found = np.where(self.at_inputs(g), np.minimum(found, OUTWARD), found)
        return np.where(self.hidden(g), np.inf, found)

    def at_inputs(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) are values at inputs, the rows of Φ."""
        found = np.zeros(len(g), dtype=np.bool_)
        for row in self.phi:
            found |= np.abs(g - row).max(axis=1) <= 1e-12 * np.abs(row).max()
        return found

    def _multipliers(self, f: Array) -> float:
        """Return ‖λ‖₁ of a λ with Qᵀλ = f, as small as can be."""
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

        Lawson and Hanson's least distance programme: one nonnegative least squares problem. It is
        a place to start from, and rounding leaves it within [-1, 1].
        """
        G = pull @ self.phi + push  # z moves by -G
        _, s, vt = svd(G @ self.back, full_matrices=False)
        keep = s > max(G.shape) * EPS * s[0]
        steps = self.back @ (vt[keep].T / s[keep])  # unit changes of z
        move, f = self.phi @ steps, self.phi @ a
        E = np.vstack([np.concatenate([-move, move]).T, np.concatenate([f - 1, -f - 1])])
        target = np.zeros(len(E))
        target[-1] = 1.0
        try:
            rest = E @ nnls(E, target)[0] - target
            found = a - steps @ (rest[:-1] / rest[-1])
        except (RuntimeError, ZeroDivisionError):  # it did not come to an end
            found = a
        largest = float(np.abs(self.phi @ found).max())
        return np.asarray(found * ((1 - 1e-9) / max(largest, 1.0)))
