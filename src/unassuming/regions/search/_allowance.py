"""A limit on the lines that a search may follow.

A count, and not a clock: the same seed gives the same members on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.regions.search._hit_and_run import Members


@final
class Allowance:
    """Members on lines, as long as the allowance lasts; then every line is its origin alone.

    Parameters
    ----------
    members : Members
    most : int
        Lines that may be followed.
    done : callable
        Takes the number of lines that have been followed.

    Attributes
    ----------
    used : int
        Lines that have been followed.
    exceeded : bool
        Whether more lines were asked for.
    """

    def __init__(self, members: Members, most: int, done: Callable[[int], None]) -> None:
        self._members, self.most, self._done = members, most, done
        self.used, self.exceeded = 0, False

    def __call__(self, origins: Array, directions: Array) -> list[Array]:
        """Return the intervals; if not all lines can be followed, those at equal distances are."""
        found, left = [np.zeros((1, 2)) for _ in origins], self.most - self.used
        followed = np.arange(len(origins))
        if len(origins) > left:
            self.exceeded = True
            followed = np.unique(np.linspace(0, len(origins) - 1, left).round().astype(np.intp))
        for j in followed:
            (found[j],) = self._members(origins[j : j + 1], directions[j : j + 1])
            self.used += 1
            self._done(self.used)
        return found
