"""What comes out of the comparison of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from unassuming._typing import Array, BoolArray, IntArray


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of N candidates with their perturbations."""

    residuals: Array  # (N, n)
    statistics: Array  # (N, m): Z_0, ..., Z_{m-1}
    ranks: IntArray  # (N,)
    admitted: BoolArray  # (N,): whether a candidate could have produced the data at all
