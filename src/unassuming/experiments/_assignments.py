"""Assignments that were as likely as the one that was made: all of them, or some at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import final

import numpy as np

from unassuming._typing import BoolArray, IntArray

MOST = 4096
"""So many assignments are listed; beyond that they are drawn at random."""

_BATCH = 64  # a fixed number, since it decides which random numbers an assignment takes


@final
@dataclass(frozen=True, eq=False)
class Design:
    """The experimental design: so many treated units in each stratum, all choices equally likely.

    Attributes
    ----------
    treated : boolean array of shape (u,)
        The assignment that was made.
    stratum : integer array of shape (u,)
    """

    treated: BoolArray
    stratum: IntArray

    @property
    def parts(self) -> list[IntArray]:
        """The units of each stratum."""
        return [np.flatnonzero(self.stratum == s) for s in range(int(self.stratum.max()) + 1)]

    @property
    def varying(self) -> BoolArray:
        """The units of strata in which some are treated and some are not, (u,)."""
        out = np.zeros(len(self.treated), dtype=np.bool_)
        for part in self.parts:
            out[part] = len(np.unique(self.treated[part])) == 2
        return out

    @property
    def count(self) -> int:
        """Number of possible assignments."""
        return prod(comb(len(part), int(self.treated[part].sum())) for part in self.parts)

    @property
    def mirrored(self) -> bool:
        """Whether treated and untreated units may be exchanged, wherever the treatment varies.

        The statistics of an assignment and of its mirror image are then the same for every effect,
        so one of each pair is enough.
        """
        counts = [(int(self.treated[part].sum()), len(part)) for part in self.parts]
        return all(2 * treated == size for treated, size in counts if 0 < treated < size)

    @property
    def order(self) -> int:
        """Number of assignments that differ in their statistics, the one that was made included."""
        return self.count // 2 if self.mirrored else self.count

    def listed(self) -> BoolArray:
        """Return all assignments but the one that was made, (order - 1, u)."""
        choices = [
            combinations(part.tolist(), int(self.treated[part].sum())) for part in self.parts
        ]
        every = np.zeros((self.count, len(self.treated)), dtype=np.bool_)
        for row, chosen in zip(every, product(*choices), strict=True):
            for units in chosen:
                row[list(units)] = True
        if self.mirrored:
            one = int(np.argmax(self.varying))
            every = every[every[:, one] == self.treated[one]]
        return np.asarray(every[(every != self.treated).any(axis=1)])

    def same(self, assignments: BoolArray) -> BoolArray:
        """Which assignments (N, u) equal the one that was made, or its mirror image."""
        differs = (assignments != self.treated)[:, self.varying]
        return np.asarray(~differs.any(axis=1) | differs.all(axis=1))

    def drawn(self, size: int, rng: np.random.Generator) -> Iterator[BoolArray]:
        """Yield ``size`` independent assignments in batches, each uniform among all of them."""
        for start in range(0, size, _BATCH):
            batch = np.tile(self.treated, (min(_BATCH, size - start), 1))
            for part in self.parts:
                batch[:, part] = rng.permuted(batch[:, part], axis=1)
            yield batch
