"""Equations of kernel models with a small penalty, solved with twice the digits.

With A = K + alpha W⁻¹ they are A u + b 1 = x and 1ᵀu = 0, or A u = x if there is no intercept b. A
triangle of A solves them roughly. What the solution leaves of x, computed with twice the digits,
corrects it again and again. K is taken as it was computed. Up to some hundred rows the matrix C of
the map from x to u is computed once, and its products with vectors are the solutions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unassuming._products import exact_product, exact_sum, sliced_product
from unassuming._rounding import EPS, gamma, length, powers_of_two
from unassuming._typing import Array
from unassuming.objectives import Quadratic, least_eigenvalue

_ROUNDS = 12
"""Each correction gains at least a factor of four, and usually many digits."""
_MOST_ROWS = 512
"""Up to so many rows C is computed."""


class Solution(NamedTuple):
    """Solutions u (n, k), rounded to double precision, and bounds of errors before the rounding."""

    u: Array
    b: Array  # (k,)
    rest: Array  # (n, k): at least |ρ|, ρ = x - A u - b 1
    off: Array  # (k,): at least |1ᵀu| with an intercept, 0 without one

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

    def forms(self, x: Array, y: Array | None, unit: Array) -> tuple[Array, Array, Array]:
        """Return Cx and Cy/unit for columns, and bounds of the errors of xᵀC(x + 2y/unit).

        The columns are (n, k), units and bounds (k,). Without y they are the outputs. The rounding
        of both results to double precision is left out.
        """
        right = (self.objective.y[:, None] if y is None else y) / unit
        if self._dense is not None:
            C, error = self._dense
            size = length(x.T) * (length(x.T) + 2 * length(right.T))
            return C @ x, C @ right, error * size
        one, two = self.solve(x), self._of_outputs if y is None else self.solve(y)
        two = two.over(unit)
        return one.u, two.u, self._error(one, one) + 2 * self._error(two, one)

    def _error(self, found: Solution, other: Solution) -> Array:
        """Bound the errors of inner products of solutions with the right sides of others, (k,).

        For a right side with the exact solution u', b' the error is u'ᵀρ - b' 1ᵀu. What was found
        in place of u' is off by Cρ' and, with an intercept, by 1ᵀu' along A⁻¹1 / 1ᵀA⁻¹1. So is b',
        by 1ᵀA⁻¹ρ' and 1ᵀu', both over 1ᵀA⁻¹1.
        """
        rest, off = length(found.rest.T), length(other.rest.T)
        error = (np.abs(other.u) * found.rest).sum(axis=0) + rest * off / self.least
        along, total = self._ones
        b = np.abs(other.b) + (along * off + other.off) / total
        return np.asarray(error + rest * other.off * along / total + b * found.off)

    @cached_property
    def _of_outputs(self) -> Solution:
        """The solution for y, one column."""
        return self.solve(self.objective.y[:, None])

    @cached_property
    def _dense(self) -> tuple[Array, float] | None:
        """C, and a bound of the length of its error; None for many rows."""
        n = self.objective.n
        if n > _MOST_ROWS:
            return None
        found = self.solve(np.eye(n))
        along, total = self._ones
        off = float(np.linalg.norm(found.rest)) / self.least
        off += float(np.linalg.norm(found.off)) * along / total
        return found.u, off + EPS * float(np.linalg.norm(found.u))

    def solve(self, x: Array) -> Solution:
        """Solve for right sides (n, k), with corrections while they help."""
        unit = powers_of_two(np.abs(x).max(axis=0, initial=0.0))
        x = x / unit
        high, low = np.zeros((2, *x.shape))
        b, b_low = np.zeros((2, 1, x.shape[1]))
        rest, sums, before = x, np.zeros_like(b), np.full(x.shape[1], np.inf)
        for _ in range(_ROUNDS):
            step, more = self._roughly(rest, sums)
            high, lost = exact_sum(high, step)
            b, b_lost = exact_sum(b, more)
            low, b_low = low + lost, b_low + b_lost
            rest, sums, bound, off = self._rest(x, high, low, (b, b_low))
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

    @property
    def _ones(self) -> tuple[float, float]:
        """The length of A⁻¹1 and its sum, with a margin; 0 and 1 without an intercept."""
        if self._along is None:
            return 0.0, 1.0
        return 2 * float(np.linalg.norm(self._along)), float(self._along.sum())

    def _roughly(self, rest: Array, sums: Array) -> tuple[Array, Array]:
        """Solve A u + b 1 = rest, 1ᵀu = sums (1, k) in double precision; return u and b (1, k)."""
        u = np.asarray(cho_solve(self.triangle, rest, check_finite=False))
        if self._along is None:
            return u, np.zeros_like(sums)
        b = (u.sum(axis=0, keepdims=True) - sums) / self._along.sum()
        return u - self._along * b, b

    def _rest(
        self, x: Array, high: Array, low: Array, b: tuple[Array, Array]
    ) -> tuple[Array, Array, Array, Array]:
        """Return x - A u - b 1 (n, k) and -1ᵀu (1, k) of u = high + low; b is a sum of two as well.

        Then a bound of the errors of the first (n, k), and one of ``|1ᵀu|`` (k,), which is zero if
        there is no intercept.
        """
        K, n = self.objective.design.gram(), len(x)
        diagonal = _diagonal(self.objective)[:, None]
        held, lost = exact_product(diagonal + np.zeros_like(high), high)
        shifts = (-part + np.zeros_like(x) for part in b)
        rest, bound = sliced_product(K, -high, x, -held, -lost, *shifts)
        rest -= K @ low + diagonal * low
        bound += EPS * np.abs(rest)
        bound += gamma(n + 8) * (np.abs(K) @ np.abs(low) + diagonal * np.abs(low))
        if self._along is None:
            return rest, np.zeros_like(b[0]), bound, np.zeros(x.shape[1])
        sums, off = sliced_product(np.ones((1, n)), -high, -low.sum(axis=0, keepdims=True))
        off = np.abs(sums[0]) + off[0] + gamma(n + 8) * np.abs(low).sum(axis=0)
        return rest, sums, bound, off


def _diagonal(objective: Quadratic) -> Array:
    """Return the diagonal of alpha W⁻¹."""
    return np.asarray(objective.n * objective.lam / objective.w)
