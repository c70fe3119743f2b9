"""How much rounding of the data can change the order of two statistics, in exact numbers.

Every number that was given may be the nearest double of another one: it is off by at most 2^-53 of
itself. To first order Z_i - Z_0 changes by at most 2^-53 Σ |∂(Z_i - Z_0)/∂t| |t|, summed over all
numbers t: outputs, coefficients, inputs, weights and alpha. With N x_i = s_i, v_i = Φ x_i,
g_i = G_i r and h_i = G_iᵀ W v_i the derivatives of Z_i = s_iᵀ N⁺ s_i are

    y_j: 2 h_j          w_j: v_j (2 g_j - v_j)          alpha: -xᵀP (2a + x)
    a_k: -2 (Φᵀh + alpha Px)_k
    Φ_jk of features: 2 x_k w_j (g - v)_j - 2 h_j a_k
    K_jk of kernels:  alpha x_j x_k - h_j a_k - h_k a_j, if W Φx + alpha x = W g - alpha a

Where residuals vanish, so do most of these. If residuals change by δ, the second order of Z_i is
uᵀSu with u = W^{1/2}G_i δ and S = W^{1/2}ΦN⁺ΦᵀW^{1/2}, which has the leverages h_j on its diagonal.
The squares of Z_i and Z_0 cancel for rows that stay where they are. The other entries satisfy
S_jk² <= h_j h_k and S_jk² <= (1 - h_j)(1 - h_k), as 0 ⪯ S ⪯ I. No second order exceeds ‖u‖².

Of features the term x_k w_j (g - v)_j comes from the turn of their range, and of kernels the term
alpha x_j x_k. It is left out if this turn costs half of the digits or more, as it does if columns
nearly depend on each other, or if kernel values are far above the penalty.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from adversarial.arithmetic import (
    Matrix,
    Vector,
    adjugate,
    dot,
    integers,
    root_below,
    times,
    transposed,
)
from adversarial.exact import ExactRegion

UNIT = Fraction(1, 2**53)
MARGIN = 2
"""Other terms of second order are left out, so the package may allow for twice as much."""
HALF = Fraction(1, 2**27)
"""The turn of a range that leaves half of the digits."""


class Side(NamedTuple):
    g: Vector
    x: Vector
    v: Vector
    h: Vector


@dataclass(eq=False)
class Rounding:
    """The rounding of one problem. ``errors`` is what each entry of X or K changes by, in units."""

    exact: ExactRegion
    errors: Matrix
    bias: bool
    kernel: bool
    weighted: bool
    _last: tuple[Vector, Side] | None = None

    def blurred(self, a: Vector, i: int) -> bool:
        """Whether Z_i - Z_0 may vanish if the data are rounded."""
        one = self.side(a, i)
        if self._last is None or self._last[0] != a:
            self._last = a, self.side(a, 0)
        two = self._last[1]
        change = UNIT * self.change(a, one, two) + UNIT**2 * self.curvature(a, i)
        return abs(self.gap(one, two)) <= MARGIN * change

    def gap(self, one: Side, two: Side) -> Fraction:
        """Z_1 - Z_2."""
        parts = zip(self.exact.w, one.g, two.g, one.v, two.v, strict=True)
        return sum(w * (g - f) * (v + u) for w, g, f, v, u in parts)

    def change(self, a: Vector, one: Side, two: Side) -> Fraction:
        """Σ |∂(Z_1 - Z_2)/∂t| |t|."""
        e, first = self.exact, int(self.bias)
        h, x = minus(one.h, two.h), minus(one.x, two.x)
        total = 2 * sum(abs(u * v) for u, v in zip(h, e.y, strict=True))
        moved = times(transposed(e.Phi), h)
        held = times(e.P, x)
        total += 2 * sum(abs((u + e.alpha * v) * c) for u, v, c in zip(moved, held, a, strict=True))
        curved = [2 * c + u + v for c, u, v in zip(a, one.x, two.x, strict=True)]
        total += abs(dot(held, curved)) * e.alpha
        if self.weighted:
            for j, w in enumerate(e.w):
                ends = (side.v[j] * (2 * side.g[j] - side.v[j]) for side in (one, two))
                total += abs(next(ends) - next(ends)) * w
        own, x1, x2 = a[first:], one.x[first:], two.x[first:]
        for j, row in enumerate(self.errors):
            for k, error in enumerate(row):
                if self.kernel:
                    slope = -h[j] * own[k] - h[k] * own[j]
                    if self.may_turn:
                        slope += e.alpha * (x1[j] * x1[k] - x2[j] * x2[k])
                else:
                    slope = -2 * h[j] * own[k]
                    if self.may_turn:
                        left = x1[k] * (one.g[j] - one.v[j]) - x2[k] * (two.g[j] - two.v[j])
                        slope += 2 * e.w[j] * left
                total += abs(slope) * error
        return total

    @property
    def may_turn(self) -> bool:
        """Whether rounding of the data may turn the range: near the limit both are right."""
        return self.turned is None or self.turned < 2 * HALF

    @property
    def as_given(self) -> bool:
        """Whether features may have to be taken as they are given."""
        return self.turned is not None and 2 * self.turned > HALF

    @cached_property
    def turned(self) -> Fraction | None:
        """How far rounding of the features turns their range: see `_systems.py` of the package.

        None for features of which one depends on others.
        """
        e, first = self.exact, int(self.bias)
        if self.kernel:
            square = sum(dot(row, row) for row in self.errors)
            return UNIT * above(square) * max(e.w) / e.alpha
        if len(e.p) < e.d:
            return None
        lengths = [above(e.unit * e.A[k][k]) for k in range(first, e.d)]
        moved = [dot(row, lengths) ** 2 for row in self.errors]
        return UNIT * above(dot(e.w, moved))

    def curvature(self, a: Vector, i: int) -> Fraction:
        """A bound on the second order of Z_i - Z_0 in the residuals, in squared units."""
        e = self.exact
        (delta,), c_delta = integers(self._moved_by(a))
        (own,), c_own = integers([w * h for w, h in zip(e.w, self.leverages, strict=True)])
        squares = [-x for x in own]
        for (row, _), x in zip(e.all_moves[i], own, strict=True):
            squares[row] += x
        rows = Fraction(sum(abs(x) * z**2 for x, z in zip(squares, delta, strict=True)), c_own)
        (roots, parts), c_roots = self._roots
        total, lengths = 0, []
        for move in (e.all_moves[0], e.all_moves[i]):
            low, high, others, whole = [], [], [], 0
            for j, (row, _) in enumerate(move):
                root = roots[j] * delta[row]
                whole += root**2
                if 2 * self.leverages[j] <= 1:
                    low.append(parts[j] * delta[row])
                    others.append(root)
                else:
                    high.append(parts[j] * delta[row])
            total += sum(low) ** 2 - dot(low, low) + sum(high) ** 2 - dot(high, high)
            total += 2 * sum(high) * sum(others)
            lengths.append(whole)
        pairs, longest = (Fraction(x, c_roots**2) for x in (total, max(lengths)))
        return min(rows + pairs, longest) / c_delta**2

    def _moved_by(self, a: Vector) -> Vector:
        """δ: what rounding changes each residual by, in units."""
        e, size = self.exact, [abs(x) for x in a]
        fits = times([[*map(abs, row)] for row in e.Phi], size)
        rounded = times(self.errors, size[int(self.bias) :])
        return [abs(u) + v + z for u, v, z in zip(e.y, fits, rounded, strict=True)]

    @cached_property
    def _roots(self) -> tuple[list[list[int]], int]:
        """A little more than √w_j and √(w_j min(h_j, 1 - h_j)), and their common denominator."""
        pairs = list(zip(self.exact.w, self.leverages, strict=True))
        parts = [above(w * (h if 2 * h <= 1 else 1 - h)) for w, h in pairs]
        return integers([above(w) for w, _ in pairs], parts)

    @cached_property
    def leverages(self) -> Vector:
        """h_j = w_j φ_jᵀN⁺φ_j."""
        e, found = self.exact, []
        for w, row in zip(e.w, e.Phi, strict=True):
            s = [row[k] for k in e.p]
            found.append(w * e.unit * e.form(s, s))
        return found

    def side(self, a: Vector, i: int) -> Side:
        """Everything that belongs to Z_i."""
        e = self.exact
        r, move = minus(e.y, times(e.Phi, a)), e.all_moves[i]
        g = [sign * r[row] for row, sign in move]
        x = self._solved(g, a)
        v = times(e.Phi, x)
        h = [Fraction(0)] * e.n
        for j, (row, sign) in enumerate(move):
            h[row] += sign * e.w[j] * v[j]
        return Side(g, x, v, h)

    def _solved(self, g: Vector, a: Vector) -> Vector:
        e = self.exact
        if not self.kernel:
            weighted = [w * z for w, z in zip(e.w, g, strict=True)]
            s = minus(times(transposed(e.Phi), weighted), [e.alpha * z for z in times(e.P, a)])
            return e.lifted([short(e.unit * z) for z in times(e.A, [s[k] for k in e.p])])
        own = a[int(self.bias) :]
        right = [w * z - e.alpha * c for w, z, c in zip(e.w, g, own, strict=True)]
        inverse, scale = self._equations
        return [short(scale * z) for z in times(inverse, [*([-sum(own)] * self.bias), *right])]

    @cached_property
    def _equations(self) -> tuple[list[list[int]], Fraction]:
        """The inverse of W Φx + alpha x = ..., with 1ᵀx fixed if there is an intercept."""
        e, first = self.exact, int(self.bias)
        rows = [[Fraction(0)] * first + [Fraction(1)] * e.n] * first
        for j, row in enumerate(e.Phi):
            rows.append(
                [e.w[j] * z + (e.alpha if k == j + first else 0) for k, z in enumerate(row)]
            )
        whole, scale = integers(*rows)
        inverse, det = adjugate(whole)
        return inverse, Fraction(scale, det)


def above(x: Fraction) -> Fraction:
    """A little more than √x."""
    return root_below(x) * (1 + UNIT)


def short(x: Fraction, bits: int = 600) -> Fraction:
    """x to so many binary digits: its own numerator and denominator are very long."""
    up = max(0, bits - (x.numerator.bit_length() - x.denominator.bit_length()))
    return Fraction((x.numerator << up) // x.denominator, 1 << up)


def minus(u: Vector, v: Vector) -> Vector:
    """u - v."""
    return [x - z for x, z in zip(u, v, strict=True)]
