"""Rays that never leave a region: the witnesses that it is unbounded (docs/theory.md 7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray

_FAR = (1e3, 1e6)
"""Distances at which membership is tested as well, in units of the origin."""
_RISES = 1e-11
_MOST = 16
"""Number of lines to try: a line along which many coefficients stay at a kink is slow to follow."""


@final
@dataclass(frozen=True, eq=False)
class Endless:
    """Rays of members, origins + t directions for every t >= 0; one in each row, (E, d)."""

    origins: Array
    directions: Array

    @classmethod
    def none(cls, d: int) -> Endless:
        """Return no ray."""
        return cls(np.empty((0, d)), np.empty((0, d)))

    @classmethod
    def on(
        cls,
        origins: Array,
        directions: Array,
        spans: list[Array],
        accept: Callable[[Array], BoolArray],
    ) -> Endless:
        """Return the rays on lines whose intervals are exact, in both directions.

        Rounding can hide the end of an interval, so membership is also tested far away.
        """
        rays = [
            (a + 2 * max(ends[-1, 0], 0.0) * v, v)
            for a, line, both in zip(origins, directions, spans, strict=True)
            for v, ends in ((line, both), (-line, -both[::-1, ::-1]))
            if len(ends) and np.isposinf(ends[-1, 1])
        ]
        if not rays:
            return cls.none(origins.shape[1])
        start, along = map(np.array, zip(*rays, strict=True))
        size = np.maximum(np.abs(start).max(axis=1), 1.0) / np.abs(along).max(axis=1)
        ok = accept(start)
        for far in _FAR:
            ok = ok & accept(start + (far * size)[:, None] * along)
        return cls(start[ok], along[ok])

    def and_also(self, other: Endless) -> Endless:
        """Return the rays of both."""
        return Endless(
            np.concatenate([self.origins, other.origins]),
            np.concatenate([self.directions, other.directions]),
        )

    def along(self, g: Array) -> IntArray:
        """Return the index of a ray along which gᵀa grows for ever, or -1, for g (N, d)."""
        if not len(self.directions):
            return np.full(len(g), -1)
        rise = g @ self.directions.T
        seen = rise > _RISES * (np.abs(g) @ np.abs(self.directions).T)
        return np.where(seen.any(axis=1), np.argmax(seen, axis=1), -1)


def most_seen(directions: Array, g: Array, phi: Array) -> IntArray:
    """Return which directions (E, d) to try for functionals g (N, d): at most 16, in their order.

    A functional prefers the direction along which it changes most, in units of the fitted values.
    These come first, then the others.
    """
    moved = np.linalg.norm(directions @ phi.T, axis=1)
    size = moved + _RISES * np.linalg.norm(np.abs(directions) @ np.abs(phi.T), axis=1)
    share = np.abs(g @ directions.T) / np.maximum(size, 1e-300)
    best = np.argmax(share, axis=1)
    rest = np.argsort(-share.max(axis=0), kind="stable")
    return np.sort(list(dict.fromkeys([*best, *rest]))[:_MOST])
