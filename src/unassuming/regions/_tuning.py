"""Where the hyper-parameters of a region come from, when they were tuned on other rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unassuming._typing import IntArray
from unassuming._words import shown


@dataclass(frozen=True, eq=False)
class Tuning:
    """A split of the rows: one part chose the hyper-parameters, the other makes the region.

    Attributes
    ----------
    tuning_rows, region_rows : integer arrays
        Positions in the data as passed; they have no row in common.
    best_params : dict
        What the search chose on the tuning rows.
    best_score : float
        Its cross-validated score there.
    seed : int
        ``random_state=seed`` gives the same split and the same region again.
    search : object
        The fitted search; None in a region that was loaded from a file.

    Examples
    --------
    >>> import numpy as np
    >>> print(Tuning(np.arange(3), np.arange(3, 9), {"alpha": 0.1}, 0.75, seed=0))
    alpha=0.1, chosen on 3 other rows
    """

    tuning_rows: IntArray = field(repr=False)
    region_rows: IntArray = field(repr=False)
    best_params: Mapping[str, Any]
    best_score: float
    seed: int
    search: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        chosen = ", ".join(f"{name}={shown(value)}" for name, value in self.best_params.items())
        return f"{chosen or 'nothing'}, chosen on {len(self.tuning_rows)} other rows"
