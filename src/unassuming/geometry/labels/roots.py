"""Roots of affine functions plus sums of tanh, none of which is missed (docs/theory.md 8).

Every term of k_0 + k_1 t + Σ_j b_j tanh((g_0j + t g_1j)/2) is monotone, so that its values at the
ends of an interval bound it there; so do those of its slope, sech² being largest where its argument
is nearest to zero. An interval has no root, or at most one, or is cut in two. Roots that are closer
to each other than `WIDTH` are left out in pairs: no end is more accurate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray

WIDTH = 1e-13
"""Relative to t; intervals are not cut further."""
_SATURATED = 40.0  # tanh(x/2) is ±1 beyond
_STEPS = 100


class Roots(NamedTuple):
    """Simple roots: the number of the piece, t, and whether the sum is positive before it."""

    piece: IntArray
    t: Array
    positive: BoolArray


@final
@dataclass(frozen=True, eq=False)
class Sums:
    """M sums on one line, each on a piece [lo, hi] of its own."""

    g: Array  # (2, n)
    b: Array  # (M, n)
    k: Array  # (2, M)
    lo: Array  # (M,)
    hi: Array

    def __call__(self, which: IntArray, t: Array) -> Array:
        """Return the values of some of the sums."""
        terms = self.b[which] * self._tanh(t)
        return np.asarray(self.k[0, which] + self.k[1, which] * t + terms.sum(axis=1))

    def _tanh(self, t: Array) -> Array:
        return np.asarray(np.tanh((self.g[0] + t[:, None] * self.g[1]) / 2))

    def roots(self) -> tuple[BoolArray, BoolArray, Roots]:
        """Return which sums are positive at the begin and at the end of their pieces; the roots."""
        moves = self.g[1] != 0
        far = ((np.abs(self.g[0]) + _SATURATED)[moves] / np.abs(self.g[1])[moves]).max(initial=0.0)
        lo = np.where(np.isinf(self.lo), np.minimum(-far, self.hi), self.lo)
        hi = np.where(np.isinf(self.hi), np.maximum(far, lo), self.hi)
        lo = np.where(np.isinf(lo), hi, lo)
        every = np.arange(len(lo))
        found, values = [], [self(every, lo), self(every, hi)]
        signs = [value > 0 for value in values]
        for j, sign in ((0, -1), (1, 1)):  # beyond ``far`` they are affine
            tail = np.flatnonzero(np.isinf((self.lo, self.hi)[j]))
            x, slope = (lo, hi)[j][tail], self.k[1, tail]
            turns = (slope != 0) & (np.sign(slope) * sign != np.where(signs[j][tail], 1, -1))
            tail, x, slope = tail[turns], x[turns], slope[turns]
            found.append(Roots(tail, x - values[j][tail] / slope, slope < 0))
        found += self._between(every, np.stack([lo, hi]))
        for piece, *_ in found[:2]:
            side = 0 if piece is found[0].piece else 1
            signs[side] = signs[side].copy()
            signs[side][piece] = ~signs[side][piece]
        return (
            signs[0],
            signs[1],
            Roots(*(np.concatenate(part) for part in zip(*found, strict=True))),
        )

    def _between(self, which: IntArray, ends: Array) -> list[Roots]:
        """Cut intervals until each has no root, or one."""
        found, tau = [], np.stack([self._tanh(t) for t in ends])
        while len(which):
            b, (k0, k1) = self.b[which], self.k[:, which]
            terms, line = b * tau, k1 * ends
            low, high = (
                k0 + end(line, axis=0) + end(terms, axis=0).sum(axis=1) for end in (np.min, np.max)
            )
            some = (low <= 0) & (high >= 0)
            which, ends, tau, b, k1 = which[some], ends[:, some], tau[:, some], b[some], k1[some]
            positive = (k0 + line + terms.sum(axis=2))[:, some] > 0
            slope, flat = b * self.g[1] / 2, np.sort(1 - tau * tau, axis=0)
            flat[1, tau[0] * tau[1] < 0] = 1.0
            steep = slope * flat
            single = (k1 + np.min(steep, axis=0).sum(axis=1) > 0) | (
                k1 + np.max(steep, axis=0).sum(axis=1) < 0
            )
            narrow = ends[1] - ends[0] <= WIDTH * np.abs(ends).max(axis=0)
            root = (single | narrow) & (positive[0] != positive[1])
            found.append(
                Roots(which[root], self._refined(which[root], ends[:, root]), positive[0, root])
            )
            cut = ~(single | narrow)
            which, ends, tau = np.tile(which[cut], 2), ends[:, cut], tau[:, cut]
            middle = ends.mean(axis=0)
            inner = self._tanh(middle)
            ends = np.hstack([np.stack([ends[0], middle]), np.stack([middle, ends[1]])])
            tau = np.hstack([np.stack([tau[0], inner]), np.stack([inner, tau[1]])])
        return found

    def _refined(self, which: IntArray, ends: Array) -> Array:
        """Return roots of monotone sums between ends of other signs: Newton's steps, bracketed."""
        lo, hi = ends
        left, t = self(which, lo) > 0, ends.mean(axis=0)
        b, slope = self.b[which], self.b[which] * self.g[1] / 2
        for _ in range(_STEPS):
            tau = self._tanh(t)
            value = self.k[0, which] + self.k[1, which] * t + (b * tau).sum(axis=1)
            before = (value > 0) == left
            lo, hi = np.where(before, t, lo), np.where(before, hi, t)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = t - value / (self.k[1, which] + (slope * (1 - tau * tau)).sum(axis=1))
            fresh = np.where((step > lo) & (step < hi), step, (lo + hi) / 2)
            if (np.abs(fresh - t) <= WIDTH * np.abs(t) / 10).all():
                break
            t = fresh
        return np.asarray(fresh)
