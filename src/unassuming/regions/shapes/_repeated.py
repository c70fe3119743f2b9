"""What a quadratic region says of columns that repeat others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

from unassuming._typing import Array
from unassuming.geometry import Copy, copies_in
from unassuming.objectives import Quadratic
from unassuming.regions._explain import Cause, Fact


@final
@dataclass(frozen=True, eq=False)
class Repeated:
    """The copies among the features of an objective; ``rows`` says that its rows are the data."""

    objective: Quadratic
    rows: bool

    @cached_property
    def copies(self) -> list[Copy]:
        """The copies, found when they are first asked for."""
        return copies_in(self.objective, rows=self.rows)

    def every(self) -> tuple[Fact, ...]:
        """Name all copies."""
        return self._named(self.copies)

    def seen(self, g: Array) -> tuple[Fact, ...]:
        """Name those on which some functionals (N, d) depend."""
        return self._named(one for one in self.copies if one.seen(g).any())

    def along(self, direction: Array) -> tuple[Fact, ...]:
        """Name those that move along a direction (d,)."""
        return self._named(one for one in self.copies if one.moves_along(direction))

    def _named(self, copies: Iterable[Copy]) -> tuple[Fact, ...]:
        names = self.objective.names
        return tuple(
            Cause.REPEATED(one=names[a.other], other=names[a.one], share=a.share) for a in copies
        )
