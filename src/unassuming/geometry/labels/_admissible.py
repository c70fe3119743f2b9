"""Coefficients whose fitted values lie in [-1, 1], as E[y|x] of labels ±1 does.

This constraint alone bounds every functional that is determined by the fitted values, by linear
programming duality.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import final

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog, nnls

from unassuming._factors import factor
from unassuming._rounding import column_units, exceeds, gamma, rank_cut
from unassuming._typing import Array, BoolArray

OUTWARD = 1 + 1e-11
"""Bounds are multiplied by this, to allow for rounding and for the tolerance of [-1, 1]."""
_KNOWN = 0.1
"""Coordinates are of use if their errors move fitted values in [-1, 1] by at most this."""
_SAME = 1e-12
"""Kernel values at one input differ by rounding if they are computed among other inputs."""


@final
@dataclass(frozen=True, eq=False)
class Admissible:
    """{a : |Φa| <= 1}, in coordinates x on the range of Φ: Φa = Qx with orthonormal columns."""

    phi: Array  # (n, d): Φ
    q: Array  # (n, r): Q
    back: Array  # (d, r): a = back x
    null: Array  # (d, f): directions of length one that change no fitted value
    blind: Callable[[Array], BoolArray]  # which functionals (N, d) these leave as they are
    rank: int  # of Φ in exact arithmetic, at most
    inputs_only: bool
    """Whether only values at the inputs are determined.

    A bias beside a kernel of full rank leaves other values undetermined, however little they
    change, and rounding may hide that."""
    slack: float
    """Functionals that differ from a row of Φ by less, relative to the row, count as that row.

    Zero for features: coefficients may be as large as a feature is small."""

    @classmethod
    def of_features(cls, phi: Array) -> Admissible:
        """Decompose a Φ whose numbers are given. Its rank is that of exact arithmetic."""
        found = factor(phi)
        r = found.back.shape[1] if found.decided else 0
        back, q = found.basis[:, :r], found.columns[:, :r]
        rank = found.back.shape[1]
        return cls(phi, q, back, _of_length_one(found.null), found.blind, rank, r < rank, 0.0)

    @classmethod
    def of_kernel(cls, phi: Array, rank: int, *, inputs_only: bool) -> Admissible:
        """Decompose a computed Φ whose rank is known, up to rounding of its largest numbers."""
        unit = column_units(phi)
        u, s, vt = svd(phi / unit, full_matrices=True)
        r = int((s > rank_cut(phi.shape) * s[0]).sum())
        back, null = vt[:r].T / s[:r] / unit[:, None], vt[r:][::-1].T
        blind = partial(_blind, null, unit)
        free = _of_length_one(null / unit[:, None])
        only = inputs_only or r != rank
        return cls(phi, u[:, :r], back, free, blind, rank, only, _SAME)

    @cached_property
    def off(self) -> Array:
        """Bounds on the errors of Q as the product of Φ and ``back``, (n, r)."""
        size = np.abs(self.phi) @ np.abs(self.back)
        return np.asarray(np.abs(self.phi @ self.back - self.q) + 2 * gamma(len(self.back)) * size)

    @cached_property
    def resolved(self) -> bool:
        """Whether the coordinates represent all fitted values, up to small errors."""
        return self.q.shape[1] == self.rank and self._outward - OUTWARD <= _KNOWN

    @cached_property
    def _outward(self) -> float:
        """As `OUTWARD`, with the errors of Q: |x| <= √n in every coordinate."""
        n, r = self.q.shape
        return float(OUTWARD + 2 * r * np.sqrt(n) * self.off.max(initial=0.0))

    def hidden(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) the fitted values do not determine: they are unbounded."""
        if self.inputs_only or not self.resolved:
            return ~self.at_inputs(g)
        return ~self.blind(g)

    def bounds(self, g: Array) -> Array:
        """Return upper bounds of |gᵀa|, (N,); infinite for hidden functionals.

        The linear programme max gᵀa subject to |Φa| <= 1 has the dual min ‖λ‖₁ subject to
        Φᵀλ = g. The solver's answer is made feasible, and every feasible λ gives a bound.
        """
        if not self.resolved:
            return np.where(self.at_inputs(g), OUTWARD, np.inf)
        lost = 2 * gamma(len(self.back)) * (np.abs(g) @ np.abs(self.back)).sum(axis=1)
        found = self.bounds_of(g @ self.back) + np.sqrt(len(self.q)) * lost
        found = np.where(self.at_inputs(g), np.minimum(found, OUTWARD), found)
        return np.where(self.hidden(g), np.inf, found)

    def bounds_of(self, f: Array) -> Array:
        """Return upper bounds of |fᵀx| for functionals f (N, r) of the coordinates."""
        # In units of their own: the solver's tolerances are absolute.
        unit = column_units(f.T)
        return (
            np.array([self._multipliers(one) for one in f / unit[:, None]]) * unit * self._outward
        )

    def at_inputs(self, g: Array) -> BoolArray:
        """Which functionals gᵀa (N, d) are values at inputs, the rows of Φ."""
        found = np.zeros(len(g), dtype=np.bool_)
        for row in self.phi:
            found |= np.abs(g - row).max(axis=1) <= self.slack * np.abs(row).max()
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
        keep = s > rank_cut(G.shape) * s.max(initial=0.0)
        steps = self.back @ (vt[keep].T / s[keep])  # unit changes of z
        move, f = self.phi @ steps, self.phi @ a
        E = np.vstack([np.concatenate([-move, move]).T, np.concatenate([f - 1, -f - 1])])
        target = np.zeros(len(E))
        target[-1] = 1.0
        found = a  # unless the solver finds a better one
        with suppress(RuntimeError):
            rest = E @ nnls(E, target)[0] - target
            if rest[-1] != 0:
                found = a - steps @ (rest[:-1] / rest[-1])
        largest = float(np.abs(self.phi @ found).max())
        return np.asarray(found * ((1 - 1e-9) / max(largest, 1.0)))


def _blind(null: Array, unit: Array, g: Array) -> BoolArray:
    """Which functionals (N, d) ignore null vectors of Φ / unit, orthonormal and up to rounding."""
    scaled = g / unit
    return ~exceeds((scaled @ null) @ null.T, scaled)


def _of_length_one(columns: Array) -> Array:
    size = np.abs(columns).max(axis=0, initial=0.0)
    return np.asarray(columns / size / np.linalg.norm(columns / size, axis=0))
