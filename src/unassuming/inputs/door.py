"""The door: what double precision does not resolve is refused here, in one sentence.

It looks at features, weights and penalty only, never at the outputs (docs/theory.md 2).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from unassuming._numerics import CELL, CONDITION, PENALTY, Factor
from unassuming._typing import Array, IntArray

_NAMED = 6  # so many columns a sentence names

_SOME = 10_000
"""Rows that show the spread of a column without far cells."""


def features_door(Phi: Array, found: Factor, names: list[str], *, computed: bool) -> str:
    """Say which columns are beyond double precision and what to do; nothing if none is."""
    # Columns that are computed from the inputs, as splines are, may be nothing in most rows.
    far = far_columns(Phi)
    if len(far) and not computed:
        j = int(far[0])
        away = np.abs(Phi[:, j] - np.median(Phi[:, j]))
        row, size = int(np.argmax(away)), away.max() / np.median(away[away > 0])
        return (
            f"the table has a cell that rounding sets apart: expected at most {CELL:g} times the "
            f"scale of its column (the median distance from the median), given {size:.2g} times in "
            f"{names[j]}, row {row} (counted from zero). Mark it as missing if it stands for a "
            f"missing value, or take the logarithm of {names[j]}."
        )
    shared = [names[j] for j in found.in_doubt]
    if shared:
        more = f" and {len(shared) - _NAMED} more" if len(shared) > _NAMED else ""
        return (
            "the table has columns that nearly depend on each other, and rounding decides by how "
            f"much: expected a condition number of at most {CONDITION:g} (columns centred and "
            f"scaled) or an exact dependence, given {found.values[0] / found.values[-1]:.2g} for "
            f"{', '.join(shared[:_NAMED])}{more}. Drop one of them, or use a penalty (Ridge)."
        )
    return ""


def kernel_door(K: Array, w: Array, alpha: float) -> str:
    """Say if the penalty of a kernel is lost in rounding, and what to do; nothing if not."""
    root, n = np.sqrt(w), len(K)
    largest = float(eigvalsh(root[:, None] * K * root, subset_by_index=[n - 1, n - 1])[0])
    if alpha >= PENALTY * largest:
        return ""
    return (
        "the penalty is lost in the rounding of the kernel matrix: expected alpha, or 1 / (2C), of "
        f"at least {PENALTY * largest:.2g}, which is {PENALTY:g} of its largest eigenvalue, given "
        f"{alpha:.2g}. Use a larger alpha, or a smaller C."
    )


def far_columns(X: Array) -> IntArray:
    """Return the columns with a cell beyond `CELL` times the median distance from the median."""
    few = X[:: max(1, len(X) // _SOME)]
    near = X.max(axis=0) - X.min(axis=0) <= CELL / 100 * _spreads(few)  # as some rows show
    maybe = np.flatnonzero(~near)
    Z = X[:, maybe]
    away = np.abs(Z - np.median(Z, axis=0)).max(axis=0, initial=0.0)
    return np.asarray(maybe[away > CELL * _spreads(Z)], dtype=np.intp)


def _spreads(X: Array) -> Array:
    """Return the median distance of each column from its median, distances of zero aside."""
    away = np.abs(X - np.median(X, axis=0)).T
    return np.array([np.median(one[one > 0]) if one.any() else np.inf for one in away])
