"""Where the coefficients on lines cross the kinks of a penalty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array, IntArray
from unassuming.geometry.piecewise.model import Penalty


class Crossings(NamedTuple):
    """The crossings of N lines with kinks in order of t, padded with infinity, (N, B)."""

    t: Array  # crossings that differ by rounding alone share one t
    component: IntArray
    kink: IntArray
    before: Array  # the subgradient up to there
    change: Array  # of the subgradient

    @classmethod
    def of(cls, penalty: Penalty, origins: Array, directions: Array) -> Crossings:
        """Cross the lines origins + t directions, each (N, d)."""
        k, J = penalty.kinks.shape
        o, d = origins[:, penalty.coefficient, None], directions[:, penalty.coefficient, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = ((penalty.kinks - o) / d).reshape(len(d), k * J) + 0.0
            error = np.repeat(8 * EPS * np.abs(o / d)[..., 0], J, axis=1) + 8 * EPS * np.abs(t)
        t[~np.isfinite(t)] = np.inf
        order = np.argsort(t, axis=1, kind="stable")
        order = order[:, : int(np.isfinite(t).sum(axis=1).max(initial=0))]
        t, error = (np.take_along_axis(part, order, axis=1) for part in (t, error))
        component, kink = order // max(J, 1), order % max(J, 1)
        with np.errstate(invalid="ignore"):  # inf - inf
            new = ~(np.diff(t, axis=1, prepend=-np.inf) <= error)
        first = np.maximum.accumulate(np.where(new, np.arange(t.shape[1]), 0), axis=1)
        falling = (np.take_along_axis(d[..., 0], component, axis=1) < 0).astype(np.intp)
        before = penalty.between[component, kink + falling]
        behind = penalty.between[component, kink + 1 - falling]
        change = np.where(np.isfinite(t), behind - before, 0.0)
        return cls(np.take_along_axis(t, first, axis=1), component, kink, before, change)

    @property
    def jumping(self) -> Crossings:
        """Those at which the subgradient changes; others are moved to the end, to infinity."""
        keep = self.change != 0
        order = np.argsort(~keep, axis=1, kind="stable")[:, : int(keep.sum(axis=1).max(initial=0))]
        t = np.where(keep, self.t, np.inf)
        parts = t, self.component, self.kink, self.before, self.change
        return Crossings(*(np.take_along_axis(part, order, axis=1) for part in parts))

    def set_on_kinks(self, penalty: Penalty, a: Array, line: IntArray, t: Array) -> None:
        """Set the coefficients of points a (M, d) that cross a kink at t to it, in place."""
        row, b = np.nonzero(self.t[line] == t[:, None])
        component, kink = self.component[line[row], b], self.kink[line[row], b]
        a[row, penalty.coefficient[component]] = penalty.kinks[component, kink]
