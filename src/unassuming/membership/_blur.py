"""What rounding of the data by half a unit may change in Z_i - Z_0, bounded to first order.

The formulas hold for exact numbers and for rough ones, whose bounds are wider and quick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar, final

from unassuming._exact import Exact
from unassuming._rough import Rough

N = TypeVar("N", Exact, Rough)


@final
@dataclass(frozen=True, eq=False)
class Given(Generic[N]):
    """The numbers of an objective: Φ, y, the weights, alpha, P, and the sizes of what is rounded.

    ``rounded`` holds ``|Φ|`` without an intercept, or bounds of the errors of a kernel matrix.
    """

    Phi: N
    y: N
    w: N
    alpha: N
    P: N
    rounded: N

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

    def __init__(self, given: Given[N], g: N, x: N, back: Callable[[N], N]) -> None:
        """``back`` applies G_iᵀ."""
        self.g, self.x, self.v = g, x, given.Phi @ x
        self.slope = back(given.w * self.v)


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
        return blur

    @abstractmethod
    def of_design(self, one: Side[N], two: Side[N], change: N, a: N) -> N:
        """Bound the change of Z_1 - Z_2 by the rounding of Φ and P, in units of rounding.

        ``change`` (n,) is half the gradient of Z_1 - Z_2 with respect to the residuals.
        """


@final
class FeatureRounding(Rounding[N]):
    """Every feature may be rounded; the ones of an intercept are not."""

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
