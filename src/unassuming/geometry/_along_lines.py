"""What follows a region along lines, whatever it knows of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from unassuming._typing import Array


class Lines(ABC):
    """A region along many lines, at any levels."""

    exact: ClassVar[bool] = True
    """Whether the intervals are exact rather than found on a grid."""

    @abstractmethod
    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the closed intervals of t on origins + t directions, for each q and each line.

        Each is an array (k, 2), sorted and disjoint, of the t that lie in at least q of the sets
        {Z_0 ≼ Z_i}. Stretches are the closures of what holds on both sides of every breakpoint;
        a breakpoint (or t = 0) outside them is a point [t, t] if it is a member. Without
        ``points`` these are left out.

        Parameters
        ----------
        origins, directions : arrays of shape (N, d)
        qs : sequence of int
        """
