"""The screen of dynamical systems: sums over time of products, without storing the series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import slices
from unassuming._rounding import EPS, length
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership.screens._screen import Screen, ties_before
from unassuming.noise import Perturbations, SignFlips
from unassuming.objectives import Objective, SimulatedScore, amplification, steps_until_overflow

_SERIES = 2400
"""So many series are simulated at a time: one number of each fits into the fastest cache."""

_BATCHES = 16  # of candidates that share one bound of the errors
_STEPS = 16
"""After so many steps, or fewer for unstable systems, products are summed."""

_DIGITS, _CALM = 350, 2.0**50
"""Series above the second number are scaled down, and then grow by at most so many digits."""

_LOST = 1e-6
"""A squared share of a column that is left over: candidates with less are in doubt."""


@final
@dataclass(frozen=True, eq=False)
class SimulationScreen(Screen):
    """Ranks from inner products of the simulated regressors (docs/theory.md 15).

    One pass over time serves a batch of candidates and all transformations. Inner products lose
    twice as many digits as an orthogonalisation, which is left to the careful comparison where that
    matters.
    """

    objective: Objective
    score: SimulatedScore
    perturbations: Perturbations
    tie_order: IntArray

    @classmethod
    def build(
        cls, o: Objective, score: SimulatedScore, perturbations: Perturbations, order: IntArray
    ) -> SimulationScreen | None:
        """Return the screen; None if transformations may change the length of the noise."""
        return cls(o, score, perturbations, order) if perturbations.noise.orthogonal else None

    @property
    def batch(self) -> int:
        """How many candidates to take at a time."""
        return _BATCHES * self._together

    @property
    def _together(self) -> int:
        return max(1, _SERIES // (self.perturbations.m - 1))

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i come before Z_0, and which candidates (N, d) are in doubt."""
        r = self.objective.residuals(a)
        error = self.objective.residual_error(a, r)
        z0, z0_error = self.score.observed(r, error)
        own, other = self.score.series.split(a)
        drive = other @ self.score.series.fixed.T
        entered, rounded = amplification(own, r.shape[1])
        size = length(r) + length(drive)
        off = 8 * EPS * (r.shape[1] + rounded) * size + entered * length(error)
        below, doubt = np.empty(len(a), dtype=np.intp), np.empty(len(a), dtype=np.bool_)
        for some in slices(len(a), self._together):
            z, kept = self._lengths(own[some], drive[some], r[some])
            first, first_error = z0[some, None], z0_error[some, None]
            unsure = off[some, None] / kept + first_error
            gaps = z - first
            near = ~(np.abs(gaps) > 4 * unsure) | ~(kept > _LOST)
            doubt[some] = (near & ~self._idle).any(axis=1)
            below[some] = ((gaps < 0) & ~self._idle).sum(axis=1)
        return below + ties_before(self._idle, self.tie_order), doubt

    def _lengths(self, own: Array, drive: Array, r: Array) -> tuple[Array, Array]:
        """Return the roots of the statistics, and the least squared share left over, (N, K)."""
        series, unit = self.score.series, self.score.series.unit
        basis, initial = series.fixed_basis, series.initial / unit
        (N, na), n, K = own.shape, len(basis), self.perturbations.m - 1
        factors = [np.repeat(own[:, k], K) for k in range(na)]
        entering = _Entering(self, drive / unit, r / unit)
        steps = min(_STEPS, steps_until_overflow(own, _DIGITS))
        y = np.empty((na + steps, N * K))
        y[:na] = initial[:, None]
        part = np.empty(N * K)
        shrink: Array | None = None
        sums = _Sums.zero(na, entering.noise_inside(basis))
        for block in slices(n, steps):
            count = block.stop - block.start
            v = entering.block(block).reshape(count, -1)
            scaled = v if shrink is None else v * shrink
            for t in range(count):
                for k, factor in enumerate(factors, start=1):
                    np.multiply(factor, y[na + t - k], out=part)
                    np.add(part, scaled[t] if k == 1 else y[na + t], out=y[na + t])
            lags = [y[na - k : na - k + count] for k in range(1, na + 1)]
            sums.add(lags, v, basis[block])
            y[:na] = y[count : count + na].copy()
            large = np.abs(y[:na]).max(axis=0, initial=0.0) > _CALM
            if large.any():
                factor = np.ldexp(1.0, -np.frexp(np.abs(y[:na, large]).max(axis=0))[1])
                y[:na, large] *= factor
                sums.scale(large, factor)
                shrink = np.ones(N * K) if shrink is None else shrink
                shrink[large] *= factor
        z, kept = sums.lengths(np.repeat(basis.T @ drive.T / unit, K, axis=1))
        return unit * z.reshape(N, K), kept.reshape(N, K)

    @cached_property
    def signs(self) -> Array | None:
        """Ones and signs at each time, (n, 2, K), if the transformations are signs."""
        if not isinstance(self.perturbations.noise, SignFlips):
            return None
        signs = self.perturbations.apply(np.ones(self.perturbations.n)).T
        return np.ascontiguousarray(np.stack([np.ones_like(signs), signs], axis=1))

    @cached_property
    def _idle(self) -> BoolArray:
        """The transformations that move nothing, (K,)."""
        numbers = np.arange(1.0, self.perturbations.n + 1)
        return np.asarray((self.perturbations.apply(numbers) == numbers).all(axis=1))


@final
class _Entering:
    """What enters the systems: transformed residuals and the inputs, in the order of time."""

    def __init__(self, screen: SimulationScreen, drive: Array, r: Array) -> None:
        self._moved: Array | None = None
        self._r, self._signs = r, screen.signs
        if self._signs is None:
            moved = screen.perturbations.apply(r)
            self._moved = np.ascontiguousarray(np.moveaxis(moved, -1, 0))
            self._drive = drive.T[:, :, None]
        else:  # one small product for each time: [drive, r] [1, s]
            self._pairs = np.ascontiguousarray(np.stack([drive.T, r.T], axis=-1))

    def block(self, times: slice) -> Array:
        """Return it at some times, (T, N, K)."""
        if self._moved is not None:
            return self._moved[times] + self._drive[times]
        assert self._signs is not None
        return self._pairs[times] @ self._signs[times]

    def noise_inside(self, basis: Array) -> Array:
        """Return inner products of the transformed residuals with a basis (n, p), (p, N K)."""
        if self._moved is not None:
            return np.asarray(basis.T @ self._moved.reshape(len(basis), -1))
        assert self._signs is not None
        found = (basis.T[:, None, :] * self._r) @ self._signs[:, 1]
        return np.asarray(found.reshape(len(found), found.shape[1] * found.shape[2]))


@final
@dataclass(frozen=True, eq=False)
class _Sums:
    """Inner products of B series: among lags, with what enters, and with the fixed basis."""

    lags: Array  # (na, na, B)
    entering: Array  # (na, B)
    fixed: Array  # (na, p, B)
    inside: Array  # (p, B): of the noise with the basis

    @classmethod
    def zero(cls, na: int, inside: Array) -> _Sums:
        p, B = inside.shape
        return cls(np.zeros((na, na, B)), np.zeros((na, B)), np.zeros((na, p, B)), inside)

    def add(self, lags: list[Array], v: Array, basis: Array) -> None:
        """Add the products of some times."""
        for k, column in enumerate(lags):
            self.entering[k] += np.einsum("tb,tb->b", column, v)
            self.fixed[k] += basis.T @ column
            for j in range(k + 1):
                self.lags[k, j] += np.einsum("tb,tb->b", column, lags[j])

    def scale(self, which: BoolArray, factor: Array) -> None:
        """Multiply some series by powers of two."""
        self.lags[:, :, which] *= factor**2
        self.entering[:, which] *= factor
        self.fixed[:, :, which] *= factor

    def lengths(self, drive: Array) -> tuple[Array, Array]:
        """Return the lengths of the projections, by Cholesky's elimination, and what was left.

        ``drive`` (p, B) are the inner products of the inputs with the basis, which spans them: the
        noise is what enters, less that.
        """
        square, kept = (self.inside**2).sum(axis=0), np.ones(self.inside.shape[1])
        parts: list[Array] = []
        rows: list[list[Array]] = []
        for k in range(len(self.entering)):
            row: list[Array] = []
            for j in range(k + 1):
                left = self.lags[k, j] - (self.fixed[k] * self.fixed[j]).sum(axis=0)
                left = left - sum(row[i] * rows[j][i] for i in range(j)) if j < k else left
                if j < k:
                    row.append(left / rows[j][j])
            pivot = left - sum(entry**2 for entry in row)
            kept = np.minimum(kept, pivot / self.lags[k, k])
            row.append(np.sqrt(pivot))
            rows.append(row)
            part = self.entering[k] - (self.fixed[k] * (drive + self.inside)).sum(axis=0)
            part = part - sum(row[i] * parts[i] for i in range(k))
            parts.append(part / row[k])
            square = square + parts[k] ** 2
        return np.sqrt(square), kept
