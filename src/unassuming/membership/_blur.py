"""What rounding of the data by half a unit may change in Z_i - Z_0.

The change is bounded to first order, and to second order in the residuals: where these vanish, Z_i
has no slope. The formulas hold for exact numbers and for rough ones, whose bounds are wider and
quick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar, final

from unassuming._exact import Exact
from unassuming._rough import Rough

N = TypeVar("N", Exact, Rough)

UNIT = -53
"""The rounding of a double, relative to it, is at most 2 to this power."""


@final
@dataclass(frozen=True, eq=False)
class Given(Generic[N]):
    """The numbers of an objective: Φ, y, the weights, alpha, P, and the sizes of what is rounded.

    ``rounded`` holds ``|Φ|`` without an intercept, or bounds of the errors of a kernel matrix.
    ``lengths`` are those of ΦᵀW e_j in the norm of N⁺, rounded up: how far a unit of residual j
    moves s_i.
    """

    Phi: N
    y: N
    w: N
    alpha: N
    P: N
    rounded: N
    lengths: N

    def rough(self: Given[Exact]) -> Given[Rough]:
        """Return what was given as rough numbers."""
        return Given(*(Rough.of(getattr(self, field.name)) for field in fields(self)))


@final
class Side(Generic[N]):
    """One of two statistics that are compared: G_i r, x_i, v_i = Φ x_i, and half the gradient."""

    g: N
    x: N
    v: N
    slope: N
    lengths: N

    def __init__(self, given: Given[N], g: N, x: N, back: Callable[[N], N]) -> None:
        """``back`` applies G_iᵀ."""
        self.g, self.x, self.v = g, x, given.Phi @ x
        self.slope = back(given.w * self.v)
        self.lengths = abs(back(given.lengths))


class Rounding(ABC, Generic[N]):
    """The rounding of y, of the weights, of a candidate, and of Φ and P."""

    given: Given[N]

    def __init__(self, given: Given[N], *, weighted: bool, intercept: bool) -> None:
        self.given, self.weighted, self.intercept = given, weighted, intercept

    def blur(self, one: Side[N], two: Side[N], a: N) -> N:
        """Bound the change of Z_1 - Z_2 at one candidate, in units of rounding."""
        s, change, step = self.given, one.slope - two.slope, one.x - two.x
        moved = s.Phi.T @ change + s.alpha * (s.P @ step)
        blur = _twice((abs(change) * abs(s.y)).sum() + (abs(moved) * abs(a)).sum())
        blur = blur + self.of_design(one, two, change, a)
        penalty = _twice((step * (s.P @ a)).sum())
        penalty = penalty + (step * (s.P @ (one.x + two.x))).sum()
        blur = blur + abs(penalty) * s.alpha
        if self.weighted:
            parts = one.v * (one.g + one.g - one.v) - two.v * (two.g + two.g - two.v)
            blur = blur + (abs(parts) * s.w).sum()
        # The second orders of Z_1 and Z_2 are positive, so the larger one bounds their difference.
        # It is at most twice the mean.
        moved = abs(s.y) + abs(s.Phi) @ abs(a) + self.of_fits(abs(a))
        lengths = ((side.lengths * moved).sum() for side in (one, two))
        squares = [length * length for length in lengths]
        return blur + (squares[0] + squares[1]).times_two_to(UNIT - 1)

    @abstractmethod
    def of_fits(self, size: N) -> N:
        """Bound the change of Φa by the rounding of Φ, in units, for ``size`` = ``|a|``."""

    @abstractmethod
    def of_design(self, one: Side[N], two: Side[N], change: N, a: N) -> N:
        """Bound the change of Z_1 - Z_2 by the rounding of Φ and P, in units of rounding.

        ``change`` (n,) is half the gradient of Z_1 - Z_2 with respect to the residuals.
        """


@final
class FeatureRounding(Rounding[N]):
    """Every feature may be rounded; the ones of an intercept are not."""

    def of_fits(self, size: N) -> N:
        """Sum over the features."""
        return self.given.rounded @ size

    def of_design(self, one: Side[N], two: Side[N], change: N, a: N) -> N:
        """Sum over the entries of Φ."""
        # ∂Z/∂Φ_jk = 2 (x_k w_j (g - v)_j - slope_j a_k).
        w = self.given.w
        parts = [(w * (side.g - side.v))[:, None] * side.x[None, :] for side in (one, two)]
        slope = parts[0] - parts[1] - change[:, None] * a[None, :]
        return _twice((abs(slope) * self.given.rounded).sum())


@final
class KernelRounding(Rounding[N]):
    """Inputs may be rounded, and so kernel values."""

    def of_fits(self, size: N) -> N:
        """Sum over the entries of a row of K."""
        return self.given.rounded @ size[int(self.intercept) :]

    def of_design(self, one: Side[N], two: Side[N], change: N, a: N) -> N:
        """Sum over the entries of K."""
        # dZ = alpha zᵀ dK z - 2 slopeᵀ dK a.
        own, parts = a[int(self.intercept) :], []
        for side in (one, two):
            z = side.x[int(self.intercept) :]
            parts.append(z[:, None] * z[None, :])
        across = change[:, None] * own[None, :]
        slope = self.given.alpha * (parts[0] - parts[1]) - across - across.T
        return (abs(slope) * self.given.rounded).sum()


def _twice(x: N) -> N:
    return x + x
