"""Made-up functions of half the norm that is allowed, for predictions before y is seen.

Where the norm bound decides, the estimates in the cells differ by their biases, which a function of
norm zero would not show. So predictions use random functions Σ c_j k(x_j, ·) of norm B/2
(docs/theory.md 9.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._system import Assumed, System, Wanted

_SEED = 118


@final
@dataclass(frozen=True, eq=False)
class MadeUp:
    """D functions, known by what the rows and the functionals see of them.

    Attributes
    ----------
    at_rows : array of shape (D, n)
        Their values at the rows.
    wanted : array of shape (D, N)
        The functionals of them.
    """

    at_rows: Array
    wanted: Array

    @classmethod
    def of(cls, system: System, wanted: Wanted, assumed: Assumed, D: int) -> MadeUp:
        """Return D functions of norm B/2, always the same, without free features."""
        rng = np.random.default_rng([_SEED, system.n])
        made = [unit_function(system, wanted, rng) for _ in range(D)]
        half = assumed.norm_bound / 2
        return cls(*(half * np.stack(part) for part in zip(*made, strict=True)))

    def part(self, where: IntArray) -> MadeUp:
        """Return these functions with some of the functionals only."""
        return MadeUp(self.at_rows, self.wanted[:, where])

    def shifts(self, a: Array, kriging: Kriging) -> Array:
        """Return the biases ⟨f, h_b⟩ of estimates with weights a (N, n), shape (D, N, K)."""
        seen = [self.at_rows[:, rows] @ a[:, rows].T for rows in kriging.cells]
        return np.asarray(np.stack(seen, axis=2) - self.wanted[:, :, None])


def unit_function(
    system: System, wanted: Wanted | None, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return Σ c_j k(x_j, ·) of norm 1 with random c: its values at the rows, and functionals.

    Examples
    --------
    >>> system = System(np.zeros((2, 0)), np.ones(2), gram=4 * np.eye(2))
    >>> values, _ = unit_function(system, None, np.random.default_rng(0))
    >>> float((values @ values / 4).round(9))
    1.0
    """
    c = rng.standard_normal(system.n)
    if system.features is not None:
        theta = c @ system.features
        theta = theta / max(float(np.linalg.norm(theta)), np.finfo(float).tiny)
        seen = np.zeros(0) if wanted is None or wanted.features is None else wanted.features @ theta
        return system.features @ theta, seen
    assert system.gram is not None
    values = system.gram @ c
    norm = np.sqrt(max(float(c @ values), np.finfo(float).tiny))
    seen = np.zeros(0) if wanted is None or wanted.at_rows is None else wanted.at_rows @ c
    return values / norm, seen / norm
