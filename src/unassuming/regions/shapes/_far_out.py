"""Whether sets that never end along a direction hold points far along it, by their ranks.

A direction of rounded numbers may leave sets that never end along the one that was meant.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.objectives import unresolved_share
from unassuming.regions.shapes._quadratic_sets import QuadraticSets

_SIZES = np.array([1e9, 1e6, 1e3])


def held_far_out(sets: QuadraticSets, direction: Array) -> int:
    """Return how many sets hold the farthest points along a direction that can be ranked."""
    steps = _steps(sets, direction)
    if steps is None:
        return sets.perturbations.m - 1
    for far in steps:
        try:
            before = sets.engine.before(sets.estimate + far[:, None] * direction)
        except (ArithmeticError, ValueError):  # too few digits so far out
            continue
        return int((~before).sum(axis=1).min())
    return 0


def _steps(sets: QuadraticSets, direction: Array) -> Array | None:
    """Return steps of 10⁹, 10⁶ and 10³ sizes of the sets in either sense, (3, 2).

    None if all sets are points.
    """
    o = sets.objective
    step = sets.root * (o.design.matrix @ direction)
    held = np.sqrt(max(o.n * o.lam * float(direction @ o.design.penalty_matrix() @ direction), 0.0))
    largest = max(float(np.abs(step).max(initial=0.0)), held)
    if not 0 < largest < np.inf:
        return None
    moved = float(np.linalg.norm(np.append(step, held) / largest))
    t = _SIZES * _size(sets) / moved * (sets.unit / largest)
    return np.stack([t, -t], axis=1) if (t > 0).all() and np.isfinite(t).all() else None


def _size(sets: QuadraticSets) -> float:
    """Return a bound of the root of every Z_i at the estimate, in the unit of the sets.

    Z_i is ‖qᵀ(G_i - I)r̂‖² and, in directions that the whitening does not resolve, at most a share
    of ‖(G_i - I)r̂‖².
    """
    o, moved = sets.primal, sets.maker.moved
    if o.design.dual and o.lam > 0:  # r̂ = nλ W⁻¹â, where y - Kâ may be rounding alone
        r = o.n * o.lam * sets.centre[int(o.design.intercept) :] / sets.root / sets.unit
        moved = sets.perturbations.apply(r) - r
    resolved = (moved @ sets.maker.q) ** 2
    hidden = unresolved_share(o.design, o.w, o.lam, o.whitening) * moved**2
    return float(np.sqrt((resolved.sum(axis=1) + hidden.sum(axis=1)).max(initial=0.0)))
