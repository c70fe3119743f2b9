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

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray

_COARSE = np.linspace(-30.0, 60.0, 31)  # of log θ, in the unit of the set
_FINER = 6
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
        return self._perhaps_apart and self._least_square > self.bound**2 * (1 + _EMPTY)

    @property
    def _perhaps_apart(self) -> bool:
        """Whether the search for such a θ is worth while.

        h(θ) = -θc - θ² Σ b²W is concave and h(0) = 0, so h(θ)/θ does not increase: between two θ
        of the grid h is at most the value at the first times their ratio.
        """
        theta, over = self._grid
        h = -theta * self.c - theta**2 * (over @ self.b**2)
        return bool(h.max() * np.exp(_COARSE[1] - _COARSE[0]) > 0.9 * self.bound**2)

    def least_norm(self) -> float:
        """Return a lower bound, at most B, of the norm of the points of the inequality."""
        return min(float(np.sqrt(self._least_square)) * (1 - 4 * EPS), self.bound)

    @cached_property
    def _least_square(self) -> float:
        """The largest of 0 and -θc - θ² Σ b²W, each of which is at most ‖v‖², rounded down."""
        t, best = _COARSE, 0.0
        for _ in range(_ZOOMS):
            theta = np.exp(t) * self._unit
            shift = theta**2 * (self._over(theta) @ self.b**2)
            value = -theta * self.c - shift - self._rounding * (theta * abs(self.c) + shift)
            at, step = int(value.argmax()), float(t[1] - t[0])
            best = max(best, float(value[at]))
            t = np.linspace(t[at] - step, t[at] + step, 17)
        return best

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
        """Return W, (G, k)."""
        over = theta[:, None] * self.sigma
        over += 1
        return np.reciprocal(over, out=over)

    # A grid that all functionals share: products of matrices

    @cached_property
    def _grid(self) -> tuple[Array, Array]:
        """θ (G,) and W (G, k) of the coarse grid."""
        theta = np.exp(_COARSE) * self._unit
        return theta, self._over(theta)

    def _on_grid(self, theta: Array, over: Array, g: Array, beyond: Array) -> Array:
        """Return the bounds (2, N, G)."""
        shift = theta**2 * (over @ self.b**2)
        centre = theta * ((g * self.b) @ over.T)
        spread = (g**2) @ over.T
        return self._bound(theta, centre, spread, beyond[:, None], shift)

    def _bound(self, theta: Array, centre: Array, spread: Array, own: Array, shift: Array) -> Array:
        """Return the bounds of gᵀv + p s and -gᵀv + p s with their rounding errors, stacked."""
        unit, square = self._rounding, self.bound**2
        size = square + theta * self.c + shift
        terms = square + theta * abs(self.c) + shift
        radius = np.sqrt((np.maximum(size, 0.0) + unit * terms) * (spread + own) * (1 + unit))
        radius = radius + unit * np.sqrt(spread * shift)
        value = np.stack([radius + centre, radius - centre])
        return np.asarray(np.where(np.isnan(value), np.inf, value))

    def _least(self, g: Array, beyond: Array) -> Array:
        """Return the least bounds over a coarse grid, a finer one and Newton's method, (2, N)."""
        values = self._on_grid(*self._grid, g, beyond)
        best = values.argmin(axis=2)
        low, high = max(int(best.min()) - 1, 0), min(int(best.max()) + 1, len(_COARSE) - 1)
        t = np.linspace(_COARSE[low], _COARSE[high], _FINER * (high - low) + 1)
        theta = np.exp(t) * self._unit
        finer = self._on_grid(theta, self._over(theta), g, beyond)
        least = np.minimum(values.min(axis=2), finer.min(axis=2))
        # Both signs at once: the bounds of -gᵀv are those of the functional -g.
        finer = finer.reshape(-1, len(t))
        place = finer.argmin(axis=1)
        ends = t[np.maximum(place - 1, 0)], t[np.minimum(place + 1, len(t) - 1)]
        start = t[place] + _vertex(finer, place) * (t[1] - t[0])
        polished = self._polished(start, ends, np.vstack([g, -g]), np.tile(beyond, 2))
        return np.asarray(np.fmin(least, polished.reshape(least.shape)))

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
                value = self._values(new[near], g[near], beyond[near])
                least[active[near]] = np.fmin(least[active[near]], value)
                if not far.any():
                    break
                active, low, high, new = active[far], low[far], high[far], new[far]
                g, beyond = g[far], beyond[far]
            t = new
        return least

    def _values(self, t: Array, g: Array, beyond: Array) -> Array:
        """Return the bounds of gᵀv + p s at log θ (N,)."""
        theta = np.exp(t) * self._unit
        W = self._over(theta)
        one = g * W
        shift = theta**2 * (W @ self.b**2)
        both = self._bound(theta, theta * (one @ self.b), _dot(one, g), beyond, shift)
        return np.asarray(both[0])

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


def _dot(x: Array, y: Array) -> Array:
    """Return the inner products of rows."""
    return np.asarray(np.einsum("nk,nk->n", x, y))


def _vertex(values: Array, place: IntArray) -> Array:
    """Return where the parabola through three values (N, G) about a place (N,) is least.

    It is a share of the step, between -1/2 and 1/2, and zero at the ends.
    """
    inner = np.clip(place, 1, values.shape[1] - 2)
    row = np.arange(len(values))
    left, middle, right = (values[row, inner + k] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (left - right) / (2 * bend)
    fine = (inner == place) & (bend > 0) & (np.abs(share) <= 0.5)
    return np.asarray(np.where(fine, share, 0.0))
