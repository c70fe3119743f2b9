"""Regions of ε-SVR, LASSO, Huber and any other objective, along lines (docs/theory.md 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry import BracketedLines, LineModel, PiecewiseLines
from unassuming.objectives import DesignedObjective, LeastNormScore
from unassuming.regions._candidates import Candidates
from unassuming.regions._describe import Description
from unassuming.regions._directions import as_vector, as_vectors
from unassuming.regions._region import Region

T = TypeVar("T")


class PiecewiseRegion(Region):
    """A region known by its intersections with lines; it need not be star convex, nor connected.

    For ε-SVR, LASSO, kernel Huber and quadratic objectives with any weighting, under signs,
    permutations or rotations, the statistics are piecewise quadratic along a line and its
    intersection with the region is exact. Of any other objective only membership is known, and the
    intersection is found on a grid: `exact_crossings` tells which.
    """

    @property
    def exact_crossings(self) -> bool:
        """Whether crossings and reach are exact rather than found on a grid."""
        return isinstance(self._lines, PiecewiseLines)

    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        Sorted and disjoint; ±inf allowed; single points as [t, t], since statistics jump where a
        coefficient is zero: a sparse candidate can be a member while all its neighbours are not.
        An interval is closed: it also holds the limits of its members.

        If `exact_crossings` is False the ends are bracketed by bisection between the points of a
        grid. They are true ends, but what happens between two points of the grid may be missed, and
        a member at the far end of the grid, 10⁶ times the size of the origin away, counts as
        unbounded.

        Parameters
        ----------
        direction : array of shape (d,)
            t multiplies it as it is.
        level : float or sequence of floats
            A sequence gives a dictionary.
        origin : array of shape (d,), optional
            The estimate by default.

        Examples
        --------
        >>> import numpy as np
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Lasso
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=5, random_state=0)
        >>> region = ua.confidence_region(Lasso(alpha=0.8), X, y, random_state=0)
        >>> slope = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        >>> [[low, high]] = region.crossings(slope)
        >>> bool(low < 0 < high)
        True
        >>> bool(np.isclose(region.estimate[2] + high, 0))  # it ends where this slope is zero
        True
        >>> region.contains(region.estimate + 0.999 * high * slope)
        True
        >>> region.contains(region.estimate + 1.001 * high * slope)
        False
        """
        line = as_vector(direction, "direction", self.objective.d)
        start = self.estimate if origin is None else origin
        start = as_vector(start, "origin", self.objective.d)
        return self._follow(level, lambda qs: self._lines.intervals(start, line, qs), _first)

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return the end of the interval of t >= 0 that contains the estimate.

        The largest t such that all of estimate + [0, t] · direction belongs to the region. There
        may be members beyond: see `crossings`. Zero if the estimate is alone on that line, minus
        infinity if it is not a member itself.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d)
            t multiplies them as they are.
        level : float, sequence of floats, or None
            None gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.
        """
        rows, single = as_vectors(directions, "directions", self.objective.d)
        start = np.broadcast_to(self.estimate, rows.shape)
        rank = self.rank(self.estimate)

        def at(qs: Sequence[int]) -> list[Array]:
            every = self._lines.intervals(start, rows, qs, points=False)
            return [
                np.array([_end(spans) if rank <= self.m - q else -np.inf for spans in lines])
                for q, lines in zip(qs, every, strict=True)
            ]

        if level is None:
            ends = np.stack(at(range(1, self.m)), axis=1)
            return ends[0] if single else ends
        return self._follow(level, at, lambda ends: float(ends[0]) if single else ends)

    def _follow(
        self, level: Any, at: Callable[[Sequence[int]], list[T]], result: Callable[[T], Any]
    ) -> Any:
        """Return the answer at one level or a dictionary, like `_at_levels`; all asked at once."""
        levels = list(level) if np.ndim(level) == 1 else [level]
        found = [result(part) for part in at([self.level(p).q for p in levels])]
        return dict(zip(map(float, levels), found, strict=True)) if np.ndim(level) else found[0]

    @cached_property
    def _lines(self) -> PiecewiseLines | BracketedLines:
        """What follows the region along lines: batches of them, plain arrays in and out."""
        o, engine = self.objective, self._engine
        kinks = o.kinks()
        if (
            kinks is None
            or not isinstance(o, DesignedObjective)
            or not isinstance(engine.score, LeastNormScore)
            or not self.noise.orthogonal
        ):
            return BracketedLines(self._ranks_of, self.m)
        model = LineModel(
            phi=o.design.matrix,
            y=o.y,
            score=engine.score,
            kinks=kinks,
            perturbations=self.perturbations,
            tie_wins=self.tie_order[0] < self.tie_order[1:],
        )
        return PiecewiseLines(model, self._ranks_of)

    def _ranks_of(self, a: Array) -> IntArray:
        return self._engine.ranks(Candidates(a, None, single=False))

    @cached_property
    def _description(self) -> Description:
        words = self._describe()
        if self.exact_crossings:
            return words
        return words.with_line(
            "crossings", "approximate, by bisection between the points of a grid"
        )


def _first(lines: list[Array]) -> Array:
    return lines[0]


def _end(spans: Array) -> float:
    """Return the end of the interval that contains zero; zero if there is none."""
    here = (spans[:, 0] <= 0) & (spans[:, 1] >= 0)
    return float(spans[here, 1][0]) if here.any() else 0.0
