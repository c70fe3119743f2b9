"""The least norm in each set, in the coordinates of the whole problem (docs/theory.md 4.4)."""

from __future__ import annotations

import numpy as np

from unassuming._progress import progress
from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._multipliers import Multipliers
from unassuming.geometry.quadratic._sets_and_ball import SetsAndBall


def least_norms(sets: SetsAndBall, empty: BoolArray) -> Array:
    """Return lower bounds of the norm over every set, but at most B, (m - 1,).

    Infinity for sets that have no point.
    """
    norms = np.zeros(len(empty))
    size = float(powers_of_two(np.array(sets.ball.bound)))
    bound, held = sets.ball.bound / size, np.diagonal(sets.ball.N) > 0
    for which, (A, b, c) in progress(sets._inequalities(), len(empty), "sets"):
        c = c - sets.limit.whole + sets.limit.still
        for i, parts in enumerate(zip(A, b, c, strict=True), which.start):
            found = _without_unheld(*parts, held, bound)
            if found is not None:
                norms[i] = found.beside(sets.limit.pull).least_norm() * size
    return np.where(empty, np.inf, norms)


def _without_unheld(
    A: Array, b: Array, c: float, held: BoolArray, bound: float
) -> Multipliers | None:
    """Eliminate the coordinates that the norm does not contain, and diagonalise the others.

    None if the inequality says nothing of the norm.
    """
    z = ~held & (A.any(axis=1) | (b != 0))  # a coordinate that it does not contain drops out
    error = 0.0
    if z.any():
        inner, across = A[np.ix_(z, z)], A[np.ix_(z, held)]
        try:
            lower = np.linalg.cholesky(inner)
        except np.linalg.LinAlgError:
            return None
        taken = np.linalg.solve(lower, across)
        own = np.linalg.solve(lower, b[z])
        condition = float(np.linalg.cond(lower)) ** 2
        error = 8 * EPS * (4 + len(A)) * condition
        c = float(c + (own @ own) * (1 + error))
        A, b = A[np.ix_(held, held)] - taken.T @ taken, b[held] - taken.T @ own
        error *= float((taken**2).sum() + np.linalg.norm(own) * np.sqrt((taken**2).sum()))
    else:
        A, b = A[np.ix_(held, held)], b[held]
    sigma, turn = np.linalg.eigh((A + A.T) / 2)
    size, length = float(np.abs(sigma).max(initial=0.0)), float(np.linalg.norm(b))
    unit = 8 * EPS * (4 + len(b))
    bend = unit * size + error + max(-float(sigma.min(initial=0.0)), 0.0)
    slack = bend * bound**2 + 2 * (unit * length + error) * bound
    return Multipliers(np.maximum(sigma, 0.0), b @ turn, float(c) + slack, bound)
