"""The equations N x_i = s_i of quadratic objectives, in exact numbers.

With nλ = alpha and everything multiplied by n, N = ΦᵀWΦ + alpha P and s_i = ΦᵀW G_i r - alpha Pa
(docs/theory.md 4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact, Triangle
from unassuming._rough import Rough
from unassuming._rounding import UNIT, length
from unassuming.membership._blur import (
    FeatureRounding,
    Given,
    KernelRounding,
    Leverages,
    N,
    Rounding,
)
from unassuming.objectives import Quadratic, computed_kernel

_OF_SPAN = 4
"""So many times as many digits as the features of a column span.

Rows with nearly all leverage have S_jk and 1 - h_j near the squares of the smallest features,
relative to the largest ones of their columns.
"""


_HALF_OF_THE_DIGITS = 2.0**-27
"""Features and kernel values count as rounded if that turns their range by no more than this.

Nearly dependent columns turn by much more, and so do kernel values far above the penalty: as
numbers of their own they leave the range that a few features span. If all that rounding may do to
them counted as a tie, statistics would tie for candidates that are far from each other.
"""


class System(ABC):
    """The equations N x = s of one objective."""

    triangle: Triangle

    def __init__(self, objective: Quadratic) -> None:
        self._objective, self.n, self.d = objective, objective.n, objective.d
        self.y, self.w = Exact.of(objective.y), Exact.of(objective.w)
        self.weighted = bool((objective.w != 1).any())
        self.alpha = Exact.of(objective.lam * objective.n)
        self.Phi = self._design(objective)
        sizes = np.abs(objective.design.matrix).max(axis=0)
        largest = np.abs(objective.y).max() or 1.0
        self.typical = np.ldexp(1.0, np.frexp(largest / np.where(sizes > 0, sizes, 1.0))[1] - 49)

    def residuals(self, a: Exact) -> Exact:
        """Return y - Φ a."""
        return self.y - self.Phi @ a

    @abstractmethod
    def _design(self, objective: Quadratic) -> Exact:
        """Return Φ, (n, d)."""

    @abstractmethod
    def solve(self, r: Exact, changes: Exact, a: Exact) -> Exact:
        """Return x_0 with N x_0 = ΦᵀW r - alpha Pa, and x_i with ``changes`` (f, k): (d, 1 + k)."""

    @abstractmethod
    def changes(self, moved: Exact) -> Exact:
        """Return p_i (f, k) of (G_i - I) r (n, k), with Z_i - Z_0 = p_iᵀ(q_i + q_0)."""

    @abstractmethod
    def paired(self, x: Exact) -> Exact:
        """Return q_i (f, k) of x_i (d, k)."""

    @abstractmethod
    def sizes(self, x: Exact) -> Exact:
        """Return what the errors of q_i are relative to, (f, k)."""

    @property
    def negligible(self) -> int:
        """Sums below 2 to this power, relative to these sizes, are rounding of x's own digits.

        With B digits pivots are above 2^(-B/4), and errors of x are near 2^(-3B/4) or below.
        """
        return -self.triangle.bits // 2

    @cached_property
    def finer(self) -> System | None:
        """The same equations with more digits; None if these are the most."""
        return None if self.triangle.finest else self._with_digits(self.triangle.bits + 1)

    @abstractmethod
    def _with_digits(self, digits: int) -> System:
        """Return these equations with at least this many digits."""

    @cached_property
    @abstractmethod
    def given(self) -> Given[Exact]:
        """What was given, and may be rounded."""

    @abstractmethod
    def rounding(self, given: Given[N]) -> Rounding[N]:
        """Return the effect of rounding, in exact or in rough numbers."""

    @cached_property
    def rough(self) -> Given[Rough]:
        """What was given, in rough numbers."""
        return self.given.rough()


@final
class FeatureSystem(System):
    """N = ΦᵀWΦ + alpha P with P = diag(0, 1, ..., 1)."""

    def __init__(self, objective: Quadratic, *, digits: int = 0) -> None:
        super().__init__(objective)
        design = objective.design
        self._penalised = np.repeat([0, 1], [design.intercept, self.d - design.intercept])
        self._penalised = self._penalised.astype(object)
        N = self._weighted @ self.Phi + self.alpha * self._P
        self.triangle = Triangle(N, digits=max(digits, _OF_SPAN * _span(objective)))

    def _design(self, objective: Quadratic) -> Exact:
        return Exact.of(objective.design.matrix)

    @cached_property
    def _weighted(self) -> Exact:
        return self.Phi.T * self.w

    @property
    def _P(self) -> Exact:
        return Exact(np.diag(self._penalised), 0)

    def solve(self, r: Exact, changes: Exact, a: Exact) -> Exact:
        """Solve with the triangle of N."""
        held = self.alpha * Exact(self._penalised * a.number, a.shift)
        return self.triangle.solve(
            _from_first(self._weighted @ r[:, None] - held[:, None], changes)
        )

    def changes(self, moved: Exact) -> Exact:
        """ΦᵀW (G_i - I) r: products of d terms instead of n."""
        return self._weighted @ moved

    def paired(self, x: Exact) -> Exact:
        """X."""
        return x

    def sizes(self, x: Exact) -> Exact:
        """The largest x, in the units of the triangle, in those of each coefficient."""
        return self.triangle.alike(x)

    def _with_digits(self, digits: int) -> FeatureSystem:
        return FeatureSystem(self._objective, digits=digits)

    @cached_property
    def given(self) -> Given[Exact]:
        """Every feature may be rounded."""
        rounded = Exact(abs(self.Phi.number) * self._penalised, self.Phi.shift)
        h = (self.Phi.T * self.triangle.solve(self._weighted)).columns()
        leverages = Leverages.of(self.w, h, self.w - self.w * h)
        return Given(self.Phi, self.y, self.w, self.alpha, self._P, rounded, leverages)

    def rounding(self, given: Given[N]) -> Rounding[N]:
        """Return the rounding of features."""
        return FeatureRounding(
            given,
            weighted=self.weighted,
            intercept=not self._penalised[0],
            turns=self._rounding_turns <= _HALF_OF_THE_DIGITS,
        )

    @cached_property
    def _rounding_turns(self) -> float:
        """What rounding of the features turns their range by, at most, to first order.

        Rounding changes row j of an orthonormal basis W^{1/2}ΦB by w_j^{1/2} Σ_k |δΦ_jk| ‖B_k‖.
        """
        o = self._objective
        errors = np.abs(o.design.matrix) * self._penalised.astype(np.float64) * UNIT
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not small
            moved = np.sqrt(o.w / o.n) * (errors @ length(o.whitening.back))
            return float(length(moved))


@final
class KernelSystem(System):
    """Φ = K or [1, K], P = K or diag(0, K), without a pseudo-inverse of K.

    x = (b, z) solves (K + alpha W⁻¹) z + 1 b = G_i r - alpha W⁻¹ a; with an intercept 1ᵀz = -1ᵀa.
    K is the one in double precision.
    """

    def __init__(self, objective: Quadratic, *, digits: int = 0) -> None:
        super().__init__(objective)
        diagonal = np.zeros((self.n, self.n), dtype=object)
        np.fill_diagonal(diagonal, self.w.number)
        W = Exact(diagonal, self.w.shift)
        # Both sides are multiplied by W, and z = W t.
        self.triangle = Triangle(W @ self._K @ W + self.alpha * W, digits=digits)
        if len(self.triangle.pivots) < self.n:
            raise ArithmeticError("the kernel matrix is not positive semidefinite")
        self._along = self.triangle.solve(self.w[:, None])[:, 0] if self._bias else None

    def _design(self, objective: Quadratic) -> Exact:
        self._bias = int(objective.design.intercept)
        self._K, errors = computed_kernel(objective.design)
        self._errors = Exact.of(errors)
        if not self._bias:
            return self._K
        shift = max(0, self._K.shift)  # large kernel values may be whole numbers over less than one
        ones = np.full((self.n, 1), 1 << shift, dtype=object)
        return Exact(np.concatenate([ones, self._K.to(shift)], axis=1), shift)

    def solve(self, r: Exact, changes: Exact, a: Exact) -> Exact:
        """Solve with the triangle of WKW + alpha W."""
        own = a[self._bias :]
        first = (self.w * r - self.alpha * own)[:, None]
        return self._solved(_from_first(first, changes), own.sum())

    def _solved(self, right: Exact, ones: Exact) -> Exact:
        """Solve for columns W g - alpha a (n, k), with 1ᵀa given."""
        t = self.triangle.solve(right)
        if self._along is None:
            return self.w[:, None] * t
        rest = self.w[None, :] @ t
        rest = rest + Exact(np.full(rest.number.shape, ones.number, dtype=object), ones.shift)
        b = _quotient(rest, (self.w * self._along).sum(), digits=4 * self.triangle.bits)
        z = self.w[:, None] * (t - self._along[:, None] * b)
        shift = max(b.shift, z.shift)
        return Exact(np.concatenate([b.to(shift), z.to(shift)]), shift)

    def changes(self, moved: Exact) -> Exact:
        """W (G_i - I) r."""
        return self.w[:, None] * moved

    def paired(self, x: Exact) -> Exact:
        """Φ x."""
        return self.Phi @ x

    def sizes(self, x: Exact) -> Exact:
        """The sizes of the terms of Φ x."""
        return abs(self.Phi) @ abs(x)

    def _with_digits(self, digits: int) -> KernelSystem:
        return KernelSystem(self._objective, digits=digits)

    @cached_property
    def given(self) -> Given[Exact]:
        """Kernel values may be rounded."""
        P = np.zeros((self.d, self.d), dtype=object)
        P[self._bias :, self._bias :] = self._K.number
        held = Exact(P, self._K.shift)
        units = Exact(np.eye(self.n, dtype=np.int64).astype(object), 0)
        x = self._solved(self.w[:, None] * units, Exact(0, 0))
        h = _diagonal(self.Phi @ x)
        # e_j - Φx_j = alpha W⁻¹z_j: 1 - h_j without a difference, which may not have its digits.
        leverages = Leverages.of(self.w, h, self.alpha * _diagonal(x[self._bias :]))
        return Given(self.Phi, self.y, self.w, self.alpha, held, self._errors, leverages)

    def rounding(self, given: Given[N]) -> Rounding[N]:
        """Return the rounding of kernel values."""
        return KernelRounding(
            given,
            weighted=self.weighted,
            intercept=bool(self._bias),
            turns=self._rounding_turns <= _HALF_OF_THE_DIGITS,
        )

    @property
    def _rounding_turns(self) -> float:
        """What errors δK of kernel values change the smoother by, at most.

        With A = K + alpha W⁻¹ that is alpha W^{-1/2}A⁻¹ δK A⁻¹W^{-1/2}, and A⁻¹ <= W/alpha.
        """
        alpha = self._objective.lam * self.n
        with np.errstate(over="ignore"):  # what overflows is not small
            errors = np.asarray(Rough.of(self._errors).middle, dtype=np.float64)
            return float(UNIT * length(errors.ravel()) * self._objective.w.max() / alpha)


def system_of(objective: Quadratic) -> System | None:
    """Return the equations; None if the matrix of a kernel is not positive semidefinite."""
    try:
        dual = objective.design.dual
        return KernelSystem(objective) if dual else FeatureSystem(objective)
    except ArithmeticError:
        return None


def _from_first(first: Exact, changes: Exact) -> Exact:
    """Return a column, and the others by their differences from it."""
    others = first + changes
    return Exact(np.hstack([first.to(others.shift), others.number]), others.shift)


def _diagonal(x: Exact) -> Exact:
    return Exact(np.diagonal(x.number), x.shift)


def _span(objective: Quadratic) -> int:
    """Return how many binary digits the weighted features of one column span at most."""
    size = np.frexp(objective.design.matrix)[1] + np.frexp(np.sqrt(objective.w))[1][:, None]
    some = objective.design.matrix != 0
    most = np.where(some, size, -(2**30)).max(axis=0, initial=-(2**30))
    least = np.where(some, size, 2**30).min(axis=0, initial=2**30)
    return int((most - least).max(initial=0))


def _quotient(x: Exact, y: Exact, *, digits: int) -> Exact:
    """Return x / y to so many digits more than y has."""
    more = digits + int(y.number).bit_length()
    return Exact((x.number << more) // y.number, x.shift - y.shift + more)
