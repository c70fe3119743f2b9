"""What rounding of the data by half a unit may change in Z_i - Z_0.

The change is bounded to first order, and to second order in the residuals: where these vanish, Z_i
has no slope. The formulas hold for exact numbers and for rough ones, whose bounds are wider and
quick.

With the smoother S = W^{1/2}ΦN⁺ΦᵀW^{1/2} the second order of Z_i in residuals that change by δ is
uᵀSu, u = W^{1/2}G_i δ. In the difference of two of these, squares of rows that stay where they are
cancel. The other terms are bounded by the leverages h_j = S_jj: for j ≠ k, 0 ⪯ S ⪯ I implies

    |S_jk| <= (h_j h_k)^{1/2},     |S_jk| <= ((1 - h_j)(1 - h_k))^{1/2},

and the second bound is the smaller one for two rows with nearly all the leverage; of a row with
much and one with little, it is (1 - h_j)^{1/2} at most. As S ⪯ I, the difference is also at most
the larger ‖u‖².
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar, final

import numpy as np

from unassuming._exact import Exact
from unassuming._rough import Rough
from unassuming._typing import Array, IntArray
from unassuming.objectives import Moves

N = TypeVar("N", Exact, Rough)
M = TypeVar("M", Exact, Rough)

UNIT = -53
"""The rounding of a double, relative to it, is at most 2 to this power."""


@final
@dataclass(frozen=True, eq=False)
class Leverages(Generic[N]):
    """What a unit of each residual does to Z_0, in numbers for each row.

    Attributes
    ----------
    squares
        w_j h_j.
    low
        (w_j h_j)^{1/2}, or 0 for leverages above one half.
    high
        (w_j (1 - h_j))^{1/2}, or 0 for leverages up to one half.
    others
        w_j^{1/2}, or 0 for leverages above one half.
    roots
        w_j^{1/2}.
    """

    squares: N
    low: N
    high: N
    others: N
    roots: N

    @staticmethod
    def of(w: Exact, h: Exact, rest: Exact) -> Leverages[Exact]:
        """Return them for weights, leverages and w_j (1 - h_j); roots are rounded up."""
        few = ((rest - w * h).number >= 0).astype(np.int64).astype(object)
        small, large = Exact(few, 0), Exact(1 - few, 0)
        low, high, roots = (x.root_above() for x in (w * h, rest, w))
        return Leverages(w * h, low * small, high * large, roots * small, roots)

    def map(self, turn: Callable[[N], M]) -> Leverages[M]:
        """Return other numbers in place of these."""
        return Leverages(*(turn(getattr(self, field.name)) for field in fields(self)))

    def second_order(self, delta: N) -> SecondOrder[N]:
        """Return the parts of the second order for changes δ (n,)."""
        low, high, others, whole = (
            x * delta for x in (self.low, self.high, self.others, self.roots)
        )
        pairs = _pairs(low) + _pairs(high) + _twice(high.sum() * others.sum())
        return SecondOrder(self.squares * delta * delta, pairs, (whole * whole).sum())


@final
@dataclass(frozen=True, eq=False)
class SecondOrder(Generic[N]):
    """Parts of uᵀSu: its squares (n,), a bound on its other terms, and ‖u‖², rounded up."""

    squares: N
    pairs: N
    whole: N

    def apart(self, other: SecondOrder[N]) -> N:
        """Bound the difference from that of another transformation."""
        terms = abs(self.squares - other.squares).sum() + self.pairs + other.pairs
        return terms.least(self.whole.most(other.whole))


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
    leverages: Leverages[N]

    def rough(self: Given[Exact]) -> Given[Rough]:
        """Return what was given as rough numbers."""
        numbers = (self.Phi, self.y, self.w, self.alpha, self.P, self.rounded)
        Phi, y, w, alpha, P, rounded = map(Rough.of, numbers)
        return Given(Phi, y, w, alpha, P, rounded, self.leverages.map(Rough.of))


@final
class Side(Generic[N]):
    """One of two statistics that are compared: G_i r, x_i, v_i = Φ x_i, and half the gradient."""

    g: N
    x: N
    v: N
    slope: N
    order: SecondOrder[N]

    def __init__(
        self,
        given: Given[N],
        g: N,
        x: N,
        delta: N,
        signs: N | None = None,
        to: IntArray | None = None,
    ) -> None:
        """``signs`` and then the order ``to`` apply G_iᵀ; δ is what residuals change by."""
        self.g, self.x, self.v = g, x, given.Phi @ x
        slope, leverages = given.w * self.v, given.leverages
        if signs is not None:
            slope = slope * signs
        if to is not None:
            slope, leverages = slope[to], leverages.map(lambda x: x[to])
        self.slope, self.order = slope, leverages.second_order(delta)


class Rounding(ABC, Generic[N]):
    """The rounding of y, of the weights, of a candidate, and of Φ and P.

    ``turns`` says whether rounding of Φ may turn its range, or changes residuals alone.
    """

    given: Given[N]

    def __init__(
        self, given: Given[N], *, weighted: bool, intercept: bool, turns: bool = True
    ) -> None:
        self.given, self.weighted, self.intercept = given, weighted, intercept
        self.turns = turns

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
        return blur + one.order.apart(two.order).times_two_to(UNIT)

    def of_residuals(self, a: N) -> N:
        """Bound what the residuals of a candidate change by, in units of rounding, (n,)."""
        return abs(self.given.y) + abs(self.given.Phi) @ abs(a) + self.of_fits(abs(a))

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
        # ∂Z/∂Φ_jk = 2 (x_k w_j (g - v)_j - slope_j a_k), where the first term is the turn.
        slope = change[:, None] * a[None, :]
        if self.turns:
            w = self.given.w
            first, second = (
                (w * (side.g - side.v))[:, None] * side.x[None, :] for side in (one, two)
            )
            slope = first - second - slope
        return _twice((abs(slope) * self.given.rounded).sum())


@final
class KernelRounding(Rounding[N]):
    """Inputs may be rounded, and so kernel values."""

    def of_fits(self, size: N) -> N:
        """Sum over the entries of a row of K."""
        return self.given.rounded @ size[int(self.intercept) :]

    def of_design(self, one: Side[N], two: Side[N], change: N, a: N) -> N:
        """Sum over the entries of K."""
        # dZ = alpha zᵀ dK z - 2 slopeᵀ dK a, where the first term is the turn.
        first = int(self.intercept)
        across = change[:, None] * a[first:][None, :]
        slope = across + across.T
        if self.turns:
            mine, theirs = (side.x[first:][:, None] * side.x[first:] for side in (one, two))
            slope = self.given.alpha * (mine - theirs) - slope
        return (abs(slope) * self.given.rounded).sum()


@final
class Blur(Generic[N]):
    """What rounding of the data may change in Z_i - Z_0 of one candidate."""

    def __init__(
        self,
        rounding: Rounding[N],
        turned: Callable[[Exact], N],
        a: Exact,
        g: Exact,
        x: Exact,
        moves: Moves,
    ) -> None:
        """Take G_i r (n, 1 + k) and x_i (d, 1 + k); ``turned`` makes the kind of numbers."""
        self.rounding: Rounding[N] = rounding
        self.turned: Callable[[Exact], N] = turned
        self.g, self.x, self.moves = g, x, moves
        self.a: N = turned(a)
        self.delta: N = rounding.of_residuals(self.a)
        n = len(g.number)
        self.first: Side[N] = self.side(0, np.ones(n), np.arange(n))

    def side(self, k: int, signs: Array, rows: IntArray) -> Side[N]:
        """Return one of the statistics."""
        g, x = self.turned(self.g[:, k]), self.turned(self.x[:, k])
        flips = self.turned(Exact(signs.astype(np.int64).astype(object), 0))
        return Side(self.rounding.given, g, x, self.delta, flips, np.argsort(rows))

    def of(self, k: int) -> N:
        """Bound the change of one of the differences, in units of rounding."""
        one = self.side(k, self.moves.signs[k - 1], self.moves.rows[k - 1])
        return self.rounding.blur(one, self.first, self.a)


def _pairs(x: N) -> N:
    """Return Σ_{j≠k} x_j x_k."""
    return x.sum() * x.sum() - (x * x).sum()


def _twice(x: N) -> N:
    return x + x
