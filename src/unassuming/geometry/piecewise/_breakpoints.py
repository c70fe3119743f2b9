"""Where the coefficients on lines cross the kinks of a penalty (docs/theory.md 7.1).

A separable penalty has constant subgradients between its kinks, so along a line its subgradient
changes only at these crossings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.objectives import Kinks

SAME = 8 * EPS
"""Relative distance within which two crossings are one."""

FARTHEST = 1e100
"""Crossings beyond this many lengths of the direction are moved to there."""


@final
@dataclass(frozen=True, eq=False)
class Steps:
    """A separable penalty as a table: constant subgradients between kinks, boxes at them."""

    coefficient: IntArray  # (k,): the coefficient behind each component of the gradient
    values: Array  # (k, K): the kinks, increasing
    between: Array  # (k, K + 1): the subgradient before, between and after them
    lo: Array  # (k, K): the box at each kink
    hi: Array

    @classmethod
    def of(
        cls, kinks: Kinks, subdifferential: Callable[[Array], tuple[Array, Array]], d: int
    ) -> Steps:
        """Tabulate a subdifferential at its kinks, and at one point between each two."""
        values = kinks.values
        if values.shape[1] == 0:
            none = np.empty((len(values), 0))
            return cls(kinks.coefficient, values, none, none, none)

        def at(x: Array) -> Array:
            a = np.zeros((1, d))
            a[0, kinks.coefficient] = np.where(np.isnan(x), 0.0, x)
            return np.concatenate(subdifferential(a))

        first, last = values[:, 0], values[:, -1]
        middles = ((values[:, 1:] + values[:, :-1]) / 2).T
        ends = [first - (1 + np.abs(first)), *middles, last + (1 + np.abs(last))]
        between = np.stack([at(x)[0] for x in ends], axis=1)
        lo, hi = np.stack([at(x) for x in values.T], axis=2)
        return cls(kinks.coefficient, values, between, lo, hi)

    def that_jump(self) -> Steps:
        """Return only the kinks at which the subgradients before and after differ."""
        jump = (np.diff(self.between, axis=1) != 0).any(axis=0)
        keep = np.concatenate([[True], jump])[: self.between.shape[1]]
        parts = (part[:, jump] for part in (self.lo, self.hi))
        return Steps(self.coefficient, self.values[:, jump], self.between[:, keep], *parts)

    def jumps(self, crossed: Breakpoints, directions: Array) -> Array:
        """Return the change of the subgradient at each crossing, (N, B)."""
        j, kink = crossed.component, crossed.kink
        up = np.sign(np.take_along_axis(directions, self.coefficient[j], axis=1))
        return np.asarray(up * (self.between[j, kink + 1] - self.between[j, kink]))


@final
@dataclass(frozen=True, eq=False)
class Breakpoints:
    """The crossings of N lines with the kinks in order of t, padded with infinity, (N, B)."""

    t: Array  # crossings that differ by rounding alone share one t
    component: IntArray
    kink: IntArray

    @classmethod
    def of(cls, steps: Steps, origins: Array, directions: Array) -> Breakpoints:
        """Cross the lines origins + t directions, each (N, d)."""
        k, K = steps.values.shape
        o, d = origins[:, steps.coefficient, None], directions[:, steps.coefficient, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = ((steps.values - o) / d).reshape(len(directions), k * K) + 0.0
        never = np.isnan(t) | np.repeat(d[..., 0] == 0, K, axis=1)
        t = np.where(never, np.inf, np.clip(t, -FARTHEST, FARTHEST))
        width = int(np.isfinite(t).sum(axis=1).max(initial=0))
        order = np.argsort(t, axis=1, kind="stable")[:, :width]
        t = np.take_along_axis(t, order, axis=1)
        if width:
            with np.errstate(invalid="ignore"):  # inf - inf
                new = ~(np.diff(t, axis=1, prepend=-np.inf) <= SAME * np.abs(t)) | np.isinf(t)
            first = np.maximum.accumulate(np.where(new, np.arange(width), 0), axis=1)
            t = np.take_along_axis(t, first, axis=1)
        return cls(t, order // max(K, 1), order % max(K, 1))

    def number(self) -> IntArray:
        """Return the position of each among the different t of its line."""
        with np.errstate(invalid="ignore"):
            new = np.diff(self.t, axis=1, prepend=-np.inf) > 0
        return np.asarray(np.cumsum(new, axis=1) - 1)

    def multiple(self) -> BoolArray:
        """Which crossings coincide with another one."""
        same = (self.t[:, 1:] == self.t[:, :-1]) & np.isfinite(self.t[:, 1:])
        out = np.zeros(self.t.shape, dtype=np.bool_)
        out[:, 1:] |= same
        out[:, :-1] |= same
        return out

    def set_on_kinks(self, a: Array, steps: Steps, line: IntArray, t: Array) -> None:
        """Set the coefficients of points a (M, d) that cross a kink at t to it, in place."""
        row, b = np.nonzero(self.t[line] == t[:, None])
        component, kink = self.component[line[row], b], self.kink[line[row], b]
        a[row, steps.coefficient[component]] = steps.values[component, kink]
