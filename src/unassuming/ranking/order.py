"""From comparisons to ranks: one tie order for all candidates (docs/theory.md 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray


@final
@dataclass(frozen=True, eq=False)
class Order:
    """The order pi, in which equal statistics are counted.

    Z_i ≺ Z_0 if Z_i < Z_0, or Z_i = Z_0 and π_i < π_0.
    The article prints the relation the other way round; the region {R <= p} would then exclude the
    estimate (erratum 1).

    Examples
    --------
    >>> Order.draw(4, "conservative", np.random.default_rng(0)).pi
    array([0, 1, 2, 3])
    >>> order = Order(np.array([3, 0, 1, 2]))
    >>> gap = np.array([0.5, -0.1, 0.0])
    >>> order.before(gap, 1e-9), int(order.rank(gap, 0)), order.pi.tolist()
    (array([False,  True,  True]), 3, [3, 0, 1, 2])
    """

    pi: IntArray

    @classmethod
    def draw(cls, m: int, ties: str, rng: np.random.Generator) -> Self:
        """Draw π for ``"random"`` ties; for ``"conservative"`` ones Z_0 comes first."""
        pi = np.arange(m, dtype=np.intp)
        pi = rng.permutation(pi) if check_ties(ties) == "random" else pi
        pi.setflags(write=False)
        return cls(pi)

    def before(self, gap: Array, tolerance: Array) -> BoolArray:
        """Whether Z_i ≺ Z_0, from Z_i - Z_0 on the last axis, i = 1..m - 1."""
        return precedes(gap, tolerance, self.pi)

    def rank(self, gap: Array, tolerance: Array) -> IntArray:
        """Return m R = 1 + #{i : Z_i ≺ Z_0}, from 1 to m."""
        return np.asarray(1 + self.before(gap, tolerance).sum(axis=-1, dtype=np.intp))

    @property
    def first(self) -> BoolArray:
        """Which Z_i, i = 1..m - 1, precede Z_0 where they tie with it."""
        return np.asarray(self.pi[1:] < self.pi[0])


def tied(gap: Array, tolerance: Array | float) -> BoolArray:
    """Whether two numbers are equal up to rounding: every comparison comes here."""
    return np.asarray(np.abs(gap) <= tolerance)


def precedes(gap: Array, tolerance: Array | float, pi: IntArray) -> BoolArray:
    """Whether Z_i ≺ Z_0, from Z_i - Z_0 on the last axis, i = 1..m - 1."""
    return np.where(tied(gap, tolerance), pi[1:] < pi[0], gap < 0)


def check_ties(ties: object) -> str:
    """Return the name of a rule for ties, or raise if there is no such rule."""
    if ties in ("random", "conservative"):
        return str(ties)
    raise ValueError(
        "ties must be 'random' (exact coverage) or 'conservative' (at least the level), given "
        f"{ties!r}. Choose one of the two."
    )
