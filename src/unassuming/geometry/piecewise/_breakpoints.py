"""Where the coefficients on lines cross the kinks of a penalty (docs/theory.md 7.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.objectives import Kinks

SAME = 8 * EPS
"""Relative distance within which two crossings are one."""

FARTHEST = 1e100
"""Crossings beyond this many lengths of the direction are taken to happen there."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A separable penalty as a table: constant subgradients between kinks, boxes at them.

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient behind each component of the gradient.
    values : array of shape (k, K)
        The kinks, increasing.
    between : array of shape (k, K + 1)
        The subgradient before, between and after them.
    lo, hi : arrays of shape (k, K)
        The box at each kink.
    """

    coefficient: IntArray
    values: Array
    between: Array
    lo: Array
    hi: Array

    @classmethod
    def of(
        cls, kinks: Kinks, subdifferential: Callable[[Array], tuple[Array, Array]], d: int
    ) -> Steps:
        """Tabulate a subdifferential at its kinks, and at one point between each two."""
        values = kinks.values
        K = values.shape[1]

        def at(x: Array) -> tuple[Array, Array]:
            a = np.zeros((1, d))
            a[0, kinks.coefficient] = np.where(np.isnan(x), 0.0, x)
            lo, hi = subdifferential(a)
            return lo[0], hi[0]

        if K == 0:
            none = np.empty((len(values), 0))
            return cls(kinks.coefficient, values, none, none, none)
        middles = ((values[:, 1:] + values[:, :-1]) / 2).T
        ends = [_beyond(values[:, 0], -1.0), *middles, _beyond(values[:, -1], 1.0)]
        between = np.stack([at(x)[0] for x in ends], axis=1)
        boxes = [at(x) for x in values.T]
        lo, hi = (np.stack([box[side] for box in boxes], axis=1) for side in (0, 1))
        return cls(kinks.coefficient, values, between, lo, hi)

    def that_jump(self) -> Steps:
        """Return the kinks at which the subgradient changes for good, without mere points."""
        jump = (np.diff(self.between, axis=1) != 0).any(axis=0)
        keep = np.concatenate([[True], jump])[: self.between.shape[1]]
        return Steps(
            self.coefficient,
            self.values[:, jump],
            self.between[:, keep],
            self.lo[:, jump],
            self.hi[:, jump],
        )


def _beyond(kink: Array, side: float) -> Array:
    """Return points on one side of kinks, however large these are."""
    return np.asarray(kink + side * (1 + np.abs(kink)))


@dataclass(frozen=True, eq=False)
class Breakpoints:
    """The crossings of N lines with the kinks in order of t, padded with infinity, (N, B).

    Crossings that rounding alone tells apart share one t.
    """

    t: Array
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
        order = np.argsort(t, axis=1, kind="stable")
        width = int(np.isfinite(t).sum(axis=1).max(initial=0))
        order = order[:, :width]
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
        """Which crossings happen together with another one."""
        same = (self.t[:, 1:] == self.t[:, :-1]) & np.isfinite(self.t[:, 1:])
        out = np.zeros(self.t.shape, dtype=np.bool_)
        out[:, 1:] |= same
        out[:, :-1] |= same
        return out


def on_kinks(
    steps: Steps,
    crossed: Breakpoints,
    line: IntArray,
    t: Array,
    origins: Array,
    directions: Array,
) -> Array:
    """Return points of lines, with the coefficients that cross there exactly on their kinks."""
    a = origins[line] + t[:, None] * directions[line]
    row, b = np.nonzero(crossed.t[line] == t[:, None])
    component, kink = crossed.component[line[row], b], crossed.kink[line[row], b]
    a[row, steps.coefficient[component]] = steps.values[component, kink]
    return np.asarray(a)
