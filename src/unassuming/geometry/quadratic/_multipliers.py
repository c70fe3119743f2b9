"""The least bound over all multipliers, for one inequality and one ball (docs/theory.md 4.4).

In coordinates v that make the inequality diagonal,

    Σ σ v² - 2bᵀv <= c,    σ >= 0,      and the ball      ‖v‖² + s² <= B²

imply for every θ >= 0, with W = 1/(1 + θσ),

    gᵀv + p s <= θ Σ gbW + sqrt[ S(θ) (Σ g²W + p²) ],    S(θ) = B² + θc + θ² Σ b²W,

with equality at the best θ; S(θ) < 0 shows that no point satisfies both. So the search for θ may
stop anywhere, and only the rounding of the formula itself has to be paid for. It is an error of
sums of k + 8 terms, relative to the lengths of the vectors, which are the roots of these sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.polynomial.polynomial import polyval

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray

_COARSE = np.linspace(-30.0, 60.0, 31)  # of log θ, in the unit of the set
_SAMPLE = 8
"""Functionals that say where the finer grid begins and ends."""
_FINER = 12
_EACH_SIDE = 4
_PLACES = np.arange(-_EACH_SIDE, _EACH_SIDE + 1)
_COEFFICIENTS = np.linalg.inv(np.vander(_PLACES, increasing=True))
"""Of the polynomial through as many values of the finer grid."""
_COUNT = np.arange(1, len(_PLACES))[:, None]
_FORESEEN = 1e-13
"""A bound that differs from the polynomial by the root of this share of value and curvature may be
improved by no more than a few times this share."""
_NEWTON = 40
_STILL = 1e-5
"""A step of log θ that changes the bound by no more than rounding does."""
_SMALL_STEP = 1e-3
"""A step of Newton's method, which squares the error, after which rounding is all that is left."""
_ZOOMS = 7
_BATCH_BYTES = 2**22
_EMPTY = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Multipliers:
    """One inequality and one ball, for every θ."""

    sigma: Array  # (k,)
    b: Array  # (k,)
    c: float
    bound: float

    def supports(self, g: Array, beyond: Array) -> Array:
        """Return the least bounds of gᵀv + p s and of -gᵀv + p s, for g (N, k) and p², (2, N).

        Minus infinity if the inequality and the ball surely do not meet.
        """
        if self.apart:
            return np.full((2, len(g)), -np.inf)
        parts = slices(len(g), rows_that_fit(_BATCH_BYTES, 4 * g.shape[1]))
        found = [self._least(g[some], beyond[some]) for some in parts]
        return np.concatenate(found, axis=1) if found else np.empty((2, 0))

    @property
    def apart(self) -> bool:
        """Whether some θ shows that no point satisfies both."""
        for square, ratio in self._squares():
            if square > self.bound**2 * (1 + _EMPTY):
                return True
            # h(θ) = -θc - θ² Σ b²W is concave and h(0) = 0, so h(θ)/θ does not increase: between
            # two θ of a grid h is at most the value at the first times their ratio.
            if square * ratio <= self.bound**2:
                return False
        return False

    def beside(self, pull: float) -> Multipliers:
        """Give the ball one more coordinate s, which adds 2 ``pull`` s to c."""
        return Multipliers(np.append(self.sigma, 0.0), np.append(self.b, pull), self.c, self.bound)

    def least_norm(self) -> float:
        """Return a lower bound, at most B, of the norm of the points of the inequality."""
        *_, (square, _) = self._squares()
        return min(float(np.sqrt(square)) * (1 - 4 * EPS), self.bound)

    def _squares(self) -> Iterator[tuple[float, float]]:
        """Yield lower bounds of ‖v‖² on finer and finer grids, and the ratio of neighbouring θ.

        Each is the largest of 0 and -θc - θ² Σ b²W on the grids so far, rounded down.
        """
        t, (theta, over), best = _COARSE, self._grid, 0.0
        for zoom in range(_ZOOMS):
            if zoom:
                theta = np.exp(t) * self._unit
                over = self._over(theta)
            shift = theta**2 * (over @ self.b**2)
            value = -theta * self.c - shift - self._rounding * (theta * abs(self.c) + shift)
            at, step = int(value.argmax()), float(t[1] - t[0])
            best = max(best, float(value[at]))
            yield best, float(np.exp(step))
            t = np.linspace(t[at] - step, t[at] + step, 17)

    @cached_property
    def _rounding(self) -> float:
        return 4 * EPS * (len(self.sigma) + 8)

    @cached_property
    def _unit(self) -> float:
        """A multiplier that makes the inequality as large as the ball."""
        size = float(self.sigma.max(initial=0.0)) or 1.0
        own = abs(self.c) + float(self.b @ self.b) / size
        return float(np.clip(self.bound**2 / (own or 1.0), 1e-12 / size, 1e12 / size))

    def _over(self, theta: Array) -> Array:
        """Return W, (..., k)."""
        over = theta[..., None] * self.sigma
        over += 1
        return np.reciprocal(over, out=over)

    # A grid that all functionals share: products of matrices

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """θ (G,) and W (G, k) of the coarse grid."""
        theta = np.exp(_COARSE) * self._unit
        return theta, self._over(theta)

    def _on_grid(self, theta: Array, over: Array, sums: _Sums) -> Array:
        """Return the bounds (2, N, G)."""
        shift = theta**2 * (over @ self.b**2)
        centre = theta * (sums.across @ over.T)
        return self._bound(theta, centre, sums.square @ over.T, sums.own[:, None], shift)

    def _bound(self, theta: Array, centre: Array, spread: Array, own: Array, shift: Array) -> Array:
        """Return the bounds of gᵀv + p s and -gᵀv + p s with their rounding errors, stacked."""
        unit, square = self._rounding, self.bound**2
        size = square + theta * self.c + shift
        terms = square + theta * abs(self.c) + shift
        largest = (np.maximum(size, 0.0) + unit * terms) * (1 + unit)
        radius = np.sqrt(largest * (spread + own))
        radius = radius + unit * np.sqrt(spread * shift)
        value = np.stack([radius + centre, radius - centre])
        value[np.isnan(value)] = np.inf
        return value

    def _least(self, g: Array, beyond: Array) -> Array:
        """Return the least bounds over a coarse grid, a finer one and between its points, (2, N).

        Both signs at once: the bounds of -gᵀv are those of the functional -g.
        """
        sums = _Sums(g**2, g * self.b, beyond)
        t, finer = self._finer(sums, -(-len(g) // _SAMPLE))
        place = finer.argmin(axis=1)
        if (place == 0).any() or (place == len(t) - 1).any():  # some would go further
            t, finer = self._finer(sums, 1)
            place = finer.argmin(axis=1)
        start, foreseen, bend = _lowest(finer, place)
        start = t[0] + np.where(np.isnan(start), place, start) * (t[1] - t[0])
        found = self._values(start.reshape(2, -1), sums).ravel()
        off = np.flatnonzero(~((found - foreseen) ** 2 <= _FORESEEN * bend * np.abs(found)))
        if off.size:
            low, high = (t[np.clip(place[off] + k, 0, len(t) - 1)] for k in (-1, 1))
            sign, one = np.where(off < len(g), 1, -1)[:, None], off % len(g)
            polished = self._polished(start[off], (low, high), sign * g[one], beyond[one])
            found[off] = np.fmin(polished, finer[off, place[off]])
        return np.asarray(found.reshape(2, -1))

    def _finer(self, sums: _Sums, stride: int) -> tuple[Array, Array]:
        """Return a finer grid, log θ (G,), about the best coarse points of some functionals.

        With it the bounds of all functionals, (2 N, G).
        """
        some = _Sums(*(terms[::stride] for terms in sums))
        best = self._on_grid(*self._grid, some).argmin(axis=2)
        low, high = max(int(best.min()) - 1, 0), min(int(best.max()) + 1, len(_COARSE) - 1)
        t = np.linspace(_COARSE[low], _COARSE[high], _FINER * (high - low) + 1)
        theta = np.exp(t) * self._unit
        return t, self._on_grid(theta, self._over(theta), sums).reshape(-1, len(t))

    def _values(self, t: Array, sums: _Sums) -> Array:
        """Return the bounds of gᵀv + p s and -gᵀv + p s at the log θ (2, N) of each."""
        theta = np.exp(t) * self._unit
        W = self._over(theta)
        centre = theta * np.einsum("snk,nk->sn", W, sums.across)
        spread = np.einsum("snk,nk->sn", W, sums.square)
        both = self._bound(theta, centre, spread, sums.own, theta**2 * (W @ self.b**2))
        return np.stack([both[0, 0], both[1, 1]])

    # Newton's method in log θ, for each functional by itself

    def _polished(self, t: Array, ends: tuple[Array, Array], g: Array, beyond: Array) -> Array:
        """Return the least bounds (N,) found from t (N,), between two ends that hold the minimum.

        The bound is quasi-convex, so the sign of the slope says on which side the minimum is. After
        a small step of Newton's method the next one would change the bound by rounding only.
        """
        low, high = ends[0].copy(), ends[1].copy()
        least, active = np.full(len(t), np.inf), np.arange(len(t))
        for _ in range(_NEWTON):
            value, slope, bend = self._derivatives(t, g, beyond)
            least[active] = np.fmin(least[active], value)
            high, low = np.where(slope > 0, t, high), np.where(slope > 0, low, t)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = t - slope / bend
            inside = (bend > 0) & (new > low) & (new < high)
            new = np.where(inside, new, (low + high) / 2)
            far = np.abs(new - t) > np.where(inside, _SMALL_STEP, _STILL)
            if not far.all():
                near = ~far
                value = self._derivatives(new[near], g[near], beyond[near])[0]
                least[active[near]] = np.fmin(least[active[near]], value)
                if not far.any():
                    break
                active, low, high, new = active[far], low[far], high[far], new[far]
                g, beyond = g[far], beyond[far]
            t = new
        return least

    def _derivatives(self, t: Array, g: Array, beyond: Array) -> tuple[Array, Array, Array]:
        """Return the bounds at log θ (N,) and their first two derivatives.

        All follow from the sums of g²Wʲ, gbWʲ and b²Wʲ for j = 1, 2, 3, since θσW = 1 - W.
        """
        theta = np.exp(t) * self._unit
        W = self._over(theta)
        one, bW = g * W, self.b * W
        two, bW2 = one * W, bW * W
        g1, g2, g3 = _dot(one, g), _dot(one, one), _dot(one, two)
        c1, c2, c3 = one @ self.b, two @ self.b, _dot(one, bW2)
        b1, b2, b3 = bW @ self.b, _dot(bW, bW), _dot(bW, bW2)
        both = self._bound(theta, theta * c1, g1, beyond, theta**2 * b1)
        # With respect to log θ: that of θ Σ gbW is θ Σ gbW², and so on.
        S = np.maximum(self.bound**2 + theta * self.c + theta**2 * b1, 0.0)
        S1 = theta * self.c + theta**2 * (b1 + b2)
        S2 = S1 + 2 * theta**2 * b3
        T, T1 = g1 + beyond, g2 - g1
        T2 = T1 + 2 * (g1 - 2 * g2 + g3)
        with np.errstate(divide="ignore", invalid="ignore"):
            R = np.sqrt(S * T)
            R1 = (S1 * T + S * T1) / (2 * R)
            R2 = (S2 * T + 2 * S1 * T1 + S * T2) / (2 * R) - R1**2 / R
        slope = R1 + theta * c2
        bend = R2 + theta * (c2 - 2 * (c2 - c3))
        return both[0], slope, bend


class _Sums(NamedTuple):
    """The terms of the sums of g²W and of gbW, and p², for several functionals."""

    square: Array  # (N, k)
    across: Array  # (N, k)
    own: Array  # (N,)


def _dot(x: Array, y: Array) -> Array:
    """Return the inner products of rows."""
    return np.asarray(np.einsum("nk,nk->n", x, y))


def _lowest(values: Array, place: IntArray) -> tuple[Array, Array, Array]:
    """Return where values (N, G) are least near a place (N,), their value and curvature there.

    The polynomial through a few values about the place says so, in steps of the grid: a series for
    the zero of its slope, and one step of Newton's method. NaN if the place is near an end.
    """
    inner = np.clip(place, _EACH_SIDE, values.shape[1] - 1 - _EACH_SIDE)
    some = values[np.arange(len(values))[:, None], inner[:, None] + _PLACES]
    with np.errstate(all="ignore"):  # what is not finite is not foreseen
        c = _COEFFICIENTS @ (some - some[:, _EACH_SIDE, None]).T
        slopes = np.zeros((len(c), 2, len(values)))
        slopes[:-1, 0] = c[1:] * _COUNT
        slopes[:-1, 1] = slopes[1:, 0] * _COUNT
        s0, s1, s2, s3 = slopes[:4, 0]
        first, second, third = -s0 / s1, s2 / s1, s3 / s1
        at = first * (1 - first * (second - first * (2 * second**2 - third)))
        slope, bend = polyval(at, slopes, tensor=False)
        at = np.where((place == inner) & (np.abs(at) <= 1), at - slope / bend, np.nan)
        value = some[:, _EACH_SIDE] + polyval(at, c, tensor=False)
    return np.asarray(inner + at), np.asarray(value), np.asarray(bend)
