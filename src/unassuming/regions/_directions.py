"""Directions and origins of lines, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.regions._data import as_finite


def as_vectors(vectors: Any, name: str, d: int) -> tuple[Array, bool]:
    """Return vectors of d numbers as rows, and whether there was but one."""
    v = as_finite(vectors, name)
    if v.ndim not in (1, 2) or v.shape[-1] != d:
        raise ValueError(
            complaint(
                name,
                "has the wrong shape",
                f"rows of {d} numbers, one for each coefficient",
                f"shape {v.shape}",
                "See region.objective.names for their order.",
            )
        )
    return np.atleast_2d(v), v.ndim == 1


def as_vector(vector: Any, name: str, d: int) -> Array:
    """Return a single vector of d numbers as a row, (1, d)."""
    v, _ = as_vectors(vector, name, d)
    if len(v) != 1:
        raise ValueError(
            complaint(
                name,
                "is not a single one",
                f"one vector of {d} coefficients",
                f"shape {np.shape(vector)}",
                "Ask for one line at a time.",
            )
        )
    return v
