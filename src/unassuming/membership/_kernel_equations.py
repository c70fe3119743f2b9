"""Equations of kernel models with a small penalty, solved with twice the digits.

With A = K + alpha W⁻¹ they are A u + b 1 = x and 1ᵀu = 0, or A u = x if there is no intercept b. A
triangle of A solves them roughly. What the solution leaves of x, computed with twice the digits,
corrects it again and again. K is taken as it was computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unassuming._products import accurate_product, exact_product, exact_sum
from unassuming._rounding import EPS, gamma, length, powers_of_two
from unassuming._typing import Array
from unassuming.objectives import Quadratic, least_eigenvalue

_ROUNDS = 12
"""Each correction gains at least a factor of four, and usually many digits."""


class Solution(NamedTuple):
    """Solutions u (n, k) in double precision, and bounds of what they leave of the right sides."""

    u: Array
    b: Array  # (k,)
    rest: Array  # (n, k): at least |ρ|, ρ = x - A u - b 1
    off: Array  # (k,): at least |1ᵀu| with an intercept, 0 without one

    def error(self, other: Solution, least: float) -> Array:
        """Bound the errors of inner products of u with the right sides of another, (k,).

        For a right side with the exact solution u', b' the error is u'ᵀρ - b' 1ᵀu. Here u' is known
        up to a vector of length ‖ρ'‖/λ, if the eigenvalues of A are at least λ. The factor 2 is for
        the difference of b' and its computed value.
        """
        of_rest = (np.abs(other.u) * self.rest).sum(axis=0)
        of_rest = of_rest + length(self.rest.T) * length(other.rest.T) / least
        return np.asarray(2 * (of_rest + np.abs(other.b) * self.off))

    def over(self, unit: Array) -> Solution:
        """Return the solutions for right sides in units (k,)."""
        return Solution(*(part / unit for part in self))


@final
@dataclass(frozen=True, eq=False)
class KernelEquations:
    """The equations of one objective.

    Attributes
    ----------
    triangle : tuple
        A triangle of A, as `scipy.linalg.cho_factor` returns it.
    least : float
        A lower bound of the eigenvalues of A, above zero.
    """

    objective: Quadratic
    triangle: tuple[Array, bool]
    least: float

    @classmethod
    def of(cls, objective: Quadratic) -> Self | None:
        """Return the equations, or None if rounding could make A singular."""
        o, diagonal = objective, _diagonal(objective)
        least = least_eigenvalue(o.design) + float(diagonal.min())
        if not least > 0:
            return None
        try:
            A = o.design.gram() + np.diag(diagonal)
            return cls(o, cho_factor(A, overwrite_a=True, check_finite=False), least)
        except np.linalg.LinAlgError:
            return None

    @cached_property
    def of_outputs(self) -> Solution:
        """The solution for y, one column."""
        return self.solve(self.objective.y[:, None])

    def solve(self, x: Array) -> Solution:
        """Solve for right sides (n, k), with corrections while they help."""
        unit = powers_of_two(np.abs(x).max(axis=0, initial=0.0))
        x = x / unit
        high, low, b = np.zeros_like(x), np.zeros_like(x), np.zeros((1, x.shape[1]))
        rest, sums, before = x, np.zeros_like(b), np.full(x.shape[1], np.inf)
        for _ in range(_ROUNDS):
            step, more = self._roughly(rest, sums)
            high, lost = exact_sum(high, step)
            low, b = low + lost, b + more
            rest, sums, bound, off = self._rest(x, high, low, b)
            left = length((np.abs(rest) + bound).T)
            if ((left > before / 4) | (left <= 2 * length(bound.T))).all():
                break
            before = left
        rest = np.abs(rest) + bound
        return Solution((high + low) * unit, b[0] * unit, rest * unit, off * unit)

    @cached_property
    def _along(self) -> Array | None:
        """A⁻¹1 roughly, (n, 1); None without an intercept."""
        if not self.objective.design.intercept:
            return None
        return np.asarray(cho_solve(self.triangle, np.ones((self.objective.n, 1))))

    def _roughly(self, rest: Array, sums: Array) -> tuple[Array, Array]:
        """Solve A u + b 1 = rest, 1ᵀu = sums (1, k) in double precision; return u and b (1, k)."""
        u = np.asarray(cho_solve(self.triangle, rest, check_finite=False))
        if self._along is None:
            return u, np.zeros_like(sums)
        b = (u.sum(axis=0, keepdims=True) - sums) / self._along.sum()
        return u - self._along * b, b

    def _rest(
        self, x: Array, high: Array, low: Array, b: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return x - A u - b 1 (n, k) and -1ᵀu (1, k) of u = high + low.

        Then a bound of the errors of the first (n, k), and one of ``|1ᵀu|`` (k,), which is zero if
        there is no intercept.
        """
        K, n = self.objective.design.gram(), len(x)
        diagonal = _diagonal(self.objective)[:, None]
        held, lost = exact_product(diagonal + np.zeros_like(high), high)
        rest = accurate_product(K, -high, x, -held, -lost, -b + np.zeros_like(x))
        rest -= K @ low + diagonal * low
        sizes = [np.abs(K) @ np.abs(part) + diagonal * np.abs(part) for part in (high, low)]
        sizes[0] += np.abs(x) + np.abs(b)
        bound = 2 * EPS * np.abs(rest) + ((n + 8) * EPS) ** 2 * sizes[0] + gamma(n + 8) * sizes[1]
        if self._along is None:
            return rest, np.zeros_like(b), bound, np.zeros(x.shape[1])
        sums = accurate_product(np.ones((1, n)), -high, -low.sum(axis=0, keepdims=True))
        off = np.abs(sums[0]) + ((n + 8) * EPS) ** 2 * np.abs(high).sum(axis=0)
        return rest, sums, bound, off + gamma(n + 8) * np.abs(low).sum(axis=0)


def _diagonal(objective: Quadratic) -> Array:
    """Return the diagonal of alpha W⁻¹."""
    return np.asarray(objective.n * objective.lam / objective.w)
