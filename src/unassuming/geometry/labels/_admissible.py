"""Coefficients whose fitted values lie in [-1, 1], as E[y|x] of labels ±1 does.

This constraint alone bounds every functional that is determined by the fitted values, by linear
programming duality.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import svd
from scipy.optimize import linprog, nnls

from unassuming._factors import factor
from unassuming._rounding import column_units, gamma, rank_cut
from unassuming._typing import Array, BoolArray

OUTWARD = 1 + 1e-11
"""Bounds are multiplied by this, to allow for rounding and for the tolerance of [-1, 1]."""
_KNOWN = 0.1
"""Coordinates are of use if their errors move fitted values in [-1, 1] by at most this."""


@final
@dataclass(frozen=True, eq=False)
class Known:
    """What is known of N functionals in exact arithmetic.

    Attributes
    ----------
    at_inputs : boolean array of shape (N,)
        Which are certainly fitted values.
    determined : boolean array of shape (N,)
        Which certainly depend on fitted values alone.
    errors : array of shape (N, d), or None
        Bounds of the errors of their coefficients; None if these are as given.
    """

    at_inputs: BoolArray
    determined: BoolArray
    errors: Array | None = None


@final
@dataclass(frozen=True, eq=False)
class Admissible:
    """{a : |Φa| <= 1}, in coordinates x on the range of Φ: Φa = Qx with orthonormal columns."""

    phi: Array  # (n, d): Φ
    q: Array  # (n, r): Q
    back: Array  # (d, r): a = back x
    null: Array  # (d, f): directions of length one that change no fitted value
    rank: int | None  # of Φ in exact arithmetic, if it is known
    blind: Callable[[Array], BoolArray] | None = None
    """Which functionals (N, d) of given numbers fitted values determine, for a Φ that is given."""
    errors: Array | None = None  # (n, d): bounds of the errors of Φ, if it is computed

    @classmethod
    def of_features(cls, phi: Array) -> Admissible:
        """Decompose a Φ whose numbers are given. Its rank is that of exact arithmetic."""
        found = factor(phi)
        r = found.back.shape[1] if found.decided else 0
        back, q = found.basis[:, :r], found.columns[:, :r]
        rank = found.back.shape[1]
        return cls(phi, q, back, _of_length_one(found.null), rank, found.blind)

    @classmethod
    def of_kernel(cls, phi: Array, rank: int | None, errors: Array | None = None) -> Admissible:
        """Decompose a computed Φ, given its rank in exact arithmetic and bounds of its errors.

        Singular values that may be rounding are cut. If what is left is not as many as the rank,
        the coordinates represent some fitted values only, and no bound relies on them.
        """
        unit = column_units(phi)
        u, s, vt = svd(phi / unit, full_matrices=True)
        r = int((s > rank_cut(phi.shape) * s[0]).sum())
        back, null = vt[:r].T / s[:r] / unit[:, None], vt[r:][::-1].T
        free = _of_length_one(null / unit[:, None])
        return cls(phi, u[:, :r], back, free, rank, errors=errors)

    @cached_property
    def off(self) -> Array:
        """Bounds on the errors of Q as the product of the exact Φ and ``back``, (n, r)."""
        size = np.abs(self.phi) @ np.abs(self.back)
        found = np.abs(self.phi @ self.back - self.q) + 2 * gamma(len(self.back)) * size
        return np.asarray(found + self.carried(self.back))

    def carried(self, back: Array) -> Array:
        """Bound what errors of Φ change of its product with some coordinates, (d, r) -> (n, r)."""
        if self.errors is None:
            return np.zeros((len(self.phi), back.shape[1]))
        return np.asarray(self.errors @ np.abs(back))

    @cached_property
    def resolved(self) -> bool:
        """Whether the coordinates represent all fitted values, up to small errors.

        If E = ΦB - Q is small, then the columns of ΦB are independent. If they are as many as the
        rank of Φ, all fitted values are ΦBx, and a - Bx changes none of them.
        """
        return self.q.shape[1] == self.rank and self._outward - OUTWARD <= _KNOWN

    @cached_property
    def _outward(self) -> float:
        """As `OUTWARD`, with the errors of Q: |x| <= 2√n in every coordinate."""
        n, r = self.q.shape
        return float(OUTWARD + 2 * r * np.sqrt(n) * self.off.max(initial=0.0))

    def known(self, g: Array) -> Known:
        """Return what is known of functionals (N, d) of given numbers, for a Φ that is given."""
        assert self.blind is not None
        found = np.zeros(len(g), dtype=np.bool_)
        for row in self.phi:
            found |= (g == row).all(axis=1)
        return Known(found, self.blind(g))

    def hidden(self, known: Known) -> BoolArray:
        """Which functionals may not be determined by the fitted values: no bound holds for them."""
        return ~(known.at_inputs | (known.determined & self.resolved))

    def bounds(self, g: Array, known: Known | None = None) -> Array:
        """Return upper bounds of |gᵀa|, (N,); infinite for hidden functionals.

        The linear programme max gᵀa subject to |Φa| <= 1 has the dual min ‖λ‖₁ subject to
        Φᵀλ = g. The solver's answer is made feasible, and every feasible λ gives a bound.
        """
        known = self.known(g) if known is None else known
        found = np.full(len(g), np.inf)
        some = ~self.hidden(known)
        if self.resolved:
            lost = 2 * gamma(len(self.back)) * (np.abs(g) @ np.abs(self.back)).sum(axis=1)
            lost += self.slack(known, np.ones(self.q.shape[1]))
            found[some] = self.bounds_of(g[some] @ self.back)
            found = found + 2 * np.sqrt(len(self.q)) * lost
        return np.where(known.at_inputs, np.minimum(found, OUTWARD), found)

    def slack(self, known: Known, largest: Array, back: Array | None = None) -> Array:
        """Bound what errors of functionals change, if |x| <= ``largest``, (N,)."""
        if known.errors is None:
            return np.zeros(len(known.at_inputs))
        return np.asarray(known.errors @ (np.abs(self.back if back is None else back) @ largest))

    def bounds_of(self, f: Array) -> Array:
        """Return upper bounds of |fᵀx| for functionals f (N, r) of the coordinates."""
        # In units of their own: the solver's tolerances are absolute.
        unit = column_units(f.T)
        return (
            np.array([self._multipliers(one) for one in f / unit[:, None]]) * unit * self._outward
        )

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


def _of_length_one(columns: Array) -> Array:
    size = np.abs(columns).max(axis=0, initial=0.0)
    return np.asarray(columns / size / np.linalg.norm(columns / size, axis=0))
