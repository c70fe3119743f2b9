"""Sets of numbers that need not be intervals: two rays, the whole line, several parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from unassuming._typing import Array, BoolArray


@final
@dataclass(frozen=True, eq=False)
class IntervalUnion:
    """A finite union of closed intervals of real numbers.

    Attributes
    ----------
    ends : array of shape (r, 2)
        The intervals, sorted and disjoint. Ends may be infinite, and a single point has two equal
        ends. No interval at all is the empty set.

    Examples
    --------
    >>> rays = IntervalUnion(np.array([[-np.inf, -0.4], [1.2, np.inf]]))
    >>> print(rays)
    (-inf, -0.4] or [1.2, inf)
    >>> rays.contains([-1.0, 0.0, 1.2]), rays.lower, rays.upper, rays.bounded
    (array([ True, False,  True]), -inf, inf, False)
    """

    ends: Array = field(repr=False)

    def __post_init__(self) -> None:
        self.ends.setflags(write=False)

    @property
    def lower(self) -> float:
        """The lower end of the hull; inf for the empty set."""
        return float(self.ends[0, 0]) if len(self.ends) else np.inf

    @property
    def upper(self) -> float:
        """The upper end of the hull; -inf for the empty set."""
        return float(self.ends[-1, 1]) if len(self.ends) else -np.inf

    @property
    def bounded(self) -> bool:
        """Whether there is neither a ray nor the whole line."""
        return bool(np.isfinite(self.ends).all())

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.ends)

    def contains(self, values: ArrayLike) -> BoolArray:
        """Return which of some values belong to the set.

        Parameters
        ----------
        values : float or array of floats

        Returns
        -------
        boolean array of the same shape
        """
        x = np.asarray(values, dtype=np.float64)[..., None]
        return np.asarray(((self.ends[:, 0] <= x) & (x <= self.ends[:, 1])).any(axis=-1))

    def times(self, factor: float) -> IntervalUnion:
        """Return the set of all multiples by a number other than 0.

        Examples
        --------
        >>> print(IntervalUnion(np.array([[1.0, np.inf]])).times(-2.0))
        (-inf, -2]
        """
        ends = self.ends * factor
        return IntervalUnion(ends if factor > 0 else ends[::-1, ::-1].copy())

    def __str__(self) -> str:
        return " or ".join(map(_one, *self.ends.T)) if len(self.ends) else "no value"

    def __repr__(self) -> str:
        return f"IntervalUnion({self})"


def _one(low: float, high: float) -> str:
    """Return one interval in words."""
    if low == high:
        return f"{{{low:.6g}}}"
    left = "(-inf" if np.isneginf(low) else f"[{low:.6g}"
    return f"{left}, inf)" if np.isposinf(high) else f"{left}, {high:.6g}]"


def several(sets: Iterable[IntervalUnion] | None) -> bool:
    """Whether some sets are not single intervals, so that two ends do not describe them.

    Examples
    --------
    >>> several([IntervalUnion(np.array([[0.0, np.inf]]))]), several(None)
    (False, False)
    """
    return sets is not None and any(len(one) != 1 for one in sets)
